"""PHP: uncaught exceptions, Monolog and Laravel logs, Xdebug's call stack."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.chains import Chain, Chains, Header, Relation, read_with, relation_of
from nightwatch_core.traces.limits import HEADER_LINES

CLUES = (".php", "#0 ", ".phtml", ".inc")

_MAIN = "{main}"
_CALL_BEGIN = re.compile(r"(?:^|\s)#\d{1,5} ")
_CALL = re.compile(
    r"\s?#(?P<number>\d{1,5}) (?:(?P<path>[^\s(\[{].{0,1000}?)\((?P<line>\d{1,9})\)"
    r"|\[internal function\]|\{main\})(?::? ?(?P<function>.*))?$"
)
_XDEBUG = re.compile(
    r"\s{0,80}(?:PHP )?\s{0,80}\d{1,4}\. (?P<function>[^()]{1,300})\(.*\) "
    r"(?P<path>\S{1,1000}\.\w{1,10}):(?P<line>\d{1,9})$"
)
_PLACE_END = re.compile(r"(?: on line |:|\()(?P<line>\d{1,9})\)*[\]\"'}]{0,5}$")
_PLACE_BEGINS = (" in ", " at ", "\tin ")
_PATH = re.compile(r"(?:/|[A-Za-z]:[\\/]|phar:|\w[\w./-]{0,300}\.php$).{0,1000}$")
_EVALUATED = re.compile(r"\((?P<line>\d{1,9})\) : (?:eval\(\)'d code|runtime-created function).*$")
_BARE_PLACE = re.compile(r"\s{0,80}(?P<path>(?:/|[A-Z]:)\S{1,1000}\.php):(?P<line>\d{1,9})$")
_THROWN = re.compile(r"\s{0,80}thrown in ")

_CLASS = r"[A-Za-z_\\][\w\\]{0,200}"
_IN_JSON = re.compile(  # that Monolog writes into a text
    rf"\[object\] \((?P<error_class>{_CLASS})\(code: [^)]{{0,40}}\): (?P<message>.*)$"
)
_HEADERS = (
    re.compile(rf"[Ee]xception '(?P<error_class>{_CLASS})' with message '(?P<message>.*?)'?$"),
    _IN_JSON,
    re.compile(rf"(?:Uncaught|Next) (?P<error_class>{_CLASS})(?:: (?P<message>.*))?$"),
    re.compile(
        r"(?:PHP )?(?P<error_class>(?:Fatal|Parse|Recoverable fatal|Core|Compile) error"
        r"|Warning|Notice|Deprecated): {1,4}(?P<message>.*)$"
    ),
    re.compile(rf"(?:^|[\s\]])(?P<error_class>{_CLASS}(?:Exception|Error)): (?P<message>.*)$"),
)


@dataclass(frozen=True)
class _Call:
    path: str
    line: int | None
    function: str


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the chains of exceptions in a text.

    >>> chains = read(("PHP Fatal error:  Uncaught Shop\\\\Empty: none in /srv/cart.php:3",
    ...                "Stack trace:", "#0 /srv/web.php(9): total()", "#1 {main}"))
    >>> [frame.place for frame in chains[0][0].frames]
    ['/srv/cart.php:3', '/srv/web.php:9']
    """
    return read_with(_Reader(), lines)


