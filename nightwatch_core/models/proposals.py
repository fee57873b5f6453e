"""Words for what we would like to publish, and what became of it."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from nightwatch_core.models.answer import Edit, Usage
from nightwatch_core.models.code import ChangedFile, numbered
from nightwatch_core.models.value import Value


class FileChange(Value):
    """The text a file shall have; None deletes it. Modes are kept, new files are plain."""

    path: str
    text: str | None


class _Effect(Value):
    """An effect outside, and the errors it is about."""

    kind: str
    key: str  # names the effect for ever: publishing it twice is one issue
    fingerprint: str
    also: tuple[str, ...] = ()  # names of other errors with the same cause


class OpenIssue(_Effect):
    """A new issue."""

    kind: Literal["issue"] = "issue"
    title: str
    body: str
    labels: tuple[str, ...] = ()
    fix: str = ""  # digest of the fix it holds


class Comment(_Effect):
    """A comment on an issue or draft of ours, only where something changed."""

    kind: Literal["comment"] = "comment"
    number: int
    on: Literal["issue", "pull"] = "issue"
    body: str
    fix: str = ""  # digest of the draft's edits, where it is on one
    label: str = ""  # that goes onto it as well


class Reopen(_Effect):
    """A closed issue of ours whose error came back."""

    kind: Literal["reopen"] = "reopen"
    number: int
    body: str


class Close(_Effect):
    """A comment on an open issue whose fix is verified."""

    kind: Literal["close"] = "close"
    number: int
    title: str
    body: str
    closes: bool  # False: it only says that the issue can be closed


class Answer(_Effect):
    """A comment on a draft of ours that people rejected: what became of it."""

    kind: Literal["answer"] = "answer"
    number: int
    body: str


class DraftCommit(Value):
    """One commit of several: its message, and the files that it leaves otherwise."""

    message: str
    changes: tuple[FileChange, ...]


class DraftPull(_Effect):
    """One atomic commit on a deterministic branch, or several, and a draft pull request for it.

    As a patch it has no branch: the text goes onto the issue.
    """

    kind: Literal["pull"] = "pull"
    branch: str
    base: str
    title: str
    body: str
    commit_message: str
    changes: tuple[FileChange, ...]
    commit: str  # the edits were made on this commit's files
    commits: tuple[DraftCommit, ...] = ()  # in order, adding up to `changes`; empty: one commit
    labels: tuple[str, ...] = ()
    fix: str = ""  # digest of its edits
    as_patch: bool = False
    issue: int | None = None  # that carries the patch; None in a dry run, and on this machine


class PullUpdate(_Effect):
    """One more commit on the branch of a draft of ours, and a comment that says what it is."""

    kind: Literal["update"] = "update"
    number: int
    branch: str
    head: str  # our commit that the branch stands at; where it stands elsewhere, nothing is done
    body: str
    commit_message: str
    changes: tuple[FileChange, ...]  # against that commit's files
    commit: str  # of the base that the draft was made on
    fix: str = ""  # digest of all edits of the draft by then


Proposal = Annotated[
    OpenIssue | Comment | Reopen | Close | Answer | DraftPull | PullUpdate,
    Field(discriminator="kind"),
]


SkipCause = Literal[
    "limit", "choice", "settled", "nothing new", "weak", "unknown", "refused", "rejected",
    "no fix", "worth", "",
]  # fmt: skip
# "refused": by us; "rejected": by people; "worth": a review costs more than it may bring


class Skip(Value):
    """Something that was not proposed, and why."""

    fingerprint: str
    title: str
    kind: str  # issue | comment | pull
    reason: str  # for people
    cause: SkipCause = ""  # for control flow


class PublishPlan(Value):
    """Proposals to publish, in order, and skipped ones."""

    proposals: tuple[Proposal, ...] = ()
    skips: tuple[Skip, ...] = ()


PublishStatus = Literal["done", "already there", "refused", "unknown", "held back"]


class Receipt(Value):
    """Result of publishing a proposal."""

    key: str
    kind: str
    fingerprint: str
    also: tuple[str, ...] = ()  # other errors that it counts for
    status: PublishStatus
    title: str = ""
    number: int | None = None
    url: str = ""  # an address or a path
    reason: str = ""
    fix: str = ""  # digest of the fix it proposes
    on: Literal["issue", "pull"] = "issue"  # what was commented on
    barred: bool = False  # refused because of missing permissions, which somebody has to give
    sha: str = ""  # that a draft's branch stands at; empty: not known

    @property
    def name(self) -> str:
        """Return its number with its host's sign; empty without one."""
        return "" if self.number is None else numbered(self.number, self.url)

    @property
    def names(self) -> frozenset[str]:
        """Return every error it counts for."""
        return frozenset((self.fingerprint, *self.also))


def receipt_for(
    proposal: Proposal,
    status: PublishStatus,
    number: int | None = None,
    url: str = "",
    reason: str = "",
) -> Receipt:
    """Say what became of a proposal."""
    return Receipt(
        key=proposal.key,
        kind=proposal.kind,
        fingerprint=proposal.fingerprint,
        also=proposal.also,
        status=status,
        title=getattr(proposal, "title", ""),
        number=proposal.number if isinstance(proposal, Answer) else number,
        url=url,
        reason=reason,
        fix=getattr(proposal, "fix", ""),
        on="pull" if isinstance(proposal, Answer) else getattr(proposal, "on", "issue"),
    )


