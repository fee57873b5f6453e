"""What a report is made of: sections of blocks, which every rendering shows in the same order.

Texts here hold no control or invisible characters, but are otherwise as hostile as they came:
each rendering escapes them for its own format.
"""

from collections.abc import Iterator
from typing import Literal

from nightwatch_core.models.analysis import Confidence
from nightwatch_core.models.report import Status
from nightwatch_core.models.value import Value
from nightwatch_core.report.error_rows import Row
from nightwatch_core.report.excerpts import Excerpt
from nightwatch_core.report.publications import Publication
from nightwatch_core.text.units import NOT_SHOWN

Standing = Literal["calm", "good", "degraded", "failed"]


class Cut(Value):
    """A list of which `more` items are not shown."""

    more: int = 0

    @property
    def rest(self) -> str:
        """The line that ends a cut list; empty where nothing is missing."""
        return NOT_SHOWN.format(more=self.more) if self.more else ""


class Fact(Value):
    """A name and what it is."""

    name: str
    text: str


class Entry(Value):
    """A headed line: a failure, a pattern, a suggestion, a reject, an item of ours."""

    head: str
    text: str = ""
    small: str = ""
    address: str = ""
    more: tuple[str, ...] = ()  # further small lines


class DroppedError(Value):
    """A group that was not analysed."""

    error: str
    count: int
    fingerprint: str


class DropReason(Cut):
    """Groups that were dropped for one reason."""

    reason: str
    groups: int
    count: int  # occurrences
    items: tuple[DroppedError, ...] = ()


class Facts(Value):
    """Facts in a list, and sentences that say why."""

    items: tuple[Fact, ...]
    because: tuple[str, ...] = ()


class Paragraphs(Value):
    """Prose, a paragraph a line; `remark` is set apart below it."""

    text: str
    remark: str = ""


class Verbatim(Value):
    """Lines as they came; folded under `name` where it has one."""

    text: str
    name: str = ""


class Command(Value):
    """A command to type, and what it does."""

    name: str
    text: str


class Bullets(Cut):
    """Sentences in a list."""

    items: tuple[str, ...]


class Paths(Cut):
    """Files, under a name where they have one."""

    items: tuple[str, ...]
    name: str = ""


class Entries(Cut):
    """Headed lines."""

    items: tuple[Entry, ...]


class Publications(Cut):
    """What was published, and what was not."""

    items: tuple[Publication, ...]


class Excerpts(Cut):
    """Pieces of code."""

    items: tuple[Excerpt, ...]


class Table(Value):
    """Headings, and rows of as many cells; the first cell names its row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class ErrorTable(Cut):
    """All errors, a line each."""

    items: tuple[Row, ...]


class DropReasons(Cut):
    """Why groups were not analysed."""

    items: tuple[DropReason, ...]


class Finding(Value):
    """Everything about one analysis."""

    rank: int
    anchor: str
    title: str
    error: str
    where: str
    seen: str
    confidence: Confidence
    proved: str = ""  # how often as sure a finding proved right here
    hourly: tuple[int, ...] = ()
    known: str = ""
    news: str = ""  # why a known error was looked at again, or is no news
    team: str = ""  # what the team said about it at the source
    regression: bool = False
    publications: tuple[Publication, ...] = ()
    sections: tuple["Section", ...] = ()


class Findings(Cut):
    """Analyses, in the order of the table."""

    items: tuple[Finding, ...]


Block = (
    Facts
    | Paragraphs
    | Verbatim
    | Command
    | Bullets
    | Paths
    | Entries
    | Publications
    | Excerpts
    | Table
    | ErrorTable
    | DropReasons
    | Findings
)


class Section(Value):
    """Blocks under a title; `kind` tells sections apart, whatever their titles say."""

    kind: str
    title: str = ""
    blocks: tuple[Block, ...] = ()
    folded: bool = False  # details, where a rendering can fold


class ReportView(Value):
    """One night as people read it, in reading order."""

    night: str
    status: Status
    standing: Standing
    headline: str
    warnings: tuple[str, ...] = ()
    banner: tuple[str, ...] = ()
    counts: tuple[Fact, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The lines of the table of errors."""
        tables = (block for block in self._blocks() if isinstance(block, ErrorTable))
        return next((table.items for table in tables), ())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that are shown."""
        lists = (block for block in self._blocks() if isinstance(block, Findings))
        return next((each.items for each in lists), ())

    @property
    def elsewhere(self) -> tuple[Publication, ...]:
        """What was published, or not, for errors without a finding."""
        lists = (block for block in self._blocks() if isinstance(block, Publications))
        return next((each.items for each in lists), ())

    def section(self, kind: str) -> Section:
        """The section of that kind; an empty one where there is none."""
        return next((each for each in self.sections if each.kind == kind), Section(kind=kind))

    def _blocks(self) -> Iterator[Block]:
        return (block for section in self.sections for block in section.blocks)
