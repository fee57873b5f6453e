"""A fix that did not pass is made anew once and run again; what passes then is published."""

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.models.proposals import Correction, GateResult
from nightwatch_core.proof.asking import Judge, ProofBriefing
from nightwatch_core.proof.second_attempt import Failing, SecondAttempt, attempt_again


def corrected(briefing: ProofBriefing, failed: GateResult, judge: Judge) -> GateResult:
    """Ask once for a better fix than one that failed, and have it judged.

    Returns what passed, with its edits; else `failed` with what was tried. What is not the fix's
    failure, and what passed, stays as it is. Raises what `judge` raises, nothing of the model's.
    """
    if failed.outcome != "failed":
        return failed
    tried = Failing(briefing.analysis.fix, failed.text, _last_output(failed), failed.usage)
    attempt = attempt_again(briefing, tried)
    failed = failed.model_copy(update={"usage": failed.usage + attempt.usage})
    if not attempt.edits:
        none = Correction(
            outcome="failed" if attempt.was_answered else "not tried",
            because=attempt.because,
            first_failed=failed.text,
        )
        return failed.model_copy(update={"correction": none})
    return _proved(briefing, failed, attempt, judge(attempt.edits))


def _proved(
    briefing: ProofBriefing, failed: GateResult, attempt: SecondAttempt, result: GateResult
) -> GateResult:
    """What came of running the second attempt, with what both of them took."""
    passed = result.outcome == "passed"
    correction = Correction(
        outcome="passed" if passed else "failed",
        because=attempt.because if passed else result.text,
        first_failed=failed.text,
        edits=attempt.edits,
        output=_last_output(result),
    )
    update: dict[str, object] = {
        "correction": correction,
        "usage": failed.usage + result.usage,
        "seconds": round(failed.seconds + result.seconds, 1),
    }
    if not passed:
        return failed.model_copy(update=update)
    published = result.edits or attempt.edits
    update |= {
        "edits": published,
        "changes": result.changes or file_diffs(published, briefing.base.read_file),
        "read": tuple(dict.fromkeys((*result.read, *attempt.read))),
    }
    return result.model_copy(update=update)


def _last_output(result: GateResult) -> str:
    return next((one.output for one in result.checks if one.outcome == "failed"), "")