class Marker(Value):
    """The hidden first line of our items."""

    fingerprint: str
    also: tuple[str, ...] = ()
    key: str
    night: str


class OwnItem(Value):
    """An issue or pull request of ours, as the tracker holds it now."""

    kind: Literal["issue", "pull"]
    number: int
    fingerprint: str
    also: tuple[str, ...] = ()  # other errors it lists: what becomes of it counts for all
    key: str = ""
    title: str = ""
    state: Literal["open", "closed", "merged"] = "open"
    state_reason: str = ""  # completed | not_planned | reopened
    url: str = ""
    branch: str = ""
    labels: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # what reviewers said
    speakers: tuple[str, ...] = ()  # who said each of them; empty: not known
    closed_by: str = ""  # empty: not known
    night: str = ""  # the night that made it
    closed_at: datetime | None = None
    merged_at: datetime | None = None  # of a pull request; None where not known
    edited: bool = False  # a merged pull request held more, or else, than we had proposed
    checks: Literal["passed", "failed", ""] = ""  # of a pull request's head; empty: not known
    as_patch: bool = False  # a draft without a branch; a service's has its issue's number
    fix: str = ""  # digest of a patch's edits

    @property
    def name(self) -> str:
        """Return its number with its host's sign."""
        return numbered(self.number, self.url)

    @property
    def names(self) -> frozenset[str]:
        """Return every error it is about.

        >>> sorted(OwnItem(kind="issue", number=1, fingerprint="v1:a", also=("v1:b",)).names)
        ['v1:a', 'v1:b']
        """
        return frozenset(filter(None, (self.fingerprint, *self.also)))


# Words for what was run of a fix before anybody is asked to read it, and what came of it.

Outcome = Literal["passed", "failed", "not run"]
NotRun = Literal[
    "", "switched off", "no sandbox", "no tests", "not prepared", "no time", "enough", "trouble"
]  # "enough": so many fixes were tried that night that this one waits


class Check(Value):
    """One thing that was looked at: on the base, then with the fix."""

    name: str  # syntax | imports | lint | types | tests | reproduction
    outcome: Outcome | Literal["not finished"]
    text: str = ""  # what came of it, for people
    command: str = ""
    output: str = ""  # the end of what it printed, where it failed
    seconds: float = 0.0


class RuntimeFact(Value):
    """The value of a local in a frame of the application, as a run showed it. Untrusted text."""

    path: str
    line: int
    function: str
    name: str
    value: str


class Reproduction(Value):
    """A test that raises what production raised, or why there is none."""

    outcome: Literal["reproduced", "not reproduced", "not tried"]
    because: str = ""  # for people: why there is none, what was tried
    test: tuple[Edit, ...] = ()  # what puts the test into the tree of the base
    snippet: str = ""  # the code that raises it, where that is no file of tests
    name: str = ""  # of the test, as its runner takes it
    error_class: str = ""
    frames: tuple[str, ...] = ()  # production's own frames that it raises through, innermost first
    red: str = ""  # the end of what it printed on the commit that failed
    green: str = ""  # and with the fix
    facts: tuple[RuntimeFact, ...] = ()
    tries: int = 0
    seconds: float = 0.0

    @property
    def is_mended(self) -> bool:
        """Tell whether its test passes with the fix; one that is red proves nothing."""
        return self.outcome == "reproduced" and bool(self.green)

    @property
    def is_own(self) -> bool:
        """Tell whether it is a test that the fix itself brings."""
        is_other = bool(self.test or self.snippet or self.tries)
        return self.outcome == "reproduced" and not is_other


class Correction(Value):
    """Another attempt at a fix that did not pass, told what running it showed."""

    outcome: Literal["passed", "failed", "not tried"]
    because: str = ""  # for people: what is different now, or why it came to nothing
    first_failed: str = ""  # what the first attempt did not pass
    edits: tuple[Edit, ...] = ()  # that were run, until the fix or `diff` says so
    diff: str = ""  # what was run and did not pass
    output: str = ""  # the end of what they printed, where they failed


class Step(Value):
    """One sub-task of a fix that is made in several, each a commit of its own."""

    title: str
    outcome: Literal["passed", "failed", "not tried"] = "not tried"
    because: str = ""  # what it did not pass; or what could not be run for one that did
    edits: tuple[Edit, ...] = ()  # what is different from the base after it, earlier steps included


class Story(Value):
    """A fix that was to be made in several steps, and how far that came."""

    outcome: Literal["whole", "not made"]  # the steps of a whole one are published
    why: str = ""  # for people: why it was to be made in several
    because: str = ""  # for people: where it stopped, and why
    steps: tuple[Step, ...] = ()


