"""The words of a text: identifiers split, endings cut, those that say nothing left out."""

import re
from functools import lru_cache

# English words that say nothing about a subject, and verbs every task begins with.
_STOP_WORDS = """
a about above add added adding after again against all also always am an and another any anything
are around as at away back be because been before being below between both but by can cannot could
did do does doing done don down during each either else ever every everything few for from further
gave get gets getting give given go goes going gone got had has have having he her here hers him his
how however i if in instead into is isn it its itself just keep know let like ll made make makes
making many may me might more most much must my need needed needs neither never new no nor not
nothing now of off often on once one only onto or other others our ours out over own per please put
rather re s same see set several shall she should since so some something still such sure t take
than that the their theirs them then there these they thing things this those though through thus to
together too toward try two under until up upon us use used uses using ve very via want wants was
way we well were what when where whether which while who whom whose why will with within without won
would yet you your yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
LONGEST_WORD = 40  # characters; longer runs of letters are no words

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_VOWEL = re.compile(r"[aeiouy]")
_ENDINGS = (  # the first that fits goes, and what takes its place
    ("ational", "ate"), ("ization", "ize"), ("isation", "ise"), ("ication", "icate"),
    ("ations", "ate"), ("ation", "ate"), ("ions", ""), ("ion", ""), ("ities", ""), ("ity", ""),
    ("ments", ""), ("ment", ""), ("ingly", ""), ("edly", ""), ("ings", ""), ("ing", ""),
    ("iers", "y"), ("ier", "y"), ("ied", "y"), ("ies", "y"), ("ed", ""),
    ("sses", "ss"), ("es", ""), ("ly", ""), ("s", ""),
)  # fmt: skip


def words(text: str) -> frozenset[str]:
    """Every different word as it stands, identifiers split at case, digits and underscores.

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
    return _without_e(_cut(low))


def _cut(low: str) -> str:
    for ending, instead in _ENDINGS:
        left = low.removesuffix(ending)
        if left != low and len(left) > 2 and _VOWEL.search(left):
            return _single(left) if ending in ("ing", "ed", "ings") else left + instead
    return low


def _single(left: str) -> str:
    """Without the letter that was doubled before an ending: `stopp` is `stop`."""
    doubled = left[-1] == left[-2] and left[-1] not in "lsz"
    return left[:-1] if doubled else left


def _without_e(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
