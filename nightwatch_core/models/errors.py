"""Words for what production did: occurrences, error groups, traces, cases."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Literal, Self

from nightwatch_core.models.code import Commit
from nightwatch_core.models.value import Value

# What a team said about an error where its source keeps such a list.

TriageState = Literal["", "ignored", "resolved", "regressed"]
# What a state is to the reader of a report, the most telling one first.
STATE_TEXTS: dict[TriageState, str] = {
    "regressed": "a regression: resolved in {inbox}, and back",
    "resolved": "resolved in {inbox} since it was last seen",
    "ignored": "ignored in {inbox}",
    "": "",
}
_ASSIGNED = "assigned to "
_SEPARATOR = "; "
_SHOWN_ASSIGNEES = 3


class Triage(Value):
    """A group's state in its team's list, and who looks after it; untrusted text: escape it."""

    state: TriageState = ""
    assignee: str = ""
    service: str = ""  # that keeps the list, for people: "New Relic"
    inbox: str = ""  # what the list is called there: "Errors Inbox"

    @property
    def state_text(self) -> str:
        """Return the state for people; empty where there is none.

        >>> Triage(state="ignored", service="Acme", inbox="Issues").state_text
        "ignored in Acme's Issues"
        """
        return STATE_TEXTS[self.state].format(inbox=f"{self.service}'s {self.inbox}")


def triage_texts(triages: Iterable[Triage]) -> tuple[str, str]:
    """Say where the team said something, and what: the most telling state, then who has them."""
    given = tuple(triages)
    inbox = next((triage.inbox for triage in given if triage.inbox), "")
    most_telling = sorted(given, key=lambda triage: list(STATE_TEXTS).index(triage.state))
    state = most_telling[0].state_text if given else ""
    names = tuple(dict.fromkeys(triage.assignee for triage in given if triage.assignee))
    more = len(names) - _SHOWN_ASSIGNEES
    whom = ", ".join(names[:_SHOWN_ASSIGNEES]) + (f" and {more} more" if more > 0 else "")
    return inbox, _SEPARATOR.join(filter(None, (state, f"{_ASSIGNED}{whom}" if names else "")))


# Words for stack traces.

SourceFit = Literal["unknown", "same", "moved", "differs"]


class Frame(Value):
    """One line of a stack trace. `path` and `line` as printed; `repo_path` once mapped."""

    path: str
    line: int | None = None
    column: int | None = None  # from 1, where the language prints one
    function: str = ""
    module: str = ""  # package or class where the language prints one
    in_app: bool = False
    code: str = ""  # the source line, where the record holds it
    before: tuple[str, ...] = ()  # the lines above it, as the record holds them
    after: tuple[str, ...] = ()  # those below it
    fit: SourceFit = "unknown"  # whether the record's source is that of the commit that was read
    repo_path: str = ""  # path in the repository; empty until mapped, or not ours

    @property
    def place(self) -> str:
        """Return `path:line`, in the repository where known.

        >>> Frame(path="/srv/app/a.py", line=3, repo_path="app/a.py").place
        'app/a.py:3'
        """
        path = self.repo_path or self.path
        return f"{path}:{self.line}" if self.line else path


class ExceptionLink(Value):
    """One exception of a chain: the one thrown last, or one that caused it."""

    error_class: str = ""
    message: str = ""
    frames: tuple[Frame, ...] = ()  # innermost first

    def with_frames(self, frames: Iterable[Frame]) -> "ExceptionLink":
        """Return the exception with these frames instead of its own."""
        return self.model_copy(update={"frames": tuple(frames)})


class Trace(Value):
    """A parsed stack trace. `links` run from the exception that was reported to its root cause."""

    language: str = ""
    links: tuple[ExceptionLink, ...] = ()
    raw: str = ""
    release: str = ""
    suspected: tuple[str, ...] = ()  # commits that the source suspects, perhaps shortened

    @property
    def root(self) -> ExceptionLink:
        """Return the exception that started it all."""
        return self.links[-1] if self.links else ExceptionLink()

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Return frames of the root exception, then of those that wrapped it; innermost first."""
        return tuple(frame for link in reversed(self.links) for frame in link.frames)

    @property
    def in_app(self) -> tuple[Frame, ...]:
        """Return frames of the application's own code, innermost first."""
        return tuple(frame for frame in self.frames if frame.in_app)

    @property
    def top(self) -> Frame | None:
        """Return the innermost in-app frame: the usual suspect."""
        return next(iter(self.in_app), None)

    def with_each(self, change: Callable[[Frame], Frame]) -> "Trace":
        """Return the trace with every frame changed."""
        links = tuple(link.with_frames(map(change, link.frames)) for link in self.links)
        return self.model_copy(update={"links": links})


MOST_HOURS = 168  # of counts by the hour
MOST_HOSTS = 20  # of one group
MOST_MESSAGES, MESSAGE_LENGTH = 8, 300  # of one group that has several; characters
LONGEST_WINDOW = timedelta(days=7)  # that a live source is asked for, to catch up


