"""Failures of the evaluation data as the project's own values: what several programs here need."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from nightwatch_core.intake.fingerprint import fingerprint
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace

Err = Mapping[str, Any]


def case_of(err: Err) -> Case:
    """The case a failure would be."""
    error_class, message = err.get("error_class") or "", err.get("message") or ""
    transaction = err.get("transaction") or ""
    seen = datetime.fromtimestamp(err["ts"], UTC) if err.get("ts") else None
    leader = ErrorGroup(
        fingerprint=fingerprint("", error_class, transaction, message),
        source="eval",
        error_class=error_class,
        transaction=transaction,
        message=message,
        first_seen=seen,
        last_seen=seen,
    )
    return Case(leader=leader, trace=trace_of(err) if err.get("frames") else None)


def trace_of(err: Err) -> Trace:
    """Its trace."""
    frames = [
        Frame(
            path=frame.get("file") or "",
            line=frame.get("line"),
            function=frame.get("function") or "",
            module=frame.get("module") or "",
            in_app=bool(frame.get("in_app")),
        )
        for frame in err["frames"]
    ]
    if err.get("lang") == "python":
        frames.reverse()
    link = ExceptionLink(
        error_class=err.get("error_class") or "",
        message=err.get("message") or "",
        frames=tuple(frames),
    )
    return Trace(language=err.get("lang") or "", links=(link,), raw=err.get("raw") or "")
