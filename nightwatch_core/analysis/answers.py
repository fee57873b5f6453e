"""Read a model's answer: strict about what it says, lenient about how it is wrapped."""

import re
from collections.abc import Collection, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from nightwatch_core.analysis.prompts import TEXTS
from nightwatch_core.code.edits import grounds_of, judged
from nightwatch_core.code.verdict import looked_up
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.analysis import RefusedEdit
from nightwatch_core.models.answer import Action, Answer, Confidence, Evidence, Hypothesis
from nightwatch_core.models.errors import Case
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import clean, line
from nightwatch_core.text.json_objects import object_in, problems_text, snake

ITEMS = 50  # of every list of an answer
_LAST_LINE = 10_000_000  # line number
_REQUIRED = ("title", "root_cause", "confidence")
_FIX = ("has_fix", "file_changes")  # what a correction returns of an answer
_PLACE = re.compile(r"(?P<path>.+):(?P<line>\d{1,8})(?:[-:]\d{1,8})?")
_NONE = frozenset(("", "none", "null", "n/a", "nothing", "-", "[]"))
_AS_IN_FILES = ("old", "new", "quote", "path")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "confidence": get_args(Confidence),
    "fix_confidence": get_args(Confidence),
    "action": get_args(Action),
    "standing": get_args(Hypothesis.model_fields["standing"].annotation),
}


def read_answer(text: str, before: Answer | None = None) -> Answer:
    """Read the answer out of what the model said; raises `GiveUp` saying what is wrong with it.

    `before` is the answer that this one corrects: without a root cause of its own it is that one
    with other edits.

    Prose or fences around the JSON, a single item for a list, wrong case, null, text for numbers
    and unknown fields are understood. Of several objects the last that holds most of what is
    required counts. Nothing is guessed that decides anything: a fix has to be an object, a
    confidence one of the words.

    >>> said = 'Here: ```json\\n{"title": "T", "root_cause": "R", "confidence": "High"}\\n```'
    >>> read_answer(said).confidence
    'high'
    """
    fields = _fields_of(object_in(text, (*_REQUIRED, *(_FIX if before else ()))), Answer)
    if fields.get("file_changes"):
        fields.setdefault("has_fix", True)
    if before and not fields.get("root_cause"):
        edits = {name: fields[name] for name in _FIX if name in fields}
        fields = before.model_dump(exclude=set(_FIX)) | edits
    if fields.get("fix_confidence") not in _CHOICES["fix_confidence"]:
        fields.pop("fix_confidence", None)  # it decides nothing: no reason to ask again
    try:
        return Answer.model_validate(fields)
    except ValidationError as problems:
        raise GiveUp(f"the answer does not fit the schema: {problems_text(problems)}") from None


def _fields_of(given: Mapping[str, Any], kind: type[BaseModel]) -> dict[str, Any]:
    named = {snake(key): value for key, value in given.items()}
    asked = [name for name in kind.model_fields if named.get(name) is not None]
    fields = {name: _meant(named[name], name, kind.model_fields[name]) for name in asked}
    if kind is Evidence:
        fields.pop("verified", None)  # only our code says so
        if place := _PLACE.fullmatch(str(fields.get("path", ""))[:1_000]):
            fields = {"line": _line(place["line"]), **fields, "path": place["path"]}
        fields.setdefault("line", 0)
    return fields


def _meant(value: Any, name: str, field: FieldInfo) -> Any:
    """The value of a field as its model wants it, without half or hidden characters."""
    if field.default == ():
        if isinstance(value, str) and value.strip().lower().rstrip(".") in _NONE:
            return []
        listed = value if isinstance(value, list) else [value]
        kind = get_args(field.annotation)[0]
        is_object = isinstance(kind, type) and issubclass(kind, BaseModel)
        return [
            _fields_of(item, kind) if is_object and isinstance(item, Mapping) else _plain(item, "")
            for item in [item for item in listed if item not in (None, "")][:ITEMS]
        ]
    if name == "line":
        return _line(value)
    if name in _CHOICES and isinstance(value, str):
        word = " ".join(re.sub(r"[^a-z]+", " ", value[:100].lower()).split())
        return word if word in _CHOICES[name] else value[:100]
    return _plain(value, name)


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        return text if name in _AS_IN_FILES else clean(text)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value)[:100] if is_number and name != "has_fix" else value


def _line(value: object) -> int:
    """The line number in "12-14"; 0 where there is none."""
    number = re.search(r"\d{1,8}", str(value)[:100])
    return min(int(number.group()), _LAST_LINE) if number else 0


# Edits that the policy refuses: the answer is sent back once, with the reasons.


def complaints(
    answer: Answer, case: Case, code: CodeReader, read: Collection[str]
) -> tuple[RefusedEdit, ...]:
    """List the edits of an answer that would be dropped, each with the reason.

    `read` are the files lines of which were shown. Raises what the code reader raises.
    """
    if not answer.has_fix or not answer.file_changes:
        return ()
    grounds = grounds_of(answer, case, looked_up(answer.evidence, code), read)
    return judged(answer.file_changes, code, grounds).refused


def mend_request(refused: tuple[RefusedEdit, ...]) -> str:
    """Ask for the answer again with those edits mended; empty where none is refused.

    >>> print(mend_request((RefusedEdit(path="a.py", reason="it was not read"),))[:67])
    These edits cannot be proposed as they are:
    - a.py: it was not read
    """
    rows = (f"- {line(edit.path, 200)}: {line(edit.reason)}" for edit in refused[:10])
    return TEXTS["refused_edits"].format(reasons="\n".join(rows)) if refused else ""