class Window(Value):
    """A stretch of time that was looked at; `since` included, `until` excluded, both aware."""

    since: datetime
    until: datetime

    @property
    def hours(self) -> range:
        """Return clock hours (UTC, counted from 1970) that the window's hourly counts stand for.

        The last 168 of a longer window; empty where the window is.

        >>> from datetime import UTC
        >>> begin = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
        >>> len(Window(since=begin, until=begin.replace(day=4, hour=9, minute=0)).hours)
        24
        """
        first, end = int(self.since.timestamp()) // 3_600, -int(-self.until.timestamp() // 3_600)
        return range(max(first, end - MOST_HOURS), end)

    @classmethod
    def live(
        cls, lookback: timedelta | None, now: datetime, watermark: datetime | None, lag: timedelta
    ) -> Self:
        """Return the window since the watermark, or of `lookback` (a day), until `lag` before now.

        A watermark from the future is a wrong clock's, and is not used; one that is older than a
        week brings a week.
        """
        until = now - lag
        if lookback is None and watermark is not None and watermark <= now:
            since = max(watermark, until - LONGEST_WINDOW)
            return cls(since=since, until=max(until, since))
        return cls(since=until - (lookback or timedelta(days=1)), until=until)


class Occurrence(Value):
    """One record of an error source, before grouping: an event, or a count the source made."""

    error_class: str
    message: str = ""
    transaction: str = ""
    stacktrace: str = ""
    app: str = ""
    release: str = ""
    commit: str = ""  # the sha that the record names, perhaps shortened
    host: str = ""
    user: str = ""
    users: int | None = None  # a count the source made; None where single users are named
    count: int = 1
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    address: str = ""  # path of the request
    event: str = ""  # its id at the source
    place: str = ""  # where the record stood, "export.jsonl:17"
    failed_in: str = ""  # the function that failed, where no transaction is known


class ErrorGroup(Value):
    """Occurrences of one failure in one transaction, as the source reports them.

    `fingerprint` (fingerprint.py) names the group for ever; frames never enter it, because traces
    come and go between nights, unless no transaction is known: then the failing function stands
    for it. `users` is None where the source does not know users.
    """

    fingerprint: str
    source: str
    app: str = ""
    error_class: str
    transaction: str = ""
    message: str = ""
    occurrences: int = 1
    users: int | None = None
    hosts: tuple[str, ...] = ()
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    release: str = ""  # newest release seen failing
    releases: tuple[str, ...] = ()  # every release seen failing, oldest first
    commit: str = ""  # the sha that records of `release` name besides, perhaps shortened
    hourly: tuple[int, ...] = ()  # occurrences per hour of the window, oldest first
    messages: tuple[tuple[str, int], ...] = ()  # where it has several: the most frequent, counted
    triage: Triage = Triage()  # what the team said at the source
    regressed_at: datetime | None = None  # when it came back; aware, and only where triage says so

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names it is known by."""
        return (self.fingerprint,)

    @property
    def title(self) -> str:
        """Return a title for people.

        >>> ErrorGroup(fingerprint="v1:0", source="file", error_class="KeyError",
        ...            transaction="orders/show").title
        'KeyError in orders/show'
        """
        return f"{self.error_class} in {self.transaction}" if self.transaction else self.error_class

    @property
    def short(self) -> str:
        """Return the title on one line of at most 80 characters, for names of runs.

        >>> ErrorGroup(fingerprint="v1:0", source="file", error_class="E" * 99).short[-2:]
        'E…'
        """
        line = " ".join(self.title.split())
        return line if len(line) <= 80 else f"{line[:79]}…"


def most_frequent(messages: Mapping[str, int], shown: str) -> tuple[tuple[str, int], ...]:
    """Return the `messages` of a group from its counts; none where it has but the one it shows.

    >>> most_frequent({"a": 1, "b": 2}, "a"), most_frequent({"a": 3}, "a")
    ((('b', 2), ('a', 1)), ())
    """
    if set(messages) == {shown[:MESSAGE_LENGTH]}:
        return ()
    ranked = sorted(messages.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ranked[:MOST_MESSAGES])


def occurrences_of(groups: Iterable[ErrorGroup]) -> int:
    """Add up occurrences; what several sources saw counts once, as the one that saw the most says.

    >>> one = ErrorGroup(fingerprint="v1:0", source="a", error_class="E")
    >>> other = one.model_copy(update={"source": "b", "occurrences": 3})
    >>> occurrences_of((one, other, other)), occurrences_of(())
    (6, 0)
    """
    by_source = Counter[str]()
    for group in groups:
        by_source[group.source] += group.occurrences
    return max(by_source.values(), default=0)


class Case(Value):
    """Error groups of one root class that fail in one place and mean one thing."""

    leader: ErrorGroup
    others: tuple[ErrorGroup, ...] = ()
    trace: Trace | None = None
    signature: str = ""  # of class and top frame; an alias, empty without a trace
    commit: Commit | None = None  # the code that failed; None: not known, the night's is read

    @property
    def fingerprint(self) -> str:
        """Return the leader's fingerprint: the name of the case."""
        return self.leader.fingerprint

    @property
    def aliases(self) -> tuple[str, ...]:
        """Return every other name the case may come back under."""
        names = (
            *(group.fingerprint for group in self.others),
            *((self.signature,) if self.signature else ()),
        )
        return tuple(dict.fromkeys(name for name in names if name != self.fingerprint))

    @property
    def groups(self) -> tuple[ErrorGroup, ...]:
        """Return all groups, the leader first."""
        return (self.leader, *self.others)

    @property
    def occurrences(self) -> int:
        """Return occurrences of all groups."""
        return occurrences_of(self.groups)

    @property
    def first_seen(self) -> datetime | None:
        """Return the moment that the first of its groups was first seen."""
        seen = (group.first_seen for group in self.groups if group.first_seen)
        return min(seen, key=datetime.timestamp, default=None)

    @property
    def last_seen(self) -> datetime | None:
        """Return the moment that any of its groups was last seen."""
        seen = (group.last_seen for group in self.groups if group.last_seen)
        return max(seen, key=datetime.timestamp, default=None)

    @property
    def title(self) -> str:
        """Return a title for people."""
        return self.leader.title

    @property
    def regressed(self) -> bool:
        """Tell whether the team had resolved any of its groups, and it came back."""
        return any(group.triage.state == "regressed" for group in self.groups)

    def regressed_after(self, moment: datetime | None) -> bool:
        """Tell whether any of its groups came back later; so it did where a moment is not known."""
        back = [group.regressed_at for group in self.groups if group.triage.state == "regressed"]
        if moment is None or not moment.tzinfo:
            return bool(back)
        return any(at is None or not at.tzinfo or at > moment for at in back)

    @property
    def triage_texts(self) -> tuple[str, str]:
        """Return the team's inbox and its triage text; untrusted text: escape it."""
        return triage_texts(group.triage for group in self.groups)


