"""Every shape that JSON documents are unpacked by, in the order they are tried."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from nightwatch_core.adapters.files.limits import MAX_WRAPS
from nightwatch_core.adapters.files.shapes import (
    airbrake,
    app_insights,
    app_loggers,
    appsignal,
    aws_lambda,
    bugsnag,
    cloudwatch,
    containers,
    datadog,
    elastic_apm,
    google,
    google_cloud,
    honeybadger,
    journald,
    loki,
    new_relic,
    otlp,
    python_loggers,
    query_tables,
    raygun,
    rollbar,
    sentry,
    sentry_rows,
    splunk,
    titled_rows,
    wrappers,
)
from nightwatch_core.adapters.files.shapes.shape import Item, Shape

# The first that applies wins; a document that is none of these is a record itself.
SHAPES: tuple[Shape, ...] = (
    *cloudwatch.SHAPES,
    *aws_lambda.SHAPES,
    *loki.SHAPES,
    *new_relic.SHAPES,
    *otlp.SHAPES,
    *sentry.SHAPES,
    *sentry_rows.SHAPES,
    *rollbar.SHAPES,
    *honeybadger.SHAPES,
    *bugsnag.SHAPES,
    *airbrake.SHAPES,
    *raygun.SHAPES,
    *appsignal.SHAPES,
    *datadog.SHAPES,
    *app_insights.SHAPES,
    *elastic_apm.SHAPES,
    *google.SHAPES,
    *query_tables.SHAPES,
    *containers.SHAPES,
    *google_cloud.SHAPES,
    *journald.SHAPES,
    *splunk.SHAPES,
    *app_loggers.SHAPES,
    *python_loggers.SHAPES,
    *wrappers.SHAPES,
    *new_relic.ROWS,
    *titled_rows.SHAPES,
)
OWN_RECORD = "JSON record"  # a record whose fields have the names that many sources use


def records_of(document: object, shapes: Counter[str] | None = None) -> Iterator[Item]:
    """Every record in a JSON value; what is not an object becomes an empty record.

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
    shape = next((one for one in _possible(tuple(document)) if one.applies(document)), None)
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
    return tuple(one for one in SHAPES if not one.needs or not there.isdisjoint(one.needs))
