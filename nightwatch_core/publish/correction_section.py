"""The second attempt at a fix, in issues and drafts: why there was one, and what came of it."""

from nightwatch_core.models.gate import Correction
from nightwatch_core.publish.told import Told
from nightwatch_core.text.escaping import fenced, markdown

_WHY, _DIFF, _OUTPUT = 600, 10_000, 3_000  # characters


def second_attempt(told: Told) -> str:
    """What the first attempt did not pass, and the second one with what failed of it."""
    gate = told.analysis.gate
    if gate is None or gate.correction is None:
        return ""
    attempt = gate.correction
    if attempt.outcome == "passed":
        return (
            "## What was tried before\n\nThe fix was made anew: the first one did not pass "
            f"({markdown(attempt.first_failed, _WHY)}). What is different: "
            f"{markdown(attempt.because, _WHY)}"
        )
    parts = (
        f"## A second attempt\n\n{_sentence(attempt)}",
        fenced(attempt.diff, "diff", _DIFF) if attempt.diff else "",
        fenced(attempt.output, limit=_OUTPUT) if attempt.output.strip() else "",
    )
    return "\n\n".join(filter(None, parts))


def _sentence(attempt: Correction) -> str:
    because = markdown(attempt.because, _WHY)
    if attempt.outcome == "not tried":
        return f"None was made: {because}"
    return f"It did not pass either: {because}" if attempt.diff else f"It was not run: {because}"
