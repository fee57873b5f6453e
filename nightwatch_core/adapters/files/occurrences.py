"""A record as an occurrence of an error: class, message, stack trace, time, place and people."""

import glob
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from nightwatch_core.adapters.files.exceptions import ExceptionOf
from nightwatch_core.adapters.files.limits import (
    DOUBTS,
    MAX_FILES,
    MAX_STREAMS,
    NAME_LIMIT,
    TIME_REACH,
)
from nightwatch_core.adapters.files.logs import LogStreams, Read, line_of
from nightwatch_core.adapters.files.record_frames import (
    LOGGED,
    is_logged_error,
    message_with_error,
    named_in,
    place_of,
    stack_text,
    with_header,
)
from nightwatch_core.adapters.files.records import (
    first,
    flat,
    has_lines,
    is_answered,
    is_loud,
    is_quiet,
    name_of,
    number_of,
    present,
    text_of,
)
from nightwatch_core.adapters.files.refusals import refusal, unreadable
from nightwatch_core.adapters.files.shapes.fields import Item, LogLine, Record
from nightwatch_core.adapters.files.shapes.table import records_of
from nightwatch_core.adapters.files.shapes.texts import json_in, line_of_record
from nightwatch_core.adapters.files.times import has_zone, time_of
from nightwatch_core.models.errors import ExceptionLink, Occurrence, RejectedRecord
from nightwatch_core.models.options import STANDARD_INPUT
from nightwatch_core.text.words import last_segment

# Which files are meant: names with commas between them, folders, patterns, lists of names.

LIST = "@"  # before the name of a file that lists names, one a line
_MOST_COMMAS = 8  # in one name
_LIST_LIMIT = 16_777_216  # bytes of a list of names


class File(NamedTuple):
    """A file to read, and what stands for it in places."""

    path: Path
    label: str


class Below(NamedTuple):
    """The files of a name, and sentences: what cannot be read, and what is left out."""

    files: tuple[File, ...]
    unread: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def named_paths(errors: str) -> tuple[Path, ...]:
    """Split names with commas between them; a name that is there may hold commas itself.

    >>> [str(path) for path in named_paths("a.log, logs/*.gz")]
    ['a.log', 'logs/*.gz']
    """
    whole = _path(errors)
    if is_there(whole):
        return (whole,)
    parts, names, at = errors.split(","), [], 0
    while at < len(parts):
        for end in range(min(len(parts), at + _MOST_COMMAS + 1), at, -1):
            joined = ",".join(parts[at:end]).strip()
            if end == at + 1 or is_there(_path(joined)):
                names += [_path(joined)] if joined else []
                at = end
                break
    return tuple(names)


def files_of(path: Path) -> Below:
    """Give the file itself, all files of a folder or pattern, or those that a list names."""
    text = str(path)
    if is_there(path):
        return _of_folder(path) if path.is_dir() else Below((_file(path),))
    if text == STANDARD_INPUT:
        return Below((), ("the standard input is read by `--errors -` of a command alone",))
    if text.startswith(LIST):
        return _of_list(_path(text.removeprefix(LIST)))
    if glob.has_magic(text):
        matches = islice(glob.iglob(text, recursive=True), MAX_FILES + 1)  # noqa: PTH207
        files = [_file(path) for path in sorted(map(Path, matches)) if path.is_file()]
        unread = () if files else (f"no file matches {_shown(text)}",)
        return _bounded(files, [], text)._replace(unread=unread)
    return Below((_file(path),))  # that it is not there is said when it is opened


