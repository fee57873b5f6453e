"""Whether a test reproduces what production raised, and what becomes of it with a fix.

It counts where it is red on the commit that failed because of the same class in the same frames,
twice, as its recorder saw it: nothing that a test prints counts.
"""

from typing import Literal, NamedTuple

from nightwatch_core.models.answer import Edit
from nightwatch_core.models.gate import Check, Outcome, Reproduction
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.proof.candidate import Candidate, refused
from nightwatch_core.proof.depth import least_places
from nightwatch_core.proof.production import entered, frames_told
from nightwatch_core.proof.stage import Shown, Stage

Fate = Literal["green", "crash", "red", "flaky"]
_OUTCOMES: dict[Fate, Outcome] = {"green": "passed", "crash": "failed"}
_WORDS: dict[Fate, str] = {
    "green": "raises production's error without the fix, and is green with it",
    "crash": "the crash is still there: {error} in {place}",
    "flaky": "is red and green with the fix",
    "red": "is red with the fix, but does not show that the crash is still there",
}


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
    facts = shown.facts if shown else ()
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
        red=shown.around(shown.crash.error_class),
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
    runs = [stage.on_base(test.path, test.text, changes)]
    if not runs[0].is_green:
        runs.append(stage.on_base(test.path, test.text, changes))
    least = least_places(stage.crash, fix, stage.briefing.failing.read_file)
    fate, shown = _fate(stage, test, runs, least), runs[-1]
    words = _WORDS[fate].format(error=stage.crash.error_class, place=_top(stage))
    if fate == "red" and shown.reading.run.ended != "exited":
        words = f"does not come to its end with the fix: it {shown.reading.run.ended}"
    check = Check(
        name="reproduction",
        outcome=_OUTCOMES.get(fate, "not run"),
        text=words if fate == "crash" else f"{test.path}: {words}",
        command=stage.runner.name,
        output="" if fate == "green" else shown.output,
        seconds=round(stage.seconds - before, 1),
    )
    return WithFix(fate, check, shown.output)


def _fate(stage: Stage, test: Candidate, runs: list[Shown], least: int) -> Fate:
    """What becomes of a test, told of one green run, or of two; `least` is what it has to enter."""
    crashes = [one.crash for one in runs if one.crash]
    if runs[-1].is_green:
        return "green" if len(runs) == 1 else "flaky"
    if len(crashes) == len(runs) and all(entered(one, test.path) >= least for one in crashes):
        return "crash"
    return "green" if not crashes and _is_green_in_part(stage, test, runs[-1]) else "red"


def _is_green_in_part(stage: Stage, test: Candidate, fixed: Shown) -> bool:
    """Whether what the crash made red is green, and what else is red is so without the fix.

    A test of several cases may have some that cannot be run here at all.
    """
    if fixed.reading.run.ended != "exited" or len(fixed.reading.failed) >= (fixed.reading.ran or 0):
        return False
    before = stage.on_base(test.path, test.text)
    return before.crash is not None and fixed.reading.failed < before.reading.failed


def _top(stage: Stage) -> str:
    place = stage.crash.places[0]
    return " ".join((place.path, *sorted(place.functions)))
