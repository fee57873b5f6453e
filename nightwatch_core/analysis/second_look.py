"""A second analysis of a case whose first verdict is weak.

Where the first was wrong, it is a fresh conversation, told only what code verified of the first: a
model that reads its own earlier claim repeats it. Where the first only lacked something, it goes on
in that conversation, which the model's service has in its cache. It runs when all other cases are
done, with their findings, within the rest of its case's allowance. The better of the two verdicts
is kept; if the second analysis fails, the first.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from nightwatch_core.analysis.budget import USEFUL_TOKENS, may_be_led
from nightwatch_core.analysis.loop import DETAIL
from nightwatch_core.code.verdict import advantage, quotes_what_it_names
from nightwatch_core.models.analysis import Analysis, RefusedEdit, SecondLook, Way
from nightwatch_core.models.answer import Allowance, Usage
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.text.plain_text import one_line, shortened

FINDINGS, FINDING = 12, 500  # items of a list that are told, characters of each
REASONS, REASON = 3, 150  # likewise, of a reason

LEAST_SCORE = 0.5
MOST_PASSES = 2
NO_CAUSE = "cause unknown"

SAME_AGAIN = "the rules would see the same again"
NOTHING_NEW = "there is nothing new to see"


def has_news(first: Analysis) -> bool:
    """Check whether a second analysis could see by itself what the first did not."""
    is_verified = first.evidence and all(evidence.verified for evidence in first.evidence)
    is_cut_off = first.ending.kind == "wrapped up"
    is_fresh = way_of(first).way == "fresh"
    is_open = _hypotheses(first, "open") or first.next_steps
    return bool(is_cut_off or is_fresh or not is_verified or is_open)


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


# How a second analysis is made: the first rule that holds.


class Choice(NamedTuple):
    """A way to look again, and its reason for people and the model."""

    way: Way
    because: str


def _rejected(first: Analysis) -> str:
    places = [f"{item.path}:{item.line}" for item in first.evidence if not item.verified]
    return _joined(places) if places else ""


def _contradicted(first: Analysis) -> bool:
    return bool(first.evidence) and not quotes_what_it_names(first)


def _is_left_without_explanation(first: Analysis) -> bool:
    standings = {item.standing for item in first.hypotheses}
    return standings == {"ruled out"}


_LIMITS = {"iterations": "turns", "time": "time", "tokens": "tokens", "cost": "budget"}


def _limit(first: Analysis) -> str:
    return _LIMITS.get(first.ending.detail, "") if first.ending.kind == "wrapped up" else ""


def _edits(refused: Iterable[RefusedEdit]) -> str:
    return _joined([f"{edit.path}: {edit.reason}" for edit in refused])


# What a rule finds of a first analysis (empty where it does not hold), the way, and the reason,
# with what was found in its braces.
Rules = tuple[tuple[Callable[[Analysis], object], Way, str], ...]
WAYS: Rules = (
    (lambda a: a.quarantined, "fresh", "it repeated an instruction from outside"),
    (_rejected, "fresh", "lines that it quoted are not in the code: {}"),
    (_contradicted, "fresh", "no line that it quoted contains a name from its cause"),
    (_is_left_without_explanation, "fresh", "it ruled out every explanation that it considered"),
    (_limit, "going on", "it ran out of {}"),
    (lambda a: not a.has_cause, "fresh", "it found no cause"),
    (lambda a: _edits(a.refused), "going on", "its edits were refused: {}"),
    (lambda a: not a.evidence, "going on", "it quoted no line of the code"),
    (lambda a: _joined(_hypotheses(a, "open")), "going on", "it left open: {}"),
    (lambda a: True, "going on", "its evidence is not enough"),
)

NOT_KEPT = "the first conversation can no longer be continued"
NO_ROOM = "; yet too little is left for a new conversation"


def way_of(first: Analysis, ways: Rules = WAYS) -> Choice:
    """Choose how to look again at what a first analysis left weak; one of `ways` has to hold."""
    found = ((rule(first), way, because) for rule, way, because in ways)
    return next(Choice(way, because.format(what)) for what, way, because in found if what)


def seed(first: Analysis, choice: Choice) -> str:
    """Write what a fresh conversation is told of the first: what code verified, and no claim of it.

    Its cause is left out: a model that reads a claim repeats it. What it ruled out is told as its
    opinion; what it left open and would do next only where it was not wrong (`NOT_KEPT`).
    """
    quotes = [(item.verified, f"{item.path}:{item.line} {item.quote}") for item in first.evidence]
    is_wrong = choice.because != NOT_KEPT
    parts = (
        ("Why it is looked at again", (choice.because,)),
        (
            "Lines that it quoted and that were found in the code",
            [quote for found, quote in quotes if found],
        ),
        (
            "Lines that it quoted and that are not there",
            [quote for found, quote in quotes if not found],
        ),
        ("Files that it read", first.read),
        ("Explanations that it ruled out; only it says so", _hypotheses(first, "ruled out")),
        ("Explanations that it left open", () if is_wrong else _hypotheses(first, "open")),
        ("What it would look at next", () if is_wrong else first.next_steps),
    )
    sections = (
        (f"{name}:", *(f"- {shortened(one_line(item), FINDING)}" for item in items[:FINDINGS]))
        for name, items in parts
        if items
    )
    return "\n\n".join(map("\n".join, sections))


def _joined(items: Iterable[str]) -> str:
    return "; ".join(shortened(one_line(item), REASON) for item in [*items][:REASONS])


def skipped(first: Analysis, why: str, hindered: str) -> Analysis:
    """Return the first verdict, with the reason why it was left at that."""
    return first.model_copy(update={"second_look": SecondLook(reason=why, skipped=hindered)})


def failed(
    first: Analysis, why: str, reason: str, used: Usage, choice: Choice | None = None
) -> Analysis:
    """Return the first verdict after a second look that came to none; what that used counts."""
    look = SecondLook(
        reason=why,
        way=choice.way if choice else None,
        way_because=choice.because if choice else "",
        because=f"the second came to no verdict: {reason[:DETAIL]}",
        usage=used,
    )
    return first.model_copy(update={"second_look": look, "passes": 2, "usage": first.usage + used})


def better(first: Analysis, second: Analysis, why: str, choice: Choice) -> Analysis:
    """Return the better of two verdicts, with the usage of both; a tie keeps the first."""
    by = advantage(first, second)
    look = SecondLook(
        reason=why,
        way=choice.way,
        way_because=choice.because,
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
