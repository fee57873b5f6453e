"""How much of an intent a document covers: 0 to 1, from words alone.

Every word of the intent weighs by its rarity among the documents; a word nobody wrote weighs 0.7.
The score is the share of that weight a document covers, titles and notes counting more than the
sections around them, damped where little was covered in all: one common word is no finding.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import log
from typing import NamedTuple

from nightwatch_core.memory.limits import LONGEST_TASK_SECTION, MOST_INTENT_WORDS
from nightwatch_core.models.knowledge import Decision, Notes, Problem, TaskFile
from nightwatch_core.text.words import stem, words

NOTES = "future-agent-notes"
_UNKNOWN = 0.7  # what a word weighs that no document has: it may be only how it was put
_DAMPING = 0.5  # weight covered at which the share counts half
_SMOOTHING = 20  # documents added: with three documents rarity says little
_HEADLINE, _NOTE, _SECTION = 1.0, 0.9, 0.6

_LETTERS, _LETTER = re.compile(r"[^\W\d_]+"), re.compile(r"[^\W\d_]")

Words = Mapping[str, str]  # stem to the word as the intent has it
Part = tuple[str, float, str]  # source section ("" for the title), weight, text


class Hits(NamedTuple):
    """What one document says of the intent's words."""

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
    """The words of an intent that say something, in their order.

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
    """Every document with its score, in the order given, and the weight of each word."""
    every = [_hits(wanted, task) for task in tasks]
    documents = Counter(root for hits in every for root in hits.best)
    weights = {root: _rarity(documents[root], len(every)) for root in wanted}
    most = sum(weights.values())
    return [_scored(hits, weights, most, wanted) for hits in every], weights


def hits_in(text: str, wanted: Words) -> set[str]:
    """The words of the intent that stand in a text, by their stems.

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


def problem_text(problem: Problem) -> str:
    """Everything a problem says, its name left out."""
    rest = (problem.root_cause, problem.solution, problem.prevention)
    return "\n".join((*problem.symptoms, *rest))


def decision_text(decision: Decision) -> str:
    """Everything a decision says, its name left out."""
    return f"{decision.alternatives}\n{decision.rationale}"


def _parts(task: TaskFile) -> Iterable[Part]:
    yield "", _HEADLINE, task.title
    yield NOTES, _HEADLINE, "\n".join(one for notes in task.notes for one in _headlines(notes))
    yield NOTES, _NOTE, "\n".join(one for notes in task.notes for one in _rest(notes))
    for section in task.sections:
        yield section.name, _SECTION, section.text[:LONGEST_TASK_SECTION]


def _headlines(notes: Notes) -> Iterable[str]:
    yield from (problem.what for problem in notes.problems)
    yield from (decision.choice for decision in notes.decisions)
    yield from notes.gotchas


def _rest(notes: Notes) -> Iterable[str]:
    yield from map(problem_text, notes.problems)
    yield from map(decision_text, notes.decisions)


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
