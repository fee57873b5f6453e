"""Sections and blocks of a report, in the same order in every rendering.

Texts here hold no control or invisible characters, but are otherwise as hostile as they came:
each rendering escapes them for its own format.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Literal, TypeVar

from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.report import Status
from nightwatch_core.models.value import Value
from nightwatch_core.report.excerpts import LONG, Excerpt
from nightwatch_core.report.publications import Publication, Row, SightRow
from nightwatch_core.text.escaping import line
from nightwatch_core.text.markers import Permalinks
from nightwatch_core.text.plain_text import CutList

B = TypeVar("B", bound=CutList[Any])
Standing = Literal["calm", "good", "degraded", "failed"]


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


class DropReason(CutList[DroppedError]):
    """Groups that were dropped for one reason."""

    reason: str
    groups: int
    count: int  # occurrences


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


class Bullets(CutList[str]):
    """Sentences in a list."""


class Paths(CutList[str]):
    """Files, under a name where they have one."""

    name: str = ""


class Entries(CutList[Entry]):
    """Headed lines."""


class Publications(CutList[Publication]):
    """Published and skipped proposals."""


class Excerpts(CutList[Excerpt]):
    """Pieces of code."""


class Table(Value):
    """Headings, and rows of as many cells; the first cell names its row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class ErrorTable(CutList[Row]):
    """All errors, a line each."""


class SightTable(CutList[SightRow]):
    """Errors judged at first sight, a line each."""


class DropReasons(CutList[DropReason]):
    """Why groups were not analysed."""


class Finding(Value):
    """Everything about one analysis."""

    rank: int
    anchor: str
    title: str
    error: str
    where: str
    seen: str
    confidence: Confidence
    unknown: bool = False  # cause unknown, and so nothing to be sure of
    gist: str = ""  # what is known then, in a line
    fold: str = ""  # under which its sections are folded, where a rendering can
    sureness: str = ""  # the same in words, with that in what should happen instead
    doubt: str = ""  # why the confidence is lower than the answer said
    proved: str = ""  # how often as sure a finding proved right here
    hourly: tuple[int, ...] = ()
    known: str = ""
    news: str = ""  # why a known error was looked at again, or is no news
    team: str = ""  # what the team said about it at the source
    regression: bool = False
    source: str = ""  # which application, and which code was read
    address: str = ""  # of its repository on the web
    commit: str = ""  # that was read
    publications: tuple[Publication, ...] = ()
    sections: tuple["Section", ...] = ()

    @property
    def links(self) -> Permalinks:
        """Addresses of its code."""
        return Permalinks(self.address, self.commit)


class Findings(CutList[Finding]):
    """Analyses, in the order of the table."""


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
    | SightTable
    | DropReasons
    | Findings
)


class Section(Value):
    """Blocks under a title; `kind` tells sections apart, whatever their titles say."""

    kind: str
    title: str = ""
    blocks: tuple[Block, ...] = ()
    folded: bool = False  # details, where a rendering can fold


def section(kind: str, title: str, *blocks: Block | Iterable[Block]) -> Section:
    """Make a section of blocks, and of as many blocks as something made."""
    parts = ((block,) if isinstance(block, Value) else block for block in blocks)
    return Section(kind=kind, title=title, blocks=tuple(chain.from_iterable(parts)))


def cut(kind: type[B], items: Iterable[object], limit: int, total: int = 0) -> tuple[B, ...]:
    """Make a block of the first `limit` items; none where there is no item.

    `total` counts the items where not all of them are given.
    """
    every = tuple(items)
    more = max(0, (total or len(every)) - limit)
    return (kind(items=every[:limit], more=more),) if every else ()


def bullets(kind: str, title: str, texts: Iterable[str], limit: int) -> Section:
    """Make a section of a list of texts, each on one line."""
    return section(kind, title, cut(Bullets, (line(text, LONG) for text in texts), limit))


class ReportView(Value):
    """One night as people read it, in reading order."""

    night: str
    status: Status
    standing: Standing
    headline: str
    in_short: str = ""  # for a title; empty where the status says enough
    source: str = ""  # which applications, and which code was read
    warnings: tuple[str, ...] = ()
    banner: tuple[str, ...] = ()
    counts: tuple[Fact, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the table of errors."""
        tables = (block for block in self._blocks() if isinstance(block, ErrorTable))
        return next((table.items for table in tables), ())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings that are shown."""
        lists = (block for block in self._blocks() if isinstance(block, Findings))
        return next((item.items for item in lists), ())

    @property
    def elsewhere(self) -> tuple[Publication, ...]:
        """Return publications and skips of errors without a finding."""
        lists = (block for block in self._blocks() if isinstance(block, Publications))
        return next((item.items for item in lists), ())

    def section(self, kind: str) -> Section:
        """Return the section of that kind; an empty one where there is none."""
        return next((item for item in self.sections if item.kind == kind), Section(kind=kind))

    def _blocks(self) -> Iterator[Block]:
        return (block for section in self.sections for block in section.blocks)
