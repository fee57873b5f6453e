"""Fields, records, log lines and JSON in texts, as all export formats share them."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from nightwatch_core.adapters.files.limits import NAME_LIMIT
from nightwatch_core.adapters.files.records import squeezed
from nightwatch_core.text.plain_text import data_table, text_table

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


MISSING = object()  # of a field that a document does not have


def objects_in(value: object) -> list[dict[str, object]]:
    """Return the objects of a list; nothing of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


NAMES = text_table("nightwatch_core.adapters.files.shapes", "names.toml")
QUIET = {"level": "info"}  # a record that is no error: counted, and no more

_TITLE = re.compile(
    r"(?P<error_class>[A-Za-z_$][\w$]*(?:(?:::|[.\\/])[\w$]+)*)(?: \([\w .:-]{1,80}\))?:\s+"
    r"(?P<message>.+)",
    re.DOTALL,
)
_CLASS_ALONE = re.compile(r"(?:[A-Za-z_$][\w$]*(?:::|[.\\]))*[A-Z][\w$]*")
_LIKE_CLASS = re.compile(r"[A-Z]\w*$")


def at(record: object, *paths: str) -> object:
    """Return the first value that says anything; a name with dots may be a key itself.

    >>> at({"a": {"b": ""}, "c.d": 3}, "a.b", "c.d")
    3
    """
    for path in paths:
        value = value_at(record, path)
        if value is not MISSING and value not in (None, "", [], {}):
            return value
    return None


def value_at(record: object, path: str) -> object:
    """Return what stands at a dotted name; `MISSING` where nothing does."""
    if isinstance(record, dict):
        if path in record:
            return record[path]
        head, _, rest = path.partition(".")
        return value_at(record[head], rest) if rest and head in record else MISSING
    head, _, rest = path.partition(".")
    if not isinstance(record, list) or head not in ("0", "1") or int(head) >= len(record):
        return MISSING
    return value_at(record[int(head)], rest) if rest else record[int(head)]


def text_at(record: object, *paths: str) -> str:
    """Return the first value that is a text or a number, as a text.

    >>> text_at({"a": {"b": 1}, "c": 3}, "a", "c")
    '3'
    """
    values = (at(record, path) for path in paths)
    plain = (v for v in values if isinstance(v, str | int | float) and v is not True)
    return str(next(plain, ""))


def record_of(**fields: object) -> Record:
    """Make a record in our own words; what says nothing is left out."""
    return {NAMES[name]: value for name, value in fields.items() if value not in (None, "", [], {})}


def title_parts(title: str) -> tuple[str, str]:
    """Split what trackers show as a title into class and message.

    >>> title_parts("KeyError: 'total'"), title_parts("Shop::Empty"), title_parts("no total left")
    (('KeyError', "'total'"), ('Shop::Empty', ''), ('', 'no total left'))
    """
    plain = re.sub(r"^#\d{1,9} ", "", title.strip()[: 20 * NAME_LIMIT])
    match = _TITLE.match(plain)
    if match and _LIKE_CLASS.search(match["error_class"]):
        return match["error_class"], match["message"]
    return (plain, "") if _CLASS_ALONE.fullmatch(plain) else ("", plain)


def someone(user: object) -> str:
    """Return what tells a user from others, whatever the record has; never shown, only counted."""
    if isinstance(user, Mapping):
        return text_at(
            user, "id", "email", "username", "name", "identifier", "ip_address", "ipAddress"
        )
    return str(user) if isinstance(user, str | int) and user is not True else ""


def path_of(url: object) -> str:
    """Return the path of an address, without what may name people."""
    if not isinstance(url, str):
        return ""
    try:
        return urlsplit(url[: 4 * NAME_LIMIT]).path
    except ValueError:
        return ""


def request_of(method: object, url: object) -> str:
    """Return `METHOD /path` where both are known, or the path."""
    path = path_of(url)
    word = method.upper() if isinstance(method, str) and method.isalpha() else ""
    return f"{word} {path}" if word and path else path


def inner(values: Mapping[str, object], *names: str) -> Record:
    """Follow names through objects; empty where one of them is missing or no object."""
    current: object = values
    for name in names:
        current = current.get(name) if isinstance(current, dict) else None
    return current if isinstance(current, dict) else {}


