"""The source that frame objects carry: the failing line and the lines around it, by tracker."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import SOURCE_AROUND, SOURCE_LINE
from nightwatch_core.adapters.files.records import number_of
from nightwatch_core.traces.excerpts import row

Fields = Mapping[str, object]


class Source(NamedTuple):
    """Lines of source as a record holds them."""

    code: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def _around(frame: Fields, _line: int) -> Source | None:
    """The failing line, and lists of those above and below (Sentry; Rollbar; Elastic APM)."""
    line = frame.get("line")
    inner = line.get("context") if isinstance(line, Mapping) else None
    code = _first(frame, "context_line", "contextLine", "code") or _text(inner)
    context = frame.get("context")
    lists = context if isinstance(context, Mapping) else {}
    before = _list(frame, "pre_context", "preContext") or _list(lists, "pre")
    after = _list(frame, "post_context", "postContext") or _list(lists, "post")
    return Source(code, before, after) if code or (before and after) else None


def _pairs(frame: Fields, line: int) -> Source | None:
    """Pairs of number and line (Sentry's own interface)."""
    context = frame.get("context")
    if not isinstance(context, Sequence) or isinstance(context, str):
        return None
    pairs = (item for item in context if isinstance(item, Sequence) and len(item) == 2)
    return _of_numbered({number_of(number) or 0: _text(text) for number, text in pairs}, line)


def _numbered(frame: Fields, line: int) -> Source | None:
    """Lines by their numbers (Laravel's Ignition and Flare, Bugsnag, Honeybadger, Airbrake)."""
    for name in ("code_snippet", "codeSnippet", "code", "source", "snippet", "excerpt"):
        value = frame.get(name)
        if isinstance(value, Mapping):
            return _of_numbered({number_of(n) or 0: _text(t) for n, t in value.items()}, line)
        if isinstance(value, list):
            rows = [item for item in value if isinstance(item, Mapping)]
            numbers = (number_of(_any(item, "line_number", "lineNumber", "line")) for item in rows)
            texts = (_first(item, "text", "code") for item in rows)
            return _of_numbered({n or 0: t for n, t in zip(numbers, texts, strict=True)}, line)
    return None


def _alone(frame: Fields, _line: int) -> Source | None:
    code = _first(frame, "source_line", "sourceLine", "code_line", "codeLine", "text_line")
    return Source(code) if code else None


SHAPES: tuple[Callable[[Fields, int], Source | None], ...] = (_pairs, _numbered, _around, _alone)


def source_rows(frame: Fields, line: int) -> list[str]:
    """Write the source of a frame for the parsers of traces; empty where it carries none.

    >>> source_rows({"context_line": "  total()", "pre_context": ["def pay():"]}, 7)
    ['         6| def pay():', '    >    7|   total()']
    """
    source = next((one for shape in SHAPES if (one := shape(frame, line))), None)
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
    source = next((one for shape in SHAPES if (one := shape(frame, line))), None)
    return _cut(source.code).strip() if source else ""


def _of_numbered(rows: Mapping[int, str], line: int) -> Source | None:
    if line not in rows:
        return None
    before = tuple(rows[n] for n in range(line - SOURCE_AROUND, line) if n in rows)
    after = tuple(rows[n] for n in range(line + 1, line + 1 + SOURCE_AROUND) if n in rows)
    return Source(rows[line], before, after)


def _list(frame: Fields, *names: str) -> tuple[str, ...]:
    lists = (value for name in names if isinstance(value := frame.get(name), list))
    return tuple(_text(text) for text in next(lists, []))


def _any(frame: Fields, *names: str) -> object:
    return next((frame[name] for name in names if name in frame), None)


def _first(frame: Fields, *names: str) -> str:
    return next((text for name in names if (text := _text(frame.get(name)))), "")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _cut(text: str) -> str:
    """One line, without its end; longer ones lose theirs, which is marked."""
    plain = text.rstrip("\r\n").replace("\r", " ").replace("\n", " ")
    return plain if len(plain) <= SOURCE_LINE else f"{plain[:SOURCE_LINE]}…"
