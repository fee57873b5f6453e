"""The similarity of two causes: of the lines they cite, and of their words.

Equal words are rare: two analyses describe one cause in their own ways. Both name the same things
in the code, and the rare words with them. Words of the trade (`nil`, `missing`, `timeout`) are in
most causes, so they weigh next to nothing.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from nightwatch_core.text.words import stem, words_of_name

_WORDS: dict[str, str] = tomllib.loads((files(__package__) / "words.toml").read_text("utf-8"))
GENERIC_CLASSES = frozenset(_WORDS["generic_classes"].split())
_STEMS_OF_TRADE = frozenset(map(stem, _WORDS["trade"].split()))

LONGEST = 2_000  # characters of a cause that are compared
MOST_WORDS = 150
ALIKE = 0.455  # from here on two causes are one
NEAR_LINE, SAME_FILE = 0.25, 0.1  # what a shared place adds: not enough alone
NEAR = 10  # lines
# Weights: names in the code, words that the code's names are made of, other words, the trade's.
NAME, OF_CODE, PLAIN, TRADE = 1.5, 1.0, 0.3, 0.1
_FEW = 10  # texts that are taken for granted, so that a night of two errors has rare words too

_WORD = re.compile(r"(?<!\w)[^\W\d_]\w*(?:(?:::|[.#_])\w+)*")
_FILE = re.compile(r"[\w./-]*[\w-]\.[a-z]{1,4}(?::\d+)?(?![\w.(])")
# A commit or a pull request with its title and author, and what is said of it: not what fails, and
# a rule of its own. Titles hold brackets themselves.
_CHANGE = re.compile(
    r"(?:\S{1,200}:\d+ was (?:last written by|merged with)(?: pull request)? )?"
    r"(?:\b(?=[a-f]*\d)[0-9a-f]{7,40}\b|#\d+)(?: \((?:[^()]|\([^()]{0,99}\)){0,200}\))?"
)
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
        """Return names in the code, whole."""
        return frozenset(self.named)

    @property
    def files(self) -> frozenset[str]:
        """Return files of the evidence."""
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
    named = {
        _SIGNS.sub(".", word.lower()): word
        for word in written
        if len(words_of_name(word)) > 1 and (not word.isalpha() or not word[1:].islower())
    }
    return CauseTerms(spelt, named, frozenset(lines))


def _file_name(path: str) -> str:
    """A file's name without folders, ending and line."""
    return path.rpartition("/")[2].partition(".")[0]


def _parts(*names: str) -> frozenset[str]:
    return frozenset(stem(part) for name in names for part in words_of_name(name))


class Rarity:
    """Weight of a word or name: the fewer causes have it, the more it tells."""

    def __init__(self, causes: Sequence[CauseTerms]) -> None:
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
        """Return the weight of words and names; `implied` ones count as common words."""
        weights = [TRADE if word in implied else self.of_word(word) for word in words]
        return math.fsum((*weights, *map(self.of_name, names)))  # the same in whatever order

    def _rare(self, term: str) -> float:
        return math.log1p(self._all / max(1, self._causes_with[term])) / math.log1p(self._all)


def text_similarity(terms: CauseTerms, other: CauseTerms, rarity: Rarity) -> float:
    """Return the weighted cosine of two causes' texts, 0 to 1.

    In causes that lead to one file, the words of the file's name go without saying.
    """
    files = frozenset(_file_name(path) for path in terms.files & other.files)
    implied = _parts(*files)
    dull = frozenset(name.lower() for name in files)
    own, its = terms.names - dull, other.names - dull
    shared = rarity.mass(terms.words & other.words, implied, own & its)
    masses = rarity.mass(terms.words, implied, own), rarity.mass(other.words, implied, its)
    return shared / math.sqrt(masses[0] * masses[1]) if shared and all(masses) else 0.0


def similarity(terms: CauseTerms, other: CauseTerms, rarity: Rarity) -> float:
    """Return the similarity of two causes, 0 to 1: their texts, plus a shared location."""
    near = any(
        path == same and abs(line - at) <= NEAR
        for path, line in terms.lines
        for same, at in other.lines
    )
    place = NEAR_LINE if near else SAME_FILE if terms.files & other.files else 0.0
    return min(1.0, text_similarity(terms, other, rarity) + place)


def shared_words(causes: Sequence[CauseTerms], rarity: Rarity) -> tuple[str, ...]:
    """Find the four rarest names and words that all of the causes hold, in alphabetical order.

    Those of a file that they cite are none: it is named beside them.
    """
    if not causes:
        return ()
    first, files = causes[0], {_file_name(path) for cause in causes for path in cause.files}
    dull = {name.lower() for name in files}
    names = frozenset.intersection(*(cause.names for cause in causes)) - dull
    words = frozenset.intersection(*(cause.words for cause in causes)) - _STEMS_OF_TRADE
    inside = _parts(*(first.named[name] for name in names), *files)
    weights = {name: rarity.of_name(name) for name in names}
    weights |= {first.spelt[word].lower(): rarity.of_word(word) for word in words - inside}
    return tuple(sorted(sorted(weights, key=lambda term: (-weights[term], term))[:4]))


def group_causes(causes: Sequence[CauseTerms], rarity: Rarity) -> list[list[int]]:
    """Put the numbers of similar causes together, each into the group it is most like on average.

    By average, not by the nearest two: a chain of neighbours is no group.
    """
    groups: list[list[int]] = []
    for number, cause in enumerate(causes):
        averages = [
            math.fsum(similarity(causes[other], cause, rarity) for other in group) / len(group)
            for group in groups
        ]
        if max(averages, default=0.0) >= ALIKE:
            groups[averages.index(max(averages))].append(number)
        else:
            groups.append([number])
    return groups
