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

from nightwatch_core.memory.limits import MOST_ASKED, MOST_CANDIDATES, MOST_POSTINGS
from nightwatch_core.memory.recall.search_document import Terms

# What was learned from labelled pairs, as data; tests/benchmarks/recall_learning.py prints it.
MADE = "2026-11-22"
HOW = (
    "Listwise on 430 errors with labelled relatives (136 of four projects' issue trackers, 294 of "
    "Defects4J; both sets weigh the same), no field below 0.1. The curve is isotonic over the "
    "three lessons shown for each error, with its relatives there and without, against all lessons "
    "and against 120, with traces and without. Left-out projects: Brier score 0.096 (0.188 for "
    "always saying the mean)."
)

# How much a field weighs, in the order of terms.FIELDS.
WEIGHTS = (0.1, 0.162, 0.1, 0.116, 0.17, 0.372)
AGE = 0.723  # what the logarithm of months between two sightings takes off
SATURATION, LENGTH_MATTERS = 1.2, 0.75  # BM25's usual k1 and b
UNTOLD = 0.15  # what a field that a lesson lacks counts; chosen on lessons without their traces

# (share of what the error itself would score, relevance); straight lines between.
CALIBRATION: tuple[tuple[float, float], ...] = (
    (0.0, 0.0),
    (0.083, 0.002),
    (0.177, 0.018),
    (0.29, 0.028),
    (0.463, 0.098),
    (0.662, 0.3),
    (0.961, 0.793),
    (1.0, 0.793),
)


class Corpus(NamedTuple):
    """How many lessons there are, and how many terms each field has on average."""

    lessons: int
    lengths: tuple[float, ...]


class QueryTerm(NamedTuple):
    """A term asked for: its field, what it is worth, what the error itself would score by it."""

    field: int
    worth: float
    own: float
    lessons: int  # that have it


def query_terms(
    query: Terms,
    corpus: Corpus,
    frequencies: Mapping[int, int],
    weights: Sequence[float] = WEIGHTS,
) -> dict[int, QueryTerm]:
    """Every term of the query with its worth; `frequencies` are lessons a term, 0 where unknown."""
    terms: dict[int, QueryTerm] = {}
    for field, numbers in enumerate(query.fields):
        counts = Counter(numbers)
        boost = weights[field] / math.sqrt(len(counts) or 1)
        slack = _slack(len(numbers), corpus.lengths[field])
        for number, count in counts.items():
            lessons = min(frequencies.get(number, 0), corpus.lessons)
            worth = boost * math.log1p((corpus.lessons - lessons + 0.5) / (lessons + 0.5))
            own = worth * count * (SATURATION + 1) / (count + slack)
            terms[number] = QueryTerm(field, worth, own, lessons)
    return terms


def worth_asking(terms: Mapping[int, QueryTerm]) -> tuple[int, ...]:
    """The terms that find candidates: the worthiest, together in not too many lessons."""
    present = (number for number, term in terms.items() if term.lessons)
    room = MOST_POSTINGS
    asked: list[int] = []
    for number in sorted(present, key=lambda number: (-terms[number].worth, number)):
        if terms[number].lessons <= room or not asked:
            asked.append(number)
            room -= terms[number].lessons
        if len(asked) == MOST_ASKED:
            break
    return tuple(asked)


def candidates(
    terms: Mapping[int, QueryTerm], lessons_with: Callable[[int], Iterable[int]]
) -> list[int]:
    """The lessons that share most with the query, by `lessons_with` a term; best first."""
    scores: dict[int, float] = {}
    for number in worth_asking(terms):
        worth = terms[number].worth
        for lesson in lessons_with(number):
            scores[lesson] = scores.get(lesson, 0.0) + worth
    return heapq.nlargest(MOST_CANDIDATES, scores, key=lambda lesson: (scores[lesson], lesson))


def points(
    terms: Mapping[int, QueryTerm], numbers: Iterable[int], lengths: Sequence[int], corpus: Corpus
) -> list[float]:
    """What one lesson scores in each field, by its terms and how many each field has."""
    counts = Counter(numbers)
    scores = [0.0] * len(lengths)
    slack = [_slack(length, mean) for length, mean in zip(lengths, corpus.lengths, strict=True)]
    for number in terms.keys() & counts.keys():
        field, worth, _, _ = terms[number]
        count = counts[number]
        scores[field] += worth * count * (SATURATION + 1) / (count + slack[field])
    return scores


def own_points(terms: Mapping[int, QueryTerm], fields: int) -> list[float]:
    """What the error itself would score in each field."""
    scores = [0.0] * fields
    for term in terms.values():
        scores[term.field] += term.own
    return scores


def share(scored: float, own: Sequence[float], lengths: Sequence[int]) -> float:
    """The part (0 to 1) of what the error itself would score; fields a lesson lacks count less.

    >>> share(3.0, (4.0, 4.0), (1, 1)), round(share(3.0, (4.0, 4.0), (1, 0)), 3)
    (0.375, 0.652)
    """
    pairs = zip(own, lengths, strict=True)
    possible = sum(points if length else points * UNTOLD for points, length in pairs)
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
