"""What surrounds a text in a log: fields of its envelope, by the names that records have."""

from collections.abc import Mapping

from nightwatch_core.adapters.files.shapes.shape import Item, LogLine, Record


def first_text(values: Mapping[str, object], *names: str) -> str:
    """Give the first of the named values that is a text; empty where there is none.

    >>> first_text({"a": 7, "b": " x "}, "a", "b")
    'x'
    """
    texts = (value.strip() for name in names if isinstance(value := values.get(name), str))
    return next(filter(None, texts), "")


def inner(values: Mapping[str, object], *names: str) -> Record:
    """Follow names through objects; empty where one of them is missing or no object.

    >>> inner({"resource": {"labels": {"zone": "b"}}}, "resource", "labels")
    {'zone': 'b'}
    """
    current: object = values
    for name in names:
        current = current.get(name) if isinstance(current, dict) else None
    return current if isinstance(current, dict) else {}


def surrounded(item: Item, line: LogLine) -> Item:
    """Put what surrounds a text around what was unpacked from it.

    >>> surrounded({"time": 7}, LogLine("{}", "web", {"host": "a"}))
    {'time': 7, 'around': {'host': 'a', 'stream': 'web'}}
    """
    if isinstance(item, str):
        return item
    if isinstance(item, LogLine):
        around = {**line.around, **item.around}
        stream = " ".join(filter(None, (line.stream, item.stream)))
        return LogLine(item.text, stream, around, item.is_part)
    own = item.get("around")
    around = {**line.around, "stream": line.stream, **(own if isinstance(own, dict) else {})}
    return {**item, "around": around}
