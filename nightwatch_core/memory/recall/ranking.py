"""From tonight's case to the lessons it recalls, over any shelf of lessons."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple, Protocol

from nightwatch_core.memory.recall.because import because
from nightwatch_core.memory.recall.scoring import (
    Corpus,
    aged,
    candidates,
    own_points,
    points,
    relevance,
    share,
    sought,
)
from nightwatch_core.memory.recall.search_document import Footprint, of_case
from nightwatch_core.memory.recall.terms import terms_of
from nightwatch_core.memory.seed_score import LIMIT, THRESHOLD, is_same, match, names
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import IndexEntry, Match

Recalled = tuple[tuple[IndexEntry, Match], ...]


class Row(NamedTuple):
    """What scoring needs of one lesson: numbers of its terms and how many each field has."""

    lesson: int
    file: str
    seen: int  # day it was last seen, counted as `date.toordinal`; 0 where not known
    numbers: Sequence[int]
    lengths: Sequence[int]


class Shelf(Protocol):
    """Lessons by number, and which terms they have."""

    def corpus(self) -> Corpus:
        """How many lessons there are."""
        ...

    def frequencies(self, numbers: Iterable[int]) -> Mapping[int, int]:
        """In how many lessons each of these terms is."""
        ...

    def lessons_with(self, number: int) -> Iterable[int]:
        """The lessons that have a term."""
        ...

    def rows(self, lessons: Sequence[int]) -> Iterable[Row]:
        """These lessons, in any order; those that are gone are left out."""
        ...

    def named(self, names: Iterable[str]) -> Sequence[int]:
        """The lessons that carry one of these fingerprints or aliases."""
        ...

    def kept(self, lesson: int) -> tuple[IndexEntry, Footprint]:
        """One lesson's line in the index, and its footprint."""
        ...


class Near(NamedTuple):
    """A lesson near the query: `rank` sorts (highest first), `share` is what it matched."""

    lesson: int
    file: str
    rank: float
    share: float


def recalled(
    case: Case,
    shelf: Shelf,
    limit: int = LIMIT,
    threshold: float = THRESHOLD,
) -> Recalled:
    """The case's own lesson, then lessons of similar errors, best first; none below `threshold`.

    Ties go to the one seen last, then by file name.
    """
    query = of_case(case)
    own = _own(case, shelf)
    taken = {entry.file for entry, _ in own}
    found = list(own[:limit])
    for one in nearest(query, shelf, _day(case)):
        sure = relevance(one.share)
        if len(found) >= limit:
            break
        if one.file in taken or sure < threshold:
            continue
        entry, footprint = shelf.kept(one.lesson)
        seed = match(case, entry).score
        reasons = because(query, footprint)
        found.append((entry, Match(score=seed, because=reasons, relevance=sure)))
    return tuple(found)


def nearest(query: Footprint, shelf: Shelf, day: int = 0) -> list[Near]:
    """Candidates for a footprint last seen on `day`, best first; at most `MOST_CANDIDATES`."""
    terms, corpus = terms_of(query), shelf.corpus()
    if not corpus.lessons:
        return []
    asked = sought(terms, corpus, shelf.frequencies({n for field in terms.fields for n in field}))
    own = own_points(asked, len(terms.fields))
    near = []
    for row in shelf.rows(candidates(asked, shelf.lessons_with)):
        scored = sum(points(asked, row.numbers, row.lengths, corpus))
        apart = row.seen - day if row.seen and day else 0
        matched = share(scored, own, row.lengths)
        near.append((round(aged(scored, apart), 9), row.seen, row.file, row.lesson, matched))
    near.sort(key=lambda one: (-one[0], -one[1], one[2]))
    return [Near(lesson, file, rank, matched) for rank, _, file, lesson, matched in near]


def _own(case: Case, shelf: Shelf) -> Recalled:
    """Lessons on this very case: by its fingerprint, then by its other names."""
    entries = (shelf.kept(lesson)[0] for lesson in shelf.named(names(case)))
    told = [(entry, match(case, entry)) for entry in entries]
    same = [
        (entry, found.model_copy(update={"relevance": 1.0}))
        for entry, found in told
        if is_same(found)
    ]
    return tuple(sorted(same, key=lambda pair: (len(pair[1].because), *_newest(pair[0]))))


def _newest(entry: IndexEntry) -> tuple[int, str]:
    return -_ordinal(entry.last_seen), entry.file


def _ordinal(day: date | None) -> int:
    return day.toordinal() if day else 0


def _day(case: Case) -> int:
    seen = [group.last_seen for group in case.groups if group.last_seen]
    return max(seen).date().toordinal() if seen else 0
