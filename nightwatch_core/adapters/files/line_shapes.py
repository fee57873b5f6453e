"""Prefixes of lines in logs that say which stream a line belongs to: containers, dynos, syslog."""

import re
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import LINE_READ
from nightwatch_core.adapters.files.shapes.container_names import service_of
from nightwatch_core.adapters.files.shapes.shape import LogLine

_TIME = r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)"
_NAME = r"[\w.@-]{1,100}"
_TEXT = r"(?P<text>.*)"

# A group that is missing is not known. What surrounds a line has the names that records have.
_PATTERNS = {
    "log of a container (CRI)": rf"{_TIME} (?P<stream>stdout|stderr) (?P<tag>[FP]) {_TEXT}",
    "log of Heroku": rf"{_TIME} (?:app|heroku)\[(?P<host>{_NAME})\]: {_TEXT}",
    "log of `aws logs tail`": rf"{_TIME} (?P<stream>\d{{4}}/\d\d/\d\d/\[[^\]]{{1,80}}\]\w{{1,64}}"
    rf"|(?P<app>{_NAME})/[\w./-]{{1,200}}/[0-9a-f]{{32}}) {_TEXT}",
    "log of systemd": rf"{_TIME} (?P<host>{_NAME}) (?P<stream>(?P<app>[\w./@-]{{1,100}})"
    rf"\[\d{{1,9}}\]): {_TEXT}",
    "log of Grafana": rf"{_TIME}\t{_TEXT}",
    "syslog": rf"(?:\d{{1,6}} )?<\d{{1,3}}>1 {_TIME} (?P<host>\S{{1,100}}) (?P<app>\S{{1,100}}) "
    rf"(?P<stream>\S{{1,100}}) \S{{1,60}} (?:-|(?:\[[^\]]{{0,400}}\])+) ?(?:\ufeff)?{_TEXT}",
    "log of kubectl": rf"\[pod/(?P<host>{_NAME})/(?P<app>{_NAME})\] {_TEXT}",
    "syslog without a year": r"(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) "
    rf"(?P<host>{_NAME}) (?P<stream>(?P<app>[\w.-]{{1,80}})(?:/[\w.-]{{1,80}})?"
    rf"(?:\[\d{{1,9}}\])?): {_TEXT}",
    "log of docker compose": rf"(?P<stream>(?P<app>{_NAME}?)(?:[-_]\d{{1,3}} +|  +))\| {_TEXT}",
}


class ShapedLine(NamedTuple):
    """A line without its prefix, and the name of the shape of that prefix."""

    shape: str
    line: LogLine


class LineShape(NamedTuple):
    """What the prefix of a line looks like, and its name for people."""

    name: str
    pattern: re.Pattern[str]


def _begins_with_time(shape: LineShape) -> bool:
    return shape.pattern.pattern.startswith(_TIME)


LINE_SHAPES = tuple(LineShape(name, re.compile(text)) for name, text in _PATTERNS.items())
_WITH_TIME = tuple(shape for shape in LINE_SHAPES if _begins_with_time(shape))
_WITHOUT = tuple(shape for shape in LINE_SHAPES if not _begins_with_time(shape))


def line_of(text: str) -> ShapedLine | None:
    """Give a line of a log that says its stream, without its prefix; None where it says none.

    >>> _, line = line_of("2026-11-03T10:00:00.5Z stderr F Traceback (most recent call last):")
    >>> line.text, line.stream, line.around
    ('Traceback (most recent call last):', '  stderr', {'time': '2026-11-03T10:00:00.5Z'})
    """
    if text[:1].isspace() or (text[4:5] == "-" and text[10:11] == " " and text[:4].isdigit()):
        return None  # neither a frame nor the time of a plain log begins any of these
    head = text[:LINE_READ]
    if head[:1] == "2" and head[4:5] == "-":
        shapes = _WITH_TIME if head[10:11] == "T" else ()
    else:
        shapes = _WITHOUT if head[:1].strip() else ()
    matches = ((shape.name, prefix) for shape in shapes if (prefix := shape.pattern.match(head)))
    name, match = next(matches, ("", None))
    if match is None:
        return None
    named = match.groupdict()
    words = (named.get("host"), named.get("app"), named.get("stream"))
    around = {name: value for name in ("time", "app", "host") if (value := named.get(name))}
    if app := around.get("app"):
        around["app"] = service_of(app)
    whole = text[match.start("text") :]
    stream = " ".join(word or "" for word in words)
    return ShapedLine(name, LogLine(whole, stream, around, named.get("tag") == "P"))
