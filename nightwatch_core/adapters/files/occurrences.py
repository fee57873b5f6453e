"""Records and log lines of one file as entries: occurrences of errors, rejects, what is missing."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from ipaddress import IPv6Address
from itertools import chain, repeat
from pathlib import Path, PurePath
from typing import NamedTuple

from nightwatch_core.adapters.files import json_values, limits, records
from nightwatch_core.adapters.files.frames import ExceptionOf, stack_text, with_header
from nightwatch_core.adapters.files.logs import LogStreams, Read, line_of, request_in
from nightwatch_core.adapters.files.shapes import values
from nightwatch_core.adapters.files.shapes.table import OWN_RECORD, ROW, records_of
from nightwatch_core.adapters.files.shapes.values import Item, LogLine, Record
from nightwatch_core.adapters.files.times import LATEST_YEAR, settled, time_of
from nightwatch_core.models.errors import ExceptionLink, Occurrence, RejectedRecord
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text.fingerprints import plain_function
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.text.words import last_segment
from nightwatch_core.traces.grammar import LANGUAGES

# Generic `type` and `class` fields hold these where they do not name an exception.
_NO_CLASSES = frozenset(
    ("error", "errors", "exception", "event", "log", "logs", "record", "default", "transaction",
     "transactionerror", "errortrace", "span", "metric", "message", "string", "null", "none")
)  # fmt: skip

_GENERIC = frozenset(
    prefix + name for prefix in ("", "latest", "around") for name in ("class", "type")
)
# What may name an exception in a generic field: `http.request` and `access` do not.
_LIKE_A_CLASS = re.compile(r"\*?(?:\w+(?:\.|::|/|\\))*(?:[A-Z]\w*|\w*(?i:error|exception))\??")
_STACK_ENDS = ("traceback", "stacktrace", "backtrace")  # of names of fields that hold a trace
_LOGGED_WORDS = (("message",), ("msg",), ("event",))
_PLACE = re.compile(r"\.[a-z]{1,5}:\d")


def occurrence_of(
    record: Mapping[str, object], place: str, exception_of: ExceptionOf, *, words_do: bool = False
) -> Occurrence | str | None:
    """Read a record as an occurrence; a sentence says why it is none; None for what is no error.

    `exception_of` reads class and message from a raw stack trace. With `words_do`, a level of its
    own and a message are enough for an error that was logged.
    """
    fields = records.flat(record)
    failure = _failure(fields, exception_of, words_do=words_do)
    if failure is None or isinstance(failure, str):
        return failure
    error_class, message, stack = failure
    message = _SHOWN.sub("", message)
    count = records.number_of(records.first(fields, "count"))
    if count == 0:
        return None
    at, begin, end = (_time(fields, name) for name in ("time", "first_seen", "last_seen"))
    last = end or at
    text = records.text_of(records.first(fields, "message", _is_text))
    done = _transaction(fields) or request_in(text)
    return Occurrence(
        error_class=error_class,
        message=message,
        transaction=done,
        failed_in="" if done or not stack else _failed_in(exception_of(stack)),
        stacktrace=with_header(stack, error_class, message),
        app=records.name_of(records.first(fields, "app", _is_text)),
        release=records.name_of(records.first(fields, "release", _is_text)),
        commit=records.name_of(records.first(fields, "commit", _is_text)),
        host=records.name_of(records.first(fields, "host", _is_text)),
        user=records.name_of(records.first(fields, "user", _is_text)),
        users=records.number_of(records.first(fields, "users")),
        count=count or 1,
        first_seen=begin if begin and last and begin < last else None,
        last_seen=last or begin,
        address=values.path_of(records.first(fields, "url", _is_text)),
        event=records.name_of(records.first(fields, "event", _is_text)),
        place=place,
    )


_SHOWN = LANGUAGES["ruby"].lines["shown"]  # below the message, by Ruby itself
_CODE_COLUMN = 500  # behind it only lines are that a program wrote, with names that change


def _failed_in(exception: ExceptionLink) -> str:
    """Name the application's innermost function and its file; empty where a build names them."""
    frame = next((frame for frame in exception.frames if frame.in_app), None)
    if frame is None or (frame.column or 0) > _CODE_COLUMN or not frame.function:
        return ""
    return f"{PurePath(frame.path).name} {plain_function(frame.function)}"


class _Failure(NamedTuple):
    error_class: str
    message: str
    stack: str


