"""The source that frame objects carry: the failing line and the lines around it, by tracker."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import SOURCE_AROUND, SOURCE_LINE
from nightwatch_core.adapters.files.records import number_of
from nightwatch_core.traces.excerpts import row

Fields = Mapping[str, object]

# Lines by their numbers: Sentry, Ignition and Flare, Bugsnag, Honeybadger, Airbrake.
_NUMBERED = ("context", "code_snippet", "codeSnippet", "code", "source", "snippet", "excerpt")
_FAILING = ("context_line", "contextLine", "code")  # the line alone: Sentry, Rollbar
_ALONE = ("source_line", "sourceLine", "code_line", "codeLine", "text_line")


class Source(NamedTuple):
    """Lines of source as a record holds them."""

    code: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def _source_of(frame: Fields, line: int) -> Source | None:
    for name in _NUMBERED:
        rows = _numbered(frame.get(name))
        if line in rows:
            above, below = (
                range(line - SOURCE_AROUND, line),
                range(line + 1, line + 1 + SOURCE_AROUND),
            )
            before, after = (tuple(rows[n] for n in near if n in rows) for near in (above, below))
            return Source(rows[line], before, after)
    context, of_line = _mapping(frame.get("context")), _mapping(frame.get("line"))
    code = _first(frame, *_FAILING) or _first(of_line, "context")  # Elastic APM's is of the line
    before = _texts(frame, "pre_context", "preContext") or _texts(context, "pre")
    after = _texts(frame, "post_context", "postContext") or _texts(context, "post")
    code = code if code or (before and after) else _first(frame, *_ALONE)
    return Source(code, before, after) if code or (before and after) else None


def _numbered(value: object) -> dict[int, str]:
    pairs: list[Sequence[object]] = []
    if isinstance(value, Mapping):
        pairs = [*value.items()]
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            number = next((item[n] for n in ("line_number", "lineNumber", "line") if n in item), 0)
            pairs.append((number, _first(item, "text", "code")))
        elif isinstance(item, list) and len(item) == 2:
            pairs.append(item)
    return {number_of(number) or 0: text if isinstance(text, str) else "" for number, text in pairs}


def source_rows(frame: Fields, line: int) -> list[str]:
    """Write the source of a frame for the parsers of traces; empty where it carries none.

    >>> source_rows({"context_line": "  total()", "pre_context": ["def pay():"]}, 7)
    ['         6| def pay():', '    >    7|   total()']
    """
    source = _source_of(frame, line)
    if source is None or line < 1:
        return []
    before = source.before[-min(SOURCE_AROUND, line - 1) :] if line > 1 else ()
    above = [row(n, _cut(text)) for n, text in enumerate(before, line - len(before))]
    below = [row(n, _cut(t)) for n, t in enumerate(source.after[:SOURCE_AROUND], line + 1)]
    return [*above, row(line, _cut(source.code), failing=True), *below]


def code_of(frame: Fields, line: int) -> str:
    """Give the failing line alone, on one line; empty where the record does not hold it.

    >>> code_of({"code": {"6": "def pay", "7": "  total"}}, 7)
    'total'
    """
    source = _source_of(frame, line)
    return _cut(source.code).strip() if source else ""


def _mapping(value: object) -> Fields:
    return value if isinstance(value, Mapping) else {}


def _texts(frame: Fields, *names: str) -> tuple[str, ...]:
    lists = (value for name in names if isinstance(value := frame.get(name), list))
    return tuple(text if isinstance(text, str) else "" for text in next(lists, []))


def _first(frame: Fields, *names: str) -> str:
    return next((text for name in names if isinstance(text := frame.get(name), str) and text), "")


def _cut(text: str) -> str:
    """One line, without its end; longer ones lose theirs, which is marked."""
    plain = text.rstrip("\r\n").replace("\r", " ").replace("\n", " ")
    return plain if len(plain) <= SOURCE_LINE else f"{plain[:SOURCE_LINE]}…"
