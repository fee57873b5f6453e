"""The words of a text: identifiers split, endings cut, those that say nothing left out."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from nightwatch_core.models.value import Value
from nightwatch_core.text.rule_files import Pattern, load_rules


class WordRules(Value):
    """The file; its comments explain the fields."""

    stop_words: str
    code: tuple[Pattern, ...]
    endings: dict[str, str]


RULES = load_rules("words", WordRules, "text")
STOP_WORDS = frozenset(RULES.stop_words.split())
LONGEST_WORD = 40  # characters; longer runs of letters are no words

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_VOWEL = re.compile(r"[aeiouy]")


def words(text: str) -> frozenset[str]:
    """Return every different word as it stands, identifiers split at case, digits and underscores.

    >>> sorted(words("OrdersController#show_all has 2 HTTPErrors"))
    ['2', 'Controller', 'Errors', 'HTTP', 'Orders', 'all', 'has', 'show']
    """
    return frozenset(_WORD.findall(text))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Cut a word's ending, but not the `er` of who does it; empty for words that say nothing.

    >>> stem("Queries"), stem("query"), stem("timing"), stem("timed"), stem("times"), stem("the")
    ('query', 'query', 'tim', 'tim', 'tim', '')
    >>> stem("caches"), stem("caching"), stem("class"), stem("indexes"), stem("index"), stem("7")
    ('cach', 'cach', 'class', 'index', 'index', '')
    >>> stem("orders"), stem("order"), stem("workers"), stem("working")
    ('order', 'order', 'worker', 'work')
    """
    low = word.lower()
    if low in STOP_WORDS or low.isdigit() or len(low) > LONGEST_WORD:
        return ""
    if len(low) < 2 and low.isascii():
        return ""
    if len(low) < 4 or low.endswith(("ss", "us", "is")):
        return low
    word = _cut(low)
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _cut(low: str) -> str:
    for ending, instead in RULES.endings.items():
        left = low.removesuffix(ending)
        if left == low or len(left) < 3 or not _VOWEL.search(left):
            continue
        is_doubled = left[-1] == left[-2] and left[-1] not in "lsz"
        return left[:-1] if is_doubled and ending in ("ing", "ed", "ings") else left + instead
    return low


# Code in prose: spans in backticks, and words that only code is written in.
#
# Paths, names with underscores, calls, qualified names; a word of the language is left as it is.

_SPAN = re.compile(r"`([^`\n]+)`")
_LONGEST = 200  # characters of a word that is looked at
_PAIRS = {")": "(", "]": "[", "}": "{"}


class Piece(NamedTuple):
    """Part of a text."""

    text: str
    is_code: bool = False


def spans(text: str) -> Iterator[Piece]:
    """Split a text at its `code in backticks` alone."""
    for odd, part in enumerate(_SPAN.split(text)):
        yield Piece(part, is_code=bool(odd % 2))


def pieces(text: str) -> Iterator[Piece]:
    """Split a text; backticks around code are taken off, all else is kept.

    >>> [piece.text for piece in pieces("`x` in (app/a.py:3), on its own") if piece.is_code]
    ['x', 'app/a.py:3']
    >>> [piece.text for piece in pieces("'example.com' in 'a_b', a_b") if piece.is_code]
    ['a_b']
    """
    for piece in spans(text):
        if piece.is_code:
            yield piece
        elif piece.text:
            yield from _words(piece.text)


def is_code_word(word: str) -> bool:
    """Tell whether a word is written as only code is.

    >>> [is_code_word(one) for one in ("order_id", "Cart::Line", "a/b.py:3", "total()")]
    [True, True, True, True]
    >>> [is_code_word(one) for one in ("and/or", "e.g", "5.10", "well-kept", "KeyError")]
    [False, False, False, False, False]
    """
    return len(word) <= _LONGEST and any(pattern.fullmatch(word) for pattern in RULES.code)


