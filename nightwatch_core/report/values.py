"""What every rendering of a report shows: clean, bounded text, ready to be escaped.

Strings here hold no control or invisible characters, but are otherwise as hostile as they came:
each rendering escapes them for its own format.
"""

from typing import Literal

from nightwatch_core.models.analysis import Confidence
from nightwatch_core.models.report import Status
from nightwatch_core.models.value import Value
from nightwatch_core.report.scoreboard_text import Table
from nightwatch_core.text.words import Some

Standing = Literal["calm", "good", "degraded", "failed"]


class Limits(Value):
    """How much of each list is shown; the rest is in report.json."""

    rows: int = 200
    cards: int = 200
    reasons: int = 40
    examples: int = 25
    lines: int = 50
    common: int = 20  # patterns, and ignore rules to add


FULL = Limits()
BRIEF = Limits(rows=25, cards=10, reasons=8, examples=2, lines=5, common=3)


class Fact(Value):
    """A name and what it is."""

    name: str
    text: str


class CodeLine(Value):
    """A line of code; `mark` is "+", "-", " " or "…" (lines left out) in a diff."""

    text: str
    number: int | None = None
    mark: str = ""


class Snippet(Value):
    """Evidence: quoted lines and what they show."""

    place: str
    lines: tuple[CodeLine, ...] = ()
    note: str = ""
    verified: bool = False


class Diff(Value):
    """What a fix does to one file."""

    path: str
    action: str
    description: str = ""
    lines: tuple[CodeLine, ...] = ()


class Done(Value):
    """Something published, or why not; `address` is an http(s) address, a path, or empty."""

    text: str
    address: str = ""
    note: str = ""
    ok: bool = True


class Row(Value):
    """A line of the table of errors; `anchor` names the card."""

    rank: int
    anchor: str
    error: str
    where: str
    count: int
    cause: str
    confidence: Confidence
    done: str
    known: bool = False


class Card(Value):
    """Everything about one analysis."""

    rank: int
    anchor: str
    title: str
    error: str
    where: str
    facts: tuple[Fact, ...]
    also: tuple[str, ...] = ()  # other groups of the case
    hourly: tuple[int, ...] = ()
    message: str = ""
    known: str = ""
    news: str = ""  # why a known error was looked at again, or is no news
    team: str = ""  # what the team said about it at the source
    regression: bool = False
    cause: str
    confidence: Confidence
    proved: str = ""  # how often as sure a finding proved right here
    because: tuple[str, ...] = ()
    ending: str = ""
    evidence: Some[Snippet] = Some()
    fix: Some[Diff] = Some()
    hypotheses: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    done: tuple[Done, ...] = ()
    how: tuple[Fact, ...] = ()
    trace: str = ""
    again: str = ""  # the command that runs this error again
    capture: str = ""  # the command that keeps what was learned; empty: nothing was published


class DroppedError(Value):
    """A group that was not analysed."""

    error: str
    count: int
    fingerprint: str


class Bunch(Value):
    """Groups dropped for one reason."""

    reason: str
    groups: int
    count: int
    examples: Some[DroppedError]


class Line(Value):
    """A headed line of a list: a failure, a pattern, a suggestion, a reject."""

    head: str
    text: str = ""
    small: str = ""
    address: str = ""
    more: tuple[str, ...] = ()  # further small lines


class Listing(Value):
    """Names under a headline."""

    name: str
    items: Some[str]


class Scored(Value):
    """How right earlier analyses proved."""

    table: Table
    sentences: tuple[str, ...]


class ReportView(Value):
    """One night as people read it, in reading order."""

    night: str
    status: Status
    standing: Standing
    headline: str
    warnings: tuple[str, ...] = ()
    banner: tuple[str, ...] = ()
    counts: tuple[Fact, ...] = ()
    rows: Some[Row] = Some()
    cards: Some[Card] = Some()
    failures: Some[Line] = Some()
    dropped: Some[Bunch] = Some()
    dropped_groups: int = 0
    elsewhere: Some[Done] = Some()  # published or skipped for errors without a card
    followed: Some[Line] = Some()  # what tonight brought for earlier proposals
    outcomes: Some[Line] = Some()  # the others
    patterns: Some[Line] = Some()
    suggestions: Some[Line] = Some()
    rejects: Some[Line] = Some()
    rejected: int = 0
    complaints: Some[str] = Some()
    scored: Scored | None = None  # None: nothing is decided yet
    learned: str = ""
    listings: tuple[Listing, ...] = ()  # lessons that went stale or to the archive
    capture: str = ""  # the first card's command, and how many more there are
    spent: str = ""
    code_cache: str = ""  # what it did; empty where the code was local
    facts: tuple[Fact, ...] = ()
    files: tuple[str, ...] = ()
    again: str = ""
