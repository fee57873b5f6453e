"""From tonight's case to the lessons it recalls, over any index of lessons, and why."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from nightwatch_core.memory.recall.scoring import (
    Corpus,
    aged,
    candidates,
    own_points,
    points,
    query_terms,
    relevance,
    share,
)
from nightwatch_core.memory.recall.search_document import (
    SearchDocument,
    classes,
    document_of_case,
    terms_of,
)
from nightwatch_core.memory.recall.seed_score import LIMIT, THRESHOLD, match, names, seed_tags
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import IndexEntry, Match
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.escaping import line
from nightwatch_core.text.message_templates import message_template
from nightwatch_core.text.transaction_templates import transaction_template

_MOST_NAMED, _LONGEST = 2, 120  # frames, characters of a quoted text
Recalled = tuple[tuple[IndexEntry, Match], ...]


class Row(NamedTuple):
    """What scoring needs of one lesson: numbers of its terms and how many each field has."""

    lesson: int
    file: str
    seen: int  # day it was last seen, counted as `date.toordinal`; 0 where not known
    numbers: Sequence[int]
    lengths: Sequence[int]


class LessonIndex(Protocol):
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

    def entry(self, lesson: int) -> tuple[IndexEntry, SearchDocument]:
        """One lesson's line in the index, and what is compared of it."""
        ...


class Near(NamedTuple):
    """A lesson near the query: `rank` sorts (highest first), `share` is what it matched."""

    lesson: int
    file: str
    rank: float
    share: float


def search(
    case: Case,
    index: LessonIndex,
    limit: int = LIMIT,
    threshold: float = THRESHOLD,
) -> Recalled:
    """Find the case's own lesson, then those of similar errors, best first, from `threshold` on.

    Lessons that know no cause have nothing to say of another error. Ties go to the one seen last,
    then by file name.
    """
    query = document_of_case(case)
    own = _own(case, index)
    own_files = {entry.file for entry, _ in own}
    results = list(own[:limit])
    for near in nearest(query, index, _last_seen(case)):
        if len(results) >= limit:
            break
        sure = relevance(near.share)
        if near.file in own_files or sure < threshold:
            continue
        entry, document = index.entry(near.lesson)
        if entry.unknown:
            continue
        seed = match(case, entry).score
        because = reasons(query, document)
        results.append((entry, Match(score=seed, because=because, relevance=sure)))
    return tuple(results)


def nearest(query: SearchDocument, index: LessonIndex, day: int = 0) -> list[Near]:
    """Rank candidates for an error last seen on `day`, best first; at most `MOST_CANDIDATES`."""
    terms, corpus = terms_of(query), index.corpus()
    if not corpus.lessons:
        return []
    asked = query_terms(terms, corpus, index.frequencies(set(terms.all)))
    own = own_points(asked, len(terms.fields))
    near = []
    for row in index.rows(candidates(asked, index.lessons_with)):
        scored = sum(points(asked, row.numbers, row.lengths, corpus))
        apart = row.seen - day if row.seen and day else 0
        matched = share(scored, own, row.lengths)
        near.append((round(aged(scored, apart), 9), row.seen, row.file, row.lesson, matched))
    near.sort(key=lambda one: (-one[0], -one[1], one[2]))
    return [Near(lesson, file, rank, matched) for rank, _, file, lesson, matched in near]


def _own(case: Case, index: LessonIndex) -> Recalled:
    """Lessons on this very case: by its fingerprint, then by its other names, newest first."""
    entries = (index.entry(lesson)[0] for lesson in index.named(names(case)))
    matches = ((entry, match(case, entry)) for entry in entries)
    same = [(e, m.model_copy(update={"relevance": 1.0})) for e, m in matches if m.is_same]
    return tuple(sorted(same, key=lambda pair: (pair[1].kind == "alias", *_newest_first(pair[0]))))


def _newest_first(entry: IndexEntry) -> tuple[int, str]:
    return -entry.last_seen.toordinal() if entry.last_seen else 0, entry.file


def _last_seen(case: Case) -> int:
    seen = [group.last_seen for group in case.groups if group.last_seen]
    return max(seen).date().toordinal() if seen else 0


def reasons(query: SearchDocument, lesson: SearchDocument) -> tuple[str, ...]:
    """Name what both have in common, the strongest first.

    >>> reasons(SearchDocument(error_class="E", message="no 17"), SearchDocument(message="no 4"))
    ('same message “no <n>”',)
    """
    same = tuple(filter(None, (reason(query, lesson) for reason in REASONS)))
    return same or (SIMILAR_WORDS,)


def _frames(query: SearchDocument, lesson: SearchDocument) -> str:
    shared = _shared((*query.places, *query.frames), (*lesson.places, *lesson.frames))
    named = ", ".join(line(name, _LONGEST) for name in shared[:_MOST_NAMED])
    more = f" and {len(shared) - _MOST_NAMED} more" if len(shared) > _MOST_NAMED else ""
    return f"same frames {named}{more}" if len(shared) > 1 else f"same frame {named}" * len(shared)


def _message(query: SearchDocument, lesson: SearchDocument) -> str:
    own, other = message_template(query.message), message_template(lesson.message)
    return f"same message “{line(own, _LONGEST)}”" if own and own == other else ""


def _class(query: SearchDocument, lesson: SearchDocument) -> str:
    same = query.error_class and query.error_class == lesson.error_class
    return f"same class {line(query.error_class, _LONGEST)}" if same else ""


def _cause(query: SearchDocument, lesson: SearchDocument) -> str:
    """A class that one of them wraps, or names in its message."""
    outer = {last_segment(query.error_class)} & {last_segment(lesson.error_class)}
    shared = [name for name in _shared(classes(query), classes(lesson)) if name not in outer]
    return f"same cause {line(shared[0], _LONGEST)}" if shared else ""


def _transaction(query: SearchDocument, lesson: SearchDocument) -> str:
    own, other = transaction_template(query.transaction), transaction_template(lesson.transaction)
    same = query.transaction and lesson.transaction and own == other
    return f"same transaction {line(own, _LONGEST)}" if same else ""


def _tags(query: SearchDocument, lesson: SearchDocument) -> str:
    shared = _shared(seed_tags(query.error_class, query.transaction), lesson.tags)
    return f"shared tags {', '.join(line(tag, 60) for tag in shared[:5])}" if shared else ""


def _shared(own: Iterable[str], other: Iterable[str]) -> list[str]:
    others = frozenset(other)
    return [name for name in dict.fromkeys(own) if name and name in others]


REASONS: tuple[Callable[[SearchDocument, SearchDocument], str], ...] = (
    _frames,
    _message,
    _class,
    _cause,
    _transaction,
    _tags,
)
SIMILAR_WORDS = "similar words"  # where nothing is the same as a whole
