"""Whether a test reproduces what production raised, and what becomes of it with a fix.

It counts where it is red on the commit that failed because of the same class in the same frames,
twice, as its recorder saw it: nothing that a test prints counts.
"""

from typing import Literal, NamedTuple

from nightwatch_core.gate.limits import OUTPUT_CHARACTERS
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.gate import Check, Outcome, Reproduction
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.proof.candidate import Candidate, refused
from nightwatch_core.proof.depth import least_places
from nightwatch_core.proof.production import entered, frames_told
from nightwatch_core.proof.stage import Shown, Stage

Fate = Literal["green", "crash", "red", "flaky"]
_OUTCOMES: dict[Fate, Outcome] = {"green": "passed", "crash": "failed"}


class Tried(NamedTuple):
    """What came of running a test on the commit that failed."""

    reproduction: Reproduction
    shown: Shown | None = None  # the last run


def tried(stage: Stage, test: Candidate, by: Literal["search", "model"]) -> Tried:
    """Run a test on the commit that failed; raises `GiveUp` where nothing can be run."""
    before = stage.seconds
    if why := refused(test, stage.briefing.failing.paths()):
        return Tried(Reproduction(outcome="not reproduced", because=why, by=by, tries=1))
    why, shown = _observed(stage, test)
    seconds = round(stage.seconds - before, 1)
    facts, red = (shown.facts, shown.output) if shown else ((), "")
    if why or not (shown and shown.crash):
        none = Reproduction(outcome="not reproduced", because=why, by=by, tries=1, facts=facts)
        return Tried(none.model_copy(update={"seconds": seconds}), shown)
    reproduction = Reproduction(
        outcome="reproduced",
        by=by,
        test=(test.edit,),
        name=test.path,
        error_class=shown.crash.error_class,
        frames=frames_told(stage.crash, shown.crash, test.path),
        red=red[-OUTPUT_CHARACTERS:],
        facts=facts,
        tries=1,
        seconds=seconds,
    )
    return Tried(reproduction, shown)


def _observed(stage: Stage, test: Candidate) -> tuple[str, Shown | None]:
    """Why the test does not reproduce, and what its last run showed."""
    if test.asserting:
        first = stage.on_failing(test.path, test.asserting)
        if first.crash is None:
            return first.unlike, first
    shown = stage.on_failing(test.path, test.text)
    if shown.crash is None:
        return shown.unlike, shown
    if not shown.is_red:
        return "the crash is raised, but the test is green all the same", shown
    again = shown if test.asserting else stage.on_failing(test.path, test.text)
    if again.crash is None or not again.is_red:
        return "it is flaky: the crash is raised in one of two runs", again
    return "", again


class WithFix(NamedTuple):
    """What became of a test that reproduces, once there is a fix."""

    fate: Fate
    check: Check
    output: str


def with_fix(
    stage: Stage, test: Candidate, fix: tuple[Edit, ...], changes: tuple[FileChange, ...]
) -> WithFix:
    """Run a test that reproduces on the base with a fix; raises `GiveUp` where it cannot be."""
    before = stage.seconds
    shown = stage.on_base(test.path, test.text, changes)
    fate: Fate = "green"
    if not shown.is_green:
        again = stage.on_base(test.path, test.text, changes)
        same = [one.crash for one in (shown, again) if one.crash]
        least = least_places(stage.crash, fix, stage.briefing.failing.read_file)
        is_about_it = all(entered(one, test.path) >= least for one in same)
        fate = "crash" if len(same) == 2 else "flaky" if again.is_green else "red"
        fate, shown = fate if is_about_it else "red", again
    words = {
        "green": "raises production's error without the fix, and is green with it",
        "crash": f"the crash is still there: {stage.crash.error_class} in {_top(stage)}",
        "flaky": "is red and green with the fix",
        "red": "is red with the fix, but does not show that the crash is still there",
    }
    check = Check(
        name="reproduction",
        outcome=_OUTCOMES.get(fate, "not run"),
        text=f"{test.path}: {words[fate]}" if fate != "crash" else words[fate],
        command=stage.runner.name,
        output="" if fate == "green" else shown.output,
        seconds=round(stage.seconds - before, 1),
    )
    return WithFix(fate, check, shown.output)


def _top(stage: Stage) -> str:
    place = stage.crash.places[0]
    return " ".join((place.path, *sorted(place.functions)))
