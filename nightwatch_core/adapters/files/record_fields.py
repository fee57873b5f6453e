"""Which field of a record means what: the one table of names, and a record read with it."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache

from nightwatch_core.adapters.files.limits import MAX_DEPTH, MAX_FIELDS, NAME_LIMIT
from nightwatch_core.adapters.files.record_levels import is_quiet
from nightwatch_core.adapters.files.record_stacks import stack_text, with_header
from nightwatch_core.adapters.files.record_values import name_of, number_of, text_of, time_of
from nightwatch_core.models.error import Occurrence
from nightwatch_core.models.trace import ExceptionLink

# Our field, and the names that sources give it, best first. Names are compared without case, dots,
# dashes and underscores, and nested objects are read as dotted names, so that `error.class`,
# `errorClass` and {"error": {"class": …}} are one. `latest.x` stands for x where x is missing.
FIELDS: dict[str, tuple[str, ...]] = {
    "error_class": (
        "exception.type", "error.class", "exception.class", "exception.name", "error.type",
        "error.name", "error.kind", "err.type", "err.name", "exception.exc_type", "exc_type",
        "exception.class_name", "class_name", "class", "type",
    ),
    "message": (
        "exception.message", "error.message", "err.message", "exception.value", "exc_value",
        "exception.exc_value", "message", "msg", "error", "exception", "body",
        "detail", "description",
    ),
    "stacktrace": (
        "exception.stacktrace", "error.stack_trace", "error.stack", "stack_trace", "backtrace",
        "error.backtrace", "exception.backtrace", "exception.stack",
        "err.stack", "traceback", "error.traceback", "exc_info", "exc_text", "stack", "trace",
        "exception.frames", "error.frames", "exception.stacktrace.frames",
        "error.stack_trace.frames", "stack_trace.frames", "frames", "exception", "error",
    ),
    "transaction": (
        "transaction.name", "transaction", "http.route", "endpoint", "action",
        "route", "span.name", "job_class", "job", "task_name", "task", "request.path", "url.path",
        "http.target", "path", "request.uri", "uri",
    ),
    "controller": ("controller", "controller_name"),
    "method": ("http.request.method", "http.method", "request.method", "method"),
    "code_function": ("code.function.name", "code.function"),
    "code_namespace": ("code.namespace",),
    "app": (
        "service.name", "app_name", "app", "application", "service", "entity.name", "project",
    ),
    "release": (
        "service.version", "tags.service.version", "tags.commit", "tags.release_tag", "release",
        "app_version", "deployment.version", "version", "vcs.ref.head.revision", "git.sha",
        "revision", "commit",
    ),
    "commit": (
        "tags.commit", "vcs.ref.head.revision", "git.sha", "git.commit.sha", "revision", "commit",
    ),
    "host": (
        "host.name", "host", "server_name", "server", "k8s.pod.name", "pod",
        "service.instance.id", "instance",
    ),
    "user": ("enduser.id", "user.id", "user.email", "user.name", "user"),
    "users": (
        "users", "user_count", "users_affected", "affected_users", "impacted_users",
        "unique_count.enduser.id", "unique_count.user_id", "unique_count.user",
    ),
    "count": ("occurrences", "occurrence_count", "count", "times_seen", "event_count", "total"),
    "first_seen": ("first_seen", "first_seen_at", "earliest.timestamp", "min.timestamp", "first"),
    "last_seen": (
        "last_seen", "last_seen_at", "last_occurrence", "latest.timestamp", "max.timestamp", "last",
    ),
    "time": (
        "timestamp", "time", "datetime", "occurred_at", "time_unix_nano", "ts",
        "event.created", "created_at", "date", "observed_time_unix_nano",
    ),
    "level": ("level", "severity_text", "severity", "log.level", "levelname", "severity_number"),
}  # fmt: skip

# Generic `type` and `class` fields hold these where they do not name an exception.
NO_CLASSES = frozenset(
    ("error", "errors", "exception", "event", "log", "logs", "record", "default", "transaction",
     "transactionerror", "errortrace", "span", "metric", "message", "string", "null", "none")
)  # fmt: skip

_GENERIC = frozenset(("class", "type", "latestclass", "latesttype"))
_PLACE = re.compile(r"\.[a-z]{1,5}:\d")
_ODD = re.compile(r"[^a-z0-9]")


@lru_cache(maxsize=8_192)
def squeezed(name: str) -> str:
    """A field name without what sources disagree about.

    >>> squeezed("error.stack_trace"), squeezed("errorStackTrace")
    ('errorstacktrace', 'errorstacktrace')
    """
    return _ODD.sub("", name[:200].lower())


_SOUGHT = {
    field: tuple(
        dict.fromkeys(squeezed(prefix + name) for prefix in ("", "latest.") for name in names)
    )
    for field, names in FIELDS.items()
}


def flat(record: Mapping[str, object]) -> dict[str, object]:
    """All fields of a record by their squeezed dotted names; the first of equal names counts.

    >>> flat({"error": {"class": "KeyError"}, "host": "a"})["errorclass"]
    'KeyError'
    """
    fields: dict[str, object] = {}
    _flatten(record, "", fields, 0)
    return fields


def _flatten(
    record: Mapping[str, object], prefix: str, fields: dict[str, object], depth: int
) -> None:
    for key, value in record.items():
        name = prefix + squeezed(str(key))
        if key == "values" and isinstance(value, list) and value and isinstance(value[-1], dict):
            name, value = prefix, value[-1]  # Sentry: the exception that was reported is the last
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            _flatten(value, name, fields, depth + 1)
        elif value not in (None, "", [], {}) and len(fields) < MAX_FIELDS:
            fields.setdefault(name, value)


def occurrence_of(
    record: Mapping[str, object], place: str, exception_of: Callable[[str], ExceptionLink]
) -> Occurrence | str | None:
    """A record as an occurrence; a sentence where it cannot be one; None where it is no error.

    `exception_of` reads class and message from a raw stack trace.
    """
    fields = flat(record)
    error_class = _class(fields)
    stack = stack_text(_first(fields, "stacktrace", _is_stack))
    message = text_of(_first(fields, "message", _is_text))
    if not error_class and stack:
        exception = exception_of(stack)
        error_class = name_of(exception.error_class)
        message = text_of(exception.message) or message
    if not error_class:
        return None if is_quiet(_first(fields, "level", _is_text)) else _why_not(bool(stack))
    count = number_of(_first(fields, "count"))
    if count == 0:
        return None
    at, first, last = (_time(fields, name) for name in ("time", "first_seen", "last_seen"))
    return Occurrence(
        error_class=error_class,
        message="" if message == stack else message,
        transaction=_transaction(fields),
        stacktrace=with_header(stack, error_class, message),
        app=name_of(_first(fields, "app", _is_text)),
        release=name_of(_first(fields, "release", _is_text)),
        commit=name_of(_first(fields, "commit", _is_text)),
        host=name_of(_first(fields, "host", _is_text)),
        user=name_of(_first(fields, "user", _is_text)),
        users=number_of(_first(fields, "users")),
        count=count or 1,
        first_seen=_earliest(first, last or at),
        last_seen=last or at or first,
        place=place,
    )


def _earliest(first: datetime | None, last: datetime | None) -> datetime | None:
    return first if first and last and first < last else None


def _why_not(has_stack: bool) -> str:
    if has_stack:
        return "no error class, and none in its stack trace"
    return "no error class and no stack trace"


def _first(
    fields: Mapping[str, object], field: str, fits: Callable[[object], bool] = lambda _: True
) -> object:
    for name in _present(tuple(fields))[field]:
        if fits(fields[name]):
            return fields[name]
    return None


@lru_cache(maxsize=256)
def _present(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Which of the sought names a record has: records of one file have the same fields."""
    there = frozenset(names)
    return {field: tuple(n for n in sought if n in there) for field, sought in _SOUGHT.items()}


def _time(fields: Mapping[str, object], field: str) -> datetime | None:
    times = (time_of(fields[name]) for name in _present(tuple(fields))[field])
    return next((time for time in times if time), None)


def _class(fields: Mapping[str, object]) -> str:
    for name in _present(tuple(fields))["error_class"]:
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
        return "\n" in value.strip() or bool(_PLACE.search(value[:NAME_LIMIT]))
    return isinstance(value, list)


def _transaction(fields: Mapping[str, object]) -> str:
    """`controller#action`, or `METHOD /route`, or the name as it stands; else the function."""
    name = name_of(_first(fields, "transaction", _is_text))
    controller = name_of(_first(fields, "controller", _is_text))
    if controller:
        action = name_of(fields.get("action"))
        return controller if "#" in controller or not action else f"{controller}#{action}"
    method = name_of(_first(fields, "method", _is_text)).upper()
    if name.startswith("/") and method.isalpha() and len(method) <= 8:
        return f"{method} {name}"
    if name:
        return name
    function = name_of(_first(fields, "code_function", _is_text))
    namespace = name_of(_first(fields, "code_namespace", _is_text))
    return ".".join(part for part in (namespace, function) if part)
