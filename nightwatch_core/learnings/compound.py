"""What is worth telling future agents of an error or a task, drawn by a model or by rule."""

from datetime import date

from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.learnings import compound_talk
from nightwatch_core.memory.limits import LONGEST_INTENT
from nightwatch_core.memory.notes.lesson_notes import draw_notes
from nightwatch_core.memory.notes.researcher import relevant_learnings
from nightwatch_core.memory.notes.scores import intent_words
from nightwatch_core.models.analysis import Allowance, Usage
from nightwatch_core.models.conversation import Transcript
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.learning import FoundLearning, Notes, TaskFile
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Model
from nightwatch_core.text.escaping import line


class Drawn(Value):
    """Notes, and how they came about in a sentence for people."""

    notes: Notes
    said: str
    usage: Usage = Usage()


def similar(target: TaskFile, tasks: tuple[TaskFile, ...]) -> tuple[FoundLearning, ...]:
    """Learnings of other documents that are like what the target is about."""
    problems = [problem for notes in target.notes for problem in notes.problems[:3]]
    said = (target.title, *(text for problem in problems for text in problem.symptoms[:1]))
    intent = line(" ".join(said), LONGEST_INTENT)
    others = [task for task in tasks if task.id != target.id]
    return relevant_learnings(intent, others) if intent_words(intent) else ()


def published_last(reports: tuple[RunReport, ...]) -> str:
    """The fingerprint of the last item that the newest night with any published.

    Raises `StopTheNight` where no night published anything.
    """
    for report in reports:
        for receipt in reversed(report.receipts):
            if receipt.status in ("done", "already there") and receipt.fingerprint:
                return receipt.fingerprint
    raise StopTheNight("no night has published anything yet: name a lesson's fingerprint or a task")


def drawn_by_rule(lesson: Lesson | None, why: str, on: date) -> Drawn:
    """Notes without a model; raises `GiveUp` for a task file, which has nothing to draw them from.

    `why` says in a few words why no model was asked.
    """
    if lesson is None:
        raise GiveUp(
            f"the notes of a task need a model ({why}): set ANTHROPIC_API_KEY, or write the "
            "<future-agent-notes> section into its file yourself"
        )
    return Drawn(notes=draw_notes(lesson, on), said=f"Drawn by rule from the lesson itself: {why}.")


def drawn_by_model(
    target: TaskFile,
    lesson: Lesson | None,
    transcript: Transcript | None,
    model: Model,
    prompt: str,
    may: Allowance,
    on: date,
) -> Drawn:
    """What a model draws from the night's transcript, or from a task's own sections.

    Where there is nothing to read, the model is a local one, away, too dear, or answers nothing
    that can be read, a lesson's notes are drawn by rule and `said` tells why; a task raises
    `GiveUp`. Of tokens and USD at most `may` is used, with one call.
    """
    told = compound_talk.material(target, lesson, transcript)
    if not told:
        return drawn_by_rule(lesson, "there is no transcript of it", on)
    usage = Usage()
    try:
        reply = compound_talk.asked(model, compound_talk.conversation(target, told, prompt), may)
        usage = reply.usage
        notes = compound_talk.notes_from(reply, on)
    except (GiveUp, TryLater, StopTheNight) as trouble:
        used = usage + (trouble.usage or Usage())
        by_rule = drawn_by_rule(lesson, line(str(trouble), 200).rstrip("."), on)
        return by_rule.model_copy(update={"usage": used})
    return Drawn(notes=notes, said=f"Drawn by {model.capabilities().model}.", usage=usage)
