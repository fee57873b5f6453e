"""A fix on its way to a draft: reproduced, run, and where it does not pass, mended once.

The model is asked for a test that reproduces the crash (`by_model`): edits that make a new file on
the base.
Who mends is `CORRECTORS`; each is told the briefing, the result that failed, and a judge, which
runs other edits like the first ones (with the test, where there is one). It gives that judge's
result, or the failed one, with its `correction` and its `usage` filled in. Last, what spans several
files, or still fails, is made in steps where that is paid for (`stories.py`).
"""

from functools import partial

from nightwatch_core.analysis.budget import split_budget
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import apply, fix_digest
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Allowance, Edit, Usage
from nightwatch_core.models.code import CiRun
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import (
    Check,
    Correction,
    FileChange,
    GateResult,
    Reproduction,
    not_run,
)
from nightwatch_core.proof.asking import Attempt, Corrector, ProofBriefing
from nightwatch_core.proof.correction import Failing, attempt_again, corrected, refusal
from nightwatch_core.proof.gate import gated
from nightwatch_core.proof.reproduction import Candidate, WithFix, by_model, harness_for, with_fix
from nightwatch_core.proof.stories import made_in_steps
from nightwatch_core.text.plain_text import one_line

_WITHOUT = Reproduction(outcome="not tried")
CORRECTORS: tuple[Corrector, ...] = (corrected,)


def proved(briefing: ProofBriefing) -> GateResult:
    """Say what came of running a fix; never raises for what the fix or the project does."""
    attempt = reproduced(briefing)
    judge = partial(judged, briefing, attempt.reproduction)
    result = judge(briefing.analysis.fix)
    result = result.model_copy(update={"usage": attempt.usage})
    for correct in CORRECTORS:
        if result.outcome == "failed":
            result = correct(briefing, result, judge)
    return made_in_steps(briefing, result, judge, partial(judged, briefing, _WITHOUT))


def reproduced(briefing: ProofBriefing) -> Attempt:
    """Look for a test that raises what production raised."""
    if not briefing.options.reproduce:
        because = "switched off (NIGHTWATCH_REPRODUCE)"
        return Attempt(reproduction=Reproduction(outcome="not tried", because=because))
    return by_model(briefing)


def judged(
    briefing: ProofBriefing, reproduction: Reproduction, fix: tuple[Edit, ...]
) -> GateResult:
    """Run a fix, and the test that reproduces what it mends: what passes is what is published."""
    applied = apply(fix, briefing.base.read_file, briefing.base.paths())
    if applied.refusal:
        text = applied.refusal
        return GateResult(
            outcome="failed", text=text, fix=fix_digest(fix), reproduction=reproduction
        )
    came = _with_test(briefing, reproduction, fix, applied.changes)
    if came is None:
        return _gated(briefing, fix, (), reproduction)
    if came.fate == "crash":
        return GateResult(
            outcome="failed",
            text=came.check.text,
            checks=(came.check,),
            seconds=came.check.seconds,
            fix=fix_digest(fix),
            reproduction=reproduction,
        )
    edits = (*fix, *reproduction.test)
    why = "" if came.fate == "green" else came.check.text
    if why := why or refusal(edits, (), briefing):
        because = f"the test is not part of the draft: {why}"
        reproduction = reproduction.model_copy(update={"because": because, "test": ()})
    elif came.fate == "green":
        reproduction = reproduction.model_copy(update={"green": came.output})
    return _gated(briefing, fix, (came.check,), reproduction)


def _with_test(
    briefing: ProofBriefing,
    reproduction: Reproduction,
    fix: tuple[Edit, ...],
    changes: tuple[FileChange, ...],
) -> WithFix | None:
    """Return what became of the test with the fix; None where it is not run."""
    if reproduction.outcome != "reproduced" or not reproduction.test:
        return None
    harness = harness_for(briefing)
    if isinstance(harness, str):
        return None
    test = reproduction.test[0]
    try:
        return with_fix(harness, Candidate(test.path, test.new), fix, changes)
    except GiveUp:
        return None


