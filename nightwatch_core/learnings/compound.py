"""What is worth telling future agents of an error or a task, drawn by a model or by rule."""

from collections.abc import Sequence
from datetime import date

from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.learnings import notes_question
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


def draw_by_rule(lesson: Lesson | None, why: str, on: date) -> DrawnNotes:
    """Notes without a model; raises `GiveUp` where there is nothing to draw them from.

    A task file has nothing, nor has a lesson that knows no cause. `why` says in a few words why no
    model was asked.
    """
    _demand_cause(lesson)
    if lesson is None:
        raise GiveUp(
            f"the notes of a task need a model ({why}): set ANTHROPIC_API_KEY, or write the "
            "<future-agent-notes> section into its file yourself"
        )
    return DrawnNotes(
        notes=draw_notes(lesson, on), said=f"Drawn by rule from the lesson itself: {why}."
    )


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

    Where there is nothing to read, the model is a local one, away, too dear, or answers nothing
    that can be read, a lesson's notes are drawn by rule and `said` tells why; a task raises
    `GiveUp`, and so does a lesson that knows no cause. Of tokens and USD at most `may` is used,
    with one call.
    """
    _demand_cause(lesson)
    material = notes_question.material(target, lesson, transcript)
    if not material:
        return draw_by_rule(lesson, "there is no transcript of it", on)
    usage = Usage()
    try:
        reply = notes_question.asked(
            model, notes_question.conversation(target, material, prompt), may
        )
        usage = reply.usage
        notes = notes_question.notes_from(reply, on)
    except (GiveUp, TryLater, StopTheNight) as trouble:
        used = usage + (trouble.usage or Usage())
        by_rule = draw_by_rule(lesson, line(str(trouble), 200).rstrip("."), on)
        return by_rule.model_copy(update={"usage": used})
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
