"""Sections and blocks: what issues, drafts and reports show, in one form for every rendering.

Texts here hold no control or invisible characters, but are otherwise as hostile as they came:
each rendering escapes them for its own format.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Any, Literal, TypeVar

from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.report import Status
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import MORE, block, line
from nightwatch_core.text.markers import Permalinks
from nightwatch_core.text.plain_text import CutList, data_table

B = TypeVar("B", bound=CutList[Any])
T = TypeVar("T")
Standing = Literal["calm", "good", "degraded", "failed"]

# Characters of one text.
NAME, TITLE, TEXT, LONG = 120, 200, 300, 500
CAUSE, MESSAGE, TRACE, QUOTE, EDIT = 6_000, 800, 8_000, 2_000, 30_000
CODE_LINE = 400
DIFF_LINES = 300  # a side; keeps the comparison of hostile texts short


class Limits(Value):
    """Limits of a rendering: items of each list, and the kinds of sections left out."""

    rows: int = 200
    triage: int = 200  # errors judged at first sight
    findings: int = 200
    reasons: int = 40  # why groups were dropped
    examples: int = 25  # of a reason
    lines: int = 50
    changes: int = 50  # of a kind, since the night before
    common: int = 20  # patterns, and ignore rules to add
    facts: int = 12  # of one finding, like all below
    evidence: int = 12
    files: int = 10  # of a fix
    code_lines: int = 1_000  # of one excerpt
    suspects: int = 3
    texts: int = 10
    handovers: Literal["all", "alone", "none"] = "all"  # errors without a cause shown in detail
    paths: int = 10  # where the report lies
    standing: bool = True  # earlier proposals without news
    known: bool = True  # errors without news shown in detail: else they are a row of the table
    advice: bool = True  # what whoever runs it might set, and commands to type there
    good_health: bool = True  # of the services, where nobody has to do anything
    without: frozenset[str] = frozenset()
    without_if_known: frozenset[str] = frozenset()


_LIMITS = data_table(__package__, "limits.toml", dict[str, Limits])
FULL, BRIEF = _LIMITS["full"], _LIMITS["brief"]

# Code: quoted lines with numbers, fixes as diffs.

HUNK = "@@"  # begins the line that says which lines follow


class CodeLine(Value):
    """A line of code; `mark` is "+", "-", " ", "@@" (which lines follow) or "…" in a diff."""

    text: str
    number: int | None = None
    mark: str = ""
    is_failing: bool = False


class Excerpt(Value):
    """Code at a place: quoted evidence, or what a fix does to a file."""

    place: str
    remark: str = ""  # "verified", or what is done to the file
    note: str = ""
    address: str = ""  # of the place, on the web
    lines: tuple[CodeLine, ...] = ()
    verified: bool = False


def numbered(rows: Iterable[str], first: int) -> tuple[CodeLine, ...]:
    """Return lines of code with their numbers."""
    return tuple(CodeLine(text=row, number=number) for number, row in enumerate(rows, first))


def diff_excerpt(file: ChangedFile, note: str = "", most: int = 2 * DIFF_LINES) -> Excerpt:
    """Return a file's diff, at most `most` lines.

    >>> [l.mark + l.text for l in diff_excerpt(ChangedFile(path="a.py", diff=" a\\n-b\\n+c")).lines]
    [' a', '-b', '+c']
    """
    rows = block(file.diff, EDIT, code=True).split("\n") if file.diff else []
    lines = []
    for row in rows[:most]:
        text = row if len(row) <= CODE_LINE else row[:CODE_LINE] + MORE
        mark = HUNK if text.startswith(HUNK) else text[:1]
        lines.append(CodeLine(text=text[len(mark) :], mark=mark or " "))
    if len(rows) > most:
        lines.append(CodeLine(text=f" {len(rows) - most:,} more lines", mark=MORE))
    return Excerpt(
        place=line(file.path, TITLE),
        remark=f"+{file.added} -{file.removed}",
        note=line(note, LONG),
        lines=tuple(lines),
    )


def code_text(lines: tuple[CodeLine, ...]) -> str:
    """Return lines for a plain code block: numbered, or marked as a diff.

    >>> code_text((CodeLine(text="a", number=9), CodeLine(text="b", number=10)))
    ' 9  a\\n10  b'
    """
    width = max((len(str(item.number)) for item in lines if item.number is not None), default=0)
    return "\n".join(
        item.mark + item.text
        if item.number is None
        else f"{item.number:>{width}}{'>' if item.is_failing else ' '} {item.text}"
        for item in lines
    )


# Blocks.


class Fact(Value):
    """A name and what it is."""

    name: str
    text: str


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


class Entry(Value):
    """A headed line: a failure, a pattern, a suggestion, a reject, why errors were dropped."""

    head: str
    text: str = ""
    small: str = ""
    address: str = ""
    more: tuple[str, ...] = ()  # further small lines


class Entries(CutList[Entry]):
    """Headed lines."""


class Publication(Value):
    """Something published, or why not; `address` is an http(s) address, a path, or empty."""

    text: str
    address: str = ""
    note: str = ""
    state: Literal["published", "waits", "failed", "skipped"] = "published"


class Publications(CutList[Publication]):
    """Published and skipped proposals."""


class Excerpts(CutList[Excerpt]):
    """Pieces of code."""


class Table(Value):
    """Headings, and rows of as many cells; the first cell names its row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Row(Value):
    """A line of the table of errors; `anchor` names the finding."""

    rank: int
    anchor: str
    error: str  # class and message
    where: str
    count: int
    cause: str
    confidence: Confidence
    done: str
    known: bool = False
    is_new: bool = True  # something about it is new tonight
    unknown: bool = False  # cause unknown, and so nothing to be sure of

    @property
    def sure(self) -> str:
        """Return the confidence in the cause in one word."""
        return "–" if self.unknown else self.confidence


