"""JSON inside log lines and messages, and plain records read as log lines."""

import json
import re

from nightwatch_core.adapters.files.records import is_loud, is_quiet, squeezed
from nightwatch_core.adapters.files.shapes.fields import LogLine, Record, inner

DECODER = json.JSONDecoder(strict=False)  # exports and logs hold raw tabs and newlines in strings
# AWS Lambda writes an error of Node behind time, request, level and "Invoke Error".
_BEHIND_TABS = re.compile(r"\s{0,9}[^\t{]{1,60}(?:\t[^\t{]{0,60}){1,5}\t(?=\{\")")

# Zap's console: time, level, logger and place if they are known, message, then the fields.
_GAP = r"(?:\t| {2,8})"
_ZAP = re.compile(
    rf"(?:(?P<ts>\d\S{{7,40}}){_GAP})?(?P<level>[A-Za-z]{{4,6}}){_GAP}"
    rf"(?P<words>[^{{]{{1,400}}?){_GAP}(?=\{{\")"
)
_GO_PLACE = re.compile(r"[\w./@-]{1,200}\.go:\d{1,9}$")


def json_in(text: str) -> dict[str, object] | None:
    """Give the JSON object that a text is, or that a line of Lambda or zap ends with; else None.

    >>> json_in(' {"level": "error"}'), json_in("{no"), json_in("[1]")
    ({'level': 'error'}, None, None)
    >>> json_in('2026-11-03T10:00:00Z\\tid\\tERROR\\tInvoke Error\\t{"errorType": "TypeError"}')
    {'errorType': 'TypeError'}
    """
    start = text[:1]
    if start == "{" or (start.isspace() and text.lstrip()[:1] == "{"):
        return object_in(text)
    zap = _ZAP.match(text) if '{"' in text[:600] else None
    if zap and (is_loud(zap["level"]) or is_quiet(zap["level"])):
        return _zap(zap, object_in(text[zap.end() :]))
    behind = _BEHIND_TABS.match(text) if "\t{" in text[:400] else None
    return object_in(text[behind.end() :]) if behind else None


def _zap(match: re.Match[str], fields: dict[str, object] | None) -> dict[str, object] | None:
    if fields is None:
        return None
    *names, message = re.split(_GAP, match["words"].strip())
    place = next((name for name in names if _GO_PLACE.match(name)), "")
    known = {"ts": match["ts"], "level": match["level"].lower(), "msg": message, "caller": place}
    return {**{name: text for name, text in known.items() if text}, **fields}


def object_in(text: str) -> dict[str, object] | None:
    """Give the JSON object that all of a text is; else None, whatever the text is."""
    try:
        value = DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# Records that no field tells to be errors, read as lines of a log.

# Squeezed names, best first.
TEXTS = ("message", "msg", "log", "text", "line", "body", "raw", "content", "event")
TIMES = ("timestamp", "time", "ts", "datetime", "date", "eventtime")
ORIGINS = ("containerid", "containername", "container", "podname", "pod", "hostname", "host",
           "pid", "processid", "stream", "source", "filename", "file", "service", "app", "tag",
           "logstream", "dyno", "instance")  # fmt: skip


def line_of_record(record: Record) -> LogLine | None:
    """Give the text of a record as a line of the stream that its other fields name.

    None where it has no text. The fields of the record surround the line.

    >>> line_of_record({"msg": "Traceback (most recent call last):", "pod": "web-1", "ts": 7})
    LogLine(text='Traceback (most recent call last):', stream='web-1', around={...}, is_part=False)
    """
    names = {squeezed(str(name)): name for name in record}
    there = (names[name] for name in TEXTS if name in names)
    texts = (name for name in there if isinstance(record[name], str))
    text = next(texts, None)
    if text is None:
        return None
    outer = inner(record, "around")
    origins = (record[names[name]] for name in ORIGINS if name in names)
    own = {name: value for name, value in record.items() if name not in (text, "around")}
    time = next((record[names[name]] for name in TIMES if name in names), outer.get("time"))
    stream = [outer.get("stream"), *origins]
    words = (str(word)[:200] for word in stream if isinstance(word, str | int))
    return LogLine(str(record[text]), " ".join(words), {**outer, **own, "time": time})