def _failure(
    fields: Mapping[str, object], exception_of: ExceptionOf, *, words_do: bool
) -> _Failure | str | None:
    nested = (value for name, value in fields.items() if name.endswith(_STACK_ENDS))
    own = records.first(fields, "stacktrace", _is_stack)
    stack = stack_text(own or next(filter(_is_stack, nested), None))
    message = records.text_of(records.first(fields, "message", _is_text))
    level = records.first(fields, "level", _is_text)
    error_class = _class(fields, records.is_quiet(level) and not stack)
    names = records.present(tuple(fields))
    is_logged = bool(names["level"]) and names["message"][:1] in _LOGGED_WORDS
    if error_class and stack and not is_logged:
        return _Failure(error_class, "" if message == stack else message, stack)
    raw = stack or (message if records.has_lines(message) else "")
    exception = exception_of(raw) if raw else ExceptionLink()
    if not stack and exception.frames:
        stack, message = message, records.text_of(exception.message)
    message = "" if message == stack else message
    if error_class:
        is_same = is_logged and last_segment(exception.error_class) == last_segment(error_class)
        message = is_same and records.text_of(exception.message) or message
        return _Failure(error_class, message, stack)
    if stack and exception.error_class:
        name = records.name_of(exception.error_class)
        return _Failure(name, records.text_of(exception.message) or message, stack)
    errors = (fields.get(name) for name in _ERRORS[:2])
    texts = (text for text in errors if isinstance(text, str))
    named = next(filter(None, map(_NAMED.match, texts)), None)
    if named:
        return _Failure(named["name"], named["message"] or message, stack or place_of(fields))
    if records.is_quiet(level) or records.is_answered(records.first(fields, "status", _is_text)):
        return None
    logged = message_with_error(fields, message)
    own_levels = (n for n in names["level"] if not n.startswith("around") and _is_text(fields[n]))
    is_loud_itself = words_do and records.is_loud(fields.get(next(own_levels, "")))
    if logged and (exception.frames or is_loud_itself or is_logged_error(fields, level)):
        return _Failure(records.LOGGED, logged, stack or place_of(fields))
    return f"no error class{', and none in its stack trace' if stack else ' and no stack trace'}"


def _time(fields: Mapping[str, object], field: str) -> datetime | None:
    """The best time; one without a zone yields to that of the log around the record."""
    names = records.present(tuple(fields))[field]
    times = {name: time for name in names if (time := time_of(fields[name]))}
    own = next(iter(times), "")
    fallback = next((name for name in times if name.startswith("around")), own)
    return times.get(own if own and times[own].tzinfo is UTC else fallback)


def _class(fields: Mapping[str, object], is_quiet_record: bool) -> str:
    """The class of an exception: other records may hold any word as their `type` or `class`."""
    for name in records.present(tuple(fields))["error_class"]:
        value = records.name_of(fields[name]) if isinstance(fields[name], str) else ""
        if name not in _GENERIC:
            names_class = value not in _NO_CLASSES
        else:
            is_word = value.lower() in _NO_CLASSES or not _LIKE_A_CLASS.fullmatch(value)
            names_class = not is_quiet_record and not is_word
        if value and names_class:
            return value
    return ""


