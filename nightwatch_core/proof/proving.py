"""Prove a fix before it becomes a draft: reproduce the crash, run the gate, correct it once."""

from functools import partial

from nightwatch_core.analysis.budget import split_budget
from nightwatch_core.analysis.previews import preview_text
from nightwatch_core.analysis.prompts import error_text, fenced, only_data
from nightwatch_core.code.code_view import halves
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import apply, diff, fix_digest
from nightwatch_core.errors import GiveUp
from nightwatch_core.models import proposals
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Allowance, Edit, Usage
from nightwatch_core.models.code import CiRun
from nightwatch_core.models.options import NightOptions
from nightwatch_core.proof import asking
from nightwatch_core.proof.gate import gated
from nightwatch_core.proof.reproduction import (
    Candidate,
    WithFix,
    by_model,
    by_own_test,
    by_snippet,
    harness_for,
    with_fix,
)
from nightwatch_core.proof.stories import made_in_steps
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import one_line

PROOF_TOKENS = 60_000  # new tokens for one fix's reproduction and correction
_TURNS = 4  # of the model for a correction, its answer included
_OUTPUT, _DIFF, _CAUSE = 4_000, 12_000, 4_000  # characters
_NONE = proposals.Reproduction(outcome="not tried")
_OFF = proposals.Reproduction(outcome="not tried", because="switched off")
_UNPAID = "the rest of the budget for one error or the night is too small for a call"


def proved(briefing: asking.ProofBriefing) -> proposals.GateResult:
    """Return the result of running a fix; never raises for what the fix or the project does."""
    reproduction, usage, before = _OFF, Usage(), briefing.cache.cpu
    if briefing.options.reproduce:
        own = by_own_test(briefing, briefing.analysis.fix)
        known = own if own and own.green else by_snippet(briefing)
        reproduction, usage = (known, usage) if known else by_model(briefing)
        if own and reproduction.outcome != "reproduced":
            reproduction = own
    judge = partial(judged, briefing, reproduction)
    result = judge(briefing.analysis.fix).model_copy(update={"usage": usage})
    result = corrected(briefing, result, judge)
    result = made_in_steps(briefing, result, judge, partial(judged, briefing, _NONE))
    return result.model_copy(update={"cpu": round(briefing.cache.cpu - before, 1)})


def judged(
    briefing: asking.ProofBriefing, reproduction: proposals.Reproduction, fix: tuple[Edit, ...]
) -> proposals.GateResult:
    """Run a fix with the test that reproduces its crash; what passes is what is published."""
    failed = proposals.GateResult(outcome="failed", fix=fix_digest(fix), reproduction=reproduction)
    applied = apply(fix, briefing.base.read_file, briefing.base.paths())
    if applied.refusal:
        return failed.model_copy(update={"text": applied.refusal})
    if not reproduction.is_own:
        reproduction = reproduction.model_copy(update={"green": ""})  # it was with another fix
    elif fix != briefing.analysis.fix:
        # it was by the first fix's own test
        reproduction = by_own_test(briefing, fix) or _NONE
    tested = _with_test(briefing, reproduction, fix, applied.changes)
    if tested is None:
        return _gated(briefing, fix, (), reproduction)
    check = tested.check
    if tested.fate == "crash":
        update = {"text": check.text, "checks": (check,), "seconds": check.seconds}
        return failed.model_copy(update=update)
    reason = check.text if tested.fate != "green" else ""
    if tested.fate == "green":
        reproduction = reproduction.model_copy(update={"green": tested.output or "exit 0"})
    added = (*fix, *reproduction.test) if reproduction.test else ()
    if reason := reason or (asking.refusal(added, (), briefing) if added else ""):
        reproduction = _without_test(reproduction, reason)
    elif reproduction.test and (own := by_own_test(briefing, fix)):
        reason = f"{own.name}, which the fix changes, raises it too"
        reproduction = _without_test(reproduction, reason)
    return _gated(briefing, fix, (check,), reproduction)


