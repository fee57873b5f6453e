"""Exceptions of records whose frames come as objects, written as their language prints them."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import (
    MAX_LINES,
    MAX_LINKS,
    MESSAGE_LINE,
    NAME_LIMIT,
    STACK_LIMIT,
    TRACES_KEPT,
)
from nightwatch_core.adapters.files.record_frames import (
    Framed,
    frame_lines,
    framed,
    language_of,
    own_rows,
)
from nightwatch_core.adapters.files.records import name_of, text_of
from nightwatch_core.models.errors import ExceptionLink
from nightwatch_core.traces.parsing import parse

_LIKE_PLACE = re.compile(r"[:(]\d|line \d|#\d|frame: ")
_PYTHON_HEAD = "Traceback (most recent call last):"
_PYTHON_CAUSE = "The above exception was the direct cause of the following exception:"
_END_OF_CAUSE = "   --- End of inner exception stack trace ---"


class Thrown(NamedTuple):
    """One exception of a record."""

    error_class: str
    message: str
    frames: tuple[Framed, ...] = ()  # innermost first


def thrown(error_class: object, message: object, frames: object, reverse: bool = False) -> Thrown:
    """Make an exception of what a record says, whatever types it has.

    `reverse` is for frames that stand outermost first.

    >>> [one.parts["path"] for one in thrown("KeyError", "no", [{"file": "a.rb"}, "b.rb"]).frames]
    ['a.rb']
    """
    listed = frames if isinstance(frames, list) else []
    objects = [item for item in listed if isinstance(item, Mapping)]
    ordered = objects[::-1] if reverse else objects
    if len(ordered) > MAX_LINES:
        ordered = [*ordered[: MAX_LINES // 2], *ordered[-MAX_LINES // 2 :]]
    return Thrown(name_of(error_class), text_of(message), tuple(framed(item) for item in ordered))


def chain_text(chain: Sequence[Thrown], platform: str = "") -> str:
    """Write exceptions, the reported one first, then what caused it; empty without any frame.

    >>> chain_text([thrown("KeyError", "no total", [{"file": "a.rb", "line": 7}])])
    "KeyError: no total\\n  a.rb:7:in `unknown'"
    """
    chain = _bounded(chain)
    frames = [frame for item in chain for frame in item.frames]
    if not frames:
        return ""
    language = language_of(frames, platform)
    write = _WRITERS.get(language, _caused_by)
    first, _, rest = write(chain, language).partition("\n")
    return text_of("\n".join((first, *own_rows(frames), rest)), STACK_LIMIT) if rest else ""


def _bounded(chain: Sequence[Thrown]) -> Sequence[Thrown]:
    if len(chain) <= MAX_LINKS:
        return chain
    return (*chain[: MAX_LINKS // 2], *chain[-MAX_LINKS // 2 :])


def _header(item: Thrown) -> str:
    """Name an exception on one line; a message that would be read as a frame is left out."""
    line = " ".join(item.message.strip().partition("\n")[0].split())[: 2 * NAME_LIMIT]
    name = item.error_class or "unknown"
    header = f"{name}: {line}" if line else name
    return name if _LIKE_PLACE.search(line) and parse(header).links else header


def _printed(item: Thrown, language: str) -> list[str]:
    return frame_lines(item.frames, 0, language)


def _caused_by(chain: Sequence[Thrown], language: str) -> str:
    parts = ["\n".join((_header(item), *_printed(item, language))) for item in chain]
    return "\nCaused by: ".join(parts)


def _python(chain: Sequence[Thrown], language: str) -> str:
    """Python prints causes first, and the innermost frame of each last."""
    parts = []
    for item in reversed(chain):
        frames = frame_lines(item.frames[::-1], len(item.frames) - 1, language)
        parts.append("\n".join((_PYTHON_HEAD, *frames, _header(item))))
    return f"\n\n{_PYTHON_CAUSE}\n\n".join(parts)


def _php(chain: Sequence[Thrown], language: str) -> str:
    """PHP prints causes first, and beside a place what was called there: one frame further in."""
    parts = []
    for n, item in enumerate(reversed(chain)):
        places = [frame.parts for frame in item.frames]
        word = "Next" if n else "PHP Fatal error:  Uncaught"
        inner = places[0] if places else {"path": ""}
        at = f" in {inner['path']}:{inner['line']}" if inner["path"] else ""
        called = [_called(outer, at) for outer, at in zip(item.frames[1:], places, strict=False)]
        rows = [*frame_lines(called, 0, language)]
        if places:
            rows.append(f"#{len(rows)} [internal function]: {places[-1]['function'] or 'main'}()")
        head = f"{word} {_header(item)}{at}"
        parts.append("\n".join((head, "Stack trace:", *rows) if places else (head,)))
    return "\n\n".join(parts)


def _called(frame: Framed, inner: Mapping[str, str]) -> Framed:
    owner, name = inner["module"], inner["function"] or "unknown"
    function = f"{owner}::{name}" if owner and "::" not in name else name
    return frame._replace(parts={**frame.parts, "function": function, "module": ""})


def _csharp(chain: Sequence[Thrown], language: str) -> str:
    heads = [_header(item) for item in chain]
    frames = [_printed(item, language) for item in chain]
    lines = [heads[0], *(f" ---> {head}" for head in heads[1:]), *frames[-1]]
    for outer in reversed(frames[:-1]):
        lines += [_END_OF_CAUSE, *outer]
    return "\n".join(lines)


def _go(chain: Sequence[Thrown], language: str) -> str:
    """Go's errors have no frames of their own: those of the first that has any stand for all."""
    item = next(item for item in chain if item.frames)
    return "\n".join((_header(item), *_printed(item, language)))


