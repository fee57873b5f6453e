"""Learn the weights of recall.

`python tests/benchmarks/recall_learning.py` prints the data; it needs ../shared/eval. Weights are
learned listwise: among its nearest candidates an error's labelled relatives shall come first. Both
sets weigh the same. Relevance is an isotonic curve over the share of the query that was matched:
every error is asked twice, once with its relatives there and once without, against all lessons and
against few.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evaluation import DEFECTS, JIRA, Err, lesson_of, load
from evaluation import retrieval_case_of as case_of

from nightwatch_core.memory.recall import (
    FIELDS,
    UNTOLD,
    LessonSearch,
    document_of_case,
    points,
    terms_of,
    worth_of_terms,
)

PRIOR, STRENGTH = 0.3, 0.1  # every weight before learning, and how hard it is held there
LEAST = 0.1  # of any field: the labelled errors all have traces, tonight's may not
STEPS, RATE = 300, 0.02
SMALL = 120  # lessons of a young installation
ONES = (1.0,) * len(FIELDS)
TOP = 3  # matches a night shows
NEAREST = 150  # lessons that are learned from, of one error

Weights = Sequence[float]
Curve = list[tuple[float, float]]


class Near(NamedTuple):
    """A candidate: what it scored and could have scored in each field."""

    relative: bool
    found: bool  # it is among the nearest; the others are relatives that are not
    scored: tuple[float, ...]  # points a field, then what the time between takes off
    possible: tuple[float, ...]

    def rank(self, weights: Weights) -> float:
        return sum(map(float.__mul__, self.scored, weights))

    def share(self, weights: Weights) -> float:
        possible = sum(map(float.__mul__, self.possible, weights))
        return min(1.0, sum(map(float.__mul__, self.scored[:-1], weights)) / (possible or 1.0))


class Query(NamedTuple):
    """An error with labelled relatives, and its nearest candidates."""

    importance: float
    near: tuple[Near, ...]


def traceless(docs: Sequence[Err]) -> list[Err]:
    """The same errors from a source that knows no traces; those that say nothing else are gone."""
    return [{**doc, "frames": []} for doc in docs if doc["message"] or doc["error_class"]]


def queries(docs: Sequence[Err], size: int = 0) -> list[Query]:
    """Every error with relatives; against all others, or with `size` against so many."""
    clusters: dict[str, list[Err]] = defaultdict(list)
    for doc in docs:
        if doc["cluster"]:
            clusters[doc["cluster"]].append(doc)
    asked = [(doc, group) for group in clusters.values() if len(group) > 1 for doc in group]
    lessons = {doc["id"]: lesson_of(doc) for doc in docs}
    shelf = LessonSearch(lessons.values())
    found = []
    for number, (doc, group) in enumerate(asked):
        relatives = {item["id"] for item in group} - {doc["id"]}
        if size:
            some = random.Random(number).sample(sorted(lessons), min(size, len(lessons)))
            shelf = LessonSearch(lessons[item] for item in sorted({*some, *relatives}))
        near = tuple(_near(doc, relatives, shelf))
        found.append(Query(1 / len(asked), near))
    return found


def _near(doc: Err, relatives: set[str], shelf: LessonSearch) -> Iterable[Near]:
    case, corpus = case_of(doc), shelf.corpus
    document = document_of_case(case)
    terms = terms_of(document)
    worth = worth_of_terms(terms, corpus, ONES)
    own = points(worth, terms, corpus)
    nearest = {near.lesson.entry.file for near in shelf.nearest(document)[:NEAREST]}
    day = case.leader.last_seen.date().toordinal() if case.leader.last_seen else 0
    for lesson in shelf.lessons:
        name = lesson.entry.file[len("errors/") : -len(".md")]
        if lesson.entry.file not in nearest and name not in relatives:
            continue
        if name == doc["id"]:
            continue
        seen = lesson.entry.last_seen.toordinal() if lesson.entry.last_seen else 0
        age = -math.log1p(abs(seen - day) / 30) if day else 0.0
        told = zip(own, lesson.terms.lengths, strict=True)
        possible = tuple(most if length else most * UNTOLD for most, length in told)
        yield Near(
            relative=name in relatives,
            found=lesson.entry.file in nearest,
            scored=(*points(worth, lesson.terms, corpus), age),
            possible=possible,
        )


def learned(data: Sequence[Query]) -> list[float]:
    """Weights of the fields and of age that put relatives first (Adam, none below LEAST)."""
    weights = [PRIOR] * (len(FIELDS) + 1)
    mean, spread = [0.0] * len(weights), [0.0] * len(weights)
    total = sum(query.importance for query in data)
    for step in range(1, STEPS + 1):
        slope = [2 * STRENGTH * (w - PRIOR) for w in weights]
        for query in data:
            for at, one in enumerate(_slope(query, weights)):
                slope[at] += one * query.importance / total
        for at, one in enumerate(slope):
            mean[at] = 0.9 * mean[at] + 0.1 * one
            spread[at] = 0.99 * spread[at] + 0.01 * one * one
            size = math.sqrt(spread[at] / (1 - 0.99**step)) + 1e-9
            weights[at] = max(LEAST, weights[at] - RATE * mean[at] / (1 - 0.9**step) / size)
    return weights


def _slope(query: Query, weights: Weights) -> list[float]:
    """Of the loss -log(share of the relatives) of one query."""
    ranks = [item.rank(weights) for item in query.near]
    highest = max(ranks)
    odds = [math.exp(rank - highest) for rank in ranks]
    every = sum(odds)
    wanted = sum(odd for odd, one in zip(odds, query.near, strict=True) if one.relative) or 1e-300
    slope = [0.0] * len(weights)
    for odd, one in zip(odds, query.near, strict=True):
        factor = odd / every - (odd / wanted if one.relative else 0.0)
        if abs(factor) > 1e-6:
            for at, scored in enumerate(one.scored):
                slope[at] += factor * scored
    return slope


def pairs(data: Iterable[Query], weights: Weights) -> list[tuple[float, bool, float]]:
    """(share, relative, importance) of what a night would show: with relatives, and without."""
    found = []
    for query in data:
        near = sorted((n for n in query.near if n.found), key=lambda n: -n.rank(weights))
        for shown in (near[:TOP], [item for item in near if not item.relative][:TOP]):
            found += [(item.share(weights), item.relative, query.importance) for item in shown]
    return found


def isotonic(data: Sequence[tuple[float, bool, float]], steps: int = 12) -> Curve:
    """Relevance by share, never falling (pool adjacent violators), as few points on a line."""
    blocks: list[list[float]] = []  # sum of shares, of relatives, of importance
    equal: dict[float, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for share, relative, much in data:
        for at, one in enumerate((share * much, relative * much, much)):
            equal[round(share, 2)][at] += one
    for _, block in sorted(equal.items()):
        blocks.append(block)
        while len(blocks) > 1 and _mean(blocks[-2]) >= _mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
    every = sum(block[2] for block in blocks)
    merged: list[list[float]] = [[0.0, 0.0, 0.0]]
    for block in blocks:
        if merged[-1][2] >= every / steps:
            merged.append([0.0, 0.0, 0.0])
        merged[-1] = [one + other for one, other in zip(merged[-1], block, strict=True)]
    if len(merged) > 1 and merged[-1][2] < every / steps:
        last = merged.pop()
        merged[-1] = [one + other for one, other in zip(merged[-1], last, strict=True)]
    curve = [(round(b[0] / b[2], 3), round(_mean(b), 3)) for b in merged if b[2]]
    return [(0.0, 0.0), *curve, (1.0, curve[-1][1])]


def _mean(block: Sequence[float]) -> float:
    return block[1] / block[2]


def main() -> None:
    """Print the weights and the calibration that are learned from all."""
    sets = [load(name) for name in (JIRA, DEFECTS)]
    if not all(sets):
        print("skipped: there is no evaluation data")
        return
    everything = [query for docs in sets for query in queries(docs)]
    few = [query for docs in sets for query in queries(docs, SMALL)]
    bare = [query for docs in sets for query in queries(traceless(docs))]
    weights = learned(everything)
    print("weights and age =", [round(weight, 3) for weight in weights])
    print("calibration =", isotonic(pairs([*everything, *few, *bare], weights)))


if __name__ == "__main__":
    main()
