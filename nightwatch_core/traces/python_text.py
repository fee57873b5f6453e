"""What a Python traceback is made of, where its white space does not say it any more."""

import re

from nightwatch_core.traces import frame_shapes

FRAME = re.compile(rf"\s*(?:[|+]\s*)?{frame_shapes.PYTHON}(?:,? in .+)?$")
ANCHORS = re.compile(r"\s*(?:\|\s*)?[~^](?:[\s~^]*[~^])?\s*$")
BEGINS = re.compile(
    r"\s*(?:\|\s*)?(?:Traceback \(most|During handling of the above|The above exception was)"
)
_NAME = r"(?:[A-Za-z_]\w{0,100}\.){0,20}"
_STATEMENTS = re.compile(
    r"(?:else|try|finally|lambda|return|raise|with|for|if|elif|while|except|pass|yield|await"
    r"|break|continue|del|assert|match|case)\b"
)
_HEADER = re.compile(rf"\s*(?P<name>{_NAME}[A-Za-z_]\w{{0,150}})(?P<rest>: .*|:?)$")
_CERTAIN = re.compile(
    r"(?:[A-Za-z_]\w{0,100}\.){1,20}[A-Z]\w*$"
    r"|\w*(?:Error|Exception|Warning|Exit|Interrupt|Iteration)$"
)
_SURE = re.compile(rf"{_NAME}[A-Z]\w*$|{_NAME}\w*(?:error|Error|Exception|Warning|Exit)$")

_FRAME_INSIDE = re.compile(frame_shapes.PYTHON)
_FUNCTION = re.compile(
    r",? in (?:<[\w ]{1,100}>|top-level template code|block \"[^\"]{1,100}\"|[\w.]{1,300})"
)
_BREAKS = re.compile(
    r"\s*(?P<line>Traceback \(most recent call (?:last|first)\):"
    r"|During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:"
    r"|\[Previous line repeated \d{1,9} more times?\])\s*"
)
_MARKS = re.compile(r"\s+(?:[~^]{2,}|\^)[~^\s]*(?=\s|$)")
_NAMED_INSIDE = tuple(
    re.compile(rf"(?:(?<=\s)|^){pattern}")
    for pattern in (
        rf"{_NAME}[A-Z]\w{{0,150}}(?:Error|Exception|Warning|Exit|Interrupt|NotFound|Timeout"
        r"|DoesNotExist|Failure|Invalid|Denied|Refused)(?:: |:?\s*$)",
        r"(?:[a-z_]\w{0,100}\.){1,20}[A-Z]\w{0,150}: ",
        r"[A-Z]\w{0,150}: ",
        rf"{_NAME}[A-Za-z_]\w{{0,150}}\s*$",
    )
)


def names_exception(text: str) -> bool:
    """Tell whether a line is surely what Python prints below the frames.

    >>> names_exception("KeyError: 'total'"), names_exception("total"), names_exception("else:")
    (True, False, False)
    """
    match = _HEADER.match(text)
    if match is None or _STATEMENTS.match(text.strip()):
        return False
    return bool(_SURE.match(match["name"])) or len(match["rest"]) > 1


def is_sure_name(text: str) -> bool:
    """Tell whether a line begins with a name that only an exception has.

    >>> is_sure_name("shop.Empty: no items"), is_sure_name("total: int = 3")
    (True, False)
    """
    match = _HEADER.match(text)
    return match is not None and _SURE.match(match["name"]) is not None


def is_exception(text: str) -> bool:
    """Tell whether a line names an exception also where nothing around it says so.

    >>> is_exception("shop.Empty: no items"), is_exception("KeyError: 3"), is_exception("INFO: up")
    (True, True, False)
    """
    match = _HEADER.match(text)
    return match is not None and _CERTAIN.match(match["name"]) is not None


def may_name_exception(text: str) -> bool:
    """Tell whether a line may be what Python prints below the frames: a bare word may be code."""
    return _HEADER.match(text) is not None and not _STATEMENTS.match(text.strip())


def separated_tracebacks(line: str) -> list[str]:
    """Return the lines of tracebacks that stand on one line; a line that is none stays whole.

    >>> separated_tracebacks('Traceback (most recent call last): File "a.py", line 3, in f 1 / n '
    ...                      "ZeroDivisionError: division by zero")[1:]
    ['  File "a.py", line 3, in f', '    1 / n', 'ZeroDivisionError: division by zero']
    """
    frames = [match.start() for match in _FRAME_INSIDE.finditer(line)]
    begins = line.find("Traceback (most")
    if len(frames) < 2 and not (frames and 0 <= begins < frames[0]):
        return [line]
    written: list[str] = []
    parts = [line[a:b] for a, b in zip([0, *frames], [*frames, len(line)], strict=True)]
    for number, part in enumerate(parts):
        pieces = [piece.strip(" \t|") for piece in _BREAKS.split(part)]
        first, *others = pieces
        ends = number == len(parts) - 1 or any(BEGINS.match(piece) for piece in others)
        written += _frame_lines(first, ends) if number else [first]
        written += others
    return [text for text in written if text]


def _frame_lines(text: str, ends: bool) -> list[str]:
    """A frame, its source, and what it ends with if it is the last one."""
    frame = _FRAME_INSIDE.match(text)
    if frame is None:
        return [text]
    function = _FUNCTION.match(text, frame.end())
    end = function.end() if function else frame.end()
    rest = text[end:].strip(" \t|,")
    lines = [f"  {text[:end]}"]
    if not ends:
        return [*lines, f"    {_MARKS.sub('', rest)}"] if rest else lines
    code, header = _code_and_header(rest)
    return [*lines, *([f"    {code}"] if code else []), *([header] if header else [])]


def _code_and_header(rest: str) -> tuple[str, str]:
    marks = _MARKS.search(f" {rest}")
    if marks:
        code, header = rest[: max(0, marks.start() - 1)], rest[marks.end() - 1 :]
        return code.strip(" |"), header.strip(" |")
    for pattern in _NAMED_INSIDE:
        match = pattern.search(rest)
        if match:
            return rest[: match.start()].strip(" |"), rest[match.start() :]
    return rest, ""
