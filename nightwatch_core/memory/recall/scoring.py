"""How much of what tonight's error tells an earlier lesson tells too.

BM25 of every field (rare terms count more, repeated ones less and less, long fields less), weighed
by what labelled pairs taught, and divided by the square root of the number of terms asked for, so
that a long trace does not drown a message.
"""

import heapq
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from nightwatch_core.memory.recall.terms import Terms
from nightwatch_core.memory.recall.weights import (
    AGE,
    CALIBRATION,
    LENGTH_MATTERS,
    SATURATION,
    UNTOLD,
    WEIGHTS,
)

# What a search may cost: terms it asks for, lessons all of them are in, lessons looked at closely.
MOST_ASKED, MOST_POSTINGS, MOST_CANDIDATES = 24, 4_000, 60


class Corpus(NamedTuple):
    """How many lessons there are, and how many terms each field has on average."""

    lessons: int
    lengths: tuple[float, ...]


class Sought(NamedTuple):
    """A term asked for: its field, what it is worth, what the error itself would score by it."""

    field: int
    worth: float
    own: float
    lessons: int  # that have it


def sought(
    query: Terms,
    corpus: Corpus,
    frequencies: Mapping[int, int],
    weights: Sequence[float] = WEIGHTS,
) -> dict[int, Sought]:
    """Every term of the query with its worth; `frequencies` are lessons a term, 0 where unknown."""
    found: dict[int, Sought] = {}
    for field, numbers in enumerate(query.fields):
        counts = Counter(numbers)
        boost = weights[field] / math.sqrt(len(counts) or 1)
        slack = _slack(len(numbers), corpus.lengths[field])
        for number, count in counts.items():
            lessons = min(frequencies.get(number, 0), corpus.lessons)
            worth = boost * math.log1p((corpus.lessons - lessons + 0.5) / (lessons + 0.5))
            own = worth * count * (SATURATION + 1) / (count + slack)
            found[number] = Sought(field, worth, own, lessons)
    return found


def worth_asking(terms: Mapping[int, Sought]) -> tuple[int, ...]:
    """The terms that find candidates: the worthiest, together in not too many lessons."""
    known = (number for number, term in terms.items() if term.lessons)
    room = MOST_POSTINGS
    asked: list[int] = []
    for number in sorted(known, key=lambda number: (-terms[number].worth, number)):
        if terms[number].lessons <= room or not asked:
            asked.append(number)
            room -= terms[number].lessons
        if len(asked) == MOST_ASKED:
            break
    return tuple(asked)


def candidates(
    terms: Mapping[int, Sought], lessons_with: Callable[[int], Iterable[int]]
) -> list[int]:
    """The lessons that share most with the query, by `lessons_with` a term; best first."""
    found: dict[int, float] = {}
    for number in worth_asking(terms):
        worth = terms[number].worth
        for lesson in lessons_with(number):
            found[lesson] = found.get(lesson, 0.0) + worth
    return heapq.nlargest(MOST_CANDIDATES, found, key=lambda lesson: (found[lesson], lesson))


def points(
    terms: Mapping[int, Sought], numbers: Iterable[int], lengths: Sequence[int], corpus: Corpus
) -> list[float]:
    """What one lesson scores in each field, by its terms and how many each field has."""
    counts = Counter(numbers)
    found = [0.0] * len(lengths)
    slack = [_slack(length, mean) for length, mean in zip(lengths, corpus.lengths, strict=True)]
    for number in terms.keys() & counts.keys():
        field, worth, _, _ = terms[number]
        count = counts[number]
        found[field] += worth * count * (SATURATION + 1) / (count + slack[field])
    return found


def own_points(terms: Mapping[int, Sought], fields: int) -> list[float]:
    """What the error itself would score in each field."""
    found = [0.0] * fields
    for term in terms.values():
        found[term.field] += term.own
    return found


def share(scored: float, own: Sequence[float], lengths: Sequence[int]) -> float:
    """The part (0 to 1) of what the error itself would score; fields a lesson lacks count less.

    >>> share(3.0, (4.0, 4.0), (1, 1)), round(share(3.0, (4.0, 4.0), (1, 0)), 3)
    (0.375, 0.652)
    """
    told = zip(own, lengths, strict=True)
    possible = sum(points if length else points * UNTOLD for points, length in told)
    return min(1.0, scored / possible) if possible else 0.0


def aged(scored: float, days: float) -> float:
    """A score less what the time between two sightings speaks against it.

    >>> aged(5.0, 0), aged(5.0, 365) < aged(5.0, 30) < 5.0
    (5.0, True)
    """
    return scored - AGE * math.log1p(abs(days) / 30)


def relevance(share: float) -> float:
    """How often a lesson that told so much of the query was of the same failure, 0 to 1.

    >>> relevance(0.0) < relevance(0.3) < relevance(0.6) <= relevance(1.0) <= 1.0
    True
    """
    at = bisect_left(CALIBRATION, (share, -1.0))
    if at == 0 or at == len(CALIBRATION):
        return CALIBRATION[min(at, len(CALIBRATION) - 1)][1]
    (low, before), (high, after) = CALIBRATION[at - 1], CALIBRATION[at]
    return round(before + (after - before) * (share - low) / (high - low), 3)


def _slack(length: int, mean: float) -> float:
    """How often a term must occur in a field so long to count half of what it can."""
    return SATURATION * (1 - LENGTH_MATTERS + LENGTH_MATTERS * length / (mean or 1))
