"""A second analysis of a case whose first verdict is weak.

It goes on in the first conversation, which the model's service has in its cache; where that cannot
be, a new one is told the first one's findings. It runs when all other cases are done, with their
findings, within the rest of its case's allowance. The better of the two verdicts is kept; if the
second analysis fails, the first.
"""

from collections.abc import Callable

from nightwatch_core.analysis.budget import USEFUL_TOKENS, may_be_led
from nightwatch_core.analysis.loop import DETAIL
from nightwatch_core.code.verdict import advantage
from nightwatch_core.models.analysis import Analysis, SecondLook
from nightwatch_core.models.answer import Allowance, Usage
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.text.plain_text import one_line, shortened

FINDINGS, FINDING = 12, 500  # items of a list that are told, characters of each

LEAST_SCORE = 0.5
MOST_PASSES = 2
NO_CAUSE = "cause unknown"

SAME_AGAIN = "the rules would see the same again"
NOTHING_NEW = "there is nothing new to see"


def has_news(first: Analysis) -> bool:
    """Check whether a second analysis could see by itself what the first did not."""
    is_verified = first.evidence and all(evidence.verified for evidence in first.evidence)
    is_cut_off = first.ending.kind == "wrapped up"
    return bool(is_cut_off or not is_verified or _hypotheses(first, "open") or first.next_steps)


def weakness(first: Analysis) -> str:
    """Return why a verdict deserves a second analysis; empty where it does not."""
    if first.passes >= MOST_PASSES or first.misfit or first.fix_alone:
        return ""
    if not first.has_cause:
        return NO_CAUSE
    if first.confidence == "low":
        return "the confidence is low"
    return f"the score is below {LEAST_SCORE}" if first.score < LEAST_SCORE else ""


# Why a cheaper model's verdict does not stand, the first reason that holds.
DOUBTS: tuple[tuple[Callable[[Analysis], bool], str], ...] = (
    (lambda a: bool(a.quarantined), "it repeated an instruction from outside"),
    (lambda a: not a.has_cause, NO_CAUSE),
    (lambda a: a.ending.kind == "wrapped up", "its budget ended"),
    (lambda a: not all(item.verified for item in a.evidence), "a quote did not hold"),
    (lambda a: bool(a.refused), "its fix was refused"),
    (lambda a: not a.has_fix, "it proposed no fix"),
    (lambda a: bool(_hypotheses(a, "open")), "it left an explanation open"),
    (lambda a: bool(weakness(a)), "its confidence or score is low"),
)


def doubt_of(lead: Analysis) -> str:
    """Return why a cheaper model's verdict does not stand; empty where it does."""
    return next((reason for rule, reason in DOUBTS if rule(lead)), "")


def allowance_of_lead(case: Case, research: ResearchContext, may: Allowance) -> Allowance | None:
    """Return what a cheaper model may use first, half of all; None where it may not lead.

    It never leads where earlier nights met the error: they went wrong, or something has changed.
    """
    is_known = any(prior.match.kind != "similar" for prior in research.priors)
    if is_known or research.misfit or not may_be_led(case) or may.tokens < 2 * USEFUL_TOKENS:
        return None
    cost = None if may.cost is None else may.cost / 2
    return may.model_copy(update={"tokens": may.tokens // 2, "cost": cost})


def left_of(may: Allowance, used: Usage) -> Allowance:
    """Return what the first analysis left; turns and time start anew: they bound a conversation."""
    cost = None
    if may.cost is not None:  # an unknown price counts as all of it
        cost = max(may.cost - (may.cost if used.cost is None else used.cost), 0.0)
    return may.model_copy(update={"tokens": max(may.tokens - used.new_tokens, 0), "cost": cost})


def seed(first: Analysis) -> str:
    """Write for the second analysis: findings, files read, what was ruled out."""
    marked = ((item, "" if item.verified else " (not found there)") for item in first.evidence)
    quotes = (f"{item.path}:{item.line} {item.quote}{mark}" for item, mark in marked)
    found = f"Finding ({first.confidence} confidence)" if first.has_cause else "Not proved"
    parts = (
        (found, (f"{first.title}: {first.root_cause}",)),
        ("Quoted from the code", tuple(quotes)),
        ("Files it read", first.read),
        ("Explanations it ruled out", _hypotheses(first, "ruled out")),
        ("Explanations it left open", _hypotheses(first, "open")),
        ("What it would look at next", first.next_steps),
    )
    sections = (
        (f"{name}:", *(f"- {shortened(one_line(item), FINDING)}" for item in items[:FINDINGS]))
        for name, items in parts
        if items
    )
    return "\n\n".join(map("\n".join, sections))


def skipped(first: Analysis, why: str, hindered: str) -> Analysis:
    """Return the first verdict, with the reason why it was left at that."""
    return first.model_copy(update={"second_look": SecondLook(reason=why, skipped=hindered)})


def failed(first: Analysis, why: str, reason: str, used: Usage) -> Analysis:
    """Return the first verdict after a second look that came to none; what that used counts."""
    because = f"the second came to no verdict: {reason[:DETAIL]}"
    look = SecondLook(reason=why, because=because, usage=used)
    return first.model_copy(update={"second_look": look, "passes": 2, "usage": first.usage + used})


def better(first: Analysis, second: Analysis, why: str) -> Analysis:
    """Return the better of two verdicts, with the usage of both; a tie keeps the first."""
    by = advantage(first, second)
    look = SecondLook(
        reason=why,
        kept="second" if by else "first",
        because=f"the second is better by {by}" if by else "the second is not better",
        usage=second.usage,
    )
    update = {
        "second_look": look,
        "passes": 2,
        "usage": first.usage + second.usage,
        "iterations": first.iterations + second.iterations,
        "tool_calls": first.tool_calls + second.tool_calls,
        "missed_calls": first.missed_calls + second.missed_calls,
        "read": tuple(dict.fromkeys((*first.read, *second.read))),
    }
    return (second if by else first).model_copy(update=update)


def _hypotheses(first: Analysis, status: str) -> tuple[str, ...]:
    return tuple(
        f"{item.statement} ({item.because})" if item.because else item.statement
        for item in first.hypotheses
        if item.standing == status
    )
