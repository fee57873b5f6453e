"""Words for what was run of a fix before anybody is asked to read it, and what came of it."""

from typing import Literal

from nightwatch_core.models.value import Value

Outcome = Literal["passed", "failed", "not run"]
NotRun = Literal[
    "", "switched off", "no sandbox", "no tests", "not prepared", "no time", "enough", "trouble"
]  # "enough": so many fixes were tried that night that this one waits


class Check(Value):
    """One thing that was looked at: on the base, then with the fix."""

    name: str  # syntax | imports | lint | types | tests
    outcome: Outcome
    text: str = ""  # what came of it, for people
    command: str = ""
    output: str = ""  # the end of what it printed, where it failed
    seconds: float = 0.0


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


def not_run(kind: NotRun, text: str) -> GateResult:
    """Say that nothing was run, and why."""
    return GateResult(outcome="not run", kind=kind, text=text)
