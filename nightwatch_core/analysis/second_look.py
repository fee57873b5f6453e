"""A second look at a case whose first verdict is weak: fresh, but told what the first one found.

It happens when all others are done, so that it is told what they found, within what its case may
still use. It can only make things better: the better of the two verdicts is kept, and where the
second look fails, the first.
"""

from collections.abc import Callable
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import from_json

from nightwatch_core.analysis.limits import ENDING, FINDING, FINDINGS, RANGES
from nightwatch_core.code.verdict import advantage
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.analysis import Analysis, SecondLook
from nightwatch_core.models.answer import Allowance, Usage
from nightwatch_core.models.batch import Category, FirstSight
from nightwatch_core.models.code import CodeReads
from nightwatch_core.text.plain_text import one_line, shortened

LEAST_SCORE = 0.5
MOST_PASSES = 2
NO_CAUSE = "cause unknown"

# Why a verdict is weak; the first that holds is told.
WEAK: tuple[tuple[str, Callable[[Analysis], bool]], ...] = (
    (NO_CAUSE, lambda analysis: not analysis.has_cause),
    ("the confidence is low", lambda analysis: analysis.confidence == "low"),
    (f"the score is below {LEAST_SCORE}", lambda analysis: analysis.score < LEAST_SCORE),
)
SAME_AGAIN = "the rules would see the same again"
NOTHING_NEW = "there is nothing new to see"
NOT_ENOUGH = "too little is left of the allowance ({bound})"


# What a second look could see that the first did not; without any of it none is made.
NEWS: tuple[tuple[str, Callable[[Analysis, tuple[str, ...]], bool]], ...] = (
    ("it was cut off", lambda first, _: first.ending.kind == "wrapped up"),
    ("quotes that are not in the code", lambda first, _: not _is_verified(first)),
    ("explanations left open", lambda first, _: bool(_hypotheses(first, "open"))),
    ("steps it named", lambda first, _: bool(first.next_steps)),
    ("findings of tonight", lambda _, findings: bool(findings)),
)


def news(first: Analysis, findings: tuple[str, ...]) -> str:
    """Name what a second look could see that the first did not; empty where nothing is new.

    `findings` are others of the night.
    """
    return next((name for name, holds in NEWS if holds(first, findings)), "")


def wanted(first: Analysis) -> str:
    """Say why a second look is wanted; empty where it is not."""
    if first.passes >= MOST_PASSES or first.misfit or first.fix_alone:
        return ""
    return next((why for why, holds in WEAK if holds(first)), "")


def left_of(may: Allowance, used: Usage) -> Allowance:
    """Reckon what the first look left; turns and time are anew, for they bound one conversation."""
    cost = None if may.cost is None else max(may.cost - _spent(used, may.cost), 0.0)
    return may.model_copy(update={"tokens": max(may.tokens - used.new_tokens, 0), "cost": cost})


def seed(first: Analysis) -> str:
    """Write for the second look what the first found: findings, files read, what was ruled out."""
    found = f"Finding ({first.confidence} confidence)" if first.has_cause else "Not proved"
    parts = (
        (found, (f"{first.title}: {first.root_cause}",)),
        ("Quoted from the code", tuple(_quote(first))),
        ("Files it read", first.read),
        ("Explanations it ruled out", _hypotheses(first, "ruled out")),
        ("Explanations it left open", _hypotheses(first, "open")),
        ("What it would look at next", first.next_steps),
    )
    return "\n\n".join(
        "\n".join((f"{name}:", *(f"- {_flat(item)}" for item in items[:FINDINGS])))
        for name, items in parts
        if items
    )


def skipped(first: Analysis, why: str, hindered: str) -> Analysis:
    """Return the first verdict, with the reason why it was left at that."""
    return first.model_copy(update={"second_look": _look(first, why, skipped=hindered)})


