"""Compare learnings by their words, and by the code that they name."""

import re
from itertools import islice

from nightwatch_core.text.words import stem

SAME = 0.6  # likeness from which two texts say the same
COMPARED = 4_000  # characters of each text
WORDS = 200  # of each text
_ENOUGH = 5  # words below which being contained in a longer text means nothing
_CONTAINED = 0.8  # likeness of a text to a longer one that has all its words
_WORD = re.compile(r"[^\W_]+(?:[._'’][^\W_]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DENYING = """aren't avoid can't cannot couldn't didn't doesn't don't forbid forbidden impossible
isn't lacks mustn't never no none not shouldn't unavailable without won't wouldn't"""
_DENIALS = frozenset(_DENYING.split())
_CONTRACTIONS = frozenset(("can't", "doesn't", "don't", "isn't"))
_ESCAPED = re.compile(r"\\([^\w\s]|_)")  # as Markdown writes a plain character
_SPAN = re.compile(r"`+([^`]{1,300})`+")
_LINE = re.compile(r"\blines?\s+(\d{1,7})\b", re.IGNORECASE)
_PLACED = re.compile(r"(\S+?):(\d{1,7}(?:[-:]\d{1,7})?)")  # a path and its line
_NAME = re.compile(
    r"""\w*[^\W_]_+[^\W_]\w* | _+[^\W_]\w* | [^\W_]\w*_+  # snake_case, _private, class_
    | \w*[a-z0-9][A-Z]\w* | [A-Z]{2,}[a-z]{2,}\w*  # CamelCase, HTTPException
    | [^\W\d]\w+(?:(?:\.|::|\#|->)\w{2,})+  # Orders::Price, user.name, lines.py
    | [.~]{0,2}/[^/\s]\S*  # /orders
    | [\w.@~-]+(?:/[\w.@~<>*-]+)+\.\w{1,8} | (?:[\w.@~-]+/){2,}[\w.@~-]*  # shop/line.py, a/b/c""",
    re.VERBOSE,
)


def say_the_same(text: str, other: str) -> bool:
    """Tell whether two texts say the same about the very same code.

    Two sentences with the same words and another name in them are two facts.
    """
    return likeness(text, other) >= SAME and identifiers(text) == identifiers(other)


def likeness(text: str, other: str) -> float:
    """Return 0 (no word in common) to 1 (the same words); half as much where only one denies.

    Shared words against the mean number of words (Dice's coefficient); a shorter text whose words
    the longer one has too, counts by the share of them, if it has at least `_ENOUGH`.

    >>> likeness("Missing index", "an index is missing"), likeness("Redis", "Postgres")
    (1.0, 0.0)
    >>> likeness("Retry on timeouts", "Never retry on timeouts")
    0.5
    """
    words, others = _words(text), _words(other)
    own, theirs = _stems(words), _stems(others)
    shared, fewest = len(own & theirs), min(len(own), len(theirs))
    if not shared:
        return 0.0
    dice = 2 * shared / (len(own) + len(theirs))
    contained = shared / fewest * _CONTAINED if fewest >= _ENOUGH else 0.0
    agree = _DENIALS.isdisjoint(words) == _DENIALS.isdisjoint(others)
    return max(dice, contained) * (1.0 if agree else 0.5)


def identifiers(text: str) -> frozenset[str]:
    r"""Return identifiers of a text: backticked text, snake and camel case, paths, lines.

    >>> sorted(identifiers("`net_price` is defined in shop/line.py:3; see OrderLine, and/or ask"))
    ['OrderLine', 'net_price', 'shop/line.py:3']
    >>> identifiers(r"Use net\_price") == identifiers("Use `net_price`")
    True
    """
    plain = _ESCAPED.sub(r"\1", text[:COMPARED])
    names = {_without_call(" ".join(span.split())) for span in _SPAN.findall(plain)}
    for word in _SPAN.sub(" ", plain).split():
        bare = word.strip("\"'“”‘’()[]{}<>*,;:.!?…").removesuffix("'s").removesuffix("’s")
        placed = _PLACED.fullmatch(bare)
        name = placed[1] if placed else _without_call(bare)
        if _NAME.fullmatch(name) or (placed and "/" in name):
            names.add(_without_call(bare))
    if any("/" in name or _PLACED.fullmatch(name) for name in names):
        names |= {f":{number}" for number in _LINE.findall(plain)}
    return frozenset(names - {""})


def _without_call(name: str) -> str:
    return name.strip().removesuffix("()").removesuffix("(")


def _words(text: str) -> list[str]:
    spaced = _CAMEL.sub(" ", text[:COMPARED].replace("’", "'"))
    return [word[0].lower() for word in islice(_WORD.finditer(spaced), WORDS)]


def _stems(words: list[str]) -> frozenset[str]:
    return frozenset(filter(None, map(stem, words))) - _CONTRACTIONS
