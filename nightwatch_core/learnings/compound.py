"""What is worth telling future agents of an error or a task, drawn by a model or by rule."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import TypeVar

from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.learnings import notes_question
from nightwatch_core.learnings.task_notes import task_notes
from nightwatch_core.memory.limits import LONGEST_INTENT
from nightwatch_core.memory.notes.lesson_notes import draw_notes
from nightwatch_core.memory.notes.note_layout import rendered
from nightwatch_core.memory.notes.researcher import relevant_learnings
from nightwatch_core.memory.notes.scores import intent_words
from nightwatch_core.models.conversation import Transcript
from nightwatch_core.models.knowledge import FoundLearning, Lesson, Notes, TaskFile
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.usage import Allowance, Usage
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Model
from nightwatch_core.text.escaping import line
from nightwatch_core.text.transcript_text import used

Item = TypeVar("Item")

QUESTION = "Continue documenting? (These will be linked as related)"


class DrawnNotes(Value):
    """Notes, and how they came about in a sentence for people."""

    notes: Notes
    said: str
    usage: Usage = Usage()


def similar(target: TaskFile, tasks: tuple[TaskFile, ...]) -> tuple[FoundLearning, ...]:
    """Learnings of other documents that are like what the target is about, or linked with it."""
    problems = [problem for notes in target.notes for problem in notes.problems[:3]]
    words = (target.title, *(text for problem in problems for text in problem.symptoms[:1]))
    intent = line(" ".join(words), LONGEST_INTENT)
    others = [task for task in tasks if task.id != target.id]
    return relevant_learnings(intent, others, about=(target,)) if intent_words(intent) else ()


def last_published(reports: tuple[RunReport, ...]) -> str:
    """The fingerprint of the last item that the newest night with any published.

    Raises `StopTheNight` where no night published anything.
    """
    for report in reports:
        for receipt in reversed(report.receipts):
            if receipt.status in ("done", "already there") and receipt.fingerprint:
                return receipt.fingerprint
    raise StopTheNight("no night has published anything yet: name a lesson's fingerprint or a task")


def draw_by_rule(target: TaskFile, lesson: Lesson | None, why: str, on: date) -> DrawnNotes:
    """Notes without a model: of a lesson by itself, of a task file by what its sections label.

    Raises `GiveUp` where there is nothing to draw them from: a lesson that knows no cause, a task
    file whose sections name no problem, decision or gotcha that was not noted yet. `why` says in a
    few words why no model was asked.
    """
    _demand_cause(lesson)
    if lesson is not None:
        said = f"Drawn by rule from the lesson itself: {why}."
        return DrawnNotes(notes=draw_notes(lesson, on), said=said)
    notes = _new_in(target, on)
    if notes.empty:
        raise GiveUp(
            f"the research, plan, implementation and ship sections of {line(target.id, 80)} name "
            f"nothing new that a rule can draw ({why}): label it there (`Problem:`, `Root cause:`, "
            "`Solution:`, `Decision:`, `Gotcha:`), or write the <future-agent-notes> section into "
            "its file yourself"
        )
    return DrawnNotes(notes=notes, said=f"Drawn by rule from the task's own sections: {why}.")


def _new_in(target: TaskFile, on: date) -> Notes:
    """What a task's sections name, but for what its notes have already."""
    drawn = task_notes(target, on)
    return drawn.model_copy(
        update={
            "problems": _unnoted(drawn.problems, (one.problems for one in target.notes)),
            "decisions": _unnoted(drawn.decisions, (one.decisions for one in target.notes)),
            "gotchas": _unnoted(drawn.gotchas, (one.gotchas for one in target.notes)),
        }
    )


def _unnoted(drawn: tuple[Item, ...], noted: Iterable[tuple[Item, ...]]) -> tuple[Item, ...]:
    known = {item for items in noted for item in items}
    return tuple(item for item in drawn if item not in known)


def draw_by_model(
    target: TaskFile,
    lesson: Lesson | None,
    transcript: Transcript | None,
    model: Model,
    prompt: str,
    may: Allowance,
    on: date,
) -> DrawnNotes:
    """What a model draws from the night's transcript, or from a task's own sections.

    A task's are drawn by rule first, and the model is shown them. Where there is nothing to read,
    the model is a local one, away, too dear, or answers nothing that can be read, those stand and
    `said` tells why; raises as `draw_by_rule`. Of tokens and USD at most `may` is used, with one
    call.
    """
    _demand_cause(lesson)
    by_rule = Notes() if lesson else _new_in(target, on)
    material = notes_question.material(target, lesson, transcript, by_rule)
    if not material:
        nothing = "there is no transcript of it" if lesson else "its sections are empty"
        return draw_by_rule(target, lesson, nothing, on)
    usage = Usage()
    try:
        reply = notes_question.asked(
            model, notes_question.conversation(target, material, prompt), may
        )
        usage = reply.usage
        notes = notes_question.notes_from(reply, on)
    except (GiveUp, TryLater, StopTheNight) as trouble:
        used = usage + (trouble.usage or Usage())
        drawn = draw_by_rule(target, lesson, line(str(trouble), 200).rstrip("."), on)
        return drawn.model_copy(update={"usage": used})
    return DrawnNotes(notes=notes, said=f"Drawn by {model.capabilities().model}.", usage=usage)


def _demand_cause(lesson: Lesson | None) -> None:
    if lesson and not lesson.has_cause:
        raise GiveUp(
            f"no cause of {line(lesson.title or lesson.error_class, 120)} is known: there is "
            f"nothing to draw notes from; what you found out, write into {line(lesson.file, 200)}"
        )


def related_text(learnings: Sequence[FoundLearning]) -> str:
    """Similar learnings that are there already; empty where there are none.

    >>> print(related_text([FoundLearning(task_id="task-1", title="T", relevance=0.5,
    ...                                   summary="Problem: Missing index\\nSolution: Add it")]))
    Found potentially related learnings:
    <BLANKLINE>
    1. task-1: "Missing index"
    """
    if not learnings:
        return ""
    rows = (f'{n}. {line(one.task_id, 80)}: "{_short(one)}"' for n, one in enumerate(learnings, 1))
    return "\n".join(("Found potentially related learnings:", "", *rows))


def drawn_text(drawn: DrawnNotes) -> str:
    """The section that would be written, how it came about, and what that took."""
    took = f" It took {used(drawn.usage)}." if drawn.usage.calls else ""
    return f"{drawn.said}{took}\n\n{rendered(drawn.notes)}"


def captured_text(file: str, notes: Notes, options: str = "") -> str:
    """What was written, and how to promote it; `options` are those of the promotion.

    >>> print(captured_text("errors/a.md", Notes(gotchas=("No fs on the edge",))))
    Learnings captured in errors/a.md.
    <BLANKLINE>
    Promote any to CLAUDE.md? (These become "always loaded" context)
    - [Gotcha] No fs on the edge
    Run `nightwatch promote` to choose.
    """
    rows = (
        *(f"- [Problem] {line(problem.what, 120)}" for problem in notes.problems),
        *(f"- [Gotcha] {line(gotcha, 120)}" for gotcha in notes.gotchas),
        *(f"- [Decision] {line(decision.choice, 120)}" for decision in notes.decisions),
    )
    asked = 'Promote any to CLAUDE.md? (These become "always loaded" context)'
    how = f"Run `nightwatch promote{options}` to choose."
    return "\n".join((f"Learnings captured in {file}.", "", asked, *rows, how))


def _short(one: FoundLearning) -> str:
    first = one.summary.split("\n")[0]
    return line(first.partition(": ")[2] or one.title, 120).replace('"', "'")
