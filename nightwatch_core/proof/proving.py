"""A fix on its way to a draft: reproduced, run, and where it does not pass, mended once.

Who reproduces is one tuple, `REPRODUCERS`; each is told the briefing and gives an `Attempt`, its
reproduction's `test` being edits that make new files on the base. The first that reproduced counts.
Who mends is `CORRECTORS`; each is told the briefing, the result that failed, and a judge, which
runs other edits like the first ones (with the test, where there is one). It gives that judge's
result, or the failed one, with its `correction` and its `usage` filled in. Last, what spans several
files, or still fails, is made in steps where that is paid for (`stories.py`).
"""

from functools import partial

from nightwatch_core.code.edits import apply, fix_digest
from nightwatch_core.code.file_diffs import file_diffs
from nightwatch_core.errors import GiveUp
from nightwatch_core.gate.gate import gated
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.gate import Check, GateResult, Reproduction
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.models.usage import Usage
from nightwatch_core.proof.attempt import Attempt, Corrector, Reproducer
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.candidate import Candidate
from nightwatch_core.proof.correction import corrected
from nightwatch_core.proof.fix_policy import refusal
from nightwatch_core.proof.reproduction import WithFix, with_fix
from nightwatch_core.proof.reproduction_by_model import by_model
from nightwatch_core.proof.search import by_search
from nightwatch_core.proof.stage import stage_for
from nightwatch_core.proof.stories import made_in_steps

REPRODUCERS: tuple[Reproducer, ...] = (by_search, by_model)  # what is free comes first
_WITHOUT = Reproduction(outcome="not tried")
CORRECTORS: tuple[Corrector, ...] = (corrected,)
_TELLS = ("not tried", "not reproduced", "reproduced")


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
    """Look for a test that raises what production raised; what was tried says most of why not."""
    if not briefing.options.reproduce:
        because = "switched off (NIGHTWATCH_REPRODUCE)"
        return Attempt(reproduction=Reproduction(outcome="not tried", because=because))
    attempts: list[Attempt] = []
    for reproduce in REPRODUCERS:
        attempts.append(reproduce(briefing))
        if attempts[-1].reproduction.outcome == "reproduced":
            break
    last = max(reversed(attempts), key=lambda one: _TELLS.index(one.reproduction.outcome))
    return last.model_copy(update={"usage": sum((one.usage for one in attempts), Usage())})


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
    """What became of the test with the fix; None where it is not run."""
    if reproduction.outcome != "reproduced" or not reproduction.test:
        return None
    stage = stage_for(briefing)
    if isinstance(stage, str):
        return None
    test = reproduction.test[0]
    try:
        return with_fix(stage, Candidate(test.path, test.new), fix, changes)
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
    seconds = round(result.seconds + sum(one.seconds for one in checks), 1)
    more = {"reproduction": reproduction, "checks": (*checks, *result.checks), "seconds": seconds}
    result = result.model_copy(update=more)
    if edits == briefing.analysis.fix:
        return result
    return result.model_copy(update={"edits": edits, "changes": file_diffs(edits, read)})
