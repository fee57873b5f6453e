"""The notes of a task, drawn by rule from what its own sections say; nothing is made up."""

import re
from datetime import date

from nightwatch_core.learnings.labelled_text import parts_of
from nightwatch_core.learnings.prose import LONGEST, items
from nightwatch_core.learnings.section_notes import PROBLEM, SectionNotes
from nightwatch_core.memory.notes.note_layout import normalised
from nightwatch_core.models.knowledge import Decision, Notes, Problem, TaskFile, TaskSection
from nightwatch_core.text.escaping import line

MOST = 10  # problems, decisions and gotchas of one task
_DONE = ("implementation", "ship")  # sections that tell what was done
_NOTHING = re.compile(r"(?:none|n/?a|nothing|tbd|todo|-+|\.+|\[[^\]]*\]|no|yes)\W*", re.IGNORECASE)


def task_notes(task: TaskFile, on: date) -> Notes:
    """Draw problems, decisions and gotchas from a task's sections; empty where they name none.

    A problem needs a cause, a solution or a prevention: what the task is for is none by itself. A
    fix that implementation or ship tell of alone belongs to the only problem that has none.
    """
    problems: list[dict[str, str]] = []
    fixes: list[str] = []
    decisions: list[dict[str, str]] = []
    gotchas: list[str] = []
    for section in task.sections:
        drawing = _drawn(section)
        problems += (one for one in drawing.problems if _says(one, "what", "root_cause"))
        if section.name in _DONE:
            alone = (one for one in drawing.problems if not _says(one, "what", "root_cause"))
            fixes += (one["solution"] for one in alone if _says(one, "solution"))
        decisions += (one for one in drawing.decisions if _says(one, "choice"))
        gotchas += drawing.gotchas
    open_ones = [one for one in problems if not _says(one, "solution")]
    if len(open_ones) == 1 and len(fixes) == 1:
        open_ones[0]["solution"] = fixes[0]
    kept = (one for one in problems if _is_whole(one))
    return normalised(
        Notes(
            timestamp=on,
            problems=tuple(dict.fromkeys(map(_problem_of, kept)))[:MOST],
            decisions=tuple(dict.fromkeys(map(_decision_of, decisions)))[:MOST],
            gotchas=tuple(dict.fromkeys(one for one in gotchas if _is_text(one)))[:MOST],
        )
    )


def _drawn(section: TaskSection) -> SectionNotes:
    drawing = SectionNotes()
    for part in parts_of(section.text):
        drawing.add(part)
    return drawing


def _is_whole(one: dict[str, str]) -> bool:
    """Whether a problem says more than its name: a cause with what it caused, or what helps."""
    return _says(one, "solution", "prevention") or (
        _says(one, "root_cause") and _says(one, "what", "symptoms")
    )


def _problem_of(one: dict[str, str]) -> Problem:
    fields = {name: _kept(one.get(name, "")) for name in ("what", *PROBLEM[1:])}
    if not fields["what"]:  # the cause names it, and is not told twice
        fields |= {"what": fields["root_cause"], "root_cause": ""}
    symptoms = filter(_is_text, items(one.get("symptoms", "")))
    return Problem(**fields, symptoms=tuple(line(each, LONGEST) for each in symptoms))


def _decision_of(one: dict[str, str]) -> Decision:
    return Decision(**{name: _kept(one.get(name, "")) for name in Decision.model_fields})


def _kept(text: str) -> str:
    return line(text, LONGEST) if _is_text(text) else ""


def _says(one: dict[str, str], *names: str) -> bool:
    return any(_is_text(one.get(name, "")) for name in names)


def _is_text(text: str) -> bool:
    return bool(text.strip()) and not _NOTHING.fullmatch(text.strip())
