"""Notes of a task file by rule: what its sections label, as `Root cause: …` or below a heading.

Prose without labels is left to a model: a guess from single words would be filler.
"""

import re
from datetime import date
from textwrap import dedent

from nightwatch_core.memory.note_reader import normalised
from nightwatch_core.models.knowledge import Decision, Notes, Problem, TaskFile
from nightwatch_core.text.escaping import line

MOST = 10  # problems, decisions and gotchas of one task
SECTION = 64 * 1024  # characters that are read
LONGEST = 600  # characters of one field

_NAMES = {
    "what": "problem, issue, bug, blocker, problem encountered, issue encountered, what went wrong",
    "symptoms": "symptom, observed",
    "root_cause": "root cause, cause, why it happened",
    "solution": "solution, fix, fixes, resolution, workaround",
    "prevention": "prevention, how to avoid it, how to prevent it",
    "choice": "decision, choice, key decision, design decision, decisions made, chosen option",
    "alternatives": "alternative, alternatives considered, rejected, rejected alternative",
    "rationale": "rationale, reason, reasoning, why",
    "gotcha": "gotcha, caveat, pitfall, surprise, lesson learned, lessons learned, key learning, "
    "learning, known limitation, watch out",
}
LABELS = {name: field for field, names in _NAMES.items() for name in names.split(", ")}
_PROBLEM = ("what", "symptoms", "root_cause", "solution", "prevention")
_STARTS = ("what", "choice", "gotcha")  # fields of which a list makes several

_SKIPPED = re.compile(
    r"<!--.*?(?:-->|\Z)|^\s{0,6}(```|~~~).*?(?:^\s{0,6}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)
_ELEMENT = re.compile(r"<(/?)([a-z]+(?:-[a-z]+){0,3})>")
_LABEL = re.compile(
    r"\s*(?P<heading>#{1,6}\s+)?(?:(?:[-*+]|\d{1,3}[.)])\s+)?(?P<bold>[*_]{0,3})"
    r"(?P<name>[a-z][a-z ]{0,40})[*_]{0,3}(?P<colon>\s*:)?[*_]{0,3}(?:\s+(?P<text>\S.*))?",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_NOTHING = re.compile(r"(?:none|n/?a|nothing|tbd|todo|\[[^\]]*\]|no|yes|\W*)\W*", re.IGNORECASE)


def task_notes(task: TaskFile, on: date) -> Notes:
    """Draw the problems, decisions and gotchas that a task's sections label; empty for none.

    A problem needs two of its fields: what the task is for is none by itself.
    """
    drawn = _Drawn()
    for section in task.sections:
        drawn.read(section.text[:SECTION])
    problems = (Problem.model_validate(item) for item in drawn.problems if len(item) > 1)
    decisions = (Decision.model_validate(item) for item in drawn.decisions if "choice" in item)
    return normalised(
        Notes(
            timestamp=on,
            problems=tuple(dict.fromkeys(problems))[:MOST],
            decisions=tuple(dict.fromkeys(decisions))[:MOST],
            gotchas=tuple(dict.fromkeys(drawn.gotchas))[:MOST],
        )
    )


class _Drawn:
    """Fields of problems and decisions, put together in the order of a task's labels."""

    def __init__(self) -> None:
        self.problems: list[dict[str, object]] = []
        self.decisions: list[dict[str, object]] = []
        self.gotchas: list[str] = []

    def read(self, text: str) -> None:
        """Read one section; it goes on with the problem of the section before if that has one."""
        if len(list(filter(None, self.problems))) != 1:
            self.problems.append({})
        field, rows, inline = "", list[str](), False
        for row in _rows(text):
            label = _LABEL.fullmatch(row)
            name = _field(label) if label else ""
            heading = row.lstrip().startswith("#")
            is_other = bool(label and label["bold"] and label["colon"])
            if not (name or heading or is_other or (inline and not row.strip())):
                rows.append(row)
                continue
            self._add(field, rows)
            if heading and not name:
                self.problems.append({})
            text_after = label["text"] if label and name else None
            field, rows, inline = name, [text_after] if text_after else [], bool(text_after)
        self._add(field, rows)

    def _add(self, field: str, rows: list[str]) -> None:
        items = [item for item in _items(rows) if not _NOTHING.fullmatch(item)]
        if not field or not items:
            return
        if field == "gotcha":
            self.gotchas += items
            return
        held = self.problems if field in _PROBLEM else self.decisions
        if field in _STARTS:
            held += ({field: item} for item in items)
            return
        if not held or field in held[-1]:
            held.append({})
        several = ", " if field == "alternatives" else "; "
        held[-1][field] = tuple(items) if field == "symptoms" else several.join(items)[:LONGEST]


def _rows(text: str) -> list[str]:
    """Lines without code and comments; `<gotcha>x</gotcha>` stands as a heading with its text."""

    def as_label(tag: re.Match[str]) -> str:
        known = _named(tag[2].replace("-", " "))
        return f"\n# {tag[2].replace('-', ' ')}:\n" if known and not tag[1] else "\n"

    return _ELEMENT.sub(as_label, _SKIPPED.sub("", text)).split("\n")


def _field(label: re.Match[str]) -> str:
    return _named(label["name"]) if label["heading"] or label["colon"] else ""


def _named(name: str) -> str:
    name = " ".join(name.lower().split())
    return LABELS.get(name) or LABELS.get(name.removesuffix("s"), "")


def _items(rows: list[str]) -> list[str]:
    """Items of a list with their further lines, else the first paragraph, each in one line."""
    text = dedent("\n".join(rows)).strip()
    if not any(map(_ITEM.match, text.split("\n"))):
        return [line(text.partition("\n\n")[0], LONGEST)] if text else []
    items: list[str] = []
    for row in text.split("\n"):
        if found := _ITEM.match(row):
            items.append(row[found.end() :])
        elif items:
            items[-1] += f" {row.strip()}"
    return [line(item, LONGEST) for item in items]
