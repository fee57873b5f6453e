"""Which field of a record means what: the one table of names, and how a record's are sought."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from nightwatch_core.adapters.files.limits import MAX_DEPTH, MAX_FIELDS

# Our field, and the names that sources give it, best first. Names are compared without case, dots,
# dashes and underscores, and nested objects are read as dotted names, so that `error.class`,
# `errorClass` and {"error": {"class": …}} are one. `latest.x`, then `around.x`, stand for x
# where x is missing.
FIELDS: dict[str, tuple[str, ...]] = {
    "error_class": (
        "exception.type", "error.exception.type",
        "error.class", "exception.class", "exception.name", "error.type",
        "error.name", "error.kind", "err.type", "err.name", "exception.exc_type", "exc_type",
        "exception.class_name", "exception.exception_class", "exception.exception_type",
        "thrown.name", "throwable.class_name", "class_name", "class", "type",
    ),
    "message": (
        "exception.message", "error.exception.message",
        "error.message", "err.message", "exception.value", "exc_value",
        "exception.exc_value", "exception.exception_message", "thrown.message",
        "throwable.message", "message", "msg", "event", "error", "exception",
        "body", "detail", "description",
    ),
    "stacktrace": (
        "exception.stacktrace", "error_verbose", "error.stack_trace", "error.stack",
        "stack_trace", "backtrace",
        "error.backtrace", "exception.backtrace", "exception.stack",
        "thrown.extended_stack_trace", "throwable.step_array",
        "err.stack", "message.stack", "traceback", "error.traceback", "exc_info", "exc_text",
        "stack", "trace",
        "exception.frames", "error.frames", "exception.stacktrace.frames",
        "error.stack_trace.frames", "stack_trace.frames", "frames", "exception", "error",
        "err",
    ),
    "transaction": (
        "transaction.name", "transaction", "http.route", "endpoint", "action",
        "route", "span.name", "job_class", "job", "task_name", "task", "request.path", "url.path",
        "http.target", "path", "request.uri", "uri", "req.url", "payload.path",
    ),
    "controller": ("controller", "controller_name", "payload.controller"),
    "method": ("http.request.method", "http.method", "request.method", "method", "req.method"),
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
        "service.instance.id", "instance", "host.hostname", "machine_name",
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
        "event.created", "created_at", "asctime", "instant.epoch_second", "time_millis", "date",
        "observed_time_unix_nano", "t",
    ),
    "status": ("status", "status_code", "http.status_code", "http.response.status_code"),
    "level": (
        "level", "severity_text", "severity", "log.level", "levelname", "lvl", "severity_number",
    ),
}  # fmt: skip

_ODD = re.compile(r"[^a-z0-9]")
_NOT_OURS = ("@version", "@type", "_type")  # of formats, not of applications and exceptions


@lru_cache(maxsize=8_192)
def squeezed(name: str) -> str:
    """A field name without what sources disagree about.

    >>> squeezed("error.stack_trace"), squeezed("errorStackTrace")
    ('errorstacktrace', 'errorstacktrace')
    """
    plain = _ODD.sub("", name[:200].lower())
    return plain if name not in _NOT_OURS else f"at{plain}"


_SOUGHT = {
    field: tuple(
        dict.fromkeys(
            squeezed(prefix + name) for prefix in ("", "latest.", "around.") for name in names
        )
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


def first(
    fields: Mapping[str, object], field: str, fits: Callable[[object], bool] = lambda _: True
) -> object:
    """Give the best field of a meaning whose value fits; None where there is none."""
    for name in present(tuple(fields))[field]:
        if fits(fields[name]):
            return fields[name]
    return None


@lru_cache(maxsize=256)
def present(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Give the sought names that a record has: records of one file have the same fields."""
    there = frozenset(names)
    return {field: tuple(n for n in sought if n in there) for field, sought in _SOUGHT.items()}