def surrounded(item: Item, line: LogLine) -> Item:
    """Put what surrounds a text around what was unpacked from it."""
    if isinstance(item, str):
        return item
    if isinstance(item, LogLine):
        envelope = {**line.around, **item.around}
        stream = " ".join(filter(None, (line.stream, item.stream)))
        return LogLine(item.text, stream, envelope, item.is_part)
    own = item.get("around")
    envelope = {**line.around, "stream": line.stream, **(own if isinstance(own, dict) else {})}
    return {**item, "around": envelope}


_Patterns = dict[str, tuple[re.Pattern[str], ...]]
ADDED = data_table("nightwatch_core.adapters.files.shapes", "services.toml", _Patterns)["added"]


def service_of(name: str) -> str:
    """Return the service's name.

    >>> [service_of(name) for name in ("/shop_web_1", "shop_web.1.glfdb81eqgo0@node-3", "web@2")]
    ['shop_web', 'shop_web', 'web']
    >>> [service_of(name) for name in ("web-7d9f8b6c5f-x2x9z", "db-0", "oauth2", "1")]
    ['web', 'db', 'oauth2', '1']
    """
    plain = name.strip().lstrip("/")
    cut = next((bare for added in ADDED if (bare := added.sub("", plain)) != plain), plain)
    return cut or plain


# JSON inside log lines and messages.

DECODER = json.JSONDecoder(strict=False)  # exports and logs hold raw tabs and newlines in strings
# AWS Lambda writes an error of Node behind time, request, level and "Invoke Error".
_BEHIND_TABS = re.compile(r"\s{0,9}[^\t{]{1,60}(?:\t[^\t{]{0,60}){1,5}\t(?=\{\")")


def json_in(text: str) -> dict[str, object] | None:
    """Return the JSON object that a text is, or that a line of Lambda ends with; else None.

    >>> json_in(' {"level": "error"}'), json_in("{no"), json_in("[1]")
    ({'level': 'error'}, None, None)
    >>> json_in('2026-11-03T10:00:00Z\\tid\\tERROR\\tInvoke Error\\t{"errorType": "TypeError"}')
    {'errorType': 'TypeError'}
    """
    start = text[:1]
    if start == "{" or (start.isspace() and text.lstrip()[:1] == "{"):
        return object_in(text)
    behind = _BEHIND_TABS.match(text) if "\t{" in text[:400] else None
    return object_in(text[behind.end() :]) if behind else None


def object_in(text: str) -> dict[str, object] | None:
    """Return the JSON object that all of a text is; else None, whatever the text is."""
    value = json_of(text)
    return value if isinstance(value, dict) else None


def json_of(text: str) -> object:
    """Return the JSON value that all of a text is; else None."""
    try:
        return DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


# Records that no field tells to be errors, read as lines of a log.

# Squeezed names, best first.
_TEXTS = ("message", "msg", "log", "text", "line", "body", "raw", "content", "event")
_TIMES = ("timestamp", "time", "ts", "datetime", "date", "eventtime")
_ORIGINS = ("containerid", "containername", "container", "podname", "pod", "hostname", "host",
           "pid", "processid", "stream", "source", "filename", "file", "service", "app", "tag",
           "logstream", "dyno", "instance")  # fmt: skip


def line_of_record(record: Record) -> LogLine | None:
    """Return the text of a record as a line of the stream that its other fields name.

    None where it has no text. The fields of the record surround the line.

    >>> line_of_record({"msg": "Traceback (most recent call last):", "pod": "web-1", "ts": 7})
    LogLine(text='Traceback (most recent call last):', stream='web-1', around={...}, is_part=False)
    """
    names = {squeezed(str(name)): name for name in record}
    fields = (names[name] for name in _TEXTS if name in names)
    texts = (name for name in fields if isinstance(record[name], str))
    text = next(texts, None)
    if text is None:
        return None
    outer = inner(record, "around")
    origins = (record[names[name]] for name in _ORIGINS if name in names)
    own = {name: value for name, value in record.items() if name not in (text, "around")}
    time = next((record[names[name]] for name in _TIMES if name in names), outer.get("time"))
    stream = [outer.get("stream"), *origins]
    words = (str(word)[:200] for word in stream if isinstance(word, str | int))
    return LogLine(str(record[text]), " ".join(words), {**outer, **own, "time": time})
