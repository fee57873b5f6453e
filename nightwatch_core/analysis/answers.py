"""Read a model's answer: strict about what it says, lenient about how it is wrapped."""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.limits import ANSWER_ITEMS, LAST_LINE
from nightwatch_core.analysis.previews import place
from nightwatch_core.analysis.prompts import TEXTS
from nightwatch_core.code.code_view import CUT, MARK, inside
from nightwatch_core.code.edits import grounds_of, judged
from nightwatch_core.code.limits import LINE
from nightwatch_core.code.verdict import looked_up
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.analysis import RefusedEdit
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
from nightwatch_core.models.conversation import (
    Conversation,
    LinesRead,
    ToolCall,
    ToolResult,
    UserTurn,
)
from nightwatch_core.models.errors import Case
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import clean, line
from nightwatch_core.text.json_objects import object_in, problems_text, snake

# What an answer's edits are sent back for, once: the rules that would refuse them, in words.


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


# What answers of tools show, read back from their texts: lines of files, hits, rows of others.

_CODE = ("read_file", "search_code", "read_symbol")  # tools that show lines of the repository
_LINES = (*_CODE, "read_library")  # tools that show lines of files
_HEAD = re.compile(r"(?P<path>\S.{0,999}) \(lines \d{1,8}-\d{1,8} of \d{1,8}\)")
_HIT = re.compile(r"(?P<path>[^\s:|][^:|]{0,999}):(?P<line>\d{1,8}): ")
_LISTED = re.compile(r" {0,8}\d{1,8}-\d{1,8} +\S|\S.{0,999}: lines \d")  # of an outline, a count
_SAYINGS = (MARK, "No file is called", "This error came without", "```")  # how other tools say it
NUMBERED = re.compile(r" {0,8}(?P<line>\d{1,8})\|")


def lines_of_opening(opening: Conversation) -> frozenset[str]:
    """Collect what the conversation holds before the first call: `path:line`, or rows of text.

    A line of a preview counts where its row is in the text: not all previews need to be told.
    """
    said = "\n".join(turn.text for turn in opening.turns if isinstance(turn, UserTurn))
    rows = frozenset(row.lstrip() for row in said.split("\n"))
    places = (
        place(preview.path, number)
        for preview in opening.research.previews
        for number, text in enumerate(preview.text.split("\n"), start=preview.start)
        if len(text) < LINE and f"{number}| {text}" in rows
    )
    return frozenset((*places, *_texts(said)))


def lines_shown(call: ToolCall, result: ToolResult) -> frozenset[str]:
    r"""Collect the lines and hits in a tool's answer: `path:line` where they have a place.

    >>> call = ToolCall(id="1", name="read_file")
    >>> answer = ToolResult(id="1", name="read_file", text="a.py (lines 7-7 of 9)\n    7| x = 1")
    >>> sorted(lines_shown(call, answer))
    ['a.py:7']
    """
    if result.is_error:
        return frozenset()
    return frozenset((_places if call.name in _LINES else _texts)(result.text))


def files_read(call: ToolCall, result: ToolResult) -> Iterable[str]:
    """List files of the repository of which the answer shows lines, or that are empty."""
    value = result.value
    if call.name not in _CODE or result.is_error:
        return ()
    if call.name == "read_file":
        is_outline = isinstance(value, LinesRead) and value.total and not value.lines
        path = call.arguments.get("path")
        named = inside(path) if isinstance(path, str) and not is_outline else ""
        return (named,) if named else ()
    return dict.fromkeys(path for path, _, _ in _rows(result.text) if path)


def _places(text: str) -> Iterable[str]:
    for path, number, row in _rows(text):
        # another part of a long line is new; so is what is listed without its text
        part = row[: limits.COMPARED_LINE] if CUT in row else ""
        yield f"{path}:{number}{part}" if path else row


def _rows(text: str) -> Iterable[tuple[str, str, str]]:
    """Path, number and row of every line that is shown; path and number empty for a list."""
    path = ""
    for row in text.split("\n"):
        if head := _HEAD.fullmatch(row):
            path = head["path"]
        elif hit := _HIT.match(row):
            yield hit["path"], hit["line"], row
        elif line := NUMBERED.match(row):
            yield path, line["line"], row
        elif _LISTED.match(row):
            yield "", "", row


