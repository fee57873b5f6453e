"""Read what a model says at first sight: strict about what it says, lenient about its wrapping."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.batch import Category, FirstSight, Severity
from nightwatch_core.text.escaping import line
from nightwatch_core.triage.limits import ANSWER_CHARACTERS, CAUSE_CHARACTERS

_TRIES = 50  # opening braces that are tried
_YES = {"yes": True, "true": True, "no": False, "false": False}
_CATEGORIES: tuple[str, ...] = get_args(Category)
_SEVERITIES: tuple[str, ...] = get_args(Severity)


def read_first_sight(text: str) -> FirstSight:
    """Read the answer out of what the model said; raises `GiveUp` saying what is wrong with it.

    Prose or fences around the JSON, case and "yes" for true are understood; what decides something
    is never guessed. Of several objects the last that fits counts.

    >>> said = '{"severity": "High", "likely_cause": "A typo.", "needs_deep_investigation": "yes"}'
    >>> read_first_sight(f"Here: {said}").needs_deep_investigation
    True
    """
    wrong = "the answer holds no JSON object"
    sight: FirstSight | None = None
    for candidate in _objects(text[:ANSWER_CHARACTERS]):
        try:
            sight = FirstSight.model_validate(_tidied(candidate))
        except ValidationError as problems:
            names = {".".join(map(str, one["loc"])) for one in problems.errors()[:6]}
            wrong = f"the answer does not fit the schema: {', '.join(sorted(names))}"
    if sight is None:
        raise GiveUp(wrong)
    return sight


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    decoder, at = json.JSONDecoder(strict=False), 0
    for _ in range(_TRIES):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if isinstance(value, Mapping):
            yield value


def _tidied(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a first sight, words in their own spelling."""
    fields = {name: answer[name] for name in FirstSight.model_fields if name in answer}
    severity, category = _word(fields.get("severity")), _word(fields.get("category"))
    needs = fields.get("needs_deep_investigation")
    if severity in _SEVERITIES:
        fields["severity"] = severity
    fields["category"] = category if category in _CATEGORIES else "unknown"
    if isinstance(needs, str):
        fields["needs_deep_investigation"] = _YES.get(_word(needs), needs[:40])
    if isinstance(needs, int) and not isinstance(needs, bool):
        fields["needs_deep_investigation"] = f"number {needs}"[:40]  # neither yes nor no
    if isinstance(fields.get("likely_cause"), str):
        fields["likely_cause"] = line(fields["likely_cause"], CAUSE_CHARACTERS)
    return fields


def _word(value: object) -> str:
    return str(value)[:40].strip().strip(".").lower().replace("-", "_").replace(" ", "_")
