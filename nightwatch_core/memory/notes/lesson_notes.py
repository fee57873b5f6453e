"""The notes that a lesson gets: drawn from it by rule, and added to its document."""

from datetime import date

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.notes.note_sections import MOST_SECTIONS
from nightwatch_core.memory.notes.notes import normalised
from nightwatch_core.memory.notes.researcher import lesson_notes
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.learning import Notes
from nightwatch_core.models.outcome import FAILED, OutcomeEvent

MOST_RELATED = 20


def notes_of(lesson: Lesson, on: date) -> Notes:
    """The notes of a lesson by rule; where its fix was verified, with the figures that say so.

    >>> fate = OutcomeEvent(kind="verified", number=7, on=date(2030, 5, 9),
    ...                     because="40 a day, now 0")
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


def _proof(lesson: Lesson) -> OutcomeEvent | None:
    """That the very fix the lesson holds was verified, and nothing spoke against it since."""
    told = [fate for fate in lesson.fates if fate.kind in ("verified", *FAILED)]
    if not told or told[-1].kind != "verified":
        return None
    fixes = {one.fix for one in lesson.proposed if one.number == told[-1].number and one.fix}
    is_another = bool(fixes) and fix_digest(lesson.edits) not in fixes
    return None if is_another else told[-1]
