"""The learnings researcher: what was learned before that has to do with what is intended now."""

import re
from collections.abc import Iterable, Mapping

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.notes.scores import NOTES, Scored, intent_words, scores
from nightwatch_core.memory.notes.summary import summary
from nightwatch_core.memory.recall.search_document import frame_name
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.learning import FoundLearning, Notes, Problem, TaskFile
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.escaping import line
from nightwatch_core.text.templates import message_template, transaction_template

LIMIT, THRESHOLD = 5, 0.3
LINKED = 0.5  # share of its relevance that a document passes on to those it names as related
LONGEST_INTENT = 2_000  # characters
_FRAMES = 4  # innermost ones of the application that belong to the intent of a case
_PLACEHOLDER = re.compile(r"<[a-z]{1,12}>")  # of a message template
_BAD_ENDS = ("closed unmerged", "not planned", "no effect", "regressed")


def relevant_learnings(
    intent: str, tasks: Iterable[TaskFile], limit: int = LIMIT, threshold: float = THRESHOLD
) -> tuple[FoundLearning, ...]:
    """The documents that have most to say about an intent, best first, ties by id.

    Relevance (0 to 1) is the share of the intent's words that a document covers, see
    learning_scores.py. A document that a relevant one names among its related tasks gets half of
    that one's relevance, where it has less itself; links are followed once. Raises `GiveUp` where
    the intent is empty, too long, or says nothing.

    >>> note = Notes(gotchas=("Prisma needs its client regenerated after a migration",))
    >>> found = relevant_learnings("run a Prisma migration", [TaskFile(id="t-1", notes=(note,))])
    >>> [(one.task_id, one.source_sections) for one in found]
    [('t-1', ('future-agent-notes',))]
    """
    wanted = intent_words(_checked(intent))
    if not wanted:
        raise GiveUp("the intent says nothing to look for: name what you are about to do")
    every, weights = scores(wanted, tasks)
    own = {one.task.id: one for one in sorted(every, key=_rank, reverse=True) if _speaks(one.task)}
    linked = _linked(own, threshold)
    ranked = sorted(
        ((max(one.relevance, linked.get(id, (0.0, ""))[0]), one) for id, one in own.items()),
        key=lambda pair: (-pair[0], pair[1].task.id),
    )
    best = [pair for pair in ranked if pair[0] >= threshold and pair[0] > 0][: max(limit, 0)]
    return tuple(
        FoundLearning(
            task_id=one.task.id,
            title=one.task.title,
            relevance=round(relevance, 4),
            summary=summary(one.task, wanted, weights),
            source_sections=one.sources or _own_sections(one.task),
            file=one.task.file,
            because=_because(one, linked.get(one.task.id, (0.0, ""))),
        )
        for relevance, one in best
    )


def for_case(
    case: Case, tasks: Iterable[TaskFile], limit: int = LIMIT
) -> tuple[FoundLearning, ...]:
    """What was learned about errors and tasks like tonight's; its own lesson is left out."""
    own = {case.fingerprint, *case.aliases}
    intent = intent_of(case)
    if not intent_words(intent):
        return ()
    return relevant_learnings(intent, (task for task in tasks if task.id not in own), limit)


def intent_of(case: Case) -> str:
    """A case in words: class, message and transaction without ids, its innermost own frames."""
    leader = case.leader
    frames = case.trace.in_app[:_FRAMES] if case.trace else ()
    said = (
        last_segment(leader.error_class),
        message_template(leader.message),
        transaction_template(leader.transaction),
        *map(frame_name, frames),
    )
    return _PLACEHOLDER.sub(" ", " ".join(said))[:LONGEST_INTENT]


def as_task(lesson: Lesson) -> TaskFile:
    """A lesson seen as a task file.

    Where its notes tell of no problem, one is made of its own root cause and learnings.
    """
    told = any(notes.problems for notes in lesson.notes)
    notes = lesson.notes if told else (lesson_notes(lesson), *lesson.notes)
    return TaskFile(
        id=lesson.fingerprint,
        file=lesson.file,
        title=lesson.title or f"{lesson.error_class} in {lesson.transaction}",
        related_tasks=lesson.related,
        notes=tuple(one for one in notes if not one.empty),
        promoted=lesson.promoted,
    )


def lesson_notes(lesson: Lesson) -> Notes:
    """What a lesson says by itself, as notes; a fix that came to nothing is said to have."""
    seen = [night.date for night in lesson.nights] or [lesson.first_detected]
    tried = [edit.description for edit in lesson.edits if edit.description]
    solution = "; ".join(tried or lesson.next_steps)
    if solution and lesson.outcome in _BAD_ENDS:
        solution = f"Proposed, then {lesson.outcome}{_words(lesson)}: {solution}"
    elif solution and not tried:
        solution = f"None yet; next: {solution}"
    problem = Problem(
        what=lesson.title or f"{lesson.error_class} in {lesson.transaction}",
        symptoms=(f"{lesson.error_class}: {lesson.message}",) if lesson.message else (),
        root_cause=lesson.root_cause,
        solution=solution,
    )
    return Notes(timestamp=max(seen), problems=(problem,), gotchas=lesson.learnings)


def _words(lesson: Lesson) -> str:
    """What people said when they turned the fix down: the learning in it is theirs."""
    last = next((fate for fate in reversed(lesson.fates) if fate.kind == lesson.outcome), None)
    said = line(" / ".join(last.words[:3]), 500) if last else ""
    return f" (“{said}”)" if said else ""


def _checked(intent: str) -> str:
    if not intent.strip():
        raise GiveUp('the intent is empty: say what you are about to do, as "add a search index"')
    if len(intent) > LONGEST_INTENT:
        raise GiveUp(f"the intent is longer than {LONGEST_INTENT} characters: say it in a sentence")
    return intent


def _rank(one: Scored) -> tuple[float, str]:
    """Of two documents with one id the more relevant one comes last."""
    return (-one.relevance, one.task.file)


def _linked(own: Mapping[str, Scored], threshold: float) -> Mapping[str, tuple[float, str]]:
    """Ids that relevant documents name, with what the best of those passes on, and its id."""
    names = {one.task.file: id for id, one in own.items() if one.task.file}
    passed: dict[str, tuple[float, str]] = {}
    for id, one in sorted(own.items()):
        if one.relevance < threshold or one.relevance <= 0:
            continue
        for named in one.task.related_tasks:
            target, share = names.get(named, named), LINKED * one.relevance
            if target != id and share > passed.get(target, (0.0, ""))[0]:
                passed[target] = (share, id)
    return passed


def _speaks(task: TaskFile) -> bool:
    return bool(task.notes or any(section.text for section in task.sections))


def _own_sections(task: TaskFile) -> tuple[str, ...]:
    names = (NOTES,) if task.notes else ()
    return tuple(dict.fromkeys((*names, *(one.name for one in task.sections if one.text))))


def _because(one: Scored, link: tuple[float, str]) -> tuple[str, ...]:
    same = f"same words: {', '.join(one.covered[:6])}" if one.covered else ""
    linked = f"related to {link[1]}" if link[0] > one.relevance else ""
    return tuple(said for said in (same, linked) if said)