def _texts(text: str) -> Iterable[str]:
    rows = (row.strip()[: limits.COMPARED_LINE] for row in text.split("\n"))
    return (row for row in rows if row and not row.startswith(_SAYINGS))


# The answer that a model gave as JSON.

_REQUIRED = ("title", "root_cause", "confidence")
_PLACE = re.compile(r"(?P<path>.+):(?P<line>\d{1,8})(?:[-:]\d{1,8})?")
_ITEMS: Mapping[str, tuple[type[BaseModel], str]] = {  # kind, and the field a bare text stands for
    "file_changes": (Edit, ""),  # a fix is not guessed from words
    "evidence": (Evidence, "path"),
    "hypotheses": (Hypothesis, "statement"),
    "learnings": (Learning, "fact"),
    "steps": (PlannedStep, "title"),
}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "confidence": get_args(Confidence),
    "fix_confidence": get_args(Confidence),
    "action": get_args(Action),
    "standing": get_args(Hypothesis.model_fields["standing"].annotation),
}


@cache
def answer_schema() -> dict[str, Any]:
    """Return the JSON schema that is sent with the first request and never changes."""
    return Answer.model_json_schema()


def read_answer(text: str) -> Answer:
    """Read the answer out of what the model said; raises `GiveUp` saying what is wrong with it.

    Prose or fences around the JSON, a list of one, wrong case, null, text for numbers and unknown
    fields are understood. Of several objects the last that holds most of what is required counts.
    Nothing is guessed that decides anything: a fix has to be an object, a confidence one of the
    words.

    >>> said = 'Here: ```json\\n{"title": "T", "root_cause": "R", "confidence": "High"}\\n```'
    >>> read_answer(said).confidence
    'high'
    """
    fields = _fields_of(object_in(text, _REQUIRED), Answer)
    for name, field in Answer.model_fields.items():
        if field.default == () and name in fields:
            fields[name] = _items_of(name, fields[name])
    if fields.get("file_changes"):
        fields.setdefault("has_fix", True)
    if fields.get("fix_confidence") not in _CHOICES["fix_confidence"]:
        fields.pop("fix_confidence", None)  # it decides nothing: no reason to ask again
    try:
        return Answer.model_validate(fields)
    except ValidationError as problems:
        wrong = problems_text(problems)
        raise GiveUp(f"the answer does not fit the schema: {wrong}") from None


def _items_of(name: str, value: object) -> list[object]:
    """A list of items as their kind wants them; a single item is a list of one."""
    kind, bare = _ITEMS.get(name, (None, ""))
    if isinstance(value, str) and value.strip().lower().rstrip(".") in _NONE:
        return []
    listed = value if isinstance(value, list) else [value]
    items = [item for item in listed if item not in (None, "")][:ANSWER_ITEMS]
    if kind is None:
        return [_clean(item, "") for item in items]
    dicts = [{bare: item} if bare and not isinstance(item, dict) else item for item in items]
    return [_fields_of(item, kind) if isinstance(item, dict) else item for item in dicts]


_NONE = frozenset(("", "none", "null", "n/a", "nothing", "-", "[]"))


def _fields_of(given: Mapping[str, Any], kind: type[BaseModel]) -> dict[str, Any]:
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


def _clean(value: object, key: str) -> object:
    """Text for numbers, no half or hidden characters, the number of "12-14": as in the schema."""
    if key == "line":
        return _line(value)
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        text = text if key in ("old", "new", "quote", "path") else clean(text)  # as in files
        if key not in _CHOICES:
            return text
        meant = " ".join(re.sub(r"[^a-z]+", " ", text[:100].lower()).split())
        return meant if meant in _CHOICES[key] else text[:100]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value)[:100] if is_number and key != "has_fix" else value


def _line(value: object) -> int:
    """A line number; 0 where none is said."""
    number = re.search(r"\d{1,8}", str(value)[:100])
    return min(int(number.group()), LAST_LINE) if number else 0
