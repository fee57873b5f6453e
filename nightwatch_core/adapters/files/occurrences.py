"""A record as an occurrence of an error: class, message, stack trace, time, place and people."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import NAME_LIMIT
from nightwatch_core.adapters.files.logged_errors import (
    LOGGED,
    is_logged_error,
    message_with_error,
    named_in,
    place_of,
)
from nightwatch_core.adapters.files.record_fields import first, flat, present
from nightwatch_core.adapters.files.record_levels import is_answered, is_loud, is_quiet
from nightwatch_core.adapters.files.record_stacks import stack_text, with_header
from nightwatch_core.adapters.files.record_values import (
    has_lines,
    name_of,
    number_of,
    text_of,
)
from nightwatch_core.adapters.files.reported_exceptions import ExceptionOf
from nightwatch_core.adapters.files.times import has_zone, time_of
from nightwatch_core.models.error import Occurrence
from nightwatch_core.models.trace import ExceptionLink
from nightwatch_core.text.error_classes import last_segment

# Generic `type` and `class` fields hold these where they do not name an exception.
NO_CLASSES = frozenset(
    ("error", "errors", "exception", "event", "log", "logs", "record", "default", "transaction",
     "transactionerror", "errortrace", "span", "metric", "message", "string", "null", "none")
)  # fmt: skip

_GENERIC = frozenset(
    prefix + name for prefix in ("", "latest", "around") for name in ("class", "type")
)
_LOGGED_WORDS = (("message",), ("msg",), ("event",))
_PLACE = re.compile(r"\.[a-z]{1,5}:\d")


def occurrence_of(
    record: Mapping[str, object],
    place: str,
    exception_of: ExceptionOf,
    *,
    words_do: bool = False,
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
    """What a record says that failed; a sentence where it does not; None where nothing did."""
    stack = stack_text(first(fields, "stacktrace", _is_stack))
    message = text_of(first(fields, "message", _is_text))
    error_class, is_logged = _class(fields), _is_logged(fields)
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
    level = first(fields, "level", _is_text)
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
    """Whether the message is what was logged, which need not be that of the exception."""
    names = present(tuple(fields))
    return bool(names["level"]) and names["message"][:1] in _LOGGED_WORDS


def _time(fields: Mapping[str, object], field: str) -> datetime | None:
    """The best time; one without a zone yields to that of the log around the record."""
    names = present(tuple(fields))[field]
    times = {name: time for name in names if (time := time_of(fields[name]))}
    own = next(iter(times), "")
    around = next((name for name in times if name.startswith("around")), own)
    return times.get(own if own and has_zone(fields[own]) else around)


def _class(fields: Mapping[str, object]) -> str:
    for name in present(tuple(fields))["error_class"]:
        value = fields[name]
        if isinstance(value, str) and _is_class(value.strip(), name):
            return name_of(value)
    return ""


def _is_class(value: str, name: str) -> bool:
    """Fields of an exception name its class, though it be `Error`; others may hold any word."""
    return (value.lower() if name in _GENERIC else value) not in NO_CLASSES | {""}


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
