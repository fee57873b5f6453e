"""Stack traces of .NET, Mono and Unity."""

import re
from collections.abc import Sequence

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.chains import Chain, Chains, Header, Relation, read_with
from nightwatch_core.traces.in_app import UNKNOWN_PATH
from nightwatch_core.traces.limits import HEADER_LINES

CLUES = (":line ", ".cs:", "at ", ":Zeile ", ":ligne ", ".vb:", ".fs:")

_AT = r"(?:at|bei|à|en|in|в)"  # .NET translates these words
_IN = r"(?:in|dans|en|в)"
_LINE = r"(?:line|Zeile|ligne|línea|linea|riga|строка|行)"
_CALL = re.compile(rf"\s{{0,200}}{_AT} (?P<name>[^\s()][^()]{{0,600}}?) ?\((?P<rest>.*)$")
_CALL_BEHIND_PREFIX = re.compile(r"\s{2}at (?P<name>[^\s()]{1,600}) ?\((?P<rest>.*)$")
_PLACE = re.compile(
    rf"\)(?: \[0x[0-9a-f]{{1,8}}\])? {_IN} (?P<path>\S.{{0,1000}}?)"
    rf":(?:{_LINE} )?(?P<line>\d{{1,9}})\s*$"
)
_NO_PLACE = re.compile(r".*\)(?: \[0x[0-9a-f]{1,8}\](?: in <[^>]{0,100}>:0)?)?\s*$")
_UNITY = re.compile(
    r"(?P<name>[\w.+<>`:/]{1,300}) ?\([^()]{0,500}\) "
    r"\(at (?P<path>[^()]{1,500}\.cs):(?P<line>\d{1,9})\)$"
)
_NOT_DOTNET = re.compile(r":\d{1,9}(?::\d{1,9})?\)?$|\((?:Native Method|Unknown Source|native)\)$")
_STATE_MACHINE = re.compile(r"^(?P<owner>.*?)[.+]<(?P<method>[^<>]{1,200})>[bdg]__.*$")
_CLOSURE = re.compile(r"[.+]<>c(?:__DisplayClass[\w]{1,40})?(?=[.+]|$)")

_ARROW = re.compile(r"(?:^|\s)---> ?")
_END_OF_INNER = "--- End of inner exception stack trace ---"
_LISTED_INNER = "(Inner Exception #"
_HEADER = re.compile(
    r"(?:^|\s)(?P<error_class>[A-Za-z_][\w.+`]{0,300}(?:Exception|Error|Fault)(?:`\d)?)"
    r"(?: \(0x[0-9A-Fa-f]{1,8}\))?(?:: (?P<message>.*)|:?$)"
)

# Windows' log of events names class and message on lines of their own; so does Visual Studio.
_MESSAGE_BELOW = re.compile(r"\s{0,80}(?:Exception message: |Message ?[:=] ?)(?P<message>\S.*)$")


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    r"""Return the chains of exceptions in a text.

    >>> chains = read(("Shop.CartException: no ---> System.IO.IOException: closed",
    ...                "   at System.IO.File.Open(String path)",
    ...                "   --- End of inner exception stack trace ---",
    ...                "   at Shop.Cart.Total() in C:\\shop\\Cart.cs:line 8"))
    >>> [link.error_class for link in chains[0]]
    ['Shop.CartException', 'System.IO.IOException']
    """
    return read_with(_Reader(), lines)


class _Reader:
    """Inner exceptions are named right behind the outer one, and their frames come first."""

    def __init__(self) -> None:
        self._chains = Chains()
        self._above: list[str] = []
        self._repeated = False  # an AggregateException lists its inner exceptions once more

    def read(self, line: str) -> None:
        if self._repeated:
            return
        if _END_OF_INNER in line:
            self._open()
            self._chains.outward()
            return
        if _LISTED_INNER in line and self._chains.links > 1:
            self._repeated = True
            return
        frame = frame_of(line)
        if frame is None:
            self._above.append(line)
            return
        self._open()
        self._chains.add(frame)

    def finish(self) -> tuple[Chain, ...]:
        return self._chains.finish()

    def _open(self) -> None:
        headers, nested = _headers_in(self._above[-HEADER_LINES:])
        self._above.clear()
        if not headers and self._chains:
            return
        relation = Relation.CAUSE if nested else Relation.SEPARATE
        for header in headers or (Header(),):
            self._chains.begin(header, relation)
            relation = Relation.CAUSE


def _headers_in(above: Sequence[str]) -> tuple[tuple[Header, ...], bool]:
    headers: list[Header] = []
    nested = False
    for line in above:
        first, *inner = _ARROW.split(line)
        named = header_of(first)
        if named is not None:
            headers, nested = [named], False
        below = _MESSAGE_BELOW.match(line) if headers and not headers[-1].message else None
        if below:
            headers[-1] = Header(headers[-1].error_class, below["message"].strip())
        for text in inner:
            nested = nested or not headers
            headers.append(header_of(text) or Header(message=text))
    return tuple(headers), nested


def frame_of(line: str) -> Frame | None:
    r"""Return the frame that a line prints.

    >>> frame_of(r"   at Shop.Cart.<TotalAsync>d__4.MoveNext() in C:\shop\Cart.cs:line 8").function
    'TotalAsync'
    """
    unity = _UNITY.search(line) if "(at " in line else None
    if unity:
        return _frame(unity["name"].replace(":", "."), unity["path"], int(unity["line"]))
    call = _CALL.match(line) or _CALL_BEHIND_PREFIX.search(line)
    if call is None:
        return None
    place = _PLACE.search(line)
    if place and not place["path"].startswith("<"):
        return _frame(call["name"], place["path"], int(place["line"]))
    if _NOT_DOTNET.search(line) or not _NO_PLACE.match(line) or "." not in call["name"]:
        return None
    return _frame(call["name"], UNKNOWN_PATH, None)


def _frame(name: str, path: str, line: int | None) -> Frame:
    module, function = owner_and_method(name)
    path = path.removeprefix("file://")
    return Frame(path=path, line=line or None, module=module, function=function)


def owner_and_method(name: str) -> tuple[str, str]:
    """Return class and method, without what the compiler makes of async methods and lambdas.

    >>> owner_and_method("Shop.Cart.<>c__DisplayClass3_0.<Total>b__1")
    ('Shop.Cart', 'Total')
    """
    name = _CLOSURE.sub("", name)
    generated = _STATE_MACHINE.match(name)
    if generated:
        return generated["owner"], generated["method"]
    owner, _, method = name.rpartition(".")
    if owner.endswith("."):  # Shop.Cart..ctor
        return owner[:-1], f".{method}"
    return owner, method


def header_of(line: str) -> Header | None:
    """Return the exception that a piece of a line names.

    >>> header_of("Unhandled exception. System.ArgumentException: no cart").message
    'no cart'
    """
    match = _HEADER.search(line) if "E" in line or "Fault" in line else None
    return Header(match["error_class"], match["message"] or "") if match else None
