"""Read a model's answer: strict about what it says, lenient about how it is wrapped."""

import json
from typing import Any

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.analysis import Answer

_LONGEST = 400_000  # characters of an answer that are looked at
_LISTS = (
    "file_changes",
    "evidence",
    "hypotheses",
    "tags",
    "learnings",
    "related_to",
    "suggested_next_steps",
)


def answer_schema() -> dict[str, Any]:
    """The JSON schema that is sent with the first request and never changes."""
    return Answer.model_json_schema()


def read_answer(text: str) -> Answer:
    """Read the answer out of what the model said; raises `GiveUp` saying what is wrong with it.

    Prose or fences around the JSON, a list of one, wrong case and null lists are understood.

    >>> said = 'Here: ```json\\n{"title": "T", "root_cause": "R", "confidence": "High"}\\n```'
    >>> read_answer(said).confidence
    'high'
    """
    found = _object_in(text[:_LONGEST])
    if found is None:
        raise GiveUp("the answer holds no JSON object")
    try:
        return Answer.model_validate(_tidied(found))
    except ValidationError as problems:
        wrong = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in problems.errors(include_input=False)[:6]
        )
        raise GiveUp(f"the answer does not fit the schema: {wrong}") from None


def _object_in(text: str) -> dict[str, Any] | None:
    """The largest JSON object in the text that looks like an answer."""
    decoder = json.JSONDecoder()
    at, tries = text.find("{"), 0
    while at >= 0 and tries < 50:
        tries += 1
        try:
            value, _ = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            value = None
        if isinstance(value, dict) and ("root_cause" in value or "title" in value):
            return value
        at = text.find("{", at + 1)
    return None


def _tidied(answer: dict[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in answer.items() if key in Answer.model_fields}
    for name in _LISTS:
        if known.get(name, ()) is None:
            known[name] = ()
    if isinstance(known.get("confidence"), str):
        known["confidence"] = known["confidence"].strip().lower()
    if known.get("suspect_commit", "") is None:
        known["suspect_commit"] = ""
    return known
