"""Python tracebacks, chains and exception groups included."""

import re
from collections.abc import Sequence

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces import frame_shapes
from nightwatch_core.traces.chains import Chain, Chains, Header, Relation, read_with

CLUES = ('File "',)

_FRAME = re.compile(
    r"File \"(?P<path>[^\"]{1,1000})(?<!\.rb)(?<!\.erb)(?<!\.rake)\", "
    r"line (?P<line>\d{1,9}|None)(?:,? in (?P<function>.+))?"
)
_BEGIN = re.compile(r"Traceback \(|\(most recent call (?:first|last)\)")
_INNERMOST_FIRST = "most recent call first"
_WRAPS = (
    "The above exception was the direct cause of the following exception",
    "During handling of the above exception, another exception occurred",
)
_FIRST_OF_GROUP = re.compile(r"\s*\+-\+-{4,} 1 -{4,}")
_OTHER_OF_GROUP = re.compile(r"\s*\+-{4,} ")
_ANCHORS = re.compile(r"[\s^~]+$")
_MARGIN = re.compile(r"\s*[|+] ?")
_EXCEPTION = re.compile(r"\s*(?P<error_class>[A-Za-z_][\w.]{0,300})(?:: ?(?P<message>.*))?$")
_REPEATED = "[Previous line repeated "


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the chains of exceptions in a text.

    >>> chains = read(('  File "cart.py", line 3, in total', "    a / b", "ZeroDivisionError: x"))
    >>> chains[0][0].error_class, chains[0][0].frames[0].code
    ('ZeroDivisionError', 'a / b')
    """
    return read_with(_Reader(), lines)


class _Reader:
    """Tells frames, source lines and exceptions apart by their indentation."""

    def __init__(self) -> None:
        self._chains = Chains()
        self._relation = Relation.SEPARATE
        self._above = ""  # the last line before the frames: some loggers name the exception there
        self._open = False  # frames were read and their exception was not yet
        self._innermost_first = False
        self._frame: Frame | None = None  # waits for its source line
        self._indent = 0

    def read(self, line: str) -> None:
        match = _FRAME.search(line) if 'File "' in line else None
        if match:
            self._read_frame(match)
        elif _BEGIN.search(line):
            self._close()
            self._innermost_first = _INNERMOST_FIRST in line
        elif self._open:
            self._read_below(line)
        else:
            self._read_between(line)

    def finish(self) -> tuple[Chain, ...]:
        self._close()
        return self._chains.finish()

    def _read_frame(self, match: re.Match[str]) -> None:
        if not self._open:
            self._chains.begin(_header(self._above) or Header(), self._relation)
            self._relation, self._open = Relation.SEPARATE, True
        self._add_waiting()
        self._indent = match.start()
        self._frame = Frame(
            path=match["path"].removeprefix("file://"),
            line=None if match["line"] == "None" else int(match["line"]),
            function=(match["function"] or "").strip(),
        )

    def _read_below(self, line: str) -> None:
        text = _MARGIN.sub("", line, count=1) if line.lstrip()[:1] in ("|", "+") else line
        stripped = text.strip()
        indent = len(line) - len(text) + len(text) - len(text.lstrip())
        if not stripped:
            return
        if indent > self._indent or stripped.startswith(_REPEATED):
            if self._frame and not self._frame.code and not _ANCHORS.match(stripped):
                self._frame = self._frame.model_copy(update={"code": stripped})
        else:
            header = _header(stripped)
            if header is not None:
                self._chains.name(header)
            self._close()

    def _read_between(self, line: str) -> None:
        if any(phrase in line for phrase in _WRAPS):
            self._relation = Relation.WRAPPER
        elif _FIRST_OF_GROUP.match(line):
            self._relation = Relation.CAUSE
        elif _OTHER_OF_GROUP.match(line):
            self._relation = Relation.SEPARATE
        if line.strip():
            self._above = line

    def _add_waiting(self) -> None:
        if self._frame is not None:
            add = self._chains.add if self._innermost_first else self._chains.add_inner
            add(self._frame)
        self._frame = None

    def _close(self) -> None:
        self._add_waiting()
        self._open, self._innermost_first, self._above = False, False, ""


def _header(line: str) -> Header | None:
    match = _EXCEPTION.match(line)
    return Header(match["error_class"], match["message"] or "") if match else None


# What a Python traceback is made of, where its white space does not say it any more.

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


# Gives Python tracebacks the indentation back that a ticket, a mail or a page took from them.
#
# Python's own says which line is source and which one names the exception. Where source is not
# deeper than its frame, what follows decides: source lies between two frames, and the exception
# below the last one.

_GROUP_MARGIN = re.compile(r"\s*(?:[|+]\s*)?")
_SOURCE_LINES = 12  # between two frames: statements over several lines, anchors


def indented(lines: Sequence[str]) -> list[str]:
    """Return the lines, those of tracebacks without indentation as Python prints them.

    >>> indented(('File "a.py", line 3, in f', "1 / n", "ZeroDivisionError: by zero"))
    ['  File "a.py", line 3, in f', '    1 / n', 'ZeroDivisionError: by zero']
    """
    done: list[str] = []
    frames = [number for number, line in enumerate(lines) if FRAME.match(line)]
    if not frames:
        return list(lines)
    at = 0
    for number, below in zip(frames, [*frames[1:], len(lines)], strict=True):
        done += lines[at:number]
        rows = lines[number + 1 : below]
        source = _source_rows(lines[number], rows, below < len(lines))
        if source is None:
            done += lines[number:below]
        else:
            done.append(f"  {lines[number].strip()}")
            done += [f"    {row.strip()}" for row in rows[:source]]
            done += [row.strip() if n == 0 else row for n, row in enumerate(rows[source:])]
        at = below
    return [*done, *lines[at:]]


def _source_rows(frame: str, rows: Sequence[str], is_inner: bool) -> int | None:
    if not rows or not rows[0].strip() or BEGINS.match(rows[0]):
        return None
    deeper = _indent(rows[0]) - _indent(frame)
    is_between = is_inner and len(rows) <= _SOURCE_LINES and not any(map(_ends_frames, rows))
    if deeper > 0 or (deeper < 0 and not is_between):
        return None
    if is_between:
        return (
            None
            if deeper < 0 and is_sure_name(rows[0])
            else 0
            if is_sure_name(rows[0])
            else len(rows)
        )
    last = next((n for n, row in enumerate(rows) if _ends_frames(row)), len(rows))
    return _rows_above_name(rows[: min(last, _SOURCE_LINES)])


def _rows_above_name(rows: Sequence[str]) -> int:
    if is_sure_name(rows[0]):
        return 0
    named = next((n for n, row in enumerate(rows[1:], 1) if names_exception(row)), 0)
    if named:
        return named
    if may_name_exception(rows[0]):
        return 0
    return 1 + sum(1 for row in rows[1:2] if ANCHORS.match(row))


def _ends_frames(row: str) -> bool:
    return not row.strip() or BEGINS.match(row) is not None


def _indent(line: str) -> int:
    margin = _GROUP_MARGIN.match(line)
    return margin.end() if margin else 0
