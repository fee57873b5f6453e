"""Templates that an error leads to: those that the failing lines render, or that a message names.

Only where template code raised it: else a template that is rendered says nothing.
"""

import re
from collections.abc import Iterator

from nightwatch_core.code.called_names import frames_of
from nightwatch_core.code.callees import Shown, cut, mark
from nightwatch_core.code.definition_lookup import Lookup, Place
from nightwatch_core.code.limits import CALLEE_LINES, LINE, MESSAGE, TEMPLATES
from nightwatch_core.code.named_in_message import names_in_message
from nightwatch_core.code.symptoms import symptom_of
from nightwatch_core.code.value_flow import value_flow
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import Preview
from nightwatch_core.text.plain_text import text_lines

_ENGINES = re.compile(
    r"jinja2|django/template|mako/|action_?view|/erb\b|tilt/|haml|slim|twig|blade|illuminate/view"
    r"|framework/views|handlebars|nunjucks|/ejs/|/pug/|html/template|text/template|razor|mustache",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?<![\w.])[\w/@-][\w./@-]{0,150}\.(?:html?|xml|txt|erb|haml|slim|jinja2?|j2|twig|blade\.php"
    r"|njk|hbs|ejs|pug|mustache|liquid|tmpl|tpl|cshtml|phtml)\b"
)
_VIEW = re.compile(r"\bview\(\s*['\"](?P<name>[\w.-]{1,150})['\"]")  # Laravel's: orders.show


def named_templates(case: Case, known: Lookup, seen: Shown) -> tuple[Preview, ...]:
    """Cut out the templates, around the first line that holds what the message names."""
    if not _is_of_a_template(case):
        return ()
    previews: list[Preview] = []
    for path, because in _named(case, known):
        line = _line_of_interest(case, path, known)
        last = len(text_lines(known.text(path) or ""))
        start = max(1, line - CALLEE_LINES // 2)
        place = Place(path=path, line=start, end=min(last, start + CALLEE_LINES - 1))
        preview = cut(place, known, seen, "flow", because) if last else None
        if preview and len(previews) < TEMPLATES:
            mark(preview, seen)
            previews.append(preview)
    return tuple(previews)


def _is_of_a_template(case: Case) -> bool:
    paths = (frame.path[-LINE:] for frame in case.trace.frames) if case.trace else ()
    return "template" in case.leader.error_class.lower() or any(map(_ENGINES.search, paths))


def _named(case: Case, known: Lookup) -> Iterator[tuple[str, str]]:
    """Templates of the tree, with why they are shown."""
    for name in _NAME.findall(case.leader.message[:MESSAGE]):
        for path in _existing(name, known):
            yield path, "the message names it"
    for frame in frames_of(case):
        text = known.text(frame.repo_path) or ""
        lines = text_lines(text)
        for step in value_flow(frame.repo_path, text, frame.line or 0):
            rows = "\n".join(row[:LINE] for row in lines[step.line - 1 : step.end])
            views = (f"{name.replace('.', '/')}.blade.php" for name in _VIEW.findall(rows))
            for name in (*_NAME.findall(rows), *views):
                for path in _existing(name, known):
                    yield path, f"{frame.repo_path.rpartition('/')[2]}:{step.line} renders it"


def _existing(name: str, known: Lookup) -> tuple[str, ...]:
    """The file that the longest end of a name leads to."""
    parts = [part for part in name.split("/") if part]
    tails = ("/".join(parts[n:]) for n in range(max(0, len(parts) - 6), len(parts)))
    found = (known.index.ending(tail) for tail in tails)
    return next((paths[:1] for paths in found if paths), ())


def _line_of_interest(case: Case, path: str, known: Lookup) -> int:
    message = case.leader.message[:MESSAGE]
    symptom = symptom_of(case.leader.error_class, message)
    names = [name for name in (symptom.name, *names_in_message(case)) if name]
    rows = enumerate(text_lines(known.text(path) or ""), start=1)
    return next((n for n, row in rows if any(name in row for name in names)), 1)
