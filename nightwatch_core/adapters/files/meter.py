"""How much one reading of all files has taken, where it has to end, and who hears of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import MOST_BYTES, MOST_RATIO, MOST_RECORDS, RATIO_FROM
from nightwatch_core.models.file_contents import ReadingProgress

Listener = Callable[[ReadingProgress], None]


class Enough(Exception):  # noqa: N818 (not an error: what was read counts)
    """A bound is reached: what was read counts, what follows is left out; the text says why."""


class Bounds(NamedTuple):
    """What one reading may take."""

    bytes: int = MOST_BYTES  # read and unpacked
    records: int = MOST_RECORDS  # errors or not
    ratio: int = MOST_RATIO  # of one file: unpacked bytes by those on disk
    ratio_from: int = RATIO_FROM  # unpacked bytes from which on the ratio counts


@dataclass
class Meter:
    """Counts bytes and records of a reading; raises `Enough` at a bound.

    >>> meter = Meter(Bounds(records=2))
    >>> meter.count_record(), meter.count_record()
    (None, None)
    """

    bounds: Bounds = Bounds()
    listener: Listener | None = None
    total: int = 0  # bytes of all files on disk
    bytes: int = 0  # read and unpacked, of all files
    records: int = 0
    done: int = 0  # bytes on disk of the files before this one
    reached: int = 0  # bytes on disk of all files
    _file: str = ""
    _size: int = 0
    _begun_at: int = 0
    _position: Callable[[], int] = lambda: 0

    def begin(self, file: str, size: int, position: Callable[[], int]) -> None:
        """Go on with another file; `position` says how far it is read."""
        self.done += self._size
        self._file, self._size, self._position = file, size, position
        self._begun_at = self.bytes

    def count_bytes(self, count: int) -> None:
        """Count bytes that were read or unpacked."""
        self.bytes += count
        if self.listener:
            self._tell(self.listener)
        if self.bytes > self.bounds.bytes:
            raise Enough(f"{self.bounds.bytes / 1e6:,.0f} MB are read")
        unpacked, most = self.bytes - self._begun_at, self.bounds.ratio
        if unpacked > self.bounds.ratio_from and unpacked > most * max(self._size, 1):
            raise Enough(f"it unpacks to more than {most} times its size")

    def _tell(self, listener: Listener) -> None:
        """Archives are read back and forth; what was reached stays reached."""
        at = self.done + min(self._position(), self._size)
        self.reached = max(self.reached, at)
        listener(
            ReadingProgress(
                file=self._file, bytes=self.reached, of_bytes=self.total, records=self.records
            )
        )

    def count_record(self) -> None:
        """Count a record, whatever it is."""
        self.records += 1
        if self.records > self.bounds.records:
            raise Enough(f"{self.bounds.records:,} records are read")