_WRITERS = {"python": _python, "php": _php, "csharp": _csharp, "go": _go}

# The exceptions that stack traces report; traces alike but for a message are parsed once.

ExceptionOf = Callable[[str], ExceptionLink]  # reads a raw stack trace; none is one without frames
_REWRITTEN = ("\\", "&", "\x1b", '["', "\t", "  ")  # what parsers may change in a line


class ReportedExceptions:
    """Asks a parser, and remembers what it said of the lines around a message.

    Of a trace whose first or last line is `class: message`, the other lines say which class it is:
    the next trace with the same other lines differs in its message alone.

    >>> asked = []
    >>> def parser(raw):
    ...     asked.append(raw)
    ...     return ExceptionLink(error_class="E", message=raw.splitlines()[0][3:])
    >>> exceptions = ReportedExceptions(parser)
    >>> [exceptions(f"E: no {n}\\n  at f(a.js:1)").message for n in range(3)], len(asked)
    (['no 0', 'no 1', 'no 2'], 1)
    """

    def __init__(self, parser: ExceptionOf, most: int = TRACES_KEPT) -> None:
        """Begin with nothing remembered; at most `most` traces are."""
        self._parser = parser
        self._most = most
        self._kept: dict[tuple[bool, int], ExceptionLink] = {}
        self._whole: dict[int, ExceptionLink] = {}  # by all lines

    def __call__(self, raw: str) -> ExceptionLink:
        """Read the exception that a raw stack trace reports."""
        whole = hash(raw)
        exception = self._whole.get(whole)
        if exception is None:
            exception = self._read(raw)
            if len(self._whole) >= self._most:
                self._whole.clear()
            self._whole[whole] = exception
        return exception

    def _read(self, raw: str) -> ExceptionLink:
        headers = tuple(_headers(raw))
        for key, header in headers:
            known = self._kept.get(key)
            message = _message(header, known.error_class) if known else None
            if known and message is not None:
                return known.model_copy(update={"message": message})
        exception = self._parser(raw)
        for key, header in headers:
            if exception.error_class and _message(header, exception.error_class) == (
                exception.message
            ):
                if len(self._kept) >= self._most:
                    self._kept.clear()
                self._kept[key] = exception
        return exception


def _headers(raw: str) -> list[tuple[tuple[bool, int], str]]:
    raw = raw.rstrip("\n")
    first, _, below = raw.partition("\n")
    above, _, last = raw.rpartition("\n")
    lines = (((True, hash(below)), first), ((False, hash(above)), last))
    return [
        (key, line)
        for key, line in lines
        if len(line) <= MESSAGE_LINE and not any(map(line.__contains__, _REWRITTEN))
    ]


def _message(header: str, error_class: str) -> str | None:
    """The message behind a class; None where the line does not begin with it."""
    if header == error_class:
        return ""
    begins = header.startswith(f"{error_class}: ")
    return header[len(error_class) + 2 :].strip() if begins else None
