"""Recall in memory: the twin of the search index, for tests, dry runs and benchmarks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from nightwatch_core.memory.index import entry_of
from nightwatch_core.memory.recall import (
    FIELDS,
    LIMIT,
    THRESHOLD,
    Corpus,
    Recalled,
    Row,
    SearchDocument,
    document_of_lesson,
    search,
    terms_of,
)
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import IndexEntry, Lesson


class MemoryRecall:
    """Recall, and `ranking.LessonIndex`, over lessons that are given once."""

    def __init__(self, lessons: Iterable[Lesson] = ()) -> None:
        """Take the lessons; later changes to them are not noticed."""
        self._kept: list[tuple[IndexEntry, SearchDocument]] = []
        self._rows: list[Row] = []
        self._with: dict[int, list[int]] = defaultdict(list)
        self._named: dict[str, list[int]] = defaultdict(list)
        for at, lesson in enumerate(lessons):
            self._add(at, entry_of(lesson), document_of_lesson(lesson))
        totals = (sum(row.lengths[at] for row in self._rows) for at in range(len(FIELDS)))
        count = len(self._rows)
        self._corpus = Corpus(count, tuple(total / (count or 1) for total in totals))

    def compare(self) -> int:
        """Nothing changes here."""
        return 0

    def refresh(self, file: str) -> None:
        """Nothing changes here."""

    def similar(self, case: Case, limit: int = LIMIT, threshold: float = THRESHOLD) -> Recalled:
        """The case's own lesson and those of similar errors, best first."""
        return search(case, self, limit, threshold)

    def corpus(self) -> Corpus:
        """How many lessons there are."""
        return self._corpus

    def frequencies(self, numbers: Iterable[int]) -> Mapping[int, int]:
        """In how many lessons each of these terms is."""
        return Counter({number: len(self._with.get(number, ())) for number in numbers})

    def lessons_with(self, number: int) -> Iterable[int]:
        """The lessons that have a term."""
        return self._with.get(number, ())

    def rows(self, lessons: Sequence[int]) -> Iterable[Row]:
        """These lessons."""
        return (self._rows[lesson] for lesson in lessons)

    def named(self, names: Iterable[str]) -> Sequence[int]:
        """The lessons that carry one of these names."""
        return sorted({lesson for name in names for lesson in self._named.get(name, ())})

    def entry(self, lesson: int) -> tuple[IndexEntry, SearchDocument]:
        """One lesson's line in the index, and its footprint."""
        return self._kept[lesson]

    def _add(self, at: int, entry: IndexEntry, footprint: SearchDocument) -> None:
        terms = terms_of(footprint)
        seen = entry.last_seen.toordinal() if entry.last_seen else 0
        self._kept.append((entry, footprint))
        self._rows.append(Row(at, entry.file, seen, terms.all, terms.lengths))
        for number in set(terms.all):
            self._with[number].append(at)
        for name in {entry.fingerprint, *entry.aliases}:
            self._named[name].append(at)
