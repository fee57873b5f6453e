"""A stack trace that is being read out of a log: which of the next lines belong to it."""

from dataclasses import dataclass, field
from datetime import datetime

from nightwatch_core.adapters.files.limits import BLOCK_LIMIT, GAP_LINES
from nightwatch_core.adapters.files.log_styles import CAUSE, Style
from nightwatch_core.traces import python_text
from nightwatch_core.traces.wrapped_lines import begins_frame, made_whole

_LOOSE_LINES = 3  # of source below a frame, where the indentation was lost


@dataclass
class OpenTrace:
    """The lines of a trace, and those that belong to it only if more of it follows."""

    style: Style
    lines: list[str]
    number: int
    at: datetime | None
    pending: list[tuple[int, str]] = field(default_factory=list)
    in_cause: bool = False  # a cause was announced, its name and message may follow
    name_above: str = ""  # Python: the exception that the line above the frames names
    is_end: bool = False  # Python: begins with a frame, since what was above it is missing
    size: int = 0
    _framed: bool = False  # a frame was read
    _named: bool = False  # Python: the exception below the frames was read
    _chained: bool = False  # Python: another traceback was announced below the exception
    _indent: int | None = None  # Python: of the frame in the line above
    _loose: int = 0  # Python: lines below a frame that are not deeper than it

    def __post_init__(self) -> None:
        """Tell a trace that begins with a frame from one that an opening line begins."""
        self._framed = self.style.opens is None or not self.style.opens.match(self.lines[0])

    @property
    def whole_lines(self) -> list[str]:
        """The lines, and the exception that was only named above them."""
        return self.lines if self._named or not self.name_above else [*self.lines, self.name_above]

    def continues(self, number: int, text: str) -> bool:
        """Take the line if it belongs to the trace, or let it wait if it may."""
        if not text.strip():
            return self._wait(number, text)
        if self.style.name == "python":
            return self._continues_python(number, text)
        is_frame = self.style.frame.match(text) is not None
        if is_frame or self.style.part.match(text):
            self._framed = self._framed or is_frame
            self._take(text)
            self.in_cause = CAUSE.match(text) is not None
            return True
        if self.style.opens and self.style.opens.match(text):
            return False
        last = self.pending[-1][1] if self.pending else self.lines[-1]
        if made_whole(last, text):
            self._take(text)
            return True
        if begins_frame(text):
            return self._wait(number, text)
        if self._is_message():
            self._take(text)
            return True
        is_above = not self._framed and self.style.message_lines > len(self.pending)
        return (is_above or self.in_cause) and self._wait(number, text)

    def _is_message(self) -> bool:
        """Whether the line below a panic's place, which is its message, comes now."""
        opening = self.lines[-1] if len(self.lines) == 1 else ""
        return self.style.name == "rust" and opening.rstrip().endswith(":") and not self.pending

    def _continues_python(self, number: int, text: str) -> bool:
        """Frames are indented; the first line that is not names the exception."""
        is_frame = python_text.FRAME.match(text) is not None
        indent = len(text) - len(text.lstrip())
        if self.style.part.match(text):
            begins = text.startswith("Traceback")
            if begins and self._named and not self._chained:
                return False  # another error, right below this one
            self._chained = not begins
            self._named, self._loose = not begins, 0
            self._indent = indent if is_frame else None
        elif is_frame and (self._loose or not self._named):
            self._named, self._loose, self._indent = False, 0, indent
        elif self._named:
            return False
        elif self._loose or indent == self._indent:
            return self._continues_loosely(number, text)
        elif self.style.frame.match(text):
            self._indent = None
        elif self._is_over(text):
            return False
        else:
            self._named = True
        self._take(text)
        return True

    def _is_over(self, text: str) -> bool:
        """Whether a line that is no frame is not what names the exception."""
        if self.is_end:
            return not python_text.is_exception(text)
        return bool(self.name_above) and not text.startswith(self.name_above.partition(":")[0])

    def _continues_loosely(self, number: int, text: str) -> bool:
        """Without indentation what follows tells source from the name of the exception."""
        self._loose += 1
        names = python_text.is_exception if self.is_end else python_text.names_exception
        self._named = names(text)
        if self._loose == 1 or self._named or python_text.ANCHORS.match(text):
            self._take(text)
            return True
        return self._loose <= _LOOSE_LINES and self._wait(number, text)

    def _take(self, line: str) -> None:
        """Add a line that belongs to the trace, and those that waited for it."""
        self.size += len(line)
        if self.size <= BLOCK_LIMIT:
            self.lines.extend((*(text for _, text in self.pending), line))
        self.pending = []

    def _wait(self, number: int, line: str) -> bool:
        self.pending.append((number, line))
        return len(self.pending) <= max(GAP_LINES, 0 if self._framed else self.style.message_lines)
