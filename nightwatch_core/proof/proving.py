"""A fix on its way to a draft: reproduced, run, and where it does not pass, mended once.

Who reproduces is one tuple, `REPRODUCERS`; each is told the briefing and gives an `Attempt`, its
reproduction's `test` being edits that make new files on the base. The first that reproduced counts.
Who mends is `CORRECTORS`; each is told the briefing, the result that failed, and a judge, which
runs other edits like the first ones (with the test, where there is one). It gives that judge's
result, or the failed one, with its `correction` and its `usage` filled in.
"""

from functools import partial

from nightwatch_core.code.edits import apply, fix_digest
from nightwatch_core.code.file_diffs import file_diffs
from nightwatch_core.gate.gate import gated
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.gate import GateResult, Reproduction
from nightwatch_core.models.usage import Usage
from nightwatch_core.proof.attempt import Attempt, Corrector, Reproducer
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.correction import corrected

REPRODUCERS: tuple[Reproducer, ...] = ()  # searched without a model first: it is free
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
    return result


def reproduced(briefing: ProofBriefing) -> Attempt:
    """Look for a test that raises what production raised."""
    if not briefing.options.reproduce:
        return Attempt(reproduction=Reproduction(outcome="not tried", because="switched off"))
    last, usage = Attempt(reproduction=Reproduction(outcome="not tried")), Usage()
    for reproduce in REPRODUCERS:
        last = reproduce(briefing)
        usage += last.usage
        if last.reproduction.outcome == "reproduced":
            break
    return last.model_copy(update={"usage": usage})


def judged(
    briefing: ProofBriefing, reproduction: Reproduction, fix: tuple[Edit, ...]
) -> GateResult:
    """Run a fix, and the test that reproduces what it mends: what passes is what is published."""
    edits = (*fix, *reproduction.test)
    read, paths = briefing.base.read_file, briefing.base.paths()
    applied = apply(edits, read, paths)
    if applied.refusal:
        return GateResult(outcome="failed", text=applied.refusal, reproduction=reproduction)
    update = {"changes": applied.changes, "fix": fix_digest(edits)}
    draft = briefing.draft.model_copy(update=update)
    base = briefing.base
    result = gated(draft, base, briefing.sandbox, briefing.options, briefing.known)
    result = result.model_copy(update={"reproduction": reproduction})
    if edits == briefing.analysis.fix:
        return result
    return result.model_copy(update={"edits": edits, "changes": file_diffs(edits, read)})
