"""The learnings researcher: what was learned before that has to do with what is intended now."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from math import log
from typing import NamedTuple

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.limits import (
    LONGEST_INTENT,
    LONGEST_TASK_SECTION,
    MOST_INTENT_WORDS,
    MOST_SENTENCES,
)
from nightwatch_core.memory.note_reader import decision_text, passed_on, problem_text
from nightwatch_core.memory.recall import frame_name
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import Decision, FoundLearning, Notes, Problem, TaskFile
from nightwatch_core.text.escaping import line
from nightwatch_core.text.templates import message_template, transaction_template
from nightwatch_core.text.words import last_segment, stem, words

# How much of an intent a document covers: 0 to 1, from words alone.
#
# Every word of the intent weighs by its rarity among the documents; a word nobody wrote weighs 0.7.
# The score is the share of that weight a document covers, titles and notes counting more than the
# sections around them, damped where little was covered in all: one common word is no finding.

NOTES = "future-agent-notes"
_UNKNOWN = 0.7  # what a word weighs that no document has: it may be only how it was put
_DAMPING = 0.5  # weight covered at which the share counts half
_SMOOTHING = 20  # documents added: with three documents rarity says little
_HEADLINE, _NOTE, _SECTION = 1.0, 0.9, 0.6

_LETTERS, _LETTER = re.compile(r"[^\W\d_]+"), re.compile(r"[^\W\d_]")

Words = Mapping[str, str]  # stem to the word as the intent has it
Part = tuple[str, float, str]  # source section ("" for the title), weight, text


class Hits(NamedTuple):
    """Hits of an intent's words in one document."""

    task: TaskFile
    best: Mapping[str, float]  # stem to the weight of the best part it stands in
    sources: tuple[str, ...]  # sections with a word of the intent, in their order


class Scored(NamedTuple):
    """A document and the share of the intent that it covers."""

    task: TaskFile
    relevance: float
    sources: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()  # words of the intent, those that weigh most first


def intent_words(intent: str) -> Words:
    """Return the words of an intent that say something, in their order.

    >>> intent_words("Why are the DB queries so slow?")
    {'db': 'db', 'query': 'queries', 'slow': 'slow'}
    """
    roots: dict[str, str] = {}
    for word in intent[:20_000].replace("_", " ").split():
        for part in sorted(words(word), key=word.find):
            if (root := stem(part)) and len(roots) < MOST_INTENT_WORDS:
                roots.setdefault(root, part.lower())
    return roots


def scores(wanted: Words, tasks: Iterable[TaskFile]) -> tuple[list[Scored], Mapping[str, float]]:
    """Return every document with its score, in the order given, and the weight of each word."""
    every = [_hits(wanted, task) for task in tasks]
    documents = Counter(root for hits in every for root in hits.best)
    weights = {root: _rarity(documents[root], len(every)) for root in wanted}
    most = sum(weights.values())
    return [_scored(hits, weights, most, wanted) for hits in every], weights


def hits_in(text: str, wanted: Words) -> set[str]:
    """Return the words of the intent that stand in a text, by their stems.

    >>> sorted(hits_in("OrdersController queried", intent_words("order query catalog")))
    ['order', 'query']
    """
    low = text.lower()
    if len(low) != len(text):  # a few letters are longer in lower case: places would not agree
        return {root for word in words(text) if (root := stem(word)) in wanted}
    return {root for root in wanted if _stands(root, text, low)}


def _stands(root: str, text: str, low: str) -> bool:
    """Looks only at the letters around places where the stem could begin: texts may be long."""
    key = root.removesuffix("y")  # "queries" has all of "query" but its last letter
    at = low.find(key)
    while at >= 0:
        begin, after = at, at + 1
        while begin and _LETTER.match(text, begin - 1):
            begin -= 1
        if run := _LETTERS.match(text, at):
            after = run.end()
            if any(stem(word) == root for word in words(text[begin:after])):
                return True
        at = low.find(key, after)
    return False


def problem_words(problem: Problem) -> str:
    """Return everything a problem says, its name left out."""
    rest = (problem.root_cause, problem.solution, problem.prevention)
    return "\n".join((*problem.symptoms, *rest))


