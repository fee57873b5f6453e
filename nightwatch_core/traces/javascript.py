"""JavaScript stack traces: V8 (Node, Chrome, Edge), Firefox, Safari, old Internet Explorer."""

import re
from collections.abc import Iterator, Sequence

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.chains import Chain, Header, read_blocks
from nightwatch_core.traces.limits import SYNTAX_ERROR_LINES
from nightwatch_core.traces.normalise import class_of

CLUES = ("at ", "@")

_PLACE = re.compile(r"(?P<path>.{1,1500}?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?$")
_V8 = re.compile(r"\s{0,400}at (?P<body>\S.*)")
_V8_BEHIND_PREFIX = re.compile(
    r"\sat (?P<body>[^\s()]{0,300} ?\([^()\s]{1,1000}:\d{1,9}:\d{1,9}\))$"
)
_EVAL_PLACE = re.compile(r"\((?P<place>[^()\s]{1,1000}:\d{1,9}:\d{1,9})\)")
_GECKO = re.compile(
    r"\s{0,400}+(?P<function>[^@]{0,300})@(?P<place>\S{1,1500}:\d{1,9}(?::\d{1,9})?)$"
)
_GECKO_EVAL = re.compile(r"(?P<path>\S+) line (?P<line>\d{1,9}) > (?:eval|Function|WebAssembly)")
_STARTS_LIKE_PATH = re.compile(r"(?:async )?(?:[A-Za-z]:[\\/]|/|[a-z][\w.+-]{1,30}:)")
_LOOKS_LIKE_CODE = re.compile(
    r"[\\/]|\.[cm]?[jt]sx?$|\.(?:html?|vue|svelte|bundle)$|^<|^node:|^eval"
)
_ALIAS = re.compile(r" \[as [^\]]{1,200}\]$")
_SYNTAX_PLACE = re.compile(r"\s{0,80}(?:file://)?\S{1,1000}\.[cm]?[jt]sx?:\d{1,9}$")
_NO_CODE = ("native", "<anonymous>", "index 0", "[native code]", "unknown location")

_HEADER = re.compile(
    r"[\s{[]{0,200}(?:Trace: (?=\w{0,80}(?:Error|Exception):))?(?:Uncaught )?(?:\(in promise\)? ?)?"
    r"(?:\[?(?:ERROR|error)\]?:? )?"
    r"(?P<error_class>[A-Za-z_$][\w$.]{0,150})(?: \[[\w-]{1,100}\])?(?:: (?P<message>.*)|:?)$"
)
_NAMED = re.compile(r"(?:.*\.)?[A-Z][\w$]*$")
_BEHIND_PROSE = re.compile(
    r"(?:^|[\s:(])(?P<error_class>[A-Z][\w$]{0,100}(?:Error|Exception)): (?P<message>.*)$"
)


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the chains of exceptions in a text.

    >>> read(("TypeError: no", "    at total (/srv/cart.js:3:5)"))[0][0].frames[0].path
    '/srv/cart.js'
    """
    return read_blocks(_with_syntax_errors(lines), frame_of, header_of)


def _with_syntax_errors(lines: Sequence[str]) -> Iterator[str]:
    """Node prints where code does not parse above the error; put it below, as a frame."""
    place, distance = "", 0
    for line in lines:
        yield line
        distance += 1
        match = _SYNTAX_PLACE.match(line)
        if match:
            place, distance = line.strip(), 0
        elif place and distance <= SYNTAX_ERROR_LINES and line.lstrip().startswith("SyntaxError"):
            yield f"    at {place}"
            place = ""


def frame_of(line: str) -> Frame | None:
    """Return the frame that a line prints, in the style of V8 or of Firefox and Safari.

    >>> frame_of("total@https://shop.example/cart.js:3:5").function
    'total'
    """
    if "at " in line:
        match = _V8.match(line) or _V8_BEHIND_PREFIX.search(line)
        if match:
            return _v8(match["body"].strip())
    return _gecko(line) if "@" in line else None


def _v8(body: str) -> Frame | None:
    body = body.rstrip(" {,")
    if "eval at " in body:
        match = _EVAL_PLACE.search(body)
        return _frame(body.partition(" (")[0], match["place"]) if match else None
    function, place = "", body
    if " (" in body and body.endswith(")") and not _STARTS_LIKE_PATH.match(body):
        function, _, place = body[:-1].partition(" (")
    place = place.removeprefix("async ").removeprefix("address at ").removeprefix("(")
    return _frame(function.removeprefix("async ").removeprefix("new "), place.rstrip(")"))


def _gecko(line: str) -> Frame | None:
    if " > " in line:
        match = _GECKO_EVAL.search(line.rpartition("@")[2])
        if match:
            return _frame(line.partition("@")[0].strip(), f"{match['path']}:{match['line']}")
    match = _GECKO.match(line)
    if match is None:
        return None
    if "://" in match["function"]:  # an @ in the path, not before it
        return _frame("", line.strip())
    function = match["function"].split("*")[-1].strip().rstrip("/<")
    return _frame(function, match["place"])


def _frame(function: str, place: str) -> Frame | None:
    match = _PLACE.match(place.strip())
    if match is None or match["path"].endswith(".rs") or match["path"] in _NO_CODE:
        return None
    if not _LOOKS_LIKE_CODE.search(match["path"]):
        return None
    path = match["path"].removeprefix("file://")
    if path.startswith("webpack:///"):
        path = path.removeprefix("webpack:///").removeprefix("./")
    return Frame(
        path=path,
        line=int(match["line"]),
        column=int(match["column"]) if match["column"] else None,
        function=_ALIAS.sub("", function.strip()),
    )


def header_of(line: str) -> Header | None:
    """Return the exception that a line names.

    >>> header_of("Uncaught (in promise) TypeError: x is undefined").error_class
    'TypeError'
    """
    match = _HEADER.match(line)
    if match and _NAMED.match(match["error_class"]) and (match["message"] or _is_error(match)):
        return Header(match["error_class"], match["message"] or "")
    match = _BEHIND_PROSE.search(line) if "Error: " in line or "Exception: " in line else None
    if match:
        return Header(match["error_class"], match["message"])
    known = class_of(line, "javascript")
    return Header(known, line.strip()) if known else None


def _is_error(match: re.Match[str]) -> bool:
    return match["error_class"].endswith(("Error", "Exception"))
