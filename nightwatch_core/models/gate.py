"""Words for what was run of a fix before anybody is asked to read it, and what came of it."""

from typing import Literal

from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.usage import Usage
from nightwatch_core.models.value import Value

Outcome = Literal["passed", "failed", "not run"]
NotRun = Literal[
    "", "switched off", "no sandbox", "no tests", "not prepared", "no time", "enough", "trouble"
]  # "enough": so many fixes were tried that night that this one waits


class Check(Value):
    """One thing that was looked at: on the base, then with the fix."""

    name: str  # syntax | imports | lint | types | tests | reproduction
    outcome: Outcome
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
    by: Literal["", "search", "model"] = ""  # who found it; "search": without a model
    test: tuple[Edit, ...] = ()  # what puts the test into the tree of the base
    name: str = ""  # of the test, as its runner takes it
    error_class: str = ""
    frames: tuple[str, ...] = ()  # production's own frames that it raises through, innermost first
    red: str = ""  # the end of what it printed on the commit that failed
    green: str = ""  # and with the fix
    facts: tuple[RuntimeFact, ...] = ()
    tries: int = 0
    seconds: float = 0.0


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
    accepted_when: str = ""  # a test's file, or the name of a check
    outcome: Literal["passed", "failed", "not tried"] = "not tried"
    because: str = ""  # what it did not pass; or what could not be run for one that did
    edits: tuple[Edit, ...] = ()  # what is different from the base after it, earlier steps included


class Story(Value):
    """A fix that was to be made in several steps, and how far that came."""

    outcome: Literal["whole", "part", "not made"]  # of the first two the steps are published
    why: str = ""  # for people: why it was to be made in several
    plan: str = ""  # for people: what it was reckoned to take before it began
    because: str = ""  # for people: where it stopped, and why
    steps: tuple[Step, ...] = ()

    @property
    def missing(self) -> tuple[Step, ...]:
        """The steps that did not pass, or were not tried."""
        return tuple(one for one in self.steps if one.outcome != "passed")


class GateResult(Value):
    """Whether a fix may be shown, as far as running it tells."""

    outcome: Outcome
    kind: NotRun = ""  # why nothing was run
    text: str = ""  # for people: what failed, or why nothing was run and what to set
    checks: tuple[Check, ...] = ()
    preexisting: tuple[str, ...] = ()  # tests that are red without the fix as well
    flaky: tuple[str, ...] = ()  # tests that were red and green on the same code
    seconds: float = 0.0
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
