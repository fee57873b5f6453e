"""The failing line as far as it was seen, and what a rule found out, to be put into the answer."""

from typing import Literal

from nightwatch_core.code.definitions import function_around
from nightwatch_core.code.languages import Language, language_of
from nightwatch_core.models.answer import Edit, Evidence, Hypothesis, Learning
from nightwatch_core.models.trace import Frame
from nightwatch_core.models.value import Value
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import LINES_ABOVE, LINES_BELOW
from nightwatch_core.traces.source_fit import fitted

Standing = Literal["confirmed", "open", "ruled out"]


class FailingLine(Value):
    """Where the error came up, as far as it was seen.

    `seen`: the line was read at this commit. `moved`: the trace prints another text for the line
    than this commit has, so the code that failed is not the code that was read.
    """

    path: str = ""
    line: int = 0
    function: str = ""
    text: str = ""
    language: Language
    seen: bool = False
    moved: bool = False
    lines: dict[int, str] = {}  # around the line
    top: int = 0  # first line of the function; 0 where it was not seen

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def evidence(self, note: str) -> Evidence:
        """Give the failing line as evidence."""
        return Evidence(path=self.path, line=self.line, quote=self.text.strip(), note=note)


class Finding(Value):
    """Sentences that explain, and what they rest on; `explained` where the cause was seen."""

    because: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()  # besides the failing line
    fault: Evidence | None = None  # a better place than the failing line, where one is known
    changed: tuple[tuple[str, int], ...] = ()  # lines whose last change brought the failure
    edits: tuple[Edit, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    learnings: tuple[Learning, ...] = ()
    steps: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    subject: str = ""  # for the title: "`order` is None"
    explained: bool = False
    value: str = ""  # what failed, where no cause is known: "`order` is None"
    unknown: str = ""  # what is not known then: "why `order` is None in shop/orders.py:14"

    def __add__(self, other: "Finding") -> "Finding":
        """Both, in this order; the first subject is kept."""
        return Finding(
            because=self.because + other.because,
            evidence=self.evidence + other.evidence,
            fault=self.fault or other.fault,
            changed=self.changed + other.changed,
            edits=self.edits + other.edits,
            hypotheses=self.hypotheses + other.hypotheses,
            learnings=self.learnings + other.learnings,
            steps=self.steps + other.steps,
            tags=self.tags + other.tags,
            subject=self.subject or other.subject,
            explained=self.explained or other.explained,
            value=self.value or other.value,
            unknown=self.unknown or other.unknown,
        )


def or_else(finding: Finding, rest: Finding) -> Finding:
    """Add what is said of every error of a kind; what to look at only where no cause is known."""
    return finding + (rest.model_copy(update={"steps": ()}) if finding.explained else rest)


def quoted(path: str, line: int, text: str, note: str) -> Evidence:
    """Make a line that was read evidence."""
    return Evidence(path=path, line=line, quote=text.strip()[:500], note=note)


def hypothesis(statement: str, because: str, standing: Standing = "open") -> Hypothesis:
    """Make an explanation, left open where nothing else is said."""
    return Hypothesis(statement=statement, because=because, standing=standing)


def failing_line(context: Context) -> FailingLine:
    """Find the place of the failure; without a usable frame, an empty one in the likeliest file."""
    if context.research.misfit:  # its lines are not those of the code at hand
        return FailingLine(language=language_of("", context.language), moved=True)
    if context.app_frames:
        return line_of_frame(context.app_frames[0], context)
    likely = next(iter(context.research.likely_files), None)
    path = likely.path if likely else ""
    return FailingLine(path=path, language=language_of(path, context.language))


def line_of_frame(frame: Frame, context: Context) -> FailingLine:
    """Read the line of one frame, and what is around it, at this commit."""
    path, line = context.code.resolved(frame.repo_path or frame.path), frame.line or 0
    lines = context.code.lines(path, line - LINES_ABOVE, line + LINES_BELOW)
    now = _line_now(lines, frame)
    return FailingLine(
        path=path,
        line=now or line,
        function=frame.function,
        text=lines.get(now or line, ""),
        language=language_of(path, context.language),
        seen=bool(now),
        moved=line in lines and not now,
        lines=lines,
        top=function_around(path, lines, now or line),
    )


def _line_now(lines: dict[int, str], frame: Frame) -> int:
    """Where the printed line stands at this commit: there, or where its text has moved to."""
    here = fitted(frame, lines)
    return 0 if here.fit == "differs" or here.line not in lines else here.line or 0
