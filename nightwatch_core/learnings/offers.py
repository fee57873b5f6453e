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
from typing import NamedTuple

from nightwatch_core.learnings.claude_md import shortened, statements, with_entry
from nightwatch_core.learnings.duplicates import say_the_same
from nightwatch_core.learnings.limits import HEADLINE, LEARNING, OFFERS
from nightwatch_core.learnings.offer_sentences import (
    ended,
    is_cut,
    of_decision,
    of_gotcha,
    of_problem,
    whole,
)
from nightwatch_core.models.knowledge import Lesson, Notes, TaskFile
from nightwatch_core.models.outcome import FAILED, MERGED
from nightwatch_core.models.promotion import LearningKind, LearningOffer
from nightwatch_core.text.escaping import line, markdown

_GROUPS: dict[LearningKind, str] = {
    "problem": "Problems",
    "gotcha": "Gotchas",
    "decision": "Decisions",
}
_SHORT = 8  # characters of a fingerprint's digest that are shown
_FINGERPRINT = re.compile(r"v\d+:([0-9a-f]{8,})")
_JUDGED: tuple[str, ...] = (*MERGED, "verified", *FAILED)  # what became of a fix


class _Said(NamedTuple):
    """Something that is said already, and how a person is told of it."""

    text: str
    told: str


def offers(
    lessons: Iterable[Lesson], tasks: Iterable[TaskFile], claude_md: str
) -> tuple[LearningOffer, ...]:
    """Learnings that were not promoted yet and still hold, numbered from 1, newest first.

    Those that CLAUDE.md, or an offer before them, says already come last, with number 0 and what
    they duplicate. Only texts about the very same code are compared. At most `OFFERS`.
    """
    said = [_Said(one, shortened(one)) for one in statements(claude_md)]
    free: list[LearningOffer] = []
    refused: list[LearningOffer] = []
    for offer in sorted(_unpromoted(lessons, tasks), key=_newest)[:OFFERS]:
        if same := _said_by(offer, said):
            refused.append(offer.model_copy(update={"duplicate_of": same}))
        else:
            number = len(free) + 1
            free.append(offer.model_copy(update={"number": number}))
            said.append(_Said(whole(offer), f"number {number}, {shortened(whole(offer))}"))
    return (*free, *refused)


def with_offers(claude_md: str, chosen: tuple[LearningOffer, ...]) -> str:
    """CLAUDE.md with the chosen offers under `## Learnings`; everything else stays as it is.

    The section is made at the end where there is none. Choosing twice changes nothing more. Raises
    `GiveUp` where the file leaves a code block or a comment open.
    """
    for offer in chosen:
        claude_md = with_entry(claude_md, _GROUPS[offer.kind], list_entry(offer))
    return claude_md


def list_entry(offer: LearningOffer) -> str:
    """One line of the list.

    >>> list_entry(LearningOffer(number=1, kind="gotcha", headline="Edge has no fs",
    ...             text="Use KV instead.", source="task-abc123"))
    '- **Edge has no fs** - Use KV instead. (from task-abc123)'
    """
    headline = markdown(offer.headline.rstrip(" .:;-"), HEADLINE, as_written=True) or "Learning"
    text = markdown(ended(line(offer.text, LEARNING)), LEARNING, as_written=True)
    when = f", {offer.on.isoformat()}" if offer.on else ""
    parts = (f"**{headline}**",) if not is_cut(offer.headline, offer.text) else ()
    content = " - ".join((*parts, *((text,) if text else ())))
    source = markdown(offer.source, 80, as_written=True) or "unknown"
    return f"- {content} (from {source}{when})"


def condensed(notes: Notes, source: str, document: str) -> Iterator[LearningOffer]:
    """Each learning of a section, in one or two sentences."""
    parts: tuple[tuple[LearningKind, Iterable[tuple[str, str]]], ...] = (
        ("problem", filter(_is_told, map(of_problem, notes.problems))),
        ("gotcha", map(of_gotcha, notes.gotchas)),
        ("decision", map(of_decision, notes.decisions)),
    )
    for kind, learnings in parts:
        for headline, text in learnings:
            offer = LearningOffer(
                number=0,
                kind=kind,
                headline=headline,
                text=text,
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
    content = "\n".join((kind, " ".join(headline.split()), " ".join(text.split())))
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]


def short_name(fingerprint: str) -> str:
    """A fingerprint as people are told it.

    >>> short_name("v1:aef927d4bcba742d"), short_name("task-abc123")
    ('aef927d4', 'task-abc123')
    """
    match = _FINGERPRINT.fullmatch(fingerprint)
    return match[1][:_SHORT] if match else line(fingerprint, 60)


def _unpromoted(lessons: Iterable[Lesson], tasks: Iterable[TaskFile]) -> Iterator[LearningOffer]:
    for lesson in filter(still_holds, lessons):
        name, done = lesson.fingerprint, frozenset(lesson.promoted)
        yield from _new(lesson.notes, short_name(name), name, done)
    for task in tasks:
        yield from _new(task.notes, line(task.id, 60), task.id, frozenset(task.promoted))


def _new(
    notes: tuple[Notes, ...], source: str, document: str, done: frozenset[str]
) -> Iterator[LearningOffer]:
    for section in notes:
        yield from (one for one in condensed(section, source, document) if one.digest not in done)


def still_holds(lesson: Lesson) -> bool:
    """Whether a lesson can be learned from: no failed fix, no changed code, no newer lesson.

    It has to know a cause: what was noted of one that no longer holds is nothing for CLAUDE.md.
    A fix that was merged after another one had been turned down makes up for it.
    """
    if lesson.stale or lesson.superseded_by or not lesson.has_cause:
        return False
    fates = [fate.kind for fate in lesson.fates if fate.kind in _JUDGED]
    proposed = [one.outcome for one in lesson.proposed if one.outcome in _JUDGED]
    last = (fates or proposed or [""])[-1]
    verdict = lesson.watch.verdict if lesson.watch else ""
    return not any(one in FAILED for one in (last, lesson.outcome, verdict))


def _said_by(offer: LearningOffer, said: Iterable[_Said]) -> str:
    """What says the same as an offer, as a person is told it; empty where nothing does."""
    own, rendered = whole(offer), statements(list_entry(offer))[:1]
    same = (one.told for one in said if one.text in rendered or say_the_same(own, one.text))
    return next(same, "")


def _is_told(problem: tuple[str, str]) -> bool:
    """Whether there is anything to learn from a problem besides that there was one."""
    return bool(problem[1])


def _newest(offer: LearningOffer) -> tuple[int, bool, str]:
    """Newest first; of one day, those that say more than a headline."""
    return -offer.on.toordinal() if offer.on else 0, not offer.text, offer.document