class Family(Value):
    """Cases that may share a cause: the leader is analysed first, the siblings are told."""

    leader: Case
    siblings: tuple[Case, ...] = ()
    because: str = ""


class DroppedGroup(Value):
    """A group that will not be analysed tonight, and why."""

    group: ErrorGroup
    # By the team or a rule; by how many we take; or by a night that ended before.
    kind: Literal["ignored", "limit", "ended"] = "limit"
    reason: str  # the same for all that were dropped alike
    note: str = ""  # of this one: its place


class Selection(Value):
    """Groups to analyse tonight, best ranked first, and the dropped ones."""

    kept: tuple[ErrorGroup, ...] = ()
    dropped: tuple[DroppedGroup, ...] = ()
    rule_notes: tuple[str, ...] = ()  # ignore rules that do not hold tonight, and why
    is_judged: bool = False  # a batch's severities made the order, not how often they occurred
    earlier: tuple[str, ...] = ()  # fingerprints of kept groups that only earlier nights saw

    @property
    def tonight(self) -> tuple[ErrorGroup, ...]:
        """Return every group of the window, kept or not."""
        seen = (group for group in self.kept if group.fingerprint not in self.earlier)
        return (*seen, *(group.group for group in self.dropped))


class RejectedRecord(Value):
    """A record that could not be read; it is kept in the night's rejects file."""

    place: str  # of the first, where several are counted
    reason: str
    text: str = ""
    count: int = 1  # records of one file that are refused alike


class Fetched(Value):
    """Fetched groups: never "0 errors" if a source failed (that is a `partial`)."""

    groups: tuple[ErrorGroup, ...] = ()
    window: Window
    rejects: tuple[RejectedRecord, ...] = ()
    partial: tuple[str, ...] = ()  # what is missing from the answer, one sentence each
    left_out: tuple[str, ...] = ()  # what was not taken, and is not missed: one sentence each
    traffic: int | None = None  # the application's transactions in the window; None: not known
    whole: bool = True  # false: reading the window again may bring errors that are missing now


# Words for what files of errors hold, before any night reads them.


class FileContents(Value):
    """Records understood in files, and those that were not, with reasons."""

    shapes: tuple[tuple[str, int], ...] = ()  # names of shapes, with records; most records first
    records: int = 0  # that are errors
    harmless: int = 0  # that are none
    left_out: tuple[tuple[str, int], ...] = ()  # why some of those may matter all the same
    rejected: int = 0  # that could not be read
    rejects: tuple[RejectedRecord, ...] = ()  # the first of those
    missing: tuple[str, ...] = ()  # what else could not be read, a sentence each
    window: Window | None = None  # of the records; None: they say no time


class ReadingProgress(Value):
    """Progress of reading files."""

    file: str = ""  # the one being read
    bytes: int = 0  # of the files on disk
    of_bytes: int = 0
    records: int = 0
