"""How much two short texts say the same: the overlap of their words, cut down to stems."""

import re
from itertools import islice

from nightwatch_core.text.words import stem

_LONGEST = 4_000  # characters of a text that are looked at
_MOST_WORDS = 200
_WORD = re.compile(r"[^\W_]+(?:[._'’][^\W_]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DENYING = """aren't avoid can't cannot couldn't didn't doesn't don't forbid forbidden impossible
isn't lacks mustn't never no none not shouldn't unavailable without won't wouldn't"""
_CONTRACTIONS = frozenset(("can't", "doesn't", "don't", "isn't"))
_DENIALS = frozenset(_DENYING.split())


def stems(text: str) -> frozenset[str]:
    """The words that carry meaning, each without its ending.

    >>> sorted(stems("Missing indexes cause the timeouts"))
    ['caus', 'index', 'miss', 'timeout']
    """
    return frozenset(filter(None, map(stem, _words(text)))) - _CONTRACTIONS


def likeness(one: str, other: str) -> float:
    """From 0 (no word in common) to 1 (the same words); half as much where only one denies.

    Shared words against the mean number of words (Dice's coefficient); a shorter text whose words
    the longer one has too, counts by the share of them, if it has at least `_ENOUGH`.

    >>> likeness("Missing index", "an index is missing"), likeness("Redis", "Postgres")
    (1.0, 0.0)
    >>> likeness("Retry on timeouts", "Never retry on timeouts")
    0.5
    """
    own, others = stems(one), stems(other)
    shared, fewest = len(own & others), min(len(own), len(others))
    if not shared:
        return 0.0
    dice = 2 * shared / (len(own) + len(others))
    held = shared / fewest * _HELD if fewest >= _ENOUGH else 0.0
    return max(dice, held) * (1.0 if denies(one) == denies(other) else 0.5)


_ENOUGH = 5  # words below which being held in a longer text means nothing
_HELD = 0.8  # a text that is wholly held in a longer one is that much like it


def denies(text: str) -> bool:
    """Whether a text says that something is not so, or shall not be.

    >>> denies("Don't retry"), denies("Retry")
    (True, False)
    """
    return any(word in _DENIALS for word in _words(text))


def _words(text: str) -> list[str]:
    spaced = _CAMEL.sub(" ", text[:_LONGEST].replace("’", "'"))
    return [found[0].lower() for found in islice(_WORD.finditer(spaced), _MOST_WORDS)]
