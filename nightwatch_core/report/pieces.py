"""Pieces of the HTML page: what is used more than once, and the scoreboard."""

MACROS = """\
{% macro facts(items) %}
<dl>
{% for fact in items %}
  <div><dt>{{ fact.name }}</dt><dd>{{ fact.text }}</dd></div>
{% endfor %}
</dl>
{% endmacro %}

{% macro rest(some) %}
{% if some.rest %}<p class="rest">{{ some.rest }}</p>{% endif %}
{% endmacro %}

{% macro linked(text, address) %}
{% if address|href %}<a href="{{ address|href }}" rel="noreferrer">{{ text }}</a>
{%- else %}{{ text }}{% if address %} <code>{{ address }}</code>{% endif %}{% endif %}
{% endmacro %}

{% macro code(lines, diff=false) %}
<div class="code{{ ' diff' if diff }}" tabindex="0"><table>
{% for line in lines %}
<tr class="{{ line|kind }}"><td class="mark">
{{- line.mark if diff else line.number }}</td><td><pre>{{ line.text }}</pre></td></tr>
{% endfor %}
</table></div>
{% endmacro %}

{% macro listed(name, texts) %}
{% if texts %}
<h4>{{ name }}</h4>
<ul>{% for text in texts %}<li>{{ text|prose }}</li>{% endfor %}</ul>
{% endif %}
{% endmacro %}

{% macro done_list(items) %}
<ul class="done">
{% for done in items %}
  <li class="{{ 'ok' if done.ok else 'not' }}">{{ linked(done.text, done.address) -}}
  {% if done.note %}<span class="note"> {{ done.note }}</span>{% endif %}</li>
{% endfor %}
</ul>
{% endmacro %}

{% macro lines_of(lines) %}
{% if lines['items'] %}
<ul class="lines">
{% for each in lines['items'] %}
  <li><b>{{ linked(each.head, each.address) }}</b>
  {% if each.text %}<span>{{ each.text }}</span>{% endif %}
  {% if each.small %}<small>{{ each.small }}</small>{% endif %}
  {% for text in each.more %}<small>{{ text }}</small>{% endfor %}</li>
{% endfor %}
</ul>
{% endif %}
{{ rest(lines) }}
{% endmacro %}

{% macro section(name, lines) %}
{% if lines['items'] %}
<section>
<h2>{{ name }}</h2>
{{ lines_of(lines) }}
</section>
{% endif %}
{% endmacro %}

{% macro listing(each) %}
<details><summary>{{ each.name }}</summary>
<ul>{% for text in each['items']['items'] %}<li><code>{{ text }}</code></li>{% endfor %}</ul>
{{ rest(each['items']) }}
</details>
{% endmacro %}
"""

SCORE = """\
<section>
<h2>Scoreboard</h2>
<div class="wide"><table class="rows score">
<thead><tr>{% for name in scored.table.columns %}<th>{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in scored.table.rows %}
<tr>
{% for cell in row %}
{% if loop.first %}
  <td><span class="badge {{ cell }}">{{ cell }}</span></td>
{% else %}
  <td class="number" data-name="{{ scored.table.columns[loop.index0]|lower }}">{{ cell }}</td>
{% endif %}
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table></div>
{% for text in scored.sentences %}<p class="{{ 'note' if loop.index > 1 }}">{{ text }}</p>
{% endfor %}
</section>
"""
