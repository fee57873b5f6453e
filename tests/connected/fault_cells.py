"""Which call of which service breaks in which way: the whole matrix, and what is run every time.

`every_cell` is 14 kinds of fault × 4 services × first, middle and last call × once or from there
on, and refused credentials. GitHub is called most, so that it has two moments more: among its
reads, and its first write. `in_pairs` has every kind at every service, both at every position, and
all of them once and lasting; and what once went wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.faults import CREDENTIALS, KINDS, Fault

SERVICES = ("newrelic", "github", "claude", "slack")
POSITIONS = ("first", "middle", "last")
READING, WRITING = "reading", "writing"  # GitHub's
THROTTLED = tuple(kind for kind in KINDS if kind.startswith("429"))
OTHERS = tuple(kind for kind in KINDS if kind not in THROTTLED)
_READS = ("GET", "/graphql", "/git-upload-pack")


@dataclass(frozen=True)
class Cell:
    """A way to break: one call alone, or all from that one on."""

    service: str
    kind: str
    position: str
    lasting: bool = True

    @property
    def name(self) -> str:
        long = "from there on" if self.lasting else "once"
        return f"{self.service} · {self.kind} · {self.position} · {long}"

    def fault(self, calls: Mapping[str, Sequence[str]]) -> Fault:
        """Which call is to break, of those of a night in which nothing does.

        It is named by what it asks for: calls side by side come in another order every night.
        """
        ours = calls[self.service]
        writes = next((n for n, call in enumerate(ours) if not _is_read(call)), len(ours))
        at = {
            "first": 0,
            READING: writes // 2,
            WRITING: writes,
            "middle": len(ours) // 2,
            "last": len(ours) - 1,
        }[self.position]
        return Fault(self.kind, ours[at], ours[: at + 1].count(ours[at]), self.lasting)


def _is_read(call: str) -> bool:
    return call.startswith(_READS[0]) or call.endswith(_READS[1:])


def every_cell() -> tuple[Cell, ...]:
    """The whole matrix."""
    faults = tuple(
        Cell(service, kind, position, lasting)
        for lasting in (True, False)
        for position in (*POSITIONS, READING)
        for kind in KINDS
        for service in SERVICES
        if position in POSITIONS or service == "github"
    )
    return (*refused(), *faults)


def refused() -> tuple[Cell, ...]:
    """A key or token that is taken away, or lacks a right, from some call on."""
    return tuple(
        Cell(service, kind, position)
        for kind in CREDENTIALS
        for service in SERVICES
        for position in (*POSITIONS, *((READING, WRITING) if service == "github" else ()))
    )


def in_pairs() -> tuple[Cell, ...]:
    """What is run with every change: the same cells every time."""
    cells = []
    for row, kind in enumerate(("429", *OTHERS)):
        for column, service in enumerate(SERVICES):
            said = THROTTLED[column % len(THROTTLED)] if kind == "429" else kind
            position = POSITIONS[(row + column) % len(POSITIONS)]
            cells.append(Cell(service, said, position, bool((row // 3 + column) % 2)))
    cells += (Cell(service, "401", "middle") for service in SERVICES)
    cells += (Cell("github", kind, WRITING) for kind in CREDENTIALS)
    return (*cells, Cell("github", "401", "last"), Cell("github", "wrong types", "first"))