def decision_words(decision: Decision) -> str:
    """Return everything a decision says, its name left out."""
    return f"{decision.alternatives}\n{decision.rationale}"


def _parts(task: TaskFile) -> Iterable[Part]:
    yield "", _HEADLINE, task.title
    yield (
        NOTES,
        _HEADLINE,
        "\n".join(headline for notes in task.notes for headline in _headlines(notes)),
    )
    yield NOTES, _NOTE, "\n".join(item for notes in task.notes for item in _rest(notes))
    for section in task.sections:
        yield section.name, _SECTION, section.text[:LONGEST_TASK_SECTION]


def _headlines(notes: Notes) -> Iterable[str]:
    yield from (problem.what for problem in notes.problems)
    yield from (decision.choice for decision in notes.decisions)
    yield from notes.gotchas


def _rest(notes: Notes) -> Iterable[str]:
    yield from map(problem_words, notes.problems)
    yield from map(decision_words, notes.decisions)


def _hits(wanted: Words, task: TaskFile) -> Hits:
    best: dict[str, float] = {}
    sources: dict[str, None] = {}
    for source, weight, text in _parts(task):
        roots = hits_in(text, wanted) if text else set()
        for root in roots:
            best[root] = max(best.get(root, 0.0), weight)
        if roots and source:
            sources[source] = None
    return Hits(task, best, tuple(sources))


def _rarity(documents: int, every: int) -> float:
    """1 for a word few documents have, near 0 for one that most have."""
    if not documents:
        return _UNKNOWN
    count = every + _SMOOTHING
    return log(1 + (count - documents + 0.5) / (documents + 0.5)) / log(1 + (count - 0.5) / 1.5)


def _scored(hits: Hits, weights: Mapping[str, float], most: float, wanted: Words) -> Scored:
    if not hits.best:
        return Scored(hits.task, 0.0)
    covered = sum(weights[root] * weight for root, weight in hits.best.items())
    relevance = min(1.0, covered / most * covered / (covered + _DAMPING))
    heaviest = sorted(hits.best, key=lambda root: (-weights[root] * hits.best[root], root))
    return Scored(hits.task, relevance, hits.sources, tuple(wanted[root] for root in heaviest))


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
    own = {
        item.task.id: item for item in sorted(every, key=_rank, reverse=True) if _speaks(item.task)
    }
    relevant = {
        id: item.relevance for id, item in own.items() if _enough(item.relevance, threshold)
    }
    linked = passed_on(relevant, {id: item.task for id, item in own.items()}, about)
    ranked = sorted(
        ((max(item.relevance, linked.get(id, (0.0, ""))[0]), item) for id, item in own.items()),
        key=lambda pair: (-pair[0], pair[1].task.id),
    )
    best = [pair for pair in ranked if _enough(pair[0], threshold)][: max(limit, 0)]
    return tuple(
        FoundLearning(
            task_id=item.task.id,
            title=item.task.title,
            relevance=round(relevance, 4),
            summary=summary(item.task, wanted, weights),
            source_sections=item.sources or _own_sections(item.task),
            file=item.task.file,
            because=_because(item, linked.get(item.task.id, (0.0, ""))),
        )
        for relevance, item in best
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


def _rank(scored: Scored) -> tuple[float, str]:
    """Of two documents with one id the more relevant one comes last."""
    return (-scored.relevance, scored.task.file)


def _enough(relevance: float, threshold: float) -> bool:
    return relevance >= threshold and relevance > 0


def _speaks(task: TaskFile) -> bool:
    return bool(task.notes or any(section.text for section in task.sections))


def _own_sections(task: TaskFile) -> tuple[str, ...]:
    names = (NOTES,) if task.notes else ()
    return tuple(
        dict.fromkeys((*names, *(section.name for section in task.sections if section.text)))
    )


def _because(scored: Scored, link: tuple[float, str]) -> tuple[str, ...]:
    same = f"same words: {', '.join(scored.covered[:6])}" if scored.covered else ""
    linked = f"related to {link[1]}" if link[0] > scored.relevance else ""
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