class _Reader:
    def __init__(self) -> None:
        self._chains = Chains()
        self._above: list[str] = []
        self._calls: list[_Call] = []
        self._number = -1
        self._xdebug: list[Frame] = []

    def read(self, line: str) -> None:
        begin = _CALL_BEGIN.search(line) if "#" in line else None
        call = _CALL.match(line, begin.start()) if begin else None
        if call:
            self._read_call(call)
        elif _THROWN.match(line) and (self._calls or self._chains):
            return  # says again what the first line said
        else:
            if self._calls:
                self._flush()
            self._above.append(line)
            match = _XDEBUG.match(line) if ". " in line else None
            if match:
                self._xdebug.append(
                    Frame(path=match["path"], line=int(match["line"]), function=match["function"])
                )

    def finish(self) -> tuple[Chain, ...]:
        self._flush()
        if not self._chains and self._xdebug:
            header, place, _ = self._place_above()
            self._chains.begin(header)
            for frame in ([place] if place else []) + self._xdebug[::-1]:
                self._chains.add(frame)
        elif not self._chains:
            self._read_single_lines()
        return self._chains.finish()

    def _read_call(self, match: re.Match[str]) -> None:
        number = int(match["number"])
        if self._calls and number <= self._number:
            self._flush()
        self._number = number
        line = int(match["line"]) if match["line"] else None
        path = (match["path"] or "").removeprefix("file://")
        function = _MAIN if match[0].endswith(_MAIN) else _function(match["function"] or "")
        self._calls.append(_Call(path, line, function))

    def _flush(self) -> None:
        """End a list of calls: PHP prints where each call stands, so its name is one frame in."""
        if not self._calls:
            return
        header, place, relation = self._place_above()
        self._chains.begin(header, relation)
        calls = self._calls
        if place and (place.path, place.line) != (calls[0].path, calls[0].line):
            calls = [_Call(place.path, place.line, ""), *calls]
        names = [call.function for call in calls[1:]] + [_MAIN]
        for call, name in zip(calls, names, strict=True):
            if call.path:
                module, function = _owned(name)
                self._chains.add(
                    Frame(path=call.path, line=call.line, module=module, function=function)
                )
        self._calls, self._above, self._number = [], [], -1

    def _place_above(self) -> tuple[Header, Frame | None, Relation]:
        header, place, relation = Header(), None, Relation.SEPARATE
        for line in reversed(self._above[-HEADER_LINES:]):
            stated, _ = relation_of(line)
            text, frame = place_of(line)
            place = place or frame
            if not header.error_class:
                header = header_of(text) or header
            relation = stated if relation is Relation.SEPARATE else relation
            if header.error_class:
                break
        return header, place, relation

    def _read_single_lines(self) -> None:
        """Warnings and fatal errors come without a list of calls."""
        for line in self._above:
            text, frame = place_of(line)
            header = header_of(text)
            if frame and header:
                self._chains.begin(header)
                self._chains.add(frame)
        if not self._chains:
            places = [match for line in self._above if (match := _BARE_PLACE.match(line))]
            if places:
                self._chains.begin(Header())
            for match in places:
                self._chains.add(Frame(path=match["path"], line=int(match["line"])))


def place_of(line: str) -> tuple[str, Frame | None]:
    """Return a line without the place that it ends with, and that place.

    >>> place_of("Warning: no cart in /srv/cart.php on line 3")[1].place
    '/srv/cart.php:3'
    """
    match = _PLACE_END.search(line)
    if match is None:
        return line, None
    head = line[: match.start()]
    starts = max((head.rfind(begin), len(begin)) for begin in _PLACE_BEGINS)
    path = head[sum(starts) :] if starts[0] >= 0 else ""
    if not _PATH.match(path):
        return line, None
    evaluated = _EVALUATED.search(path)  # code made by eval stands where eval was called
    path = path[: evaluated.start()] if evaluated else path
    return head[: starts[0]], Frame(path=path, line=int((evaluated or match)["line"]))


def header_of(text: str) -> Header | None:
    """Return the exception that a line names."""
    for pattern in _HEADERS:
        match = pattern.search(text)
        if match:
            message = match["message"] or ""
            is_json = pattern is _IN_JSON
            return Header(
                _unescaped(match["error_class"]).lstrip("\\"),
                _unescaped(message).replace('\\"', '"') if is_json else message,
            )
    return None


def _function(text: str) -> str:
    return _unescaped(text.partition("(")[0].strip())


def _unescaped(name: str) -> str:
    return name.replace("\\\\", "\\")


def _owned(function: str) -> tuple[str, str]:
    for separator in ("->", "::"):
        owner, is_owned, name = function.rpartition(separator)
        if is_owned:
            return owner, name
    return "", function
