"""The journal of one process: events, appended as they happen, and the texts that they name.

A line begins with its kind: `R` a run's header, `P` a text, `Z` a long text that is packed, `E` an
event. A text stands before the first event that names it.
"""

import base64
import zlib
from collections.abc import Callable, Mapping
from threading import Lock

from nightwatch_core.errors import NightWatchError
from nightwatch_core.journal.pieces import canonical
from nightwatch_core.models.journal import Event, RunHeader

RUN, PIECE, PACKED, EVENT = "R", "P", "Z", "E"
PACKED_FROM = 4_000  # characters of a text that is written packed
UNWRITABLE = (OSError, ValueError, TypeError, RecursionError, NightWatchError)


class Journal:
    """Writes events; safe for threads. What cannot be written costs the journal, not the night."""

    def __init__(self, write: Callable[[list[str]], None], header: RunHeader | None = None) -> None:
        """`write` takes lines; `header` stands before the first event."""
        self._write, self._guard = write, Lock()
        self._head = header
        self._written: set[str] = set()
        self._counts: dict[tuple[str, ...], int] = {}
        self.lost = ""  # why writing stopped

    def add(self, event: Event, texts: Mapping[str, str] | None = None) -> None:
        """Append an event, and those of the named `texts` that no event before it named."""
        with self._guard:
            new = {name: text for name, text in (texts or {}).items() if name not in self._written}
            self._written.update(new)
            key = (event.step, event.port, event.call, event.asked)
            ordinal = self._counts[key] = self._counts.get(key, -1) + 1
            placed = event.model_copy(update={"ordinal": ordinal})
            row = placed.model_dump(mode="json", exclude_defaults=True)
            self._lines([*self._first(), *map(as_line, new.values()), f"{EVENT}{canonical(row)}"])

    def holds(self, event: Event) -> bool:
        """Tell whether the same question of the same step has an event of this process."""
        with self._guard:
            return (event.step, event.port, event.call, event.asked) in self._counts

    def lose(self, trouble: Exception) -> None:
        """Write nothing more: an incomplete journal would replay as another night."""
        self.lost = self.lost or str(trouble) or type(trouble).__name__

    def _first(self) -> tuple[str, ...]:
        header, self._head = self._head, None
        if header is None:
            return ()
        return (f"{RUN}{canonical(header.model_dump(mode='json', exclude_defaults=True))}",)

    def _lines(self, lines: list[str]) -> None:
        if self.lost:
            return
        try:
            self._write(lines)
        except UNWRITABLE as trouble:
            self.lose(trouble)


def as_line(text: str) -> str:
    """Return the line of a text, which is packed where that is shorter."""
    if len(text) >= PACKED_FROM:
        packed = base64.b85encode(zlib.compress(text.encode("ascii"))).decode("ascii")
        return f"{PACKED}{packed}" if len(packed) < len(text) else f"{PIECE}{text}"
    return f"{PIECE}{text}"


def text_of(line: str) -> str:
    """Return the text of such a line; raises `ValueError` for a torn or foreign one.

    >>> long = canonical("x" * 9_000)
    >>> text_of(as_line(long)) == long, len(as_line(long)) < 100
    (True, True)
    """
    if line[:1] == PIECE:
        return line[1:]
    if line[:1] != PACKED:
        raise ValueError("the line holds no text")
    try:
        return zlib.decompress(base64.b85decode(line[1:])).decode("ascii")
    except zlib.error as torn:
        raise ValueError("the line is torn") from torn
