"""Texts that can be looked into before they are read: lines, and what kind of text they make."""

import re
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Literal, NamedTuple, TextIO

from nightwatch_core.adapters.files.limits import EXCERPT, LINE_LIMIT
from nightwatch_core.adapters.files.packed_files import CUT_OFF, DAMAGE
from nightwatch_core.adapters.files.tables import is_table

_OPENS_DOCUMENT = re.compile(r"(?:.*[{\[,:])?\s*$")
_ARRAY = re.compile(r"\[\s*(?:[{\[\]]|$)")

Kind = Literal["empty", "lines", "document", "log", "table"]


class Line(NamedTuple):
    """A line and its number from 1; `problem` says why the text is only its beginning."""

    number: int
    text: str
    problem: str = ""


class TextFile:
    """A text that is read once, from its beginning, in lines or in pieces."""

    def __init__(self, stream: TextIO) -> None:
        """Begin at the beginning of a stream."""
        self._stream = stream
        self._taken: deque[str] = deque()  # looked at, not yet read

    def firsts(self, count: int = 2) -> list[str]:
        """Look at the first lines that are not blank, with their ends; longer ones are cut."""
        firsts: list[str] = []
        while len(firsts) < count and (piece := self._stream.readline(LINE_LIMIT)):
            self._taken.append(piece)
            if piece.strip():
                firsts.append(piece)
            if is_cut(piece):
                break
        return firsts

    def pieces(self) -> Iterator[str]:
        """The lines with their ends; lines longer than `LINE_LIMIT` come in parts."""
        while self._taken:
            yield self._taken.popleft()
        yield from iter(partial(self._stream.readline, LINE_LIMIT), "")

    def read(self, size: int) -> str:
        """About `size` characters; nothing at the end."""
        return self._taken.popleft() if self._taken else self._stream.read(size)


def is_cut(piece: str) -> bool:
    """Tell whether it is the beginning of a line that is too long."""
    return len(piece) >= LINE_LIMIT and not piece.endswith("\n")


def lines_of(text: TextFile) -> Iterator[Line]:
    """The lines without their ends; a damaged end of the file is a last line with a problem."""
    number, pieces = 0, text.pieces()
    try:
        for number, piece in enumerate(pieces, 1):  # noqa: B007 (its last value is used)
            if len(piece) < LINE_LIMIT or piece.endswith("\n"):
                yield Line(number, piece.rstrip("\n"))
                continue
            while (rest := next(pieces, "")) and not rest.endswith("\n"):
                pass
            yield Line(number, piece[:EXCERPT], f"longer than {LINE_LIMIT} characters")
    except DAMAGE:
        yield Line(number + 1, "", CUT_OFF)


def kind_of(text: TextFile) -> Kind:
    """What a text holds, told by its first two lines that are not blank."""
    try:
        firsts = text.firsts()
    except DAMAGE:
        return "log"
    if firsts and is_cut(firsts[-1]) and firsts[0].lstrip().startswith(("{", "[")):
        return "document"
    if is_table(firsts):
        return "table"
    return _kind([first[:LINE_LIMIT].strip() for first in firsts])


def _kind(firsts: list[str]) -> Kind:
    """The kind of a file that begins with these lines.

    >>> _kind(['{"a": 1}', '{"a"']), _kind(["{", '"a": 1']), _kind(["[2026-11-03 10:00:00] no"])
    ('lines', 'document', 'log')
    """
    if not firsts:
        return "empty"
    first, second = firsts[0], (firsts[1:] or [""])[0]
    if _ARRAY.match(first):
        return "document"
    if not first.startswith("{"):
        return "log"
    opens = bool(_OPENS_DOCUMENT.match(first[-EXCERPT:])) and not second.startswith("{")
    return "document" if second and opens else "lines"
