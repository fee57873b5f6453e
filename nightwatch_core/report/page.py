"""The HTML page of a report, as Jinja templates (rendered with autoescape)."""

from nightwatch_core.report.pieces import MACROS, SCORE

CARD = """\
{% from "macros.html" import facts, rest, code, listed, done_list %}
<article id="{{ card.anchor }}">
<header>
  <div>
    <h3><span class="rank">{{ card.rank }}</span>{{ card.title }}</h3>
    <p class="what"><code>{{ card.error }}</code>{% if card.where %} in
      <code>{{ card.where }}</code>{% endif %}
    <span class="badge {{ card.confidence }}">{{ card.confidence }} confidence</span>
    {% if card.proved %}<span class="note">{{ card.proved }}</span>{% endif %}
    {% if card.known %}<span class="badge known">{{ card.known }}</span>{% endif -%}
    {% if card.regression %} <span class="badge low">regression</span>{% endif %}</p>
    {% if card.news %}<p class="note">{{ card.news|prose }}</p>{% endif %}
  </div>
  {% if card.hourly|max|default(0) %}
  <svg viewBox="0 0 {{ card.hourly|length * pitch }} {{ height }}" role="img"
    style="width: {{ card.hourly|length * pitch }}px"
    preserveAspectRatio="none" aria-label="occurrences by hour">
    <title>occurrences by hour: at most {{ card.hourly|max }}</title>
    {% for x, y, tall in card.hourly|bars %}
    <rect x="{{ x }}" y="{{ y }}" width="{{ pitch - 1 }}" height="{{ tall }}"/>
    {% endfor %}
  </svg>
  {% endif %}
</header>
{{ facts(card.facts) }}
{% if card.message %}<h4>Message</h4><pre class="message">{{ card.message }}</pre>{% endif %}
<h4>Root cause</h4>
<div class="cause">
{% for text in card.cause.splitlines() %}{% if text %}<p>{{ text|prose }}</p>{% endif %}
{% endfor %}
</div>
{% if card.ending %}<p class="rest">{{ card.ending }}</p>{% endif %}
{% if card.evidence['items'] %}
<h4>Evidence</h4>
{% for snippet in card.evidence['items'] %}
<figure>
  <figcaption><code>{{ snippet.place }}</code>
  {% if snippet.verified %}<span class="badge high">verified</span>{% endif %}
  {% if snippet.note %} <span class="note">{{ snippet.note|prose }}</span>{% endif %}</figcaption>
  {% if snippet.lines %}{{ code(snippet.lines) }}{% endif %}
</figure>
{% endfor %}
{{ rest(card.evidence) }}
{% endif %}
{% if card.fix['items'] %}
<h4>Proposed fix</h4>
{% for diff in card.fix['items'] %}
<figure>
  <figcaption><code>{{ diff.path }}</code> <span class="badge">{{ diff.action }}</span>
  {% if diff.description %} <span class="note">{{ diff.description|prose }}</span>{% endif %}
  </figcaption>
  {% if diff.lines %}{{ code(diff.lines, true) }}{% endif %}
</figure>
{% endfor %}
{{ rest(card.fix) }}
{% endif %}
{{ listed("Considered", card.hypotheses) }}
{{ listed("Suspects", card.suspects) }}
{{ listed("Next steps", card.next_steps) }}
{{ listed("Also this error", card.also) }}
{{ listed("Learned", card.learnings) }}
{% if card.done %}<h4>What was done</h4>{{ done_list(card.done) }}{% endif %}
{% if card.capture %}<p class="again">Capture what was learned: <code>{{ card.capture }}</code></p>
{% endif %}

<details><summary>How it was found</summary>
{{ facts(card.how) }}
{{ listed("Because", card.because) }}
</details>
{% if card.trace %}<details><summary>Stack trace</summary>
<pre class="message" tabindex="0">{{ card.trace }}</pre></details>{% endif %}

{% if card.again %}<p class="again">Again: <code>{{ card.again }}</code></p>{% endif %}
</article>
"""