def _without_test(reproduction: proposals.Reproduction, reason: str) -> proposals.Reproduction:
    return reproduction.model_copy(update={"because": reason, "test": ()})


def _with_test(
    briefing: asking.ProofBriefing,
    reproduction: proposals.Reproduction,
    fix: tuple[Edit, ...],
    changes: tuple[proposals.FileChange, ...],
) -> WithFix | None:
    """Run the test with the fix; None where there is none, or it cannot be run."""
    text = next((item.new for item in reproduction.test), reproduction.snippet)
    if reproduction.is_own and not reproduction.green:
        text = next((item.text or "" for item in changes if item.path == reproduction.name), "")
    harness = harness_for(briefing) if text else ""
    if reproduction.outcome != "reproduced" or isinstance(harness, str):
        return None
    try:
        return with_fix(harness, Candidate(reproduction.name, text), fix, changes)
    except GiveUp:
        return None


def _gated(
    briefing: asking.ProofBriefing,
    fix: tuple[Edit, ...],
    checks: tuple[proposals.Check, ...],
    reproduction: proposals.Reproduction,
) -> proposals.GateResult:
    """Run the gate over the fix with its test; where only that test fails, over the fix alone."""
    edits, read = (*fix, *reproduction.test), briefing.base.read_file
    applied = apply(edits, read, briefing.base.paths())
    draft = briefing.draft.model_copy(update={"changes": applied.changes, "fix": fix_digest(edits)})
    result = gated(draft, briefing.base, briefing.sandbox, briefing.options, briefing.cache)
    failed = next((item.name for item in result.checks if item.outcome == "failed"), "tests")
    stem = reproduction.name.rpartition("/")[2].rpartition(".")[0]
    is_red = any(stem in name for name in result.silent)
    is_of_test = failed != "tests" or stem in result.text  # lint reads it, too
    if reproduction.test and (is_red or (result.outcome == "failed" and is_of_test)):
        reason = result.text or f"{reproduction.name} is red beside the other tests"
        return _gated(briefing, fix, checks, _without_test(reproduction, reason))
    seconds = round(result.seconds + sum(item.seconds for item in checks), 1)
    more = {"reproduction": reproduction, "checks": (*checks, *result.checks), "seconds": seconds}
    if edits != briefing.analysis.fix:
        more |= {"edits": edits, "changes": file_diffs(edits, read)}
    return result.model_copy(update=more)


# The correction of a fix that failed here, or whose branch failed its checks.


def corrected(
    briefing: asking.ProofBriefing, failed: proposals.GateResult, judge: asking.Judge
) -> proposals.GateResult:
    """Ask once for other edits than those that failed, and have them judged.

    Return the result that passed, with its edits; else `failed` with the attempt.
    """
    if failed.outcome != "failed":
        return failed
    made, output = failed.reproduction, _failed_output(failed)
    passes = made.name if made and made.is_mended else ""
    passes = f"{passes} raises the crash without the fix and passes with it; " if passes else ""
    reason = f"{passes}{failed.text}"
    attempt = _second_attempt(briefing, briefing.analysis.fix, reason, output, failed.usage)
    usage = failed.usage + attempt.usage
    correction = proposals.Correction(
        outcome="failed" if attempt.was_answered else "not tried",
        because=attempt.because,
        first_failed=failed.text,
    )
    if not attempt.edits:
        return failed.model_copy(update={"usage": usage, "correction": correction})
    result = judge(attempt.edits)
    passed = result.outcome == "passed"
    because = attempt.because if passed else result.text
    told: dict[str, object] = {"outcome": "passed" if passed else "failed", "because": because}
    told |= {"edits": attempt.edits, "output": _failed_output(result)}
    update: dict[str, object] = {
        "correction": correction.model_copy(update=told),
        "usage": usage + result.usage,
        "seconds": round(failed.seconds + result.seconds, 1),
    }
    if not passed:
        return failed.model_copy(update=update)
    edits = result.edits or attempt.edits
    update |= {
        "edits": edits,
        "changes": result.changes or file_diffs(edits, briefing.base.read_file),
        "read": tuple(dict.fromkeys((*result.read, *attempt.read))),
    }
    return result.model_copy(update=update)


