"""What a verdict is worth, computed by rules that anybody can read; and which of two is better."""

import re
from collections.abc import Callable

from nightwatch_core.models.analysis import Analysis, Confidence

Rule = Callable[[Analysis], bool]
_RANKS: dict[Confidence, int] = {"low": 0, "medium": 1, "high": 2}


def has_verified_evidence(analysis: Analysis) -> bool:
    """Whether a quoted line was found in the code."""
    return any(one.verified for one in analysis.evidence)


def _is_all_verified(analysis: Analysis) -> bool:
    return bool(analysis.evidence) and all(one.verified for one in analysis.evidence)


def _reaches_top_frame(analysis: Analysis) -> bool:
    top = analysis.case.trace.top if analysis.case.trace else None
    found = {one.path for one in analysis.evidence if one.verified}
    return top is not None and top.repo_path in found


def _names_a_place(analysis: Analysis) -> bool:
    return bool(re.search(r"\w\.\w+:\d+", analysis.root_cause))


def _was_read(analysis: Analysis) -> bool:
    found = {one.path for one in analysis.evidence if one.verified}
    return bool(found) and found <= set(analysis.read)


def _leaves_nothing_open(analysis: Analysis) -> bool:
    standings = [one.standing for one in analysis.hypotheses]
    return bool(standings) and "open" not in standings


SCORE: tuple[tuple[float, str, Rule], ...] = (
    (0.25, "a quoted line was found in the code", has_verified_evidence),
    (0.10, "every quoted line was found", _is_all_verified),
    (0.15, "the evidence reaches the top frame's file", _reaches_top_frame),
    (0.10, "the cause names a place", _names_a_place),
    (0.10, "the files quoted from were read", _was_read),
    (0.15, "a fix is proposed and applies", lambda analysis: analysis.has_fix),
    (0.10, "no explanation is left open", _leaves_nothing_open),
    (0.05, "a suspect change is named", lambda analysis: bool(analysis.suspect_commit)),
)

# Why one verdict is better than another, the weightiest first; the larger value wins.
BETTER: tuple[tuple[str, Callable[[Analysis], float]], ...] = (
    (
        "a fix with verified evidence",
        lambda analysis: analysis.has_fix and has_verified_evidence(analysis),
    ),
    ("confidence", lambda analysis: _RANKS[analysis.confidence]),
    ("score", lambda analysis: analysis.score),
)


def scored(analysis: Analysis) -> Analysis:
    """The analysis with its score and confidence, and the rules that gave them."""
    held = [(points, reason) for points, reason, rule in SCORE if rule(analysis)]
    confidence, why = _confidence(analysis)
    return analysis.model_copy(
        update={
            "score": round(sum(points for points, _ in held), 2),
            "confidence": confidence,
            "because": (
                *analysis.because,
                *(f"{reason} (+{points:.2f})" for points, reason in held),
                *((why,) if why else ()),
            ),
        }
    )


def advantage(first: Analysis, second: Analysis) -> str:
    """By what the second is better than the first; empty where it is not."""
    for name, value in BETTER:
        if value(first) != value(second):
            return name if value(second) > value(first) else ""
    return ""


def _confidence(analysis: Analysis) -> tuple[Confidence, str]:
    if not has_verified_evidence(analysis) and analysis.confidence != "low":
        return "low", f"said {analysis.confidence}, but no quoted line was found in the code"
    return analysis.confidence, ""
