"""Error trackers: Airbrake (and Errbit), Bugsnag, Honeybadger, Rollbar."""

from collections.abc import Iterator

from nightwatch_core.adapters.files.exceptions import thrown
from nightwatch_core.adapters.files.records import is_quiet
from nightwatch_core.adapters.files.shapes.described import descriptions, shapes_of
from nightwatch_core.adapters.files.shapes.fields import (
    QUIET,
    Inside,
    Item,
    Record,
    at,
    inner,
    objects_in,
    text_at,
    title_parts,
)

_DESCRIBED = descriptions("trackers.toml")


def _rollbar_sent(record: Record, inside: Inside) -> Iterator[Item]:
    time = at(record, "timestamp", "data.timestamp")
    yield from inside({**inner(record, "data"), "timestamp": time})


def _rollbar_occurrence(record: Record, _: Inside) -> Iterator[Item]:
    is_exception = bool(at(record, "body.trace_chain", "body.trace", "body.crash_report.raw"))
    if not is_exception and is_quiet(text_at(record, "level")):
        yield QUIET
        return
    yield _DESCRIBED["rollbar_occurrence"].read(record)


def _rollbar_item(record: Record, _: Inside) -> Iterator[Item]:
    error_class, _message = title_parts(text_at(record, "title"))
    is_no_error = not error_class and is_quiet(text_at(record, "level_string", "level"))
    yield QUIET if is_no_error else _DESCRIBED["rollbar_item"].read(record)


def _honeybadger_call(record: Record, inside: Inside) -> Iterator[Item]:
    fault, notice = inner(record, "fault"), inner(record, "notice")
    if notice:
        named = {name: fault.get(name) for name in ("klass", "component", "action")}
        yield from inside({**named, "fault_id": fault.get("id", 0), **notice})
    else:
        yield from inside(fault)


def _honeybadger_notice(record: Record, _: Inside) -> Iterator[Item]:
    error = inner(record, "error") or record
    own = {
        _place(item)
        for item in objects_in(at(record, "application_trace", "error.application_trace"))
    }
    chain = [
        thrown(
            at(item, "class", "klass"),
            item.get("message"),
            [_frame(frame, own) for frame in objects_in(item.get("backtrace"))],
        )
        for item in (error, *objects_in(at(error, "causes")))
    ]
    yield _DESCRIBED["honeybadger_notice"].read(record, chain)


def _frame(frame: Record, own: set[tuple[str, str]]) -> Record:
    """A frame whose owner is told: by its context, or by the list of the application's frames."""
    if frame.get("context") in ("app", "all", "gem"):
        plain = {name: value for name, value in frame.items() if name != "context"}
        return {**plain, "in_app": frame["context"] == "app"}
    plain = {n: v for n, v in frame.items() if n not in ("class", "type") or isinstance(v, str)}
    return {**plain, "in_app": _place(frame) in own} if own else plain


def _place(frame: Record) -> tuple[str, str]:
    return text_at(frame, "file"), text_at(frame, "number")


TRACKERS = shapes_of(
    _DESCRIBED,
    {
        "rollbar_sent": _rollbar_sent,
        "rollbar_occurrence": _rollbar_occurrence,
        "rollbar_item": _rollbar_item,
        "honeybadger_call": _honeybadger_call,
        "honeybadger_notice": _honeybadger_notice,
    },
)
