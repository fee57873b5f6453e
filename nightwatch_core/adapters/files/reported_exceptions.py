"""The exceptions that stack traces report; traces alike but for a message are parsed once."""

from collections.abc import Callable

from nightwatch_core.adapters.files.limits import MESSAGE_LINE, TRACES_KEPT
from nightwatch_core.models.trace import ExceptionLink

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
    """The first and the last line that may name the exception, each with a key of all others."""
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
