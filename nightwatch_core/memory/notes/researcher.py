"""The learnings researcher: what was learned before that has to do with what is intended now."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.limits import LONGEST_INTENT, LONGEST_TASK_SECTION, MOST_SENTENCES
from nightwatch_core.memory.notes.links import passed_on
from nightwatch_core.memory.notes.note_layout import decision_text, problem_text
from nightwatch_core.memory.notes.scores import NOTES, Scored, Words, hits_in, intent_words, scores
from nightwatch_core.memory.recall.search_document import frame_name
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Decision, FoundLearning, Notes, Problem, TaskFile
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.escaping import line
from nightwatch_core.text.message_templates import message_template
from nightwatch_core.text.transaction_templates import transaction_template

LIMIT, THRESHOLD = 5, 0.3
_FRAMES = 4  # innermost ones of the application that belong to the intent of a case
_PLACEHOLDER = re.compile(r"<[a-z]{1,12}>")  # of a message template
_MOST_TOLD = 3  # problems, decisions and gotchas of one document
_LONGEST_LINE = 300  # characters
_GOTCHA = "Gotcha"
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

Item = tuple[str, tuple[str, ...]]  # everything it says, and the lines that tell it


def relevant_learnings(
    intent: str,
    tasks: Iterable[TaskFile],
    limit: int = LIMIT,
    threshold: float = THRESHOLD,
    about: Iterable[TaskFile] = (),
) -> tuple[FoundLearning, ...]:
    """Find the documents that have most to say about an intent, best first, ties by id.

    Relevance (0 to 1) is the share of the intent's words that a document covers, see
    scores.py. A document that is linked with a relevant one (named among its related tasks, or of
    the same task's directory) gets half of that one's relevance, where it has less itself; so does
    one that is linked with what the intent is `about`. Links are followed once. Raises `GiveUp`
    where the intent is empty, too long, or says nothing.

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
    relevant = {id: one.relevance for id, one in own.items() if _enough(one.relevance, threshold)}
    linked = passed_on(relevant, {id: one.task for id, one in own.items()}, about)
    ranked = sorted(
        ((max(one.relevance, linked.get(id, (0.0, ""))[0]), one) for id, one in own.items()),
        key=lambda pair: (-pair[0], pair[1].task.id),
    )
    best = [pair for pair in ranked if _enough(pair[0], threshold)][: max(limit, 0)]
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


def learnings_for_case(
    case: Case, tasks: Iterable[TaskFile], limit: int = LIMIT
) -> tuple[FoundLearning, ...]:
    """Find what was learned about errors and tasks like tonight's; its own lesson is left out.

    What its own lesson names as related is found all the same.
    """
    names = {case.fingerprint, *case.aliases}
    intent, every = intent_of(case), tuple(tasks)
    if not intent_words(intent):
        return ()
    others = (task for task in every if task.id not in names)
    own = (task for task in every if task.id in names)
    return relevant_learnings(intent, others, limit, about=own)


def intent_of(case: Case) -> str:
    """Put a case in words: class, message and transaction without ids, its innermost own frames."""
    leader = case.leader
    frames = case.trace.in_app[:_FRAMES] if case.trace else ()
    parts = (
        last_segment(leader.error_class),
        message_template(leader.message),
        transaction_template(leader.transaction),
        *map(frame_name, frames),
    )
    return _PLACEHOLDER.sub(" ", " ".join(parts))[:LONGEST_INTENT]


def _checked(intent: str) -> str:
    if not intent.strip():
        raise GiveUp('the intent is empty: say what you are about to do, as "add a search index"')
    if len(intent) > LONGEST_INTENT:
        raise GiveUp(f"the intent is longer than {LONGEST_INTENT} characters: say it in a sentence")
    return intent


def _rank(one: Scored) -> tuple[float, str]:
    """Of two documents with one id the more relevant one comes last."""
    return (-one.relevance, one.task.file)


def _enough(relevance: float, threshold: float) -> bool:
    return relevance >= threshold and relevance > 0


def _speaks(task: TaskFile) -> bool:
    return bool(task.notes or any(section.text for section in task.sections))


def _own_sections(task: TaskFile) -> tuple[str, ...]:
    names = (NOTES,) if task.notes else ()
    return tuple(dict.fromkeys((*names, *(one.name for one in task.sections if one.text))))


def _because(one: Scored, link: tuple[float, str]) -> tuple[str, ...]:
    same = f"same words: {', '.join(one.covered[:6])}" if one.covered else ""
    linked = f"related to {link[1]}" if link[0] > one.relevance else ""
    return tuple(filter(None, (same, linked)))


def summary(task: TaskFile, wanted: Words, weights: Mapping[str, float]) -> str:
    """Tell a document in lines of the seed's form, by the items that weigh most.

    The best gotcha is told beside what shares words with the intent, for it came from the same
    work. A document without notes tells by the one sentence of each section that fits best.

    >>> notes = Notes(gotchas=("The edge has no `fs`", "Regenerate the client"))
    >>> summary(TaskFile(id="t", notes=(notes,)), {"edg": "edge"}, {"edg": 1.0})
    'Gotcha: The edge has no `fs`'
    """
    best = _best(_noted(task), wanted, weights) or _best(_sentences(task), wanted, weights)
    return "\n".join(text for _, lines in best for text in lines)


def _best(items: list[Item], wanted: Words, weights: Mapping[str, float]) -> list[Item]:
    """The items with words of the intent, else the first ones; as they stood in the document."""
    scored = [
        (sum(weights.get(root, 0.0) for root in hits_in(text, wanted)), -number)
        for number, (text, _) in enumerate(items)
    ]
    ranked = sorted(scored, reverse=True)
    best = [pair for pair in ranked[:_MOST_TOLD] if pair[0] > 0] or ranked[:_MOST_TOLD]
    gotchas = [pair for pair in ranked if _is_gotcha(items[-pair[1]])]
    if gotchas and not any(_is_gotcha(items[-number]) for _, number in best):
        best = [*best[: _MOST_TOLD - 1], gotchas[0]]
    return [items[-number] for _, number in sorted(best, key=lambda pair: -pair[1])]


def _is_gotcha(item: Item) -> bool:
    return any(text.startswith(f"{_GOTCHA}: ") for text in item[1])


def _noted(task: TaskFile) -> list[Item]:
    return [item for notes in task.notes for item in _items(notes)]


def _items(notes: Notes) -> Iterable[Item]:
    for problem in notes.problems:
        yield f"{problem.what}\n{problem_text(problem)}", _problem(problem)
    for decision in notes.decisions:
        yield f"{decision.choice}\n{decision_text(decision)}", _decision(decision)
    for gotcha in notes.gotchas:
        yield gotcha, _labelled((_GOTCHA, gotcha))


def _problem(problem: Problem) -> tuple[str, ...]:
    cause = problem.root_cause
    named = f"{line(problem.what, 140)} (root cause: {line(cause, 300)})" if cause else problem.what
    return _labelled(("Problem", named), ("Solution", problem.solution))


def _decision(decision: Decision) -> tuple[str, ...]:
    return _labelled(("Decision", decision.choice), ("Rationale", decision.rationale))


def _sentences(task: TaskFile) -> list[Item]:
    return [
        (sentence, _labelled((section.name.capitalize(), sentence)))
        for section in task.sections
        for sentence in islice(_SENTENCE.split(section.text[:LONGEST_TASK_SECTION]), MOST_SENTENCES)
        if len(sentence) > 3
    ]


def _labelled(*lines: tuple[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{label}: {short}" for label, text in lines if (short := line(text, _LONGEST_LINE))
    )
