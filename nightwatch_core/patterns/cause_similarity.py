"""How alike two causes are told: by the places they rest on, and by the words they choose.

Equal words are rare: two analyses tell one cause in their own ways. What stays is what it is about:
names in the code, and the rare words around them. Words of the trade (`nil`, `missing`, `timeout`)
stand in most causes, so they weigh next to nothing.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from nightwatch_core.patterns.common_words import TRADE_WORDS
from nightwatch_core.text.error_classes import words as words_of_name
from nightwatch_core.text.words import stem

LONGEST = 2_000  # characters of a cause that are compared
MOST_WORDS = 150
ALIKE = 0.455  # from here on two causes are one
SAME_LINE, NEAR_LINE, SAME_FILE = 0.25, 0.2, 0.1  # what a shared place adds
NEAR = 10  # lines
LEAST = 0.2  # a shared place alone is not enough: many things pass through one line
# Weights: names in the code, words that the code's names are made of, other words, the trade's.
NAME, OF_CODE, PLAIN, TRADE = 1.5, 1.0, 0.3, 0.1
_FEW = 10  # texts that are taken for granted, so that a night of two errors has rare words too

_WORD = re.compile(r"(?<!\w)[^\W\d_]\w*(?:(?:::|[.#_])\w+)*")
_FILE = re.compile(r"[\w./-]*[\w-]\.[a-z]{1,4}(?::\d+)?(?![\w.(])")
# A commit or a pull request with its title and author: not what fails, and a rule of its own.
_CHANGE = re.compile(r"(?:\b(?=[a-f]*\d)[0-9a-f]{7,40}\b|#\d+)(?: \([^()]{0,200}\))?")
_SIGNS = re.compile(r"::|#")  # a method is named with any of them


class CauseTerms(NamedTuple):
    """A cause as it is compared."""

    spelt: Mapping[str, str]  # stems of the words, and how they were written first
    named: Mapping[str, str]  # names in the code, in lower case, and how they were written
    lines: frozenset[tuple[str, int]] = frozenset()  # evidence

    @property
    def words(self) -> frozenset[str]:
        """Stems of the words, those of names in the code included."""
        return frozenset(self.spelt)

    @property
    def names(self) -> frozenset[str]:
        """Names in the code, whole."""
        return frozenset(self.named)

    @property
    def files(self) -> frozenset[str]:
        """Files of the evidence."""
        return frozenset(path for path, _ in self.lines)


def cause_terms(text: str, lines: Iterable[tuple[str, int]] = ()) -> CauseTerms:
    """Take a cause apart.

    >>> terms = cause_terms("`RateTable#fetch` knows no rates for LU in app/rate.rb:3.")
    >>> sorted(terms.spelt.values()), sorted(terms.names)
    (['LU', 'Table', 'fetch', 'knows', 'rate'], ['ratetable.fetch'])
    """
    text = _CHANGE.sub(" ", text[:LONGEST])
    files = dict.fromkeys(_file_name(path) for path in _FILE.findall(text))
    written = [*files, *_WORD.findall(_FILE.sub(" ", text))][:MOST_WORDS]
    parts = [part for word in written for part in words_of_name(word)]
    spelt = {root: part for part in reversed(parts) if (root := stem(part))}
    named = {_SIGNS.sub(".", word.lower()): word for word in written if _is_name(word)}
    return CauseTerms(spelt, named, frozenset(lines))


def _file_name(path: str) -> str:
    """A file's name without folders, ending and line.

    >>> _file_name("app/models/rate_table.rb:12")
    'rate_table'
    """
    return path.rpartition("/")[2].partition(".")[0]


def _parts(*names: str) -> frozenset[str]:
    """Stems of the words that names are made of."""
    return frozenset(stem(part) for name in names for part in words_of_name(name))


_STEMS_OF_TRADE = frozenset(map(stem, TRADE_WORDS))


class Rarity:
    """How much a word or name tells, by how few causes hold it."""

    def __init__(self, causes: Sequence[CauseTerms]) -> None:
        """Count the causes of the night, and of the lessons there are."""
        self._causes_with: Counter[str] = Counter()
        self._of_code: set[str] = set()
        for cause in causes:
            self._causes_with.update(cause.words)
            self._causes_with.update(f"name {name}" for name in cause.names)
            self._of_code.update(_parts(*cause.named.values(), *map(_file_name, cause.files)))
        self._all = len(causes) + _FEW

    def of_word(self, word: str) -> float:
        """From 0 to 1."""
        weight = OF_CODE if word in self._of_code else PLAIN
        return self._rare(word) * (TRADE if word in _STEMS_OF_TRADE else weight)

    def of_name(self, name: str) -> float:
        """From 0 to 1.5."""
        return self._rare(f"name {name}") * NAME

    def mass(self, words: Iterable[str], implied: frozenset[str], names: Iterable[str]) -> float:
        """What words and names weigh together; those `implied` count as words of the trade."""
        weights = [TRADE if word in implied else self.of_word(word) for word in words]
        return math.fsum((*weights, *map(self.of_name, names)))  # the same in whatever order

    def _rare(self, term: str) -> float:
        return math.log1p(self._all / max(1, self._causes_with[term])) / math.log1p(self._all)


def text_similarity(one: CauseTerms, other: CauseTerms, rarity: Rarity) -> float:
    """How much of what the causes say is said by both, from 0 to 1 (a weighted cosine).

    In causes that lead to one file, the words of the file's name go without saying.
    """
    files = frozenset(_file_name(path) for path in one.files & other.files)
    implied = _parts(*files)
    dull = frozenset(name.lower() for name in files)
    masses = [
        rarity.mass(words, implied, names - dull)
        for words, names in (
            (one.words & other.words, one.names & other.names),
            (one.words, one.names),
            (other.words, other.names),
        )
    ]
    return masses[0] / math.sqrt(masses[1] * masses[2]) if all(masses) else 0.0


def similarity(one: CauseTerms, other: CauseTerms, rarity: Rarity) -> float:
    """How alike two causes are, from 0 to 1: what they say, and a bonus for a shared place."""
    text = text_similarity(one, other, rarity)
    return 0.0 if text < LEAST else min(1.0, text + _shared_place(one, other))


def _shared_place(one: CauseTerms, other: CauseTerms) -> float:
    if one.lines & other.lines:
        return SAME_LINE
    near = any(
        path == same and abs(line - at) <= NEAR
        for path, line in one.lines
        for same, at in other.lines
    )
    if near:
        return NEAR_LINE
    return SAME_FILE if one.files & other.files else 0.0


def shared_words(causes: Sequence[CauseTerms], rarity: Rarity, most: int = 4) -> tuple[str, ...]:
    """Find the rarest names and words that all of the causes hold, in alphabetical order."""
    if not causes:
        return ()
    first = causes[0]
    names = frozenset.intersection(*(one.names for one in causes))
    words = frozenset.intersection(*(one.words for one in causes)) - _STEMS_OF_TRADE
    inside = _parts(*(first.named[name] for name in names))
    weights = {name: rarity.of_name(name) for name in names}
    weights |= {first.spelt[word].lower(): rarity.of_word(word) for word in words - inside}
    return tuple(sorted(sorted(weights, key=lambda term: (-weights[term], term))[:most]))


def group_similar(
    count: int, similarities: Mapping[tuple[int, int], float], threshold: float = ALIKE
) -> list[tuple[int, ...]]:
    """Put numbers below `count` together while the average similarity of two groups is enough.

    By average, not by the nearest two: a chain of neighbours is no group.

    >>> group_similar(4, {(0, 1): 0.9, (1, 2): 0.7, (0, 2): 0.1, (2, 3): 0.2})
    [(0, 1), (2,), (3,)]
    """
    groups: dict[int, tuple[int, ...]] = {number: (number,) for number in range(count)}
    sums = {pair: value for pair, value in similarities.items() if value > 0}
    while sums:
        one, other = max(sums, key=lambda pair: (_average(pair, sums, groups), -pair[0], -pair[1]))
        if _average((one, other), sums, groups) < threshold:
            break
        groups[one] = tuple(sorted((*groups[one], *groups.pop(other))))
        del sums[one, other]
        for pair in [pair for pair in sums if other in pair]:
            rest = pair[0] if pair[1] == other else pair[1]
            joined = (min(one, rest), max(one, rest))
            sums[joined] = sums.get(joined, 0.0) + sums.pop(pair)
    return sorted(groups.values())


def _average(
    pair: tuple[int, int],
    sums: Mapping[tuple[int, int], float],
    found: Mapping[int, tuple[int, ...]],
) -> float:
    return sums[pair] / (len(found[pair[0]]) * len(found[pair[1]]))


def _is_name(word: str) -> bool:
    """Whether a word is a name in the code: of several parts, or in camel case."""
    parts = words_of_name(word)
    return len(parts) > 1 and (not word.isalpha() or not word[1:].islower())
