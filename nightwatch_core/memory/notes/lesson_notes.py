"""A lesson's notes: drawn from it by rule, added to its document, searched as a task's."""

from datetime import date

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.limits import MOST_RELATED, MOST_SECTIONS
from nightwatch_core.memory.notes.note_layout import normalised
from nightwatch_core.models.knowledge import Lesson, Notes, Problem, TaskFile
from nightwatch_core.models.outcome import FAILED, OutcomeEvent
from nightwatch_core.text.escaping import line

_BAD_ENDS = ("closed unmerged", "not planned", "no effect", "regressed")


def draw_notes(lesson: Lesson, on: date) -> Notes:
    """Draw the notes of a lesson by rule; where its fix was verified, with the figures that say so.

    >>> fate = OutcomeEvent(kind="verified", number=7, on=date(2030, 5, 9),
    ...                     because="40 a day, now 0")
    >>> lesson = Lesson(fingerprint="v1:a", error_class="KeyError", root_cause="No default.",
    ...                 title="No total", first_detected=date(2030, 5, 1), fates=(fate,))
    >>> draw_notes(lesson, date(2030, 5, 9)).problems[0].solution
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


def add_notes(lesson: Lesson, notes: Notes, related: tuple[str, ...] = ()) -> Lesson:
    """Add notes at the end of a lesson and links to what is related.

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
    ends = [fate for fate in lesson.fates if fate.kind in ("verified", *FAILED)]
    if not ends or ends[-1].kind != "verified":
        return None
    fixes = {one.fix for one in lesson.proposed if one.number == ends[-1].number and one.fix}
    is_another = bool(fixes) and fix_digest(lesson.edits) not in fixes
    return None if is_another else ends[-1]


def as_task(lesson: Lesson) -> TaskFile:
    """Show a lesson as a task file, so that both are searched alike.

    Where its notes tell of no problem, one is made of its own root cause and learnings; of one
    that knows no cause there is nothing but what people noted.
    """
    has_problems = any(notes.problems for notes in lesson.notes)
    own = () if has_problems or not lesson.has_cause else (lesson_notes(lesson),)
    notes = (*own, *lesson.notes)
    return TaskFile(
        id=lesson.fingerprint,
        file=lesson.file,
        title=lesson.title or f"{lesson.error_class} in {lesson.transaction}",
        related_tasks=lesson.related,
        notes=tuple(one for one in notes if not one.empty),
        promoted=lesson.promoted,
    )


def lesson_notes(lesson: Lesson) -> Notes:
    """Write what a lesson says by itself as notes; a fix that came to nothing is said to have."""
    seen = [night.date for night in lesson.nights] or [lesson.first_detected]
    tried = [edit.description for edit in lesson.edits if edit.description]
    solution = "; ".join(tried or lesson.next_steps)
    if solution and lesson.outcome in _BAD_ENDS:
        solution = f"Proposed, then {lesson.outcome}{_reviewers_words(lesson)}: {solution}"
    elif solution and not tried:
        solution = f"None yet; next: {solution}"
    problem = Problem(
        what=lesson.title or f"{lesson.error_class} in {lesson.transaction}",
        symptoms=(f"{lesson.error_class}: {lesson.message}",) if lesson.message else (),
        root_cause=lesson.root_cause,
        solution=solution,
    )
    return Notes(timestamp=max(seen), problems=(problem,), gotchas=lesson.learnings)


def _reviewers_words(lesson: Lesson) -> str:
    """What people said when they turned the fix down: the learning in it is theirs."""
    last = next((fate for fate in reversed(lesson.fates) if fate.kind == lesson.outcome), None)
    words = line(" / ".join(last.words[:3]), 500) if last else ""
    return f" (“{words}”)" if words else ""