def is_there(path: Path) -> bool:
    """Tell whether something has that name; broken links and impossible names have nothing."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _of_folder(folder: Path) -> Below:
    """Files below a folder, sorted; hidden ones are left out, links to folders not followed."""
    problems: list[str] = []
    files: list[File] = []
    for path in islice(_walk(folder, problems), MAX_FILES + 1):
        if path.is_file():
            files.append(_file(path, folder))
        else:
            problems.append(
                f"{_shown(path)} is {'a broken link' if path.is_symlink() else 'no file'}"
            )
    if not files:
        problems.append(f"{_shown(folder)} holds no files")
    return _bounded(files, problems, folder)


def _walk(folder: Path, problems: list[str]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        problems.append(
            f"{_shown(error.filename)} cannot be read ({error.strerror}): check permissions"
        )

    below: list[Path] = []
    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below += (Path(root, name) for name in names if not name.startswith("."))
        if len(below) > MAX_FILES:
            break
    yield from sorted(below)


def _of_list(path: Path) -> Below:
    try:
        with path.open("rb") as file:
            text = file.read(_LIST_LIMIT).decode("utf-8-sig", "replace")
    except (OSError, ValueError) as error:
        return Below((), (f"the list {_shown(path)} cannot be read: {_shown(error)}",))
    names = [line.strip() for line in text.splitlines() if line.strip()]
    circle = Below((), (f"{_shown(path)}: a list names no lists",))
    below = [circle if name.startswith(LIST) else files_of(_path(name)) for name in names]
    left_out = [sentence for path in below for sentence in path.left_out]
    files = [file for path in below for file in path.files]
    unread = tuple(sentence for path in below for sentence in path.unread)
    empty = () if names else (f"{_shown(path)} lists no files",)
    return _bounded(files, left_out, path)._replace(unread=(*unread, *empty))


def _bounded(files: list[File], problems: list[str], name: Path | str) -> Below:
    if len(files) > MAX_FILES:
        problems.append(f"{_shown(name)}: files after the first {MAX_FILES:,} are left out")
    return Below(tuple(files[:MAX_FILES]), (), tuple(problems))


def _path(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # the home of nobody
        return Path(name)


def _file(path: Path, folder: Path | None = None) -> File:
    return File(path, _shown(path.relative_to(folder).as_posix() if folder else path.name))


def _shown(name: object) -> str:
    """A name as text on one line: file names may hold any byte."""
    return name_of(str(name))


# Generic `type` and `class` fields hold these where they do not name an exception.
NO_CLASSES = frozenset(
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
    """A record as an occurrence; a sentence where it cannot be one; None where it is no error.

    `exception_of` reads class and message from a raw stack trace. With `words_do`, a level of its
    own and a message are enough for an error that was logged.
    """
    fields = flat(record)
    failure = _failure(fields, exception_of, words_do=words_do)
    if failure is None or isinstance(failure, str):
        return failure
    error_class, message, stack = failure
    count = number_of(first(fields, "count"))
    if count == 0:
        return None
    at, begin, last = (_time(fields, name) for name in ("time", "first_seen", "last_seen"))
    return Occurrence(
        error_class=error_class,
        message=message,
        transaction=_transaction(fields),
        stacktrace=with_header(stack, error_class, message),
        app=name_of(first(fields, "app", _is_text)),
        release=name_of(first(fields, "release", _is_text)),
        commit=name_of(first(fields, "commit", _is_text)),
        host=name_of(first(fields, "host", _is_text)),
        user=name_of(first(fields, "user", _is_text)),
        users=number_of(first(fields, "users")),
        count=count or 1,
        first_seen=_earliest(begin, last or at),
        last_seen=last or at or begin,
        place=place,
    )


def _earliest(first: datetime | None, last: datetime | None) -> datetime | None:
    return first if first and last and first < last else None


class _Failure(NamedTuple):
    error_class: str
    message: str
    stack: str


def _failure(
    fields: Mapping[str, object], exception_of: ExceptionOf, *, words_do: bool
) -> _Failure | str | None:
    stack = stack_text(first(fields, "stacktrace", _is_stack) or _nested_stack(fields))
    message = text_of(first(fields, "message", _is_text))
    level = first(fields, "level", _is_text)
    error_class, is_logged = (
        _class(fields, said_quietly=is_quiet(level) and not stack),
        _is_logged(fields),
    )
    if error_class and stack and not is_logged:
        return _Failure(error_class, "" if message == stack else message, stack)
    raw = stack or (message if has_lines(message) else "")
    exception = exception_of(raw) if raw else ExceptionLink()
    if not stack and exception.frames:
        stack, message = message, text_of(exception.message)
    message = "" if message == stack else message
    if error_class:
        is_same = is_logged and last_segment(exception.error_class) == last_segment(error_class)
        return _Failure(error_class, is_same and text_of(exception.message) or message, stack)
    if stack and exception.error_class:
        return _Failure(
            name_of(exception.error_class), text_of(exception.message) or message, stack
        )
    if named := named_in(fields):
        return _Failure(named.error_class, named.message or message, stack or place_of(fields))
    if is_quiet(level) or is_answered(first(fields, "status", _is_text)):
        return None
    logged = message_with_error(fields, message)
    is_loud_itself = words_do and is_loud(_own_level(fields))
    if logged and (exception.frames or is_loud_itself or is_logged_error(fields, level)):
        return _Failure(LOGGED, logged, stack or place_of(fields))
    return f"no error class{', and none in its stack trace' if stack else ' and no stack trace'}"


def _own_level(fields: Mapping[str, object]) -> object:
    names = (n for n in present(tuple(fields))["level"] if not n.startswith("around"))
    return next((fields[name] for name in names if _is_text(fields[name])), None)


def _is_logged(fields: Mapping[str, object]) -> bool:
    names = present(tuple(fields))
    return bool(names["level"]) and names["message"][:1] in _LOGGED_WORDS


def _time(fields: Mapping[str, object], field: str) -> datetime | None:
    """The best time; one without a zone yields to that of the log around the record."""
    names = present(tuple(fields))[field]
    times = {name: time for name in names if (time := time_of(fields[name]))}
    own = next(iter(times), "")
    around = next((name for name in times if name.startswith("around")), own)
    return times.get(own if own and has_zone(fields[own]) else around)


def _class(fields: Mapping[str, object], *, said_quietly: bool) -> str:
    for name in present(tuple(fields))["error_class"]:
        value = fields[name]
        is_generic = name in _GENERIC
        if not isinstance(value, str) or (is_generic and said_quietly):
            continue
        if _is_class(value.strip(), is_generic=is_generic):
            return name_of(value)
    return ""


def _is_class(value: str, *, is_generic: bool) -> bool:
    """Fields of an exception name its class, though it be `Error`; others may hold any word."""
    if not is_generic:
        return value not in NO_CLASSES | {""}
    return value.lower() not in NO_CLASSES and bool(_LIKE_A_CLASS.fullmatch(name_of(value)))


def _nested_stack(fields: Mapping[str, object]) -> object:
    """A stack trace in a field of any object: `ctx.traceback`."""
    named = (value for name, value in fields.items() if name.endswith(_STACK_ENDS))
    return next(filter(_is_stack, named), None)


def _is_text(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_stack(value: object) -> bool:
    if isinstance(value, str):
        return has_lines(value) or bool(_PLACE.search(value[:NAME_LIMIT]))
    return isinstance(value, list)


def _transaction(fields: Mapping[str, object]) -> str:
    """`controller#action`, or `METHOD /route`, or the name as it stands; else the function."""
    name = name_of(first(fields, "transaction", _is_text))
    controller = name_of(first(fields, "controller", _is_text))
    if controller:
        action = name_of(fields.get("action") or fields.get("payloadaction"))
        return controller if "#" in controller or not action else f"{controller}#{action}"
    method = name_of(first(fields, "method", _is_text)).upper()
    if name.startswith("/") and method.isalpha() and len(method) <= 8:
        return f"{method} {name}"
    if name:
        return name
    function = name_of(first(fields, "code_function", _is_text))
    namespace = name_of(first(fields, "code_namespace", _is_text))
    return ".".join(part for part in (namespace, function) if part)


# Records without class: lines of a log, one record each, or errors that were only logged.

Alone = Occurrence | RejectedRecord | None  # what a record is by itself


class Doubts:
    """Waits until it is known what such records of a file are.

    Where a stack trace is cut out of them they are lines of a log; else each is what it is alone.
    """

    def __init__(self, exception_of: ExceptionOf) -> None:
        """Begin without records; their texts are to be read in `streams`."""
        self.streams = LogStreams(exception_of)
        self._waiting: list[Alone] = []
        self._lines = 0
        self._are_lines: bool | None = None

    @property
    def may_be_lines(self) -> bool:
        """Tell whether their texts are still to be read in streams."""
        return self._are_lines is not False

    @property
    def left_out(self) -> int:
        """Return lines of level error that belong to no stack trace, once all is read."""
        return self.streams.left_out if self._are_lines else 0

    def take(self, alone: Alone) -> Iterator[Alone]:
        """Take the next record; yields those of which it is known that they stand alone."""
        if self._are_lines is None and self.streams.of_traces:
            self._are_lines, self._waiting = True, []
        self._lines += 1
        if self._are_lines is None:
            self._waiting.append(alone)
            if len(self._waiting) >= DOUBTS:
                self._are_lines = False
                yield from self._waiting
        elif not self._are_lines:
            yield alone

    def finish(self) -> Iterator[Alone]:
        """End the file, after its streams: yields what waited."""
        if self._are_lines is None and not self.streams.of_traces:
            yield from self._waiting
        elif self._are_lines is not False:
            self._are_lines = True
            yield from (None for _ in range(self._lines - self.streams.of_traces))


# Values and lines of one file as entries: occurrences, rejects, and what is missing.

# What a file holds: a sentence says what the file itself tells to be missing; None is no error.
Entry = Occurrence | RejectedRecord | str | None

_CLOCK = re.compile(r"\d:\d\d")
PLAIN_LOG = "stack trace in a log"
IN_LOG = "record in a log"
NAMELESS = "a stack trace without the name of an error; is its beginning or its end cut off?"
LOUD_LINES = "lines of level error that belong to no stack trace and name no exception"
CUT_SHORT = f"stack traces cut short: more than {MAX_STREAMS} streams of a log ran side by side"


class EntryMaker:
    """Makes entries of what stands in one file, in its order; traces come when they end."""

    def __init__(self, exception_of: ExceptionOf, shapes: Counter[str]) -> None:
        """Begin a file; counts in `shapes` how many records came in which shape."""
        self._exception_of = exception_of
        self._shapes = shapes
        self._streams = LogStreams(exception_of)
        self._lines = 0  # records that are lines of a log
        self._doubts = Doubts(exception_of)
        self._above: LogLine | None = None  # the last line that said its stream and time
        self._plain_shape = PLAIN_LOG
        self._is_plain = False

    @property
    def left_out(self) -> Counter[str]:
        """Count what was not taken though it may matter, by its reason, once all is read."""
        loud = self._streams.left_out + self._doubts.left_out
        return +Counter({LOUD_LINES: loud, CUT_SHORT: self._streams.cut_short})

    def of_value(self, value: object, place: str) -> Iterator[Entry]:
        """Yield the entries of a JSON value or a row of a table."""
        for item in records_of(value, self._shapes):
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
        if self._above is not None and not _CLOCK.search(text, 0, TIME_REACH):
            return self._above._replace(text=text, is_part=False)
        self._above = None
        return LogLine(text)

    def finish(self) -> Iterator[Entry]:
        """End the file: yields what waited for its end."""
        for read in chain(self._streams.finish(), self._doubts.streams.finish()):
            yield from self._of_read(read)
        yield from self._doubts.finish()
        yield from (None for _ in range(self._lines - self._streams.of_traces))

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
        line = line_of_record(record)
        if line and json_in(line.text) is not None:
            yield from self._of_item(line, place)
            return
        if line and self._doubts.may_be_lines:
            for read in self._doubts.streams.read(line, place):
                yield from self._of_read(read)
        logged = occurrence_of(record, place, self._exception_of, words_do=True)
        alone = refusal(place, logged, record) if isinstance(logged, str) else logged
        yield from self._doubts.take(alone) if line else (alone,)

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