PAGE = """\
{% from "macros.html" import facts, rest, done_list, lines_of, listing, section %}
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>NightWatch {{ report.night }}</title>
<style>{{ style }}</style>
</head>
<body class="{{ report.standing }}">
<main>
<header class="top">
<p class="name">NightWatch <span>{{ report.night }}</span>
  <span class="badge {{ report.standing }}">{{ report.status }}</span></p>
{% if report.warnings %}
<div class="warnings" role="alert">
<b>{{ "The night failed" if report.status == "failed" else "This night is incomplete" }}</b>
<ul>{% for text in report.warnings %}<li>{{ text }}</li>{% endfor %}</ul>
</div>
{% endif %}
<h1>{{ report.headline }}</h1>
{% for text in report.banner %}<p class="banner">{{ text }}</p>{% endfor %}
</header>
{% if report.counts and report.standing != "calm" %}
<ul class="counts">
{% for count in report.counts %}
  <li class="{{ 'nought' if count.text == '0' }}"><b>{{ count.text }}</b> {{ count.name }}</li>
{% endfor %}
</ul>
{% endif %}
{{ section("Failed analyses", report.failures) }}
{% if report.rows['items'] %}
<section>
<h2>Errors</h2>
<div class="wide"><table class="rows">
<thead><tr><th>#</th><th>Error</th><th>Count</th><th>Cause</th><th>Confidence</th><th>Done</th>
</tr></thead>
<tbody>
{% for row in report.rows['items'] %}
<tr class="{{ 'known' if row.known }}">
  <td class="number">{{ row.rank }}</td>
  <td><a href="#{{ row.anchor }}">{{ row.error }}</a>
    {% if row.where %}<small>{{ row.where }}</small>{% endif %}</td>
  <td class="number" data-name="times">{{ "{:,}".format(row.count) }}</td>
  <td>{{ row.cause|prose }}</td>
  <td data-name="confidence"><span class="badge {{ row.confidence }}">
    {{- row.confidence }}</span></td>
  <td>{{ row.done }}</td>
</tr>
{% endfor %}
</tbody>
</table></div>
{{ rest(report.rows) }}
</section>
{% endif %}
{% if report.cards['items'] %}
<section>
<h2>Analyses</h2>
{% for card in report.cards['items'] %}
{% include "card.html" %}
{% endfor %}
{{ rest(report.cards) }}
</section>
{% endif %}
{{ section("Patterns", report.patterns) }}
{{ section("Ignore rules you might add", report.suggestions) }}
{% if report.followed['items'] or report.outcomes['items'] %}
<section><h2>What became of earlier proposals</h2>
{{ lines_of(report.followed) }}{{ lines_of(report.outcomes) }}</section>
{% endif %}
{% if report.scored %}{% with scored = report.scored %}{% include "score.html" %}{% endwith %}
{% endif %}
{% if report.elsewhere['items'] %}
<section><h2>Published for other errors</h2>
{{ done_list(report.elsewhere['items']) }}{{ rest(report.elsewhere) }}</section>
{% endif %}
{% if report.dropped_groups %}
<section>
<h2>Not analysed: {{ report.dropped_groups|plural("error group") }}</h2>
{% for bunch in report.dropped['items'] %}
<details{{ " open" if loop.length == 1 }}><summary><b>{{ bunch.groups|plural("group") }}</b>:
  {{ bunch.reason }} <small>seen {{ bunch.count|plural("time") }}</small></summary>
<div class="wide"><table class="rows">
<thead><tr><th>Error</th><th>Count</th><th>Fingerprint</th></tr></thead>
<tbody>
{% for each in bunch.examples['items'] %}
<tr><td>{{ each.error }}</td><td class="number" data-name="times">
  {{- "{:,}".format(each.count) }}</td><td><code>{{ each.fingerprint }}</code></td></tr>
{% endfor %}
</tbody></table></div>
{{ rest(bunch.examples) }}
</details>
{% endfor %}
{{ rest(report.dropped) }}
</section>
{% endif %}
{{ section(report.rejected|plural("record") ~ " could not be read", report.rejects) }}
{% if report.complaints['items'] %}
<section><h2>To put right</h2>
<ul>{% for text in report.complaints['items'] %}<li>{{ text }}</li>{% endfor %}</ul>
{{ rest(report.complaints) }}</section>
{% endif %}
<section>
<h2>This run</h2>
{{ facts(report.facts) }}
{% if report.learned %}<p>{{ report.learned }}</p>{% endif %}
{% for each in report.listings %}{{ listing(each) }}{% endfor %}
{% if report.again %}<p>One error again: <code>{{ report.again }}</code></p>{% endif %}
{% for file in report.files %}<p class="file"><code>{{ file }}</code></p>{% endfor %}
</section>
</main>
</body>
</html>
"""

TEMPLATES = {"macros.html": MACROS, "card.html": CARD, "score.html": SCORE, "page.html": PAGE}
