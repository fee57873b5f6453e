"""What is worth telling future agents of an error or a task, drawn by a model or by rule."""

from datetime import date

from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.escaping import line
from nightwatch_core.fixing import fix_digest
from nightwatch_core.learning import compound_talk
from nightwatch_core.learning.note_sections import MOST_SECTIONS
from nightwatch_core.learning.notes import normalised
from nightwatch_core.learning.researcher import LONGEST_INTENT, lesson_notes, relevant_learnings
from nightwatch_core.learning.scores import intent_words
from nightwatch_core.models.analysis import Allowance, Usage
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.learning import FoundLearning, Notes, TaskFile
from nightwatch_core.models.outcome import FAILED, Fate
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.transcript import Transcript
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Model

MOST_RELATED = 20


class Drawn(Value):
    """Notes, and how they came about in a sentence for people."""

    notes: Notes
    said: str
    usage: Usage = Usage()


def notes_of(lesson: Lesson, on: date) -> Notes:
    """The notes of a lesson by rule; where its fix was verified, with the figures that say so.

    >>> fate = Fate(kind="verified", number=7, on=date(2030, 5, 9), because="40 a day, now 0")
    >>> lesson = Lesson(fingerprint="v1:a", error_class="KeyError", root_cause="No default.",
    ...                 title="No total", first_detected=date(2030, 5, 1), fates=(fate,))
    >>> notes_of(lesson, date(2030, 5, 9)).problems[0].solution
    'Pull request #7, verified: 40 a day, now 0'
    """
    own = lesson_notes(lesson)
    problem = own.problems[0]
    if fate := _proof(lesson):
        tried = "; ".join(edit.description for edit in lesson.edits if edit.description)
        pull = f"Pull request #{fate.number}" if fate.number else "Its fix"
        figures = f"{pull}, verified" + (f": {fate.because}" if fate.because else "")
        update = {
            "solution": f"{tried} ({figures})" if tried else figures,
            "prevention": "; ".join(lesson.next_steps) or problem.prevention,
        }
        problem = problem.model_copy(update=update)
    return normalised(own.model_copy(update={"timestamp": on, "problems": (problem,)}))


def with_new_notes(lesson: Lesson, notes: Notes, related: tuple[str, ...] = ()) -> Lesson:
    """The lesson with notes at the end and links to what is related.

    The very same notes are not added twice. Raises `GiveUp` where there is nothing to note, or the
    lesson has 20 sections already.
    """
    kept = normalised(notes)
    if kept.empty:
        raise GiveUp("there is nothing to note: no problem, decision or gotcha")
    if kept not in lesson.notes and len(lesson.notes) >= MOST_SECTIONS:
        raise GiveUp(f"{lesson.file or 'the lesson'} has {MOST_SECTIONS} sections of notes already")
    notes_now = lesson.notes if kept in lesson.notes else (*lesson.notes, kept)
    own = lesson.names | {lesson.file}
    linked = dict.fromkeys((*lesson.related, *(one for one in related if one not in own)))
    return lesson.model_copy(update={"notes": notes_now, "related": tuple(linked)[-MOST_RELATED:]})


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
    return Drawn(notes=notes_of(lesson, on), said=f"Drawn by rule from the lesson itself: {why}.")


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


def _proof(lesson: Lesson) -> Fate | None:
    """That the very fix the lesson holds was verified, and nothing spoke against it since."""
    told = [fate for fate in lesson.fates if fate.kind in ("verified", *FAILED)]
    if not told or told[-1].kind != "verified":
        return None
    fixes = {one.fix for one in lesson.proposed if one.number == told[-1].number and one.fix}
    is_another = bool(fixes) and fix_digest(lesson.edits) not in fixes
    return None if is_another else told[-1]
