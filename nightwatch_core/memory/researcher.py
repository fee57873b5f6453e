"""Search earlier learnings for an intent, by its words and by links between documents."""

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
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
from nightwatch_core.memory.recall import frame_name
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import FoundLearning, Notes, TaskFile
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import clean, line
from nightwatch_core.text.templates import message_template, transaction_template
from nightwatch_core.text.words import last_segment, stem, words

# Every word of the intent weighs by its rarity among the documents. The relevance of a document is
# the share of that weight it covers, titles and notes counting more than other sections, damped
# where little was covered in all: one common word is no finding.

NOTES = "future-agent-notes"
LIMIT, THRESHOLD = 5, 0.3
LINKED = 0.5  # share of its relevance that a document passes on to those it is linked with
_UNKNOWN = 0.7  # what a word weighs that no document has: it may be only how it was put
_DAMPING = 0.5  # weight covered at which the share counts half
_SMOOTHING = 20  # documents added: with three documents rarity says little
_NOTE, _SECTION = 1.0, 0.6  # what a word counts in title and notes, and elsewhere
_FRAMES = 4  # innermost ones of the application that belong to the intent of a case
_MOST_ITEMS = 3  # problems, decisions and gotchas that a summary holds
_LONGEST_LINE = 300  # characters
_PLACEHOLDER = re.compile(r"<[a-z]{1,12}>")  # of a message template
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LINK = re.compile(r"\]\(([^()\s]{1,300})\)|\[\[([^\[\]|]{1,300})")  # [text](file), [[file|text]]

Words = Mapping[str, str]  # stem to the word as the intent has it
Item = tuple[str, tuple[str, ...]]  # the text that is searched, and its lines in a summary


class _Hits(NamedTuple):
    task: TaskFile
    best: Mapping[str, float]  # stem to the weight of the best part that has it
    sources: tuple[str, ...]  # sections with a word of the intent, in their order
    relevance: float = 0.0


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


def relevant_learnings(
    intent: str,
    tasks: Iterable[TaskFile],
    limit: int = LIMIT,
    threshold: float = THRESHOLD,
    about: Iterable[TaskFile] = (),
) -> tuple[FoundLearning, ...]:
    """Find the documents that have most to say about an intent, best first, ties by id.

    Relevance (0 to 1) is the share of the intent's words that a document covers. A document that is
    linked with a relevant one (named among its related tasks, or of the same task's directory) gets
    at least half of that one's relevance; one that is linked with what the intent is `about` gets
    all of it. Links are followed once. Raises `GiveUp` where the intent is empty, too long, or says
    nothing.
    """
    if not intent.strip():
        raise GiveUp('the intent is empty: say what you are about to do, as "add a search index"')
    if len(intent) > LONGEST_INTENT:
        raise GiveUp(f"the intent is longer than {LONGEST_INTENT} characters: say it in a sentence")
    intended = intent_words(intent)
    if not intended:
        raise GiveUp("the intent has no words to search for: describe what you are about to do")
    every, weights = _scored(intended, tasks)
    own = {
        hits.task.id: hits
        for hits in every
        if hits.task.notes or any(section.text for section in hits.task.sections)
    }
    least = max(threshold, 1e-9)
    relevant = {id: hits.relevance for id, hits in own.items() if hits.relevance >= least}
    linked = _passed_on(relevant, own.values(), about)
    totals = {id: max(hits.relevance, linked[id][0]) for id, hits in own.items()}
    best = sorted((id for id in own if totals[id] >= least), key=lambda id: (-totals[id], id))
    return tuple(
        FoundLearning(
            task_id=id,
            title=own[id].task.title,
            relevance=round(totals[id], 4),
            summary=_summary(own[id].task, intended, weights),
            source_sections=own[id].sources,
            file=own[id].task.file,
            because=_because(own[id], linked[id], intended, weights),
        )
        for id in best[: max(limit, 0)]
    )


