"""Words for what files of errors hold, before any night reads them."""

from nightwatch_core.models.errors import RejectedRecord, Window
from nightwatch_core.models.value import Value


class FileContents(Value):
    """What was understood of files, and what was not and why."""

    shapes: tuple[tuple[str, int], ...] = ()  # names of shapes, with records; most records first
    records: int = 0  # that are errors
    harmless: int = 0  # that are none
    left_out: tuple[tuple[str, int], ...] = ()  # why some of those may matter all the same
    rejected: int = 0  # that could not be read
    rejects: tuple[RejectedRecord, ...] = ()  # the first of those
    missing: tuple[str, ...] = ()  # what else could not be read, a sentence each
    window: Window | None = None  # of the records; None: they say no time


class ReadingProgress(Value):
    """How far the reading of files has come."""

    file: str = ""  # the one being read
    bytes: int = 0  # of the files on disk
    of_bytes: int = 0
    records: int = 0