def _is_text(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_stack(value: object) -> bool:
    if isinstance(value, str):
        return records.has_lines(value) or bool(_PLACE.search(value[: limits.NAME_LIMIT]))
    return isinstance(value, list)


def _transaction(fields: Mapping[str, object]) -> str:
    """`controller#action`, or `METHOD /route`, or the name as it stands; else the function."""
    name = records.name_of(records.first(fields, "transaction", _is_text))
    controller = records.name_of(records.first(fields, "controller", _is_text))
    if controller:
        action = records.name_of(fields.get("action") or fields.get("payloadaction"))
        return controller if "#" in controller or not action else f"{controller}#{action}"
    method = records.name_of(records.first(fields, "method", _is_text)).upper()
    if name.startswith("/") and method.isalpha() and len(method) <= 8:
        return f"{method} {name}"
    if name:
        return name
    function = records.name_of(records.first(fields, "code_function", _is_text))
    namespace = records.name_of(records.first(fields, "code_namespace", _is_text))
    return ".".join(part for part in (namespace, function) if part)


# Records of level error that name no exception: what was logged, and the place that logged it.

# Squeezed names of fields, best first, also of what surrounds the record.
_LOGGED = data_table("nightwatch_core.adapters.files", "logged.toml", dict[str, tuple[str, ...]])
_ERRORS, _CALLERS, _FILES = _LOGGED["errors"], _LOGGED["callers"], _LOGGED["files"]
_CALLER = re.compile(r"(?P<file>\S{1,400}\.\w{1,5}):(?P<line>\d{1,7})(?::\d{1,5})?$")
# "Cart::Empty: no lines": a qualified name, or one that ends as names of exceptions do.
_NAMED = re.compile(
    r"(?P<name>[A-Z]\w{0,80}(?:(?:::|\.|\\)[A-Z]\w{0,80}){1,8}"
    r"|[A-Z]\w{0,80}(?:Error|Exception|Failure|Invalid|NotFound))(?:: (?P<message>.*))?$",
    re.DOTALL,
)


def is_logged_error(fields: Mapping[str, object], level: object) -> bool:
    """Tell a record of level error that says where it comes from, or what the error was.

    >>> is_logged_error({"caller": "cart.go:7"}, "error"), is_logged_error({}, "error")
    (True, False)
    """
    if not records.is_loud(level):
        return False
    names = (*_ERRORS, *_LOGGED["loggers"], *_CALLERS, *_FILES)
    return any(isinstance(fields.get(name), str) for name in names)


def message_with_error(fields: Mapping[str, object], message: str) -> str:
    """Return what was logged, and the error it was logged with.

    >>> message_with_error({"err": "no lines"}, "cannot pay")
    'cannot pay: no lines'
    """
    errors = (value for name in _ERRORS if isinstance(value := fields.get(name), str))
    error = next((error.strip() for error in errors), "")
    if not message or not error or error in message:
        return message or error
    return f"{message}: {error}"


def place_of(fields: Mapping[str, object]) -> str:
    r"""Return the place that logged the record, as a stack trace of one frame; empty without one.

    >>> place_of({"caller": "billing/cart.go:7"})
    'unknown(...)\n\tbilling/cart.go:7'
    """
    callers = (value for name in (*_CALLERS, *_FILES) if isinstance(value := fields.get(name), str))
    matches = (_CALLER.match(caller[: limits.NAME_LIMIT]) for caller in callers)
    match = next(filter(None, matches), None)
    file = match["file"] if match else _first(fields, _FILES)
    line = records.number_of(match["line"] if match else _first(fields, _LOGGED["lines"]))
    if not isinstance(file, str) or not line:
        return ""
    function = _first(fields, _LOGGED["functions"])
    return stack_text([{"file": file, "line": line, "function": function}])


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> object:
    values = (fields[name] for name in names if name in fields)
    return next((value for value in values if isinstance(value, str | int)), None)


# Records that cannot be read: the names of their fields, never their values.

_FIELDS_NAMED = 12  # by a refusal
_FIELD_NAME = re.compile(r"[\w$@.:/()\[\] -]{1,40}")
_PERSONAL = re.compile(r"\w@\w|\d{4}")  # an address or a number where a name should be
_ADDRESS = re.compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_NETWORK = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_NETWORK_6 = re.compile(r"(?<![\w:])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![\w:])")
_REMOVED = "[address removed]"


def refusal(place: str, problem: str, record: Record) -> RejectedRecord:
    """Refuse a record and name its fields.

    >>> refusal("a:1", "no error class", {"shortId": "A-1", "metadata": {}, "count": 3}).reason
    'no error class; its fields: shortId, metadata, count'
    """
    names = [str(name) for name in record if name != "around"]  # ours
    shown = dict.fromkeys(
        name if _FIELD_NAME.fullmatch(name) and not _PERSONAL.search(name) else "…"
        for name in names[:_FIELDS_NAMED]
    )
    more = f" and {len(names) - _FIELDS_NAMED} more" if len(names) > _FIELDS_NAMED else ""
    reason = f"{problem}; its fields: {', '.join(shown)}{more}"
    return RejectedRecord(place=place, reason=reason)


def unreadable(place: str, problem: str, text: str) -> RejectedRecord:
    """Refuse a text and keep its beginning, without addresses of people.

    >>> unreadable("a:1", "no JSON", '{"user": "mia@example.com", "ip": "203.0.113.9"').text
    '{"user": "[address removed]", "ip": "[address removed]"'
    >>> unreadable("a:1", "no JSON", '{"ip": "2001:db8::1", "at": "10:20:30"').text
    '{"ip": "[address removed]", "at": "10:20:30"'
    """
    kept = REMOVAL.scrub(records.text_of(text[: limits.EXCERPT]))
    kept = _NETWORK.sub(_REMOVED, _ADDRESS.sub(_REMOVED, kept))
    return RejectedRecord(place=place, reason=problem, text=_NETWORK_6.sub(_without_address, kept))


def _without_address(text: re.Match[str]) -> str:
    """Times look like such addresses."""
    try:
        IPv6Address(text[0])
    except ValueError:
        return text[0]
    return _REMOVED


# Values and lines of one file as entries: occurrences, rejects, and what is missing.

# What a file holds: a sentence says what the file itself tells to be missing; None is no error.
Entry = Occurrence | RejectedRecord | str | None

_CLOCK = re.compile(r"\d:\d\d")
PLAIN_LOG = "stack trace in a log"
IN_LOG = "record in a log"
NAMELESS = "a stack trace without the name of an error; is its beginning or its end cut off?"
LOUD_LINES = "lines of level error that belong to no stack trace and name no exception"
WITHOUT_TRACE = "errors that a log names above no stack trace, as Rails does with a RoutingError"
CUT_SHORT = (
    f"stack traces cut short: more than {limits.MAX_STREAMS} streams of a log ran side by side"
)


class EntryMaker:
    """Makes entries of what stands in one file, in its order; traces come when they end."""

    def __init__(self, exception_of: ExceptionOf, shapes: Counter[str]) -> None:
        """Begin a file; counts in `shapes` how many records came in which shape."""
        self._exception_of = exception_of
        self._shapes = shapes
        self._streams = LogStreams(exception_of)
        self._lines = 0  # records that are lines of a log
        # Records without class: lines of a log where a stack trace is cut out of them, else each is
        # what it is alone.
        self._doubtful = LogStreams(exception_of)
        self._doubtful_lines = 0
        self._are_lines: bool | None = None  # None: still open
        self._waiting: list[Entry] = []
        self._above: LogLine | None = None  # the last line that said its stream and time
        self._plain_shape = PLAIN_LOG
        self._is_plain = False

    @property
    def left_out(self) -> Counter[str]:
        """Count what was not taken though it may matter, by its reason, once all is read."""
        read = (self._streams, *((self._doubtful,) if self._are_lines else ()))
        loud, named = sum(one.left_out for one in read), sum(one.without_trace for one in read)
        cut_short = self._streams.cut_short
        return +Counter({LOUD_LINES: loud, WITHOUT_TRACE: named, CUT_SHORT: cut_short})

    def of_value(self, value: object, place: str, own: str = OWN_RECORD) -> Iterator[Entry]:
        """Yield the entries of a JSON value or a row of a table."""
        for item in records_of(value, self._shapes, own):
            yield from self._of_item(item, place)

    def of_text(self, text: str, place: str) -> Iterator[Entry]:
        """Yield the entries of a line that is no JSON."""
        self._is_plain = True
        for read in self._streams.read(self._line_of(text), place):
            yield from self._of_read(read)

    def _line_of(self, text: str) -> LogLine:
        """A line without a prefix of its own goes on in the message of the line above."""
        shaped = line_of(text)
        if shaped is not None:
            self._plain_shape, line = shaped
            self._above = line if line.around.get("time") else None
            return line
        if self._above is not None and not _CLOCK.search(text, 0, limits.TIME_REACH):
            return self._above._replace(text=text, is_part=False)
        self._above = None
        return LogLine(text)

    def finish(self) -> Iterator[Entry]:
        """End the file: yields what waited for its end."""
        for read in chain(self._streams.finish(), self._doubtful.finish()):
            yield from self._of_read(read)
        self._lines -= self._streams.of_traces
        if self._doubtful.of_traces and self._are_lines is not False:
            self._are_lines = True
            self._lines += self._doubtful_lines - self._doubtful.of_traces
        else:
            yield from self._waiting
        yield from repeat(None, max(0, self._lines))

    def _of_item(self, item: Item, place: str) -> Iterator[Entry]:
        if isinstance(item, str):
            yield f"{place}: {item}"
        elif isinstance(item, LogLine):
            self._lines += 1
            for read in self._streams.read(item, place):
                yield from self._of_read(read)
        elif not item:
            yield unreadable(place, "not a JSON object", "")
        else:
            yield from self._of_record(item, place)

    def _of_record(self, record: Record, place: str) -> Iterator[Entry]:
        entry = occurrence_of(record, place, self._exception_of)
        if not isinstance(entry, str):
            yield entry
            return
        line = values.line_of_record(record)
        if line and values.json_in(line.text) is not None:
            yield from self._of_item(line, place)
            return
        logged = occurrence_of(record, place, self._exception_of, words_do=True)
        alone = refusal(place, logged, record) if isinstance(logged, str) else logged
        if line is None or self._are_lines is False:
            yield alone
            return
        self._doubtful_lines += 1
        for read in self._doubtful.read(line, place):
            yield from self._of_read(read)
        if self._doubtful.of_traces:
            self._are_lines, self._waiting = True, []
            return
        self._waiting.append(alone)
        if len(self._waiting) >= limits.DOUBTS:
            self._are_lines = False
            yield from self._waiting
            self._waiting = []

    def _of_read(self, read: Read) -> Iterator[Entry]:
        if not read.lines:
            self._lines -= not self._is_plain
            if self._is_plain:
                self._shapes[IN_LOG] += 1
            yield from self._of_item(read.item, read.place)
        elif not isinstance(read.item, str | LogLine):
            yield from self._of_trace(read.item, read.place)

    def _of_trace(self, record: Record, place: str) -> Iterator[Entry]:
        entry = occurrence_of(record, place, self._exception_of)
        if isinstance(entry, Occurrence):
            if self._is_plain:
                self._shapes[self._plain_shape] += 1
            yield entry
            return
        raw = "\n".join(record["stack_trace"]) if isinstance(record["stack_trace"], list) else ""
        if self._exception_of(raw).frames:
            yield unreadable(place, NAMELESS, raw)


# One file of errors as entries: occurrences, rejects, and what the file itself says is missing.

CLOCK_SLACK = timedelta(days=1)  # by which the clock of a record may be ahead of ours


@dataclass(eq=False)
class FileReader:
    """Reads the entries of one file, and counts the shapes it is made of."""

    label: str  # stands for the file in places: `label:17`, `label/member:17`
    exception_of: ExceptionOf
    meter: json_values.Meter = field(default_factory=json_values.Meter)
    zone: tzinfo = UTC  # of times that name none
    shapes: Counter[str] = field(default_factory=Counter, init=False)  # records by their shape
    left_out: Counter[str] = field(default_factory=Counter, init=False)  # not taken, by the reason
    _maker: EntryMaker = field(init=False)

    def entries(self, path: Path) -> Iterator[Entry]:
        """Yield every entry of the file, or of every file packed in it.

        Raises `GiveUp` where it cannot be opened, `Enough` at a bound of the reading.
        """
        latest = _written(path)
        for content in json_values.contents_of(path, self.label, self.meter):
            if isinstance(content, str):
                yield content
                continue
            self.label = content.label
            self._maker = EntryMaker(self.exception_of, self.shapes)
            for entry in self._from_text(json_values.TextFile(content.text)):
                self.meter.count_record()
                yield self._settled(entry, latest) if isinstance(entry, Occurrence) else entry
            self.left_out += self._maker.left_out

    def _settled(self, seen: Occurrence, latest: datetime) -> Occurrence:
        times = {"first_seen": seen.first_seen, "last_seen": seen.last_seen}
        right = {
            name: settled(time, self.zone, latest)
            for name, time in times.items()
            if time is not None and time.tzinfo is not UTC
        }
        return seen.model_copy(update=right) if right else seen

    def _from_text(self, text: json_values.TextFile) -> Iterator[Entry]:
        kind = json_values.kind_of(text)
        if kind == "log":
            yield from self._from_log(json_values.lines_of(text))
            return
        parts: Iterable[json_values.Part] = ()
        if kind == "lines":
            parts = json_values.json_lines_of(text)
        elif kind == "document":
            parts = json_values.parts_of(text.read)
        elif kind == "table":
            parts = json_values.rows_of(text.pieces())
        for number, value, problem in parts:
            place = f"{self.label}:{number}"
            if not problem:
                yield from self._maker.of_value(
                    value, place, ROW if kind == "table" else OWN_RECORD
                )
                continue
            yield unreadable(place, problem, str(value))
            if kind == "document":
                yield f"{place}: {problem}; what follows could not be read"
        yield from self._maker.finish()

    def _from_log(self, lines: Iterator[json_values.Part]) -> Iterator[Entry]:
        number, is_empty = 0, True
        for number, line, problem in lines:
            text, place = str(line), f"{self.label}:{number}"
            if problem:
                yield unreadable(place, problem, text)
                continue
            value = values.object_in(text) if text.startswith("{") else None
            if value is None:
                entries = self._maker.of_text(text, place)
            else:
                of_value = self._maker.of_value(value, place)
                entries = (None if isinstance(e, RejectedRecord) else e for e in of_value)
            for entry in entries:
                is_empty = False
                yield entry
        for entry in self._maker.finish():
            is_empty = False
            yield entry
        if is_empty:
            yield f"{self.label}: {number} lines and no stack trace in them"


def _written(path: Path) -> datetime:
    """The latest time that a file can speak of without saying the year."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC) + CLOCK_SLACK
    except (OSError, ValueError, OverflowError):
        return datetime.max.replace(tzinfo=UTC, year=LATEST_YEAR)
