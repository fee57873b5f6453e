"""Which learnings a person is offered, and how each reads in CLAUDE.md.

CLAUDE.md is loaded by every agent that works in a repository, so a sentence there is an order.
Notes were drawn from production errors, code, and conversations: whoever can cause an error can try
to have a sentence written. That is why nothing here writes by itself. Learnings are proposed to
people, one by one and in full, and only what a person chose is added; it stays one line of escaped
prose of bounded length, which can open no heading, code block or comment, and imports no file.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import reduce

from nightwatch_core.escaping import line, markdown
from nightwatch_core.learning.promoting.document import shortened, statements, with_entry
from nightwatch_core.learning.promoting.likeness import likeness
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.learning import Decision, Notes, Problem, TaskFile
from nightwatch_core.models.promotion import Offer, OfferKind

SAME = 0.6  # likeness from which CLAUDE.md is taken to say it already
LONGEST = 300  # characters of a learning's text
HEADLINE = 100
MOST_OFFERS = 200
_GROUPS: dict[OfferKind, str] = {
    "problem": "Problems",
    "gotcha": "Gotchas",
    "decision": "Decisions",
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_]|`)")
_CLAUSE = re.compile(r"(?:\s+[-–—]+|[:;.])\s+")
_SHORT = 8  # characters of a fingerprint's digest that are shown
_FINGERPRINT = re.compile(r"v\d+:([0-9a-f]{8,})")


def offers(
    lessons: Iterable[Lesson], tasks: Iterable[TaskFile], claude_md: str
) -> tuple[Offer, ...]:
    """Learnings that were not promoted yet, numbered from 1, newest first.

    Those that CLAUDE.md, or an offer before them, says already come last, with number 0 and what
    they duplicate. At most `MOST_OFFERS`.
    """
    said = list(statements(claude_md))
    free: list[Offer] = []
    refused: list[Offer] = []
    for offer in sorted(_unpromoted(lessons, tasks), key=_newest)[:MOST_OFFERS]:
        own = _whole(offer)
        if same := next((one for one in said if likeness(own, one) >= SAME), ""):
            refused.append(offer.model_copy(update={"duplicate_of": shortened(same)}))
        else:
            free.append(offer.model_copy(update={"number": len(free) + 1}))
            said.append(own)
    return (*free, *refused)


def promoted(claude_md: str, chosen: tuple[Offer, ...]) -> str:
    """CLAUDE.md with the chosen offers under `## Learnings`; everything else stays as it is.

    The section is made at the end where there is none. Choosing twice changes nothing more. Raises
    `GiveUp` where the file leaves a code block or a comment open.
    """
    return reduce(
        lambda text, offer: with_entry(text, _GROUPS[offer.kind], entry(offer)), chosen, claude_md
    )


def entry(offer: Offer) -> str:
    """One line of the list.

    >>> entry(Offer(number=1, kind="gotcha", headline="Edge has no fs", text="Use KV instead.",
    ...             source="task-abc123"))
    '- **Edge has no fs** - Use KV instead. (from task-abc123)'
    """
    headline = markdown(offer.headline.rstrip(" .:;-"), HEADLINE) or "Learning"
    text = markdown(_ended(line(offer.text, LONGEST)), LONGEST)
    when = f", {offer.on.isoformat()}" if offer.on else ""
    told = f" - {text}" if text else ""
    return f"- **{headline}**{told} (from {markdown(offer.source, 80) or 'unknown'}{when})"


def condensed(notes: Notes, source: str, document: str) -> Iterator[Offer]:
    """Each learning of a section, in one or two sentences."""
    parts: tuple[tuple[OfferKind, Iterable[tuple[str, str]]], ...] = (
        ("problem", map(_problem, notes.problems)),
        ("gotcha", map(_gotcha, notes.gotchas)),
        ("decision", map(_decision, notes.decisions)),
    )
    for kind, told in parts:
        for headline, text in told:
            offer = Offer(
                number=0,
                kind=kind,
                headline=line(headline, HEADLINE),
                text=line(text, LONGEST),
                source=source,
                document=document,
                on=notes.timestamp,
                digest=digest(kind, headline, text),
            )
            if offer.headline:
                yield offer


def digest(kind: str, headline: str, text: str) -> str:
    """Names a learning by what it says.

    >>> digest("gotcha", "a", "b") == digest("gotcha", " a ", "b"), len(digest("gotcha", "a", "b"))
    (True, 16)
    """
    said = "\n".join((kind, " ".join(headline.split()), " ".join(text.split())))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]


def short_name(fingerprint: str) -> str:
    """A fingerprint as people are told it.

    >>> short_name("v1:aef927d4bcba742d"), short_name("task-abc123")
    ('aef927d4', 'task-abc123')
    """
    found = _FINGERPRINT.fullmatch(fingerprint)
    return found[1][:_SHORT] if found else line(fingerprint, 60)


def _unpromoted(lessons: Iterable[Lesson], tasks: Iterable[TaskFile]) -> Iterator[Offer]:
    for lesson in lessons:
        name, done = lesson.fingerprint, frozenset(lesson.promoted)
        yield from _new(lesson.notes, short_name(name), name, done)
    for task in tasks:
        yield from _new(task.notes, line(task.id, 60), task.id, frozenset(task.promoted))


def _new(
    notes: tuple[Notes, ...], source: str, document: str, done: frozenset[str]
) -> Iterator[Offer]:
    for section in notes:
        yield from (one for one in condensed(section, source, document) if one.digest not in done)


def _newest(offer: Offer) -> tuple[int, str]:
    return -offer.on.toordinal() if offer.on else 0, offer.document


def _problem(problem: Problem) -> tuple[str, str]:
    """What happened; why, and what prevents it, or what solved it."""
    advice = problem.prevention or problem.solution
    return problem.what, _two(problem.root_cause, advice)


def _decision(decision: Decision) -> tuple[str, str]:
    instead = f"Instead of: {decision.alternatives}" if decision.alternatives.strip() else ""
    return decision.choice, _two(decision.rationale) or instead


def _gotcha(gotcha: str) -> tuple[str, str]:
    """The first clause is the headline, the rest the text; without one, all of it."""
    said = line(gotcha, HEADLINE + LONGEST)
    head, *rest = _CLAUSE.split(said, maxsplit=1)
    if rest and len(head) <= HEADLINE:
        return head, _capital(rest[0])
    return said, "" if len(said) <= HEADLINE else said


def _two(*texts: str) -> str:
    """The first sentence of each text; of one text, its first two."""
    said = [line(text, 2 * LONGEST) for text in texts if text.strip()]
    each = 2 if len(said) == 1 else 1
    sentences = (one for text in said for one in _SENTENCE.split(text)[:each])
    return line(" ".join(map(_ended, sentences)), LONGEST)


def _ended(sentence: str) -> str:
    ended = not sentence or sentence.endswith((".", "!", "?", "…"))
    return sentence if ended else f"{sentence}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _whole(offer: Offer) -> str:
    return f"{offer.headline}. {offer.text}"
