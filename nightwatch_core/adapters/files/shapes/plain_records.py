"""Records that no field tells to be errors, read as lines of a log."""

from nightwatch_core.adapters.files.records import squeezed
from nightwatch_core.adapters.files.shapes.around import inner
from nightwatch_core.adapters.files.shapes.shape import LogLine, Record

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
