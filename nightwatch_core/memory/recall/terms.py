"""The terms of a footprint, field by field: what an index counts and a search looks for."""

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

from nightwatch_core.memory.recall.search_document import Footprint
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.templates import message_template, transaction_template

VERSION = 1  # of what this module makes of a footprint: an index of another version is rebuilt
MOST_TERMS = 300  # of one field

# How the name of an error class ends, in a message that quotes it.
CLASS_ENDINGS = ("Exception", "Error", "Failure", "Fault", "Timeout")
_CHUNK = re.compile(r"[\w.:\\$]+")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_PLACEHOLDER = re.compile(r"<[a-z]+>")
_DIGITS = re.compile(r"\d+")


def classes(footprint: Footprint) -> Iterable[str]:
    """Classes without their packages: the error's, its causes', and those its messages name.

    >>> list(classes(Footprint(error_class="a.JMSError", message="x.NullPointerException: null")))
    ['JMSError', 'NullPointerException']
    """
    yield last_segment(footprint.error_class)
    yield from (last_segment(cause.partition(": ")[0]) for cause in footprint.causes)
    yield from (last_segment(chunk) for chunk in _named_classes(footprint.message))


def template(footprint: Footprint) -> Iterable[str]:
    """The message without what changes from one occurrence to the next."""
    found = message_template(footprint.message)
    return (found,) if len(found) > 3 else ()


def words(footprint: Footprint) -> Iterable[str]:
    """Words of the message and pairs of neighbours; a class it names is told elsewhere.

    >>> list(words(Footprint(message="order 17 has no totalPrice")))
    ['order', 'has', 'no', 'total', 'price', 'order has', 'has no', 'no total', 'total price']
    """
    text = _PLACEHOLDER.sub(" ", message_template(footprint.message))
    named = set(_named_classes(text))
    said = [w for chunk in _CHUNK.findall(text) if chunk not in named for w in _words(chunk)]
    return (*said, *(f"{one} {other}" for one, other in zip(said, said[1:], strict=False)))


def transaction(footprint: Footprint) -> Iterable[str]:
    """The transaction without ids."""
    return (_DIGITS.sub("", transaction_template(footprint.transaction)),)


def places(footprint: Footprint) -> Iterable[str]:
    """Where its exceptions were raised."""
    return footprint.places


def names(footprint: Footprint) -> Iterable[str]:
    """Words of the frames: what is left of a name when code is moved or renamed in part.

    >>> list(names(Footprint(frames=("orders/views.showOrder",))))
    ['orders', 'views', 'show', 'order']
    """
    return (word for frame in footprint.frames for word in _words(frame))


FIELDS = (classes, template, words, transaction, places, names)


class Terms(NamedTuple):
    """Numbers of the terms of each of FIELDS, repeated as often as they occur."""

    fields: tuple[tuple[int, ...], ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many terms each field has."""
        return tuple(map(len, self.fields))

    @property
    def all(self) -> tuple[int, ...]:
        """Of every field, one after the other."""
        return tuple(number for field in self.fields for number in field)


def terms_of(footprint: Footprint) -> Terms:
    """The terms of a footprint."""
    return Terms(
        tuple(
            tuple(_number(at, text) for text in list(field(footprint))[:MOST_TERMS] if text)
            for at, field in enumerate(FIELDS)
        )
    )


def _number(field: int, text: str) -> int:
    """32 bits: two of a million terms may share one, which moves a score by next to nothing."""
    told = f"{field}\0{text}".encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(told, digest_size=4).digest(), "big")


def _named_classes(text: str) -> list[str]:
    return [one for one in _CHUNK.findall(text) if one.rstrip(".:\\").endswith(CLASS_ENDINGS)]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text) if len(word) > 1]
