"""What a rule found out, in pieces that are put together into the answer."""

from typing import Literal

from nightwatch_core.code.languages import Language
from nightwatch_core.models.analysis import Edit, Evidence, Hypothesis, Learning
from nightwatch_core.models.value import Value

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
        """The failing line as evidence."""
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
        )


def quoted(path: str, line: int, text: str, note: str) -> Evidence:
    """A line that was read, as evidence."""
    return Evidence(path=path, line=line, quote=text.strip()[:500], note=note)


def hypothesis(statement: str, because: str, standing: Standing = "open") -> Hypothesis:
    """Make an explanation, left open where nothing else is said."""
    return Hypothesis(statement=statement, because=because, standing=standing)
