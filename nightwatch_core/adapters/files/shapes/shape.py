"""What a shape of an export is, and what all of them are read with."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

Record = Mapping[str, object]


class LogLine(NamedTuple):
    """A text of a log, most often one line, which may be a part of a stack trace.

    The fields `around` it have the names that records have: `time`, `app`, `host`, `release` …
    """

    text: str
    stream: str = ""  # container, process or file: the lines of one follow each other
    around: Record = {}
    is_part: bool | None = False  # the next text goes on in its line; None: if others have ends


# A record, a text of a log, or a sentence about what the export itself says is missing.
Item = Record | LogLine | str
Inside = Callable[[object], Iterator[Item]]  # unpacks what stands inside a document


class Shape(NamedTuple):
    """A shape of JSON documents.

    `marks` are the dotted names of fields that it is known by, for whoever has something like it.
    Where none of `needs` is a field of a document, `applies` is not asked; () asks it always.
    """

    name: str  # for people: "answer of New Relic"
    applies: Callable[[Record], bool]
    unpack: Callable[[Record, Inside], Iterator[Item]]
    marks: tuple[str, ...]
    needs: tuple[str, ...] = ()


def objects_in(value: object) -> list[dict[str, object]]:
    """Give the objects of a list; nothing of anything else.

    >>> objects_in([{"a": 1}, "b"]), objects_in(None)
    ([{'a': 1}], [])
    """
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