class ErrorTable(CutList[Row]):
    """All errors, a line each."""


class Finding(Value):
    """Everything about one analysis."""

    rank: int
    anchor: str
    title: str
    error: str  # class and message; empty where they are the title
    where: str
    seen: str
    glance: tuple[Fact, ...] = ()  # since when, whose change, what to do first
    confidence: Confidence
    unknown: bool = False  # cause unknown, and so nothing to be sure of
    gist: str = ""  # what is known then, in a line
    fold: str = ""  # under which its sections are folded, where a rendering can
    sureness: str = ""  # the confidence in words, with that in what should happen instead
    doubt: str = ""  # why the confidence is lower than the answer said
    proved: str = ""  # how often as sure a finding proved right here
    hourly: tuple[int, ...] = ()
    known: str = ""
    news: str = ""  # why a known error was looked at again, or is no news
    team: str = ""  # what the team said about it at the source
    regression: bool = False
    is_new: bool = True  # something of its cause is new, and no finding above tells that cause
    links: Permalinks = Permalinks()  # addresses of its code
    publications: tuple[Publication, ...] = ()
    sections: tuple["Section", ...] = ()


class Findings(CutList[Finding]):
    """Analyses, in the order of the table."""


Block = (
    Facts
    | Paragraphs
    | Verbatim
    | Command
    | Bullets
    | Entries
    | Publications
    | Excerpts
    | Table
    | ErrorTable
    | Findings
)


class Section(Value):
    """Blocks under a title; `kind` tells sections apart, whatever their titles say."""

    kind: str
    title: str = ""
    blocks: tuple[Block, ...] = ()
    folded: bool = False  # details, where a rendering can fold


def section(
    kind: str, title: str, *blocks: Block | Iterable[Block], folded: bool = False
) -> Section:
    """Make a section of blocks, and of as many blocks as something made."""
    parts = ((block,) if isinstance(block, Value) else block for block in blocks)
    return Section(kind=kind, title=title, blocks=tuple(chain(*parts)), folded=folded)


def cut(kind: type[B], items: Iterable[object], limit: int, total: int = 0) -> tuple[B, ...]:
    """Make a block of the first `limit` items of `total`; none where there is no item."""
    every = tuple(items)
    more = max(0, (total or len(every)) - limit)
    return (kind(items=every[:limit], more=more),) if every else ()


def bullets(
    kind: str, title: str, texts: Iterable[str], limit: int, *, folded: bool = False
) -> Section:
    """Make a section of a list of texts, each on one line; empty ones are left out."""
    rows = filter(None, (line(text, LONG) for text in texts))
    return section(kind, title, cut(Bullets, rows, limit), folded=folded)


class ReportView(Value):
    """One night as people read it, in reading order."""

    title: str  # applications and night
    status: Status
    standing: Standing
    headline: str
    source: str = ""  # which code was read
    warnings: tuple[str, ...] = ()
    banner: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the table of errors."""
        return self._all(ErrorTable)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings that are shown."""
        return self._all(Findings)

    def section(self, kind: str) -> Section:
        """Return the section of that kind; an empty one where there is none."""
        return next((item for item in self.sections if item.kind == kind), Section(kind=kind))

    def _all(self, kind: type[CutList[T]]) -> tuple[T, ...]:
        listed = (block for section in self.sections for block in section.blocks)
        return tuple(chain(*(block.items for block in listed if isinstance(block, kind))))
