"""JSON of any size in parts that fit into memory: its values, or parts shaped like the whole."""

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import (
    BATCH,
    CHUNK,
    ENVELOPE,
    EXCERPT,
    LINE_LIMIT,
    MAX_DEPTH,
)
from nightwatch_core.adapters.files.packed_files import CUT_OFF, DAMAGE
from nightwatch_core.adapters.files.shapes.json_texts import DECODER

Wrap = Callable[[object], object]  # puts a part into what stands around it in the document
_BLANK = re.compile(r"\s*")
_NEXT = re.compile(r"\n(?=\{)")  # where a further document of a broken file begins
_NO_END = "it has no end: the file is cut off"


class Part(NamedTuple):
    """A value and the line it begins at; a problem says why it is a text that is no JSON."""

    number: int
    value: object
    problem: str = ""


class _Broken(Exception):  # noqa: N818 (ends one document)
    """What follows in the document cannot be told apart."""


class _TooLong(Exception):  # noqa: N818
    """A value is longer than what is read at once."""


def parts_of(
    read: Callable[[int], str], most: int = LINE_LIMIT, chunk: int = CHUNK
) -> Iterator[Part]:
    """Every JSON value of a text that `read` gives a number of characters of.

    Items of an array come one by one. A document longer than `most` comes in parts that have its
    shape: `{"page": 1, "errors": [a, b, …]}` as `{"page": 1, "errors": [a]}` and so on. A problem
    ends a document: what follows broken JSON cannot be told apart.

    >>> import io
    >>> document = io.StringIO('{"page": 1, "errors": [{}, {}]}')
    >>> [part.value for part in parts_of(document.read, most=12, chunk=4)]
    [{'page': 1, 'errors': [{}, {}]}]
    >>> [part.problem for part in parts_of(io.StringIO('[{"a": 1}, {"b": ').read)]
    ['', 'no JSON (Expecting value)']
    """
    text = _Text(read, most, chunk)
    while text.peek():
        try:
            if text.peek() == "[":
                yield from _items(text, None, 0)
            else:
                yield from _value(text, lambda value: value, 0)
        except _Broken as broken:
            yield Part(text.number, text.excerpt(), str(broken))
            if not text.seek(_NEXT):
                return


class _Text:
    """What was read and not yet decoded."""

    def __init__(self, read: Callable[[int], str], most: int, chunk: int) -> None:
        self._read, self._most, self._chunk = read, most, chunk
        self._text, self._at, self._counted = "", 0, 0
        self._number = 1
        self._ended = False
        self.taken = 0  # characters of the value decoded last

    @property
    def number(self) -> int:
        """The line that is reached, from 1."""
        self._number += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._number

    def peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def skip(self) -> None:
        """Pass over one character."""
        self._at += 1

    def excerpt(self) -> str:
        """What comes next, cut."""
        return self._text[self._at : self._at + EXCERPT]

    def seek(self, mark: re.Pattern[str]) -> bool:
        """Go to the next place of a mark; false where there is none."""
        while not (there := mark.search(self._text, self._at)):
            self._at = max(self._at, len(self._text) - 1)
            if not self._more():
                return False
        self._at = there.end()
        return True

    def decode(self) -> object:
        """The next value; raises `_TooLong` where it is, `_Broken` where it is none."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except ValueError as error:
                if len(self._text) - self._at >= self._most:
                    raise _TooLong from None
                if not self._more():
                    raise _Broken(json_problem(error)) from None
            except RecursionError as error:
                raise _Broken(json_problem(error)) from None
            else:
                if end < len(self._text) or self._text[end - 1] in '}]"' or not self._more():
                    self.taken, self._at = end - self._at, end
                    return value

    def _more(self) -> bool:
        """Read on, and forget what was decoded."""
        number, rest = self.number, self._text[self._at :]
        more = "" if self._ended else self._piece(max(self._chunk, len(rest)))
        self._ended = not more
        self._text, self._at, self._counted, self._number = rest + more, 0, 0, number
        return bool(more)

    def _piece(self, size: int) -> str:
        try:
            return self._read(size)
        except DAMAGE:
            raise _Broken(CUT_OFF) from None


def _value(text: _Text, wrap: Wrap, depth: int) -> Iterator[Part]:
    opening, number = text.peek(), text.number
    try:
        value = text.decode()
    except _TooLong:
        if opening not in ("{", "["):
            raise _Broken(f"longer than {LINE_LIMIT} characters") from None
        if depth > MAX_DEPTH:
            raise _Broken(json_problem(RecursionError())) from None
        yield from (_fields if opening == "{" else _items)(text, wrap, depth)
    else:
        yield Part(number, wrap(value))


def _items(text: _Text, wrap: Wrap | None, depth: int) -> Iterator[Part]:
    """The items of an array: one by one at the top, in batches inside of something."""
    text.skip()
    batch: list[object] = []
    number = text.number
    while (opening := text.peek()) != "]":
        _go_on(text, opening)
        number = number if batch else text.number
        try:
            item = text.decode()
        except _TooLong:
            yield from _batched(batch, number, wrap)
            yield from _value(text, _inner(wrap), depth + 1)
            continue
        except _Broken:
            yield from _batched(batch, number, wrap)
            raise
        batch.append(item)
        if wrap is None or len(batch) >= BATCH:
            yield from _batched(batch, number, wrap)
    text.skip()
    yield from _batched(batch, number, wrap)


def _go_on(text: _Text, opening: str) -> None:
    """Pass over what stands between two items or fields."""
    if opening == ",":
        text.skip()
        opening = text.peek()
    if not opening:
        raise _Broken(_NO_END)


def _inner(wrap: Wrap | None) -> Wrap:
    return (lambda value: value) if wrap is None else (lambda value: wrap([value]))


def _batched(batch: list[object], number: int, wrap: Wrap | None) -> Iterator[Part]:
    if wrap is None:
        yield from (Part(number, item) for item in batch)
    elif batch:
        yield Part(number, wrap(batch.copy()))
    batch.clear()


def _fields(text: _Text, wrap: Wrap, depth: int) -> Iterator[Part]:
    """An object in parts: short fields stand around every long one, others come by themselves."""
    text.skip()
    around: dict[str, object] = {}
    others: dict[str, object] = {}
    number, taken, is_whole = text.number, 0, True
    while (opening := text.peek()) != "}":
        _go_on(text, opening)
        if text.peek() == "}":
            break
        name = str(text.decode())
        if text.peek() != ":":
            raise _Broken("no JSON (Expecting ':' delimiter)")
        text.skip()
        try:
            value = text.decode()
        except _TooLong:
            is_whole = False
            yield from _value(text, _field_of(name, around, wrap), depth + 1)
            continue
        is_short = text.taken <= ENVELOPE and len(around) < BATCH and not isinstance(value, list)
        (around if is_short else others)[name] = value
        taken += text.taken
        if taken > LINE_LIMIT:
            yield Part(number, wrap({**around, **others}))
            others, taken, is_whole = {}, 0, False
    text.skip()
    if others or is_whole:
        yield Part(number, wrap({**around, **others}))


def _field_of(name: str, around: dict[str, object], wrap: Wrap) -> Wrap:
    return lambda value: wrap({**around, name: value})


def json_problem(error: Exception) -> str:
    """A sentence about JSON that cannot be read.

    >>> json_problem(RecursionError())
    'nested too deeply'
    """
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"no JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else "no JSON"