def failed(first: Analysis, why: str, reason: str, used: Usage) -> Analysis:
    """Return the first verdict after a second look that came to none; what that used counts."""
    because = f"the second came to no verdict: {reason[:ENDING]}"
    look = _look(first, why, because=because, usage=used)
    return first.model_copy(update={"second_look": look, "passes": 2, "usage": first.usage + used})


def better(first: Analysis, second: Analysis, why: str) -> Analysis:
    """Return the better of two verdicts, with what both took; a tie keeps the first."""
    by = advantage(first, second)
    look = _look(
        first,
        why,
        kept="second" if by else "first",
        because=f"the second is better by {by}" if by else "the second is not better",
        confidence=(first.confidence, second.confidence),
        score=(first.score, second.score),
        usage=second.usage,
    )
    return (second if by else first).model_copy(
        update={
            "second_look": look,
            "passes": 2,
            "usage": first.usage + second.usage,
            "iterations": first.iterations + second.iterations,
            "read": tuple(dict.fromkeys((*first.read, *second.read))),
            "lines_read": (*first.lines_read, *second.lines_read)[:RANGES],
            "missed": first.missed + second.missed,
            "truncated": first.truncated + second.truncated,
            "code_reads": _both(first.code_reads, second.code_reads),
        }
    )


def _is_verified(first: Analysis) -> bool:
    return bool(first.evidence) and all(evidence.verified for evidence in first.evidence)


def _look(first: Analysis, why: str, **more: Any) -> SecondLook:
    only_first = {"confidence": (first.confidence,), "score": (first.score,)}
    return SecondLook(wanted=why, **{**only_first, **more})


def _spent(used: Usage, all_of_it: float) -> float:
    return all_of_it if used.cost is None else used.cost


def _quote(first: Analysis) -> list[str]:
    return [
        f"{evidence.path}:{evidence.line} {evidence.quote}"
        + ("" if evidence.verified else " (not found there)")
        for evidence in first.evidence
    ]


def _hypotheses(first: Analysis, standing: str) -> tuple[str, ...]:
    return tuple(
        f"{hypothesis.statement} ({hypothesis.because})"
        if hypothesis.because
        else hypothesis.statement
        for hypothesis in first.hypotheses
        if hypothesis.standing == standing
    )


def _flat(text: str) -> str:
    return shortened(one_line(text), FINDING)


def _both(first: CodeReads | None, second: CodeReads | None) -> CodeReads | None:
    return first + second if first and second else first or second


# What a model says of an error at first sight, read strictly: what does not fit is no answer.


def read_first_sight(text: str) -> FirstSight:
    """Read the one object in a model's answer; raises `GiveUp` saying what is wrong with it.

    Prose or fences around it, upper case, "yes" for true and unknown fields are understood; a
    category that is none of ours is unknown, and nothing else is guessed.

    >>> said = '{"severity": "High", "likely_cause": "", "needs_deep_investigation": "yes"}'
    >>> read_first_sight(f"Here: {said}").severity
    'high'
    """
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise GiveUp("the answer is no JSON object" if text.strip() else "the answer is empty")
    try:
        return FirstSight.model_validate(_tidied(from_json(text[begin : end + 1])))
    except ValidationError as problems:
        wrong = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in problems.errors(include_input=False)[:4]
        )
        raise GiveUp(f"the answer does not fit: {wrong}"[:500]) from None
    except ValueError:
        raise GiveUp("the answer is no whole JSON object") from None


def _tidied(answer: dict[str, Any]) -> dict[str, Any]:
    fields = {name: answer[name] for name in FirstSight.model_fields if name in answer}
    words = {
        name: str(fields[name]).strip().lower()
        for name in ("severity", "category")
        if name in fields
    }
    if words.get("category") not in get_args(Category):
        words["category"] = "unknown"
    if isinstance(fields.get("needs_deep_investigation"), int | float) and not isinstance(
        fields["needs_deep_investigation"], bool
    ):
        fields["needs_deep_investigation"] = None  # a number is neither yes nor no
    return fields | words
