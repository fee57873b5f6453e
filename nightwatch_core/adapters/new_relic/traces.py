"""Stack traces from New Relic: from an occurrence's id to frames of the application."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nightwatch_core.adapters.new_relic.answers import Answer
from nightwatch_core.adapters.new_relic.limits import (
    LONGEST_FRAME,
    LONGEST_LABEL,
    LONGEST_LANGUAGE,
    LONGEST_TITLE,
    MOST_FRAMES,
)
from nightwatch_core.adapters.new_relic.rows import facet, integer, text
from nightwatch_core.errors import NightWatchError
from nightwatch_core.intake.fingerprint import fingerprint
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.trace import ExceptionLink, Frame, Trace
from nightwatch_core.text.message_templates import message_template
from nightwatch_core.text.transaction_templates import transaction_template
from nightwatch_core.traces import in_app
from nightwatch_core.traces.parsing import parse

_ID = re.compile(r"[A-Za-z0-9+/=_-]{8,120}")


@dataclass(frozen=True)
class TracedOccurrence:
    """An occurrence that New Relic keeps a trace of."""

    id: str
    entity: str
    message: str
    release: str
    closeness: int  # 2: the group's own, 1: same message in another spelling, 0: no message


def traced_occurrences(
    rows: Sequence[object], group: ErrorGroup, entities: Sequence[str], version: str
) -> tuple[TracedOccurrence, ...]:
    """The occurrences of a group among rows of its class, in their order.

    Rows without a message count where no row has the group's: they are the same transaction's.
    """
    fields = (row for row in rows if isinstance(row, Mapping))
    candidates = [_occurrence(row, group, entities, version) for row in fields]
    occurrences = [one for one in candidates if one is not None]
    closest = max((one.closeness for one in occurrences), default=0)
    return tuple(one for one in occurrences if one.closeness == closest)


def _occurrence(
    row: Mapping[str, Any], group: ErrorGroup, entities: Sequence[str], version: str
) -> TracedOccurrence | None:
    name, transaction = facet(row, ("error.class", "transactionName"))
    id, entity = text(row.get("id"), LONGEST_LABEL), text(row.get("entityGuid"), LONGEST_TITLE)
    if name != group.error_class or not _ID.fullmatch(id) or entity not in entities:
        return None
    same = transaction_template(transaction) == group.transaction
    if transaction and group.transaction and not same:
        return None
    message = text(row.get("error.message")) or text(row.get("message"))
    if fingerprint(group.app, name, transaction, message) == group.fingerprint:
        closeness = 2
    elif message_template(message) == message_template(group.message):
        closeness = 1
    elif not message or not group.message:
        closeness = 0
    else:
        return None
    return TracedOccurrence(id, entity, message, text(row.get(version), LONGEST_LABEL), closeness)


def frames_document(many: int) -> str:
    """A document that reads the stack traces of several occurrences, aliased `x0`, `x1` …"""
    variables = ",".join(f"$g{at}:EntityGuid!,$o{at}:String!" for at in range(many))
    parts = " ".join(
        f"x{at}:entity(guid:$g{at}){{... on ApmApplicationEntity{{language "
        f"exception(occurrenceId:$o{at}){{message stackTrace{{frames"
        "{filepath line name formatted}}}}}"
        for at in range(many)
    )
    return f"query Frames({variables}){{actor{{{parts}}}}}"


def traces_in(
    asked: Sequence[TracedOccurrence], answer: Answer, group: ErrorGroup, own: tuple[str, ...]
) -> tuple[tuple[Trace, ...], tuple[NightWatchError, ...]]:
    """The traces of an answer to `frames_document`, and what went wrong.

    A trace that is gone is neither.
    """
    traces, troubles = [], []
    for at, occurrence in enumerate(asked):
        try:
            entity = answer.at("actor", f"x{at}")
        except NightWatchError as trouble:
            troubles.append(trouble)
            continue
        trace = _trace(entity, occurrence, group, own) if isinstance(entity, Mapping) else None
        traces += [trace] if trace else []
    return tuple(traces), tuple(troubles)


def _trace(
    entity: Mapping[str, Any], occurrence: TracedOccurrence, group: ErrorGroup, own: tuple[str, ...]
) -> Trace | None:
    exception = entity.get("exception")
    stack = exception.get("stackTrace") if isinstance(exception, Mapping) else None
    frames = stack.get("frames") if isinstance(stack, Mapping) else None
    if not isinstance(frames, list) or not frames:
        return None
    read = [frame for frame in frames[:MOST_FRAMES] if isinstance(frame, Mapping)]
    lines = [text(frame.get("formatted"), LONGEST_FRAME) for frame in read]
    # The message stays out of the text: it is the user's, and could hold lines like frames.
    trace = parse("\n".join(lines), text(entity.get("language"), LONGEST_LANGUAGE), own)
    links = trace.links or _links(read, trace.language, own)
    if not links:
        return None
    first, *others = links
    if not first.error_class:
        message = occurrence.message or group.message
        first = first.model_copy(update={"error_class": group.error_class, "message": message})
    return trace.model_copy(update={"links": (first, *others), "release": occurrence.release})


def _links(
    frames: Sequence[Mapping[str, Any]], language: str, own: tuple[str, ...]
) -> tuple[ExceptionLink, ...]:
    """Frames as New Relic took them apart, for texts of a form that is not known."""
    parts = tuple(
        Frame(
            path=text(frame.get("filepath"), LONGEST_FRAME),
            line=integer(frame.get("line")),
            function=text(frame.get("name"), LONGEST_TITLE),
        )
        for frame in frames
        if text(frame.get("filepath"))
    )
    return in_app.mark((ExceptionLink(frames=parts),), language, own) if parts else ()
