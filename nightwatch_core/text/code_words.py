"""Code in prose: spans in backticks, and words that only code is written in.

Paths, names with underscores, calls, qualified names; a word of the language is left as it is.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_SPAN = re.compile(r"`([^`\n]+)`")
_LONGEST = 200  # characters of a word that is looked at
_ENDINGS = (
    "py|pyi|rb|erb|js|jsx|mjs|cjs|ts|tsx|vue|php|go|rs|java|kt|scala|cs|cshtml|c|h|cc|cpp|hpp|sql|html|css|scss"
    "|json|ya?ml|toml|md|rst|txt|lock|xml|cfg|ini|sh|jinja2?|j2|twig|haml|slim|ex|exs|swift|gradle|proto|csproj"
)
_LINE = r"(?::\d{1,7}(?:[-:]\d{1,7})?)?"
_CODE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:[\w.@+-]+/)+[\w@+-][\w.@+-]*\.[A-Za-z]\w{{0,9}}{_LINE}",  # app/models/cart.rb:12
        rf"[\w@+-][\w.@+-]*\.(?:{_ENDINGS}){_LINE}",
        r"(?=[^\s_]*_)[$@:.*&]{0,2}(?=\w*[^\W_])[A-Za-z_][\w.:?!-]*(?:\(\))?",  # snake_case
        r"[A-Za-z_][\w.:]*\(\)",
        r"[A-Za-z_]\w*(?:(?:::|->|#|\.)[A-Za-z_]\w*[?!]?)*(?:::|->|#)[A-Za-z_]\w*[?!]?",
        r"[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+",  # shop.errors.FeedError
        r"[A-Za-z_][\w.]*\[[^\s\[\]]+\]",  # rates["EUR"]
        r"[A-Za-z]\w*<[^\s<>]+>|#?<[A-Za-z/][^\s<>]*>",
        r"--?[A-Za-z]\w*(?:-\w+)+|--[a-z]\w+",  # --repo
        r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}",  # a commit
    )
)
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
    """
    for piece in spans(text):
        if piece.is_code:
            yield piece
        elif piece.text:
            yield from _words(piece.text)


def is_code_word(word: str) -> bool:
    """Whether a word is written as only code is.

    >>> [is_code_word(one) for one in ("order_id", "Cart::Line", "a/b.py:3", "total()")]
    [True, True, True, True]
    >>> [is_code_word(one) for one in ("and/or", "e.g", "5.10", "well-kept", "KeyError")]
    [False, False, False, False, False]
    """
    return len(word) <= _LONGEST and any(pattern.fullmatch(word) for pattern in _CODE)


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
        if core and is_code_word(core):
            if kept + before:
                yield Piece(kept + before)
            yield Piece(core, is_code=True)
            kept = after
        else:
            kept += word
    if kept:
        yield Piece(kept)
