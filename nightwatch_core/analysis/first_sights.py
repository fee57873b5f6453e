"""What a model says of an error at first sight, read strictly: what does not fit is no answer."""

from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import from_json

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.batch import Category, FirstSight


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
    """The fields we know, words in our own spelling."""
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
