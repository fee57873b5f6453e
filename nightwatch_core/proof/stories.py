"""A fix over several files, or of which nobody is sure, made in ordered steps.

One question plans them. Each is written in a fresh context, told the notes of those before, and is
run on the base with them before the next is begun; one that does not pass is made anew once. The
first that cannot pass ends it. What passed is published where it makes sense without the rest.
"""

from collections.abc import Callable

from nightwatch_core.analysis.second_look import left_of
from nightwatch_core.code.file_diffs import file_diffs
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import NightWatchError
from nightwatch_core.gate.acceptance import checks_known
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import PlannedStep
from nightwatch_core.models.gate import GateResult, Reproduction, Step, Story
from nightwatch_core.models.usage import Usage
from nightwatch_core.proof.asking import why_unanswered
from nightwatch_core.proof.attempt import Judge
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.story_making import GONE, Making
from nightwatch_core.proof.story_plan import Plan, planned, reckoned

GATES = 3  # times the seconds of a fix in the gate: all steps together
_STILL_RAISED = "the steps that are made do not take the crash away yet"
_DEAR = "that is more than may be used for it: NIGHTWATCH_STORY_COST"
Wanted = Callable[[Analysis, GateResult], str]


def _spans_files(analysis: Analysis, _: GateResult) -> str:
    files = {edit.path for edit in analysis.fix if not TEST.search(edit.path)}
    return f"it changes {len(files)} files" if len(files) > 1 else ""


def _did_not_pass(_: Analysis, result: GateResult) -> str:
    return f"in one piece it did not pass: {result.text}" if result.outcome == "failed" else ""


def _is_unsure(analysis: Analysis, _: GateResult) -> str:
    several = len({edit.path for edit in analysis.fix}) > 1
    return "how it should be is not sure" if several and analysis.fix_confidence == "low" else ""


WANTED: tuple[Wanted, ...] = (_did_not_pass, _spans_files, _is_unsure)  # any of them


def made_in_steps(
    briefing: ProofBriefing, result: GateResult, judge: Judge, bare: Judge
) -> GateResult:
    """Make a fix in steps where that is wanted and may be paid; else give `result` as it is.

    `judge` runs edits with the test that reproduces the error, `bare` without it: production's
    crash is gone after the last step. What passed in one piece is never lost. Raises what the
    judges raise, nothing of the model's.
    """
    reasons = (rule(briefing.analysis, result) for rule in WANTED)
    why = next((why for why in reasons if why), "")
    model, may = briefing.model, briefing.story
    if may is None or model is None or briefing.known.silent or result.outcome == "not run":
        return result
    if not why:
        return result
    making = Making(briefing, model, judge, bare, left_of(may, result.usage), result.text)
    return _told(briefing, making, result, Story(outcome="not made", why=why))


def _told(briefing: ProofBriefing, making: Making, result: GateResult, story: Story) -> GateResult:
    """Plan, reckon what the plan takes, and make its steps."""
    seconds = briefing.options.seconds_per_error + GATES * briefing.options.gate_seconds
    end = briefing.clock.monotonic() + seconds
    plan, takes = _planned(making, result)
    story = story.model_copy(update={"plan": takes, "because": plan.because})
    if not plan.steps:
        return _kept(making, result, story)
    steps = making.make(plan.steps, end)
    stopped = next((f"{one.title}: {one.because}" for one in steps if one.outcome == "failed"), "")
    story = story.model_copy(update={"steps": steps, "because": stopped})
    if not story.missing:
        return _published(making, result, story.model_copy(update={"outcome": "whole"}))
    if result.outcome != "passed" and _makes_sense(making, result, plan.steps, steps):
        return _published(making, result, story.model_copy(update={"outcome": "part"}))
    return _kept(making, result, story)


def _planned(making: Making, result: GateResult) -> tuple[Plan, str]:
    """The plan, and what it was reckoned to take; without steps where none are to be made."""
    briefing = making.briefing
    checks = checks_known(briefing.draft, briefing.base, briefing.options)
    try:
        plan = planned(briefing, making.model, result, checks, making.may)
        able = making.model.capabilities()
    except NightWatchError as trouble:
        making.used += trouble.usage or Usage()
        return Plan(because=why_unanswered(briefing, trouble, GONE)), ""
    making.used += plan.usage
    if not plan.steps:
        return plan, ""
    takes = reckoned(plan.steps, able, briefing.shown.read_file)
    told = takes.told(len(plan.steps), making.left)
    return (plan._replace(steps=(), because=_DEAR) if takes.is_above(making.left) else plan), told


def _makes_sense(
    making: Making, result: GateResult, plan: tuple[PlannedStep, ...], steps: tuple[Step, ...]
) -> bool:
    """Whether the steps that passed may be published alone: the crash is gone, or the plan says so.

    A step that was run without the test that reproduces the error is run with it now.
    """
    passed = sum(one.outcome == "passed" for one in steps)
    if not passed:
        return False
    if result.reproduction is not None and result.reproduction.outcome == "reproduced":
        whole = making.judge(making.edits)
        making.seconds += whole.seconds
        if whole.outcome == "passed":
            making.last, making.with_test = whole, True
            return True
    return plan[passed - 1].stands_alone


def _published(making: Making, result: GateResult, story: Story) -> GateResult:
    """What came of the last step that passed, as what is published."""
    assert making.last is not None
    edits = making.last.edits or making.edits
    reproduction = making.last.reproduction if making.with_test else result.reproduction
    if not making.with_test and reproduction and reproduction.outcome == "reproduced":
        reproduction = Reproduction(outcome="not tried", because=_STILL_RAISED)
    update: dict[str, object] = {
        "story": story,
        "edits": edits,
        "changes": file_diffs(edits, making.briefing.base.read_file),
        "read": tuple(dict.fromkeys((*result.read, *making.read))),
        "usage": result.usage + making.used,
        "seconds": round(result.seconds + making.seconds, 1),
        "reproduction": reproduction,
        "correction": None,
    }
    return making.last.model_copy(update=update)


def _kept(making: Making, result: GateResult, story: Story) -> GateResult:
    """What came of the fix in one piece, with what was tried besides."""
    update: dict[str, object] = {
        "story": story,
        "usage": result.usage + making.used,
        "seconds": round(result.seconds + making.seconds, 1),
    }
    return result.model_copy(update=update)
