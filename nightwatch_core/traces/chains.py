"""Chains of exceptions, collected line by line and cut to a bearable length."""

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from nightwatch_core.models.errors import ExceptionLink, Frame
from nightwatch_core.traces.limits import CHAINS, FRAMES, HEADER_LINES, LINKS

Chain = tuple[ExceptionLink, ...]


class Relation(StrEnum):
    """Relation of an exception to the one printed before it."""

    SEPARATE = "separate"
    CAUSE = "cause"  # it caused the exception above
    WRAPPER = "wrapper"  # the exception above caused it


@dataclass(frozen=True)
class Header:
    """The line that names an exception."""

    error_class: str = ""
    message: str = ""


# What announces a chained exception, by the relation it states.
MARKERS = (
    (
        Relation.CAUSE,
        re.compile(
            r"[\s#{-]{0,80}(?:Caused by:(?: ---)?|Causes:|\[cause\]:|Information for cause:"
            r"|\[previous exception\])\s*"
        ),
    ),
    (Relation.WRAPPER, re.compile(r"\s{0,80}(?:Wrapped by:|Next (?=[\w\\]{1,200}:))\s*")),
)


@dataclass
class _Draft:
    header: Header
    frames: deque[Frame] = field(default_factory=deque)


class Chains:
    """Exceptions as they are read; every chain runs from the reported one to its root cause."""

    def __init__(self) -> None:
        self._full = False
        self._chains: list[list[_Draft]] = []
        self._position = 0

    def __bool__(self) -> bool:
        """Tell whether an exception was begun."""
        return bool(self._chains)

    def begin(self, header: Header, relation: Relation = Relation.SEPARATE) -> None:
        """Begin an exception; frames added from now on are its own."""
        draft = _Draft(header)
        self._full = self._full or (relation is Relation.SEPARATE and len(self._chains) == CHAINS)
        if self._full:
            return
        if relation is Relation.SEPARATE or not self._chains:
            self._chains.append([draft])
            self._position = 0
        elif relation is Relation.CAUSE:
            self._chains[-1].append(draft)
            self._position = len(self._chains[-1]) - 1
        else:
            self._chains[-1].insert(self._position, draft)

    def name(self, header: Header) -> None:
        """Name the exception that was begun last; Python prints the name at the end."""
        if not self._full:
            self._current.header = header

    def add(self, frame: Frame) -> None:
        """Add a frame outside of those already added."""
        if not self._full:
            self._current.frames.append(frame)

    def add_inner(self, frame: Frame) -> None:
        """Add a frame inside of those already added."""
        if not self._full:
            self._current.frames.appendleft(frame)

    def reverse(self) -> None:
        """Turn around the frames of the current exception, if they were printed outermost first."""
        if not self._full:
            self._current.frames.reverse()

    def outward(self) -> None:
        """Go back to the exception that the current one caused."""
        self._position = max(0, self._position - 1)

    @property
    def links(self) -> int:
        """Return the number of exceptions in the chain."""
        return len(self._chains[-1]) if self._chains else 0

    @property
    def _current(self) -> _Draft:
        return self._chains[-1][self._position]

    def finish(self) -> tuple[Chain, ...]:
        """Return the chains that have frames."""
        return tuple(
            shortened(tuple(_link(draft) for draft in chain))
            for chain in self._chains
            if any(draft.frames for draft in chain)
        )


def _link(draft: _Draft) -> ExceptionLink:
    return ExceptionLink(
        error_class=draft.header.error_class,
        message=draft.header.message.strip(),
        frames=tuple(draft.frames),
    )


def shortened(chain: Chain) -> Chain:
    """Return a chain with both ends of its links and of their frames, where it is too long.

    >>> deep = ExceptionLink(frames=tuple(Frame(path="a.rb", line=line) for line in range(600)))
    >>> [frame.line for frame in shortened((deep,))[0].frames][248:252]
    [248, 249, 350, 351]
    """
    if len(chain) > LINKS:
        chain = chain[: LINKS // 2] + chain[-LINKS // 2 :]
    if sum(len(link.frames) for link in chain) <= FRAMES:
        return chain
    half = FRAMES // len(chain) // 2
    return tuple(
        link
        if len(link.frames) <= 2 * half
        else link.model_copy(update={"frames": link.frames[:half] + link.frames[-half:]})
        for link in chain
    )


class LineReader(Protocol):
    """A reader of text, line by line."""

    def read(self, line: str) -> None:
        """Read the next line."""
        ...

    def finish(self) -> tuple[Chain, ...]:
        """Return the chains that were read."""
        ...


def read_with(reader: LineReader, lines: Iterable[str]) -> tuple[Chain, ...]:
    """Return the chains that the reader finds in the lines of a text."""
    for line in lines:
        reader.read(line)
    return reader.finish()


def read_blocks(
    lines: Iterable[str],
    frame_of: Callable[[str], Frame | None],
    header_of: Callable[[str], Header | None],
) -> tuple[Chain, ...]:
    """Return chains of a text that prints exceptions above their frames, innermost first."""
    chains = Chains()
    above: list[str] = []
    for line in lines:
        frame = frame_of(line)
        if frame is None:
            above.append(line)
            continue
        if above or not chains:
            open_block(chains, above, header_of)
            above = []
        chains.add(frame)
    close_block(chains, above, header_of)
    return chains.finish()


def close_block(
    chains: Chains, below: list[str], header_of: Callable[[str], Header | None]
) -> None:
    """Keep the name of a cause whose frames were cut off at the end of the text."""
    relation, header = find_header(below[:HEADER_LINES], header_of)
    if header is not None and relation is Relation.CAUSE and chains:
        chains.begin(header, relation)


def open_block(chains: Chains, above: list[str], header_of: Callable[[str], Header | None]) -> None:
    """Begin an exception if the lines above a frame name one."""
    relation, header = find_header(above[-HEADER_LINES:], header_of)
    if header is None and relation is Relation.SEPARATE and chains:
        return  # the frames go on after a gap
    chains.begin(header or Header(), relation)


def find_header(
    above: list[str], header_of: Callable[[str], Header | None]
) -> tuple[Relation, Header | None]:
    """Find the exception above a frame: on a line that states the relation, else the nearest."""
    relation = Relation.SEPARATE
    nearest: Header | None = None
    below = ""
    for line in reversed(above):
        stated, rest = relation_of(line)
        header = header_of(rest)
        if header and not header.message and rest.endswith(":"):
            header = Header(header.error_class, below)  # the message has a line of its own
        below = line.strip(" #\t") or below
        if stated is not Relation.SEPARATE:
            return stated, header or nearest
        nearest = nearest or header
    return relation, nearest


def relation_of(line: str) -> tuple[Relation, str]:
    """Return the relation that a line states, and the line without it.

    >>> relation_of("Caused by: java.io.IOException: closed")
    (<Relation.CAUSE: 'cause'>, 'java.io.IOException: closed')
    """
    for relation, pattern in MARKERS:
        match = pattern.match(line)
        if match:
            return relation, line[match.end() :]
    return Relation.SEPARATE, line