def mended(briefing: asking.ProofBriefing, run: CiRun) -> proposals.GateResult:
    """Ask once for other edits after the checks of a fix's branch failed, and run them here.

    `edits` are empty where there are none, and `text` says why. Never raises.
    """
    before = briefing.analysis.gate
    reproduction = before.reproduction if before and before.reproduction else _NONE
    edits = tuple(item for item in briefing.analysis.fix if item not in reproduction.test)
    reason = f"the checks of its branch failed: {one_line(', '.join(run.failed))}"
    used = before.usage if before else Usage()
    attempt = _second_attempt(briefing, edits, reason, run.log, used)
    if not attempt.edits:
        return proposals.not_run("trouble", attempt.because).model_copy(
            update={"usage": attempt.usage}
        )
    result = judged(briefing, reproduction, attempt.edits)
    failed = result.outcome == "failed"
    correction = proposals.Correction(
        outcome="failed" if failed else "passed",
        because=result.text if failed else attempt.because,
        first_failed=reason,
        edits=attempt.edits,
    )
    update = {
        "correction": correction,
        "usage": result.usage + attempt.usage,
        "edits": () if failed else result.edits or attempt.edits,
    }
    return result.model_copy(update=update)


def _failed_output(result: proposals.GateResult) -> str:
    return next((item.output for item in result.checks if item.outcome == "failed"), "")


def _second_attempt(
    briefing: asking.ProofBriefing, fix: tuple[Edit, ...], reason: str, output: str, used: Usage
) -> asking.ProposedEdits:
    """Ask for other edits on the same base than those that failed; `output` is untrusted."""
    previews = asking.shown_files(fix, briefing.shown.read_file)
    end = block(output[-_OUTPUT:], _OUTPUT, code=True)  # of an output the end says most

    def inside_fence(text: str) -> str:
        return fenced(text, briefing.fence)

    text = asking.prompt("correction").format(
        data=only_data(briefing.fence),
        error=inside_fence(error_text(briefing.analysis.case)),
        cause=inside_fence(block(briefing.analysis.root_cause, _CAUSE)),
        diff=inside_fence(halves(diff(fix), _DIFF)),
        failed=inside_fence(f"{line(reason, asking.REASON)}\n{end}".rstrip()),
        code="\n\n".join(inside_fence(preview_text(item)) for item in previews),
        turns=_TURNS,
    )
    outside = (reason, output)
    question = asking.Question(
        text, previews, briefing.shown, briefing.allowance, _TURNS, outside, _UNPAID, used
    )
    attempt = asking.propose_edits(briefing, question)
    refused = asking.refusal(attempt.edits, fix, briefing, attempt.read) if attempt.edits else ""
    if refused:
        return attempt._replace(edits=(), because=f"the edits are not allowed: {refused}")
    return attempt


# What proving a fix may cost.


def proof_allowance(analysis: Analysis, options: NightOptions, used: Usage) -> Allowance:
    """Return what proving a fix may cost: `PROOF_TOKENS`, and USD that the analysis left."""
    share = split_budget(options, 1, used)[0]
    left = max(0, options.total_token_budget - used.new_tokens)
    cost, spent = share.cost, analysis.usage.cost
    if cost is not None and options.cost_per_error:
        cost = 0.0 if spent is None else min(cost, max(0.0, options.cost_per_error - spent))
    return share.model_copy(update={"tokens": min(PROOF_TOKENS, left), "cost": cost})


def story_allowance(options: NightOptions, used: Usage) -> Allowance | None:
    """Return the allowance for making a fix in several steps; None where none is made so."""
    if not options.story_cost:
        return None
    whole = options.model_copy(update={"cost_per_error": options.story_cost})
    share = split_budget(whole, 1, used)[0]
    capped = options.story_cost if share.cost is None else share.cost
    return share.model_copy(update={"cost": capped})
