"""What a document says about an intent, in the few labelled lines that people and agents read."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice

from nightwatch_core.memory.notes.scores import Words, decision_text, hits_in, problem_text
from nightwatch_core.models.learning import Decision, Notes, Problem, TaskFile
from nightwatch_core.text.escaping import line

MOST_ITEMS = 3  # problems, decisions and gotchas of one document
LONGEST_LINE = 300  # characters
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LOOKED_AT = 400  # sentences of a section

Item = tuple[str, tuple[str, ...]]  # everything it says, and the lines that tell it


def summary(task: TaskFile, wanted: Words, weights: Mapping[str, float]) -> str:
    """Lines of the seed's form, of the items that weigh most: Problem, Solution, Gotcha, …

    A document without notes tells by the one sentence of each section that fits best.

    >>> notes = Notes(gotchas=("The edge has no `fs`", "Regenerate the client"))
    >>> summary(TaskFile(id="t", notes=(notes,)), {"edg": "edge"}, {"edg": 1.0})
    'Gotcha: The edge has no `fs`'
    """
    items = [item for notes in task.notes for item in _items(notes)]
    said = _best(items, wanted, weights) or _best(_sentences(task), wanted, weights)
    return "\n".join(text for _, lines in said for text in lines)


def _best(items: list[Item], wanted: Words, weights: Mapping[str, float]) -> list[Item]:
    """The items with words of the intent, else the first ones; as they stood in the document."""
    scored = [
        (sum(weights.get(root, 0.0) for root in hits_in(text, wanted)), -number)
        for number, (text, _) in enumerate(items)
    ]
    best = sorted(scored, reverse=True)[:MOST_ITEMS]
    fitting = [pair for pair in best if pair[0] > 0] or best
    return [items[-number] for _, number in sorted(fitting, key=lambda pair: -pair[1])]


def _items(notes: Notes) -> Iterable[Item]:
    for problem in notes.problems:
        yield f"{problem.what}\n{problem_text(problem)}", _problem(problem)
    for decision in notes.decisions:
        yield f"{decision.choice}\n{decision_text(decision)}", _decision(decision)
    for gotcha in notes.gotchas:
        yield gotcha, _told(("Gotcha", gotcha))


def _problem(problem: Problem) -> tuple[str, ...]:
    cause = problem.root_cause
    named = f"{line(problem.what, 140)} (root cause: {line(cause, 300)})" if cause else problem.what
    return _told(("Problem", named), ("Solution", problem.solution))


def _decision(decision: Decision) -> tuple[str, ...]:
    return _told(("Decision", decision.choice), ("Rationale", decision.rationale))


def _sentences(task: TaskFile) -> list[Item]:
    return [
        (sentence, _told((section.name.capitalize(), sentence)))
        for section in task.sections
        for sentence in islice(_SENTENCE.split(section.text[:20_000]), _LOOKED_AT)
        if len(sentence) > 3
    ]


def _told(*lines: tuple[str, str]) -> tuple[str, ...]:
    return tuple(f"{label}: {said}" for label, text in lines if (said := line(text, LONGEST_LINE)))
