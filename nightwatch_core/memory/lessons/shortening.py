"""How a lesson is shortened: its lists to their bounds, then what goes first to save room."""

import re
from collections.abc import Callable
from functools import partial

from nightwatch_core.memory.limits import (
    LONGEST_BECAUSE,
    LONGEST_NAME,
    LONGEST_WORDS,
    MOST_ALIASES,
    MOST_FATES,
    MOST_NIGHTS,
    MOST_PROMOTED,
    MOST_PROPOSED,
    MOST_QUOTES_KEPT,
)
from nightwatch_core.models.knowledge import CitedLine, Lesson, NightSeen
from nightwatch_core.models.outcome import OutcomeEvent, PublishedItem
from nightwatch_core.text.escaping import clean

TEXTS = frozenset(n for n, field in Lesson.model_fields.items() if field.annotation is str)
LISTS = frozenset(
    n for n, field in Lesson.model_fields.items() if field.annotation == tuple[str, ...]
)
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")

Shortening = Callable[[Lesson], Lesson]


def bounded(lesson: Lesson) -> Lesson:
    """Cut every list of a lesson to its newest entries, as many as are kept."""
    return lesson.model_copy(
        update={
            "nights": lesson.nights[-MOST_NIGHTS:],
            "aliases": tuple(a for a in lesson.aliases if len(a) <= LONGEST_NAME)[-MOST_ALIASES:],
            "fates": tuple(map(_bounded_fate, lesson.fates[-MOST_FATES:])),
            "proposed": lesson.proposed[-MOST_PROPOSED:],
            "promoted": lesson.promoted[-MOST_PROMOTED:],
        }
    )


def _bounded_fate(fate: OutcomeEvent) -> OutcomeEvent:
    words = tuple(words[:LONGEST_WORDS] for words in fate.words[:MOST_QUOTES_KEPT])
    return fate.model_copy(update={"words": words, "because": fate.because[:LONGEST_BECAUSE]})


def _without_edits(lesson: Lesson) -> Lesson:
    return lesson.model_copy(update={"edits": ()})


def _with_short_quotes(lesson: Lesson) -> Lesson:
    cited = (one.model_copy(update={"quote": one.quote[:120]}) for one in lesson.evidence[:50])
    fates = (
        one.model_copy(update={"words": tuple(words[:100] for words in one.words[:2])})
        for one in lesson.fates
    )
    return lesson.model_copy(update={"evidence": tuple(cited), "fates": tuple(fates)})


def _shortened(lesson: Lesson, text: int, items: int, nights: int) -> Lesson:
    """Every text at most so long, every list of so many of its newest items."""
    texts = {name: _cut(getattr(lesson, name), text) for name in TEXTS - {"fingerprint", "file"}}
    lists = {
        name: tuple(_cut(one, 120) for one in getattr(lesson, name)[:items])
        for name in LISTS - {"aliases"}
    }
    aliases = tuple(name for name in lesson.aliases if len(name) <= 60)[-items:]
    return lesson.model_copy(
        update={
            **texts,
            **lists,
            "aliases": aliases,
            "evidence": tuple(map(_short_cited, lesson.evidence[:items])),
            "nights": tuple(map(_short_night, lesson.nights[-nights:])),
            "fates": tuple(map(_short_fate, lesson.fates[-items:])),
            "proposed": tuple(map(_short_proposed, lesson.proposed[-items:])),
            "edits": (),
        }
    )


def _short_cited(one: CitedLine) -> CitedLine:
    texts = {"path": _cut(one.path, 200), "digest": one.digest[:64], "commit": one.commit[:64]}
    return one.model_copy(update={**texts, "quote": ""})


def _short_night(seen: NightSeen) -> NightSeen:
    texts = {"night": seen.night[:40], "verdict": seen.verdict[:20]}
    return seen.model_copy(update={**texts, "confidence": seen.confidence[:10]})


def _short_fate(fate: OutcomeEvent) -> OutcomeEvent:
    texts = {"night": fate.night[:40], "because": _cut(fate.because, 60)}
    return fate.model_copy(update={**texts, "words": ()})


def _short_proposed(one: PublishedItem) -> PublishedItem:
    texts = ("night", "confidence", "fix", "model", "outcome")
    return one.model_copy(update={name: getattr(one, name)[:64] for name in texts})


def _cut(text: str, most: int) -> str:
    """Without what YAML writes as an escape: controls, and code points that are no characters."""
    return _NO_CHARACTERS.sub("", clean(text[:most]).replace("\t", " "))


SHORTENINGS: tuple[tuple[str, Shortening], ...] = (
    ("the edits are left out of the front matter", _without_edits),
    ("quotes of evidence are cut, and what reviewers said", _with_short_quotes),
    ("long texts and lists are cut", partial(_shortened, text=1_000, items=10, nights=MOST_NIGHTS)),
    (  # so little that it fits, even where every character takes ten in YAML
        "only the beginning of every text and list is kept",
        partial(_shortened, text=100, items=3, nights=10),
    ),
)