class GateResult(Value):
    """Result of testing a fix."""

    outcome: Outcome
    kind: NotRun = ""  # why nothing was run
    text: str = ""  # what failed, for people; why nothing was run and what to set, for operators
    executing: int | None = 0  # green tests that run a changed line; None: not told apart
    checks: tuple[Check, ...] = ()
    preexisting: tuple[str, ...] = ()  # tests that are red without the fix as well
    silent: tuple[str, ...] = ()  # red tests that the fix brings, and that were never green
    flaky: tuple[str, ...] = ()  # tests that were red and green on the same code
    seconds: float = 0.0
    cpu: float = 0.0  # seconds of processors: of it, its reproduction and its correction
    fix: str = ""  # digest of the edits it is about
    reproduction: Reproduction | None = None  # None: nobody looked for one
    correction: Correction | None = None  # None: none was wanted
    story: Story | None = None  # None: it was to be made in one piece
    edits: tuple[Edit, ...] = ()  # what passed, where it is not the analyst's alone: published
    changes: tuple[ChangedFile, ...] = ()  # what these edits do to the files
    read: tuple[str, ...] = ()  # files that were shown for it, besides the analysis's
    usage: Usage = Usage()  # what asking for all of it took


def not_run(kind: NotRun, text: str) -> GateResult:
    """Say that nothing was run, and why."""
    return GateResult(outcome="not run", kind=kind, text=text)


# Words for running what nobody has read: what is run, within which bounds, and how it ended.

Ended = Literal[
    "exited",
    "took too long",
    "printed too much output",
    "used too much memory",
    "used too much disk space",
]
PATIENCE = 4  # seconds of the clock for one that was asked for, where a machine is busy
NOT_LAID_OUT = 119  # exit code where the tree did not fit into the bounded work folder


class Bounds(Value):
    """Limits of one run; beyond them it is killed, with everything it started."""

    seconds: float = 120  # of one processor, or of a clock that is given a few times as many
    cpu_seconds: int = 120  # of each process
    memory_mb: int = 2_048  # of each process, and twice that of all together
    file_mb: int = 128  # of each file
    work_mb: int = 1_024  # of the work folder as a whole
    temporary_mb: int = 256
    processes: int = 256
    output_kb: int = 256  # that are kept, from the end; sixty-four times that ends the run


class Command(Value):
    """A program and its arguments, run in the root of a tree; no shell reads them."""

    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()  # besides PATH, HOME, LANG, TZ and CI
    links: tuple[tuple[str, str], ...] = ()  # made before it runs where nothing is: name, target
    prepared: str = ""  # the key of a `Prepared`, which is at /env
    bounds: Bounds = Bounds()


class Run(Value):
    """Result of a command."""

    code: int  # negative: the signal that ended it
    ended: Ended = "exited"
    output: str = ""  # both streams, as they came
    seconds: float = 0.0
    shows_crash: bool = False  # production's error was raised, in production's place
    cpu: float | None = None  # seconds of processors, all its processes together; None: unknown

    @property
    def spent(self) -> float:
        """Return the seconds that count against a bound: on a busy machine fewer than the clock's.

        >>> [Run(code=0, seconds=8, cpu=cpu).spent for cpu in (None, 4, 20, 0)]
        [8.0, 4.0, 8.0, 2.0]
        """
        cpu = self.seconds if self.cpu is None else self.cpu
        return min(self.seconds, max(cpu, self.seconds / PATIENCE))

    @property
    def went_well(self) -> bool:
        """Tell whether it came to its end, and says so."""
        return self.ended == "exited" and self.code == 0


class Preparation(Value):
    """Commands that fetch a project's dependencies into /env, from its manifests alone."""

    language: str
    files: tuple[FileChange, ...] = ()  # manifests and lock files: their content names the result
    words: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    whole_tree: bool = False  # it was set by a person, and sees all of the tree
    versions: tuple[str, ...] = ()  # of the interpreter, as ">=3.9": the first that is here
    fetches: bool = True  # whether it needs the network
    build: tuple[str, ...] = ()  # run after it without network, with the tree
    beside: bool = True  # an environment that lies beside the checkout does as well


class Prepared(Value):
    """Dependencies that are here, under a key that a `Command` may name."""

    key: str = ""
    how: Literal["installed", "kept", "beside the checkout"] = "installed"
    interpreter: str = ""  # its name and version, where they are known
    is_asked: bool = True  # whether that is a version that was asked for
    seconds: float = 0.0


# Words for what is lifted into CLAUDE.md.

LearningKind = Literal["problem", "gotcha", "decision"]
Destination = Literal["checkout", "pull"]


class LearningOffer(Value):
    """A learning that was not promoted yet, condensed; untrusted until a person chooses it."""

    number: int  # to choose it by, from 1; 0: refused, CLAUDE.md or another offer says it
    kind: LearningKind
    headline: str
    text: str = ""  # one or two sentences
    source: str  # a task's id, or a short fingerprint
    document: str = ""  # the task's id, or the lesson's whole fingerprint
    on: date | None = None
    digest: str = ""  # names the learning: of what it says, wherever it stands
    duplicate_of: str = ""  # what says the same, shortened; empty: nothing


class Promotion(Value):
    """Result of a promotion."""

    place: str = ""  # an address or a path
    done: bool = False
    text: str = ""  # one sentence for the person who chose
