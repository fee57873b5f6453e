"""Read a model's answer: strict about what it says, lenient about how it is wrapped."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from nightwatch_core.analysis.json_objects import loaded, object_in, snake, unpacked
from nightwatch_core.analysis.limits import ANSWER_ITEMS, LAST_LINE
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import (
    Action,
    Answer,
    Confidence,
    Edit,
    Evidence,
    Hypothesis,
    Learning,
    PlannedStep,
)
from nightwatch_core.text.escaping import clean

_REQUIRED = ("title", "root_cause", "confidence")
_PLACE = re.compile(r"(?P<path>.+):(?P<line>\d{1,8})(?:[-:]\d{1,8})?")
_LISTS = tuple(name for name, field in Answer.model_fields.items() if field.default == ())
_ITEMS: Mapping[str, tuple[type[BaseModel], str]] = {  # kind, and the field a bare text stands for
    "file_changes": (Edit, ""),  # a fix is not guessed from words
    "evidence": (Evidence, "path"),
    "hypotheses": (Hypothesis, "statement"),
    "learnings": (Learning, "fact"),
    "steps": (PlannedStep, "title"),
}
_NOTHING = frozenset(("", "none", "null", "n/a", "nothing", "-", "[]"))
_STANDINGS: tuple[str, ...] = get_args(Hypothesis.model_fields["standing"].annotation)
_SURE = {
    **{f"{word} confidence": word for word in ("high", "medium", "low")},
    **{"moderate": "medium", "med": "medium", "very high": "high", "very low": "low"},
}
SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "confidence": _SURE,
    "fix_confidence": _SURE,
    "action": {
        **dict.fromkeys(("modify", "update", "replace", "change"), "edit"),
        **dict.fromkeys(("add", "new"), "create"),
        "remove": "delete",
    },
    "standing": {
        **dict.fromkeys(("confirm", "supported", "accepted", "true"), "confirmed"),
        **dict.fromkeys(("possible", "unknown", "unverified", "likely"), "open"),
        **dict.fromkeys(("rejected", "refuted", "excluded", "unlikely", "false"), "ruled out"),
    },
}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "confidence": get_args(Confidence),
    "fix_confidence": get_args(Confidence),
    "action": get_args(Action),
    "standing": _STANDINGS,
}


@cache
def answer_schema() -> dict[str, Any]:
    """The JSON schema that is sent with the first request and never changes."""
    return Answer.model_json_schema()


def read_answer(text: str) -> Answer:
    """Read the answer out of what the model said; raises `GiveUp` saying what is wrong with it.

    Prose or fences around the JSON, JSON inside a JSON text, a list of one, wrong case, null, text
    for numbers and unknown fields are understood. Of several objects the last that holds most of
    what is required counts. Nothing is guessed that decides anything: a fix has to be an object, a
    confidence one of the words.

    >>> said = 'Here: ```json\\n{"title": "T", "root_cause": "R", "confidence": "High"}\\n```'
    >>> read_answer(said).confidence
    'high'
    """
    try:
        return Answer.model_validate(_tidied(object_in(unpacked(text), _REQUIRED)))
    except ValidationError as problems:
        wrong = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in problems.errors(include_input=False)[:6]
        )
        raise GiveUp(f"the answer does not fit the schema: {wrong}") from None


def _tidied(answer: dict[str, Any]) -> dict[str, Any]:
    fields = _fields_of(answer, Answer)
    for name in _LISTS:
        if name in fields:
            fields[name] = _items(name, fields[name])
    if fields.get("file_changes"):
        fields.setdefault("has_fix", True)
    if fields.get("fix_confidence") not in _CHOICES["fix_confidence"]:
        fields.pop("fix_confidence", None)  # it decides nothing: no reason to ask again
    return fields


def _items(name: str, value: object) -> list[object]:
    """A list of items as their kind wants them; a single item is a list of one."""
    (kind, bare), value = _ITEMS.get(name, (None, "")), _from_json(value, is_list=True)
    items = value if isinstance(value, list) else [value]
    items = [item for item in items[:ANSWER_ITEMS] if item is not None and item != ""]
    if kind is None:
        return [_clean(item, "") for item in items]
    return [
        _fields_of(item if isinstance(item, dict) else {bare: item}, kind)
        if bare or isinstance(item, dict)
        else item
        for item in map(_from_json, items)
    ]


def _from_json(value: object, is_list: bool = False) -> object:
    """A list or object that came as its JSON; nothing where a word for that stands alone."""
    if not isinstance(value, str):
        return value
    if is_list and value.strip().lower().rstrip(".") in _NOTHING:
        return []
    inner = loaded(value) if value.lstrip()[:1] in ("[", "{") else None
    return inner if isinstance(inner, list | dict) else value


def _fields_of(given: Mapping[str, Any], kind: type[BaseModel]) -> dict[str, Any]:
    """The fields that `kind` has, with nulls left out wherever a default stands in."""
    named = {snake(key): value for key, value in given.items()}
    kept = {key: named[key] for key in kind.model_fields if named.get(key) is not None}
    cleaned = {key: _clean(value, key) for key, value in kept.items()}
    place = _PLACE.fullmatch(str(cleaned.get("path", ""))[:1_000]) if kind is Evidence else None
    if place:
        cleaned = {"line": _line(place["line"]), **cleaned, "path": place["path"]}
    if kind is Evidence:
        cleaned.setdefault("line", 0)
        cleaned.pop("verified", None)  # only our code says so
    return cleaned


_AS_THEY_STAND = ("old", "new", "quote", "path")  # as files have them


def _clean(value: object, key: str) -> object:
    """Numbers where text is meant, half or hidden characters, "12-14": as the schema has them."""
    if key == "line":
        return _line(value)
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        text = text if key in _AS_THEY_STAND else clean(text)
        return _choice(text, key) if key in _CHOICES else text
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value)[:100] if is_number and key != "has_fix" else value


def _choice(text: str, key: str) -> str:
    """The allowed word that is meant; the text itself where none is."""
    meant = " ".join(re.sub(r"[^a-z]+", " ", text[:100].lower()).split())
    meant = SYNONYMS[key].get(meant, meant)
    return meant if meant in _CHOICES[key] else text[:100]


def _line(value: object) -> int:
    """A line number; 0 where none is said."""
    number = re.search(r"\d{1,8}", str(value)[:100])
    return min(int(number.group()), LAST_LINE) if number else 0