def _gated(
    briefing: ProofBriefing,
    fix: tuple[Edit, ...],
    checks: tuple[Check, ...],
    reproduction: Reproduction,
) -> GateResult:
    """Run the gate over the fix with its test; where only that test fails, over the fix alone."""
    edits, read = (*fix, *reproduction.test), briefing.base.read_file
    applied = apply(edits, read, briefing.base.paths())
    draft = briefing.draft.model_copy(update={"changes": applied.changes, "fix": fix_digest(edits)})
    result = gated(draft, briefing.base, briefing.sandbox, briefing.options, briefing.known)
    if reproduction.test and result.outcome == "failed" and reproduction.name in result.text:
        because = f"the test is not part of the draft: {result.text}"
        reproduction = reproduction.model_copy(update={"because": because, "test": ()})
        return _gated(briefing, fix, checks, reproduction)
    seconds = round(result.seconds + sum(item.seconds for item in checks), 1)
    more = {"reproduction": reproduction, "checks": (*checks, *result.checks), "seconds": seconds}
    result = result.model_copy(update=more)
    if edits == briefing.analysis.fix:
        return result
    return result.model_copy(update={"edits": edits, "changes": file_diffs(edits, read)})


# What asking for one fix may take, of what its error and its night have left.


PROOF_TOKENS = 60_000  # new tokens for one fix's reproduction and correction


def proof_allowance(analysis: Analysis, options: NightOptions, used: Usage) -> Allowance:
    """Say what proving a fix may use when the night has used so much, proofs before it included.

    Its tokens are its own (`PROOF_TOKENS`); of USD it has what the analysis left of the error's.
    """
    share = split_budget(options, 1, used)[0]
    left = max(0, options.total_token_budget - used.new_tokens)
    cost, spent = share.cost, analysis.usage.cost
    if cost is not None and options.cost_per_error:
        cost = 0.0 if spent is None else min(cost, max(0.0, options.cost_per_error - spent))
    return share.model_copy(update={"tokens": min(PROOF_TOKENS, left), "cost": cost})


def story_allowance(options: NightOptions, used: Usage) -> Allowance | None:
    """Say what a fix may use that is made in several steps; None where none is made so."""
    if not options.story_cost:
        return None
    whole = options.model_copy(update={"cost_per_error": options.story_cost})
    share = split_budget(whole, 1, used)[0]
    capped = options.story_cost if share.cost is None else share.cost
    return share.model_copy(update={"cost": capped})


# Another attempt at a fix that passed here, or was not run, and whose branch's checks failed.

_NONE = Reproduction(outcome="not tried")


def mended(briefing: ProofBriefing, run: CiRun) -> GateResult:
    """Ask once for other edits, told what the checks printed, and run them here.

    Its `edits` are empty where there are none, and `text` says why. Never raises for what the
    model, the fix or the project does.
    """
    before = briefing.analysis.gate
    reproduction = before.reproduction if before and before.reproduction else _NONE
    edits = tuple(item for item in briefing.analysis.fix if item not in reproduction.test)
    why = f"the checks of its branch failed: {one_line(', '.join(run.failed))}"
    used = before.usage if before else Failing(edits, why).used
    attempt = attempt_again(briefing, Failing(edits, why, run.log, used))
    if not attempt.edits:
        return not_run("trouble", attempt.because).model_copy(update={"usage": attempt.usage})
    result = judged(briefing, reproduction, attempt.edits)
    correction = Correction(
        outcome="failed" if result.outcome == "failed" else "passed",
        because=attempt.because if result.outcome != "failed" else result.text,
        first_failed=why,
        edits=attempt.edits,
    )
    update = {
        "correction": correction,
        "usage": result.usage + attempt.usage,
        "edits": () if result.outcome == "failed" else result.edits or attempt.edits,
    }
    return result.model_copy(update=update)
