"""Another attempt at a fix that passed here, or was not run, and whose branch's checks failed."""

from nightwatch_core.models.gate import Correction, GateResult, Reproduction, not_run
from nightwatch_core.models.pulls import CiRun
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.proving import judged
from nightwatch_core.proof.second_attempt import Failing, attempt_again
from nightwatch_core.text.plain_text import one_line

_NONE = Reproduction(outcome="not tried")


def mended(briefing: ProofBriefing, run: CiRun) -> GateResult:
    """Ask once for other edits, told what the checks printed, and run them here.

    Its `edits` are empty where there are none, and `text` says why. Never raises for what the
    model, the fix or the project does.
    """
    before = briefing.analysis.gate
    reproduction = before.reproduction if before and before.reproduction else _NONE
    edits = tuple(one for one in briefing.analysis.fix if one not in reproduction.test)
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
