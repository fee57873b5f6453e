"""All export formats, in the order in which they are tried."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from nightwatch_core.adapters.files.limits import MAX_WRAPS
from nightwatch_core.adapters.files.shapes.aws import AWS
from nightwatch_core.adapters.files.shapes.azure import AZURE
from nightwatch_core.adapters.files.shapes.described import Shape
from nightwatch_core.adapters.files.shapes.fields import Item
from nightwatch_core.adapters.files.shapes.generic import GENERIC
from nightwatch_core.adapters.files.shapes.google import GOOGLE
from nightwatch_core.adapters.files.shapes.log_stores import LOG_STORES
from nightwatch_core.adapters.files.shapes.loggers import LOGGERS
from nightwatch_core.adapters.files.shapes.monitors import MONITORS
from nightwatch_core.adapters.files.shapes.sentry import SENTRY
from nightwatch_core.adapters.files.shapes.trackers import TRACKERS

# The first that applies wins; a document that is none of these is a record itself.
SHAPES: tuple[Shape, ...] = (
    *AWS, *SENTRY, *TRACKERS, *MONITORS, *AZURE, *GOOGLE, *LOG_STORES, *LOGGERS, *GENERIC,
)  # fmt: skip
OWN_RECORD = "JSON record"  # a record whose fields have the names that many sources use


def records_of(document: object, shapes: Counter[str] | None = None) -> Iterator[Item]:
    """Yield every record in a JSON value; what is not an object becomes an empty record.

    Counts in `shapes` how many records came in which shape, by its name.

    >>> [record["type"] for record in records_of({"errors": [{"type": "KeyError"}]})]
    ['KeyError']
    """
    yield from _unpacked(document, 0, Counter() if shapes is None else shapes)


def _unpacked(document: object, depth: int, shapes: Counter[str]) -> Iterator[Item]:
    if isinstance(document, list):
        for item in document if depth < MAX_WRAPS else ():
            yield from _unpacked(item, depth + 1, shapes)
        return
    if not isinstance(document, dict):
        yield {}
        return
    shape = next((shape for shape in _possible(tuple(document)) if shape.applies(document)), None)
    if shape is None or depth >= MAX_WRAPS:
        shapes[OWN_RECORD] += 1
        yield document
        return
    inner = Counter[str]() if shape.name else shapes  # counted once, by the outermost that is named
    for item in shape.unpack(document, lambda value: _unpacked(value, depth + 1, inner)):
        shapes[shape.name] += bool(shape.name) and not isinstance(item, str)
        yield item


@lru_cache(maxsize=1_024)
def _possible(names: tuple[str, ...]) -> tuple[Shape, ...]:
    """The shapes that a document with these fields may have: those of one file are alike."""
    there = frozenset(names)
    return tuple(shape for shape in SHAPES if not shape.needs or not there.isdisjoint(shape.needs))