def learnings_for_case(
    case: Case, tasks: Iterable[TaskFile], limit: int = LIMIT
) -> tuple[FoundLearning, ...]:
    """Find learnings about errors and tasks like the case; its own lesson is left out.

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


def hits_in(text: str, intended: Words) -> frozenset[str]:
    """Return the words of the intent that a text has, by their stems."""
    return _roots(text) & intended.keys() if text else frozenset()


@lru_cache(maxsize=8_192)  # every case of a night searches the same documents
def _roots(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))


def _scored(intended: Words, tasks: Iterable[TaskFile]) -> tuple[list[_Hits], Mapping[str, float]]:
    every = [_hits(intended, task) for task in tasks]
    documents = Counter(root for hits in every for root in hits.best)
    count = len(every) + _SMOOTHING
    weights = {
        root: log(1 + (count - documents[root] + 0.5) / (documents[root] + 0.5))
        / log(1 + (count - 0.5) / 1.5)
        if documents[root]
        else _UNKNOWN
        for root in intended
    }
    most = sum(weights.values())
    scored = []
    for hits in every:
        covered = sum(weights[root] * weight for root, weight in hits.best.items())
        relevance = min(1.0, covered / most * covered / (covered + _DAMPING))
        scored.append(hits._replace(relevance=relevance))
    return scored, weights


def _hits(intended: Words, task: TaskFile) -> _Hits:
    noted = "\n".join(text for notes in task.notes for text, _ in _items(notes))
    parts = (
        ("", _NOTE, task.title),
        (NOTES, _NOTE, noted),
        *((item.name, _SECTION, item.text[:LONGEST_TASK_SECTION]) for item in task.sections),
    )
    best: dict[str, float] = {}
    sources: dict[str, None] = {}
    for source, weight, text in parts:
        roots = hits_in(text, intended)
        best |= {root: max(best.get(root, 0.0), weight) for root in roots}
        sources |= {source: None} if roots and source else {}
    return _Hits(task, best, tuple(sources))


def _because(
    hits: _Hits, link: tuple[float, str], intended: Words, weights: Mapping[str, float]
) -> tuple[str, ...]:
    heaviest = sorted(hits.best, key=lambda root: (-weights[root] * hits.best[root], root))
    covered = ", ".join(intended[root] for root in heaviest[:6])
    same = f"same words: {covered}" if covered else ""
    linked = f"related to {link[1]}" if link[0] > hits.relevance else ""
    return tuple(filter(None, (same, linked)))


# Links: what one document names as related, and what lies in a task's own directory.


def _passed_on(
    relevant: Mapping[str, float], documents: Iterable[_Hits], about: Iterable[TaskFile]
) -> Mapping[str, tuple[float, str]]:
    """The highest relevance that each document inherits from a linked one, and that one's id.

    A task's directory is linked with the task, both ways: `auth` and `auth/research`.
    """
    tasks = {hits.task.id: hits.task for hits in documents}
    names: dict[str, list[str]] = defaultdict(list)
    for id in tasks:
        directory, _, last = id.rpartition("/")
        for name in {id, directory, last} - {""}:
            names[name].append(id)
    passed: dict[str, tuple[float, str]] = defaultdict(lambda: (0.0, ""))
    own = ((id, relevant[id], tasks[id]) for id in sorted(relevant))
    for id, relevance, document in (*((file.id, 1.0, file) for file in about), *own):
        linked = (_linked_name(link, names) for link in document.related_tasks)
        for name in (id, id.rpartition("/")[0], *linked):
            for target in names.get(name, ()):
                if target != id and LINKED * relevance > passed[target][0]:
                    passed[target] = (LINKED * relevance, id)
    return passed


def _linked_name(link: str, names: Collection[str]) -> str:
    written = _LINK.search(link)
    path = (written[1] or written[2]) if written else link
    path = path.strip("`'\"<> ").partition("#")[0].removesuffix(".md")
    steps = [step for step in path.split("/") if step not in ("", ".", "..")]
    tried = (link, "/".join(steps[-2:]), *steps[-1:])
    return next((name for name in tried if name in names), "")


# Summaries: labelled lines, by the items that weigh most.


def _summary(task: TaskFile, intended: Words, weights: Mapping[str, float]) -> str:
    """The three items that fit best, as they stand; without notes, sentences of the sections."""
    items = [item for notes in task.notes for item in _items(notes)] or [
        (sentence, _labelled((section.name.capitalize(), sentence)))
        for section in task.sections
        for sentence in islice(_SENTENCE.split(section.text[:LONGEST_TASK_SECTION]), MOST_SENTENCES)
        if len(sentence) > 3
    ]
    scored = [
        (sum(weights.get(root, 0.0) for root in hits_in(text, intended)), -number)
        for number, (text, _) in enumerate(items)
    ]
    best = sorted(scored, reverse=True)[:_MOST_ITEMS]
    if not task.notes:
        best = [pair for pair in best if pair[0] > 0] or best
    chosen = sorted(-number for _, number in best)
    return "\n".join(text for number in chosen for text in items[number][1])


def _items(notes: Notes) -> Iterable[Item]:
    for problem in notes.problems:
        what, cause = problem.what, problem.root_cause
        named = f"{line(what, 140)} (root cause: {line(cause, 300)})" if cause else what
        lines = _labelled(("Problem", named), ("Solution", problem.solution))
        rest = (*problem.symptoms, cause, problem.solution, problem.prevention)
        yield "\n".join((what, *rest)), lines
    for decision in notes.decisions:
        text = f"{decision.choice}\n{decision.alternatives}\n{decision.rationale}"
        yield text, _labelled(("Decision", decision.choice), ("Rationale", decision.rationale))
    for gotcha in notes.gotchas:
        yield gotcha, _labelled(("Gotcha", gotcha))


def _labelled(*lines: tuple[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{label}: {short}" for label, text in lines if (short := line(text, _LONGEST_LINE))
    )


# What was found, as the YAML that agents read and as a block for a prompt. It came from people,
# models and errors: in the prompt `<` is escaped, so that nothing in it ends the block.


def as_yaml(found: Sequence[FoundLearning], threshold: float = THRESHOLD) -> str:
    """Write learnings as YAML."""
    rows: list[object] = [
        {
            "task_id": line(learning.task_id, 200),
            "title": line(learning.title, 200),
            "relevance": round(learning.relevance, 2),
            "summary": clean(learning.summary),
            "source_sections": [line(name, 60) for name in learning.source_sections],
        }
        for learning in found
    ]
    head = {"learnings_found": len(found), "relevance_threshold": threshold}
    return frontmatter.dumped({**head, "relevant_learnings": rows})


def past_learnings(found: Sequence[FoundLearning]) -> str:
    """Return the `<past-learnings>` block of a research document, with its count."""
    text = as_yaml(found).rstrip("\n").replace("&", "&amp;").replace("<", "&lt;")
    inside = textwrap.indent(text, "    ")
    return (
        f"<past-learnings>\n  <count>{len(found)}</count>\n  <learnings>\n{inside}\n"
        "  </learnings>\n</past-learnings>"
    )