def core_of(word: str) -> tuple[str, str, str]:
    """Split a word from the punctuation around it; brackets of its own stay.

    >>> core_of("(see"), core_of("total()),"), core_of('"rates[0]".')
    (('(', 'see', ''), ('', 'total()', '),'), ('"', 'rates[0]', '".'))
    """
    start, end = 0, len(word)
    while end > start and _ends(word[start:end]):
        end -= 1
    while start < end and _begins(word[start:end]):
        start += 1
    return word[:start], word[start:end], word[end:]


def _ends(word: str) -> bool:
    last = word[-1]
    if last in _PAIRS:
        return word.count(last) > word.count(_PAIRS[last]) or word[0] == _PAIRS[last]
    return last in ".,;:!?\"'"


def _begins(word: str) -> bool:
    first = word[0]
    closing = next((shut for shut, opened in _PAIRS.items() if opened == first), "")
    if closing:
        return word.count(first) > word.count(closing)
    return first in "\"'"


def _words(text: str) -> Iterator[Piece]:
    kept = ""
    for word in re.split(r"(\s+)", text):
        before, core, after = core_of(word) if len(word) <= _LONGEST else (word, "", "")
        is_quoted = before.endswith(("'", '"')) and after.startswith(before[-1])
        if core and is_code_word(core) and not is_quoted:
            if kept + before:
                yield Piece(kept + before)
            yield Piece(core, is_code=True)
            kept = after
        else:
            kept += word
    if kept:
        yield Piece(kept)


# Looks an error class up in a table of names, the same way wherever classes are told apart.
#
# The order: full name, last segment, namespace, whole-word suffix; never a substring, so that
# `PrototypeError` is not taken for a `TypeError`.

_T = TypeVar("_T")
_LONGEST_CLASS = 500  # characters of a class name that are looked at
_SEPARATORS = re.compile(r"::|[.\\/]")
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def segments(error_class: str) -> tuple[str, ...]:
    r"""Return the parts of a qualified class name.

    >>> segments("ActiveRecord::RecordNotFound"), segments(r"\App\Oops"), segments("*net.OpError")
    (('ActiveRecord', 'RecordNotFound'), ('App', 'Oops'), ('net', 'OpError'))
    """
    parts = _SEPARATORS.split(error_class[:_LONGEST_CLASS])
    return tuple(part for part in (raw.strip(" \t\r\n*&:;") for raw in parts) if part)


def last_segment(error_class: str) -> str:
    """Return the class name without its namespace; empty for an empty name."""
    return segments(error_class)[-1] if segments(error_class) else ""


def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a name in camel case or snake case.

    >>> words_of_name("PGNotAuthorizedError"), words_of_name("not_found")
    (('PG', 'Not', 'Authorized', 'Error'), ('not', 'found'))
    """
    return tuple(_WORDS.findall(name[:_LONGEST_CLASS]))


class ClassTable(Generic[_T]):
    """Values by class name and by namespace; names of two or more words also match as a suffix."""

    def __init__(self, names: Mapping[str, _T], namespaces: Mapping[str, _T]) -> None:
        self._names = {segments(name): value for name, value in names.items()}
        self._namespaces = {segments(name): value for name, value in namespaces.items()}
        alone = ((name[0], value) for name, value in self._names.items() if len(name) == 1)
        single = {words_of_name(name): value for name, value in alone}
        self._suffixes = {key: value for key, value in single.items() if len(key) > 1}

    def find(self, error_class: str) -> _T | None:
        """Return the value for a class; None where nothing matches."""
        parts = segments(error_class)
        name = words_of_name(parts[-1]) if parts else ()
        for found in (
            self._names.get(parts),
            self._names.get(parts[-1:]),
            _longest(self._namespaces, (parts[:n] for n in range(len(parts) - 1, 0, -1))),
            _longest(self._suffixes, (name[start:] for start in range(len(name)))),
        ):
            if found is not None:
                return found
        return None


def _longest(table: Mapping[tuple[str, ...], _T], keys: Iterable[tuple[str, ...]]) -> _T | None:
    return next((table[key] for key in keys if key in table), None)
