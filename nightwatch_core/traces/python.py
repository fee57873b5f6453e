"""Python tracebacks, chains and exception groups included."""

import re
from collections.abc import Sequence

from nightwatch_core.models.trace import Frame
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
            self._read_code(stripped)
        else:
            self._name(stripped)

    def _read_code(self, stripped: str) -> None:
        if self._frame and not self._frame.code and not _ANCHORS.match(stripped):
            self._frame = self._frame.model_copy(update={"code": stripped})

    def _name(self, stripped: str) -> None:
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
