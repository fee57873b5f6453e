"""Results of batches, as one value of the night."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import accumulate, takewhile
from typing import get_args

from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import BatchTriage, Sighting, SubmittedBatch
from nightwatch_core.models.batch import (
    Batch,
    BatchState,
    ItemResult,
    ResultKind,
    Severity,
    Submission,
)
from nightwatch_core.models.errors import DroppedGroup, ErrorGroup, Selection
from nightwatch_core.models.report import NightRecord
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import moment, plural
from nightwatch_core.triage.batch_triage import Questions, sightings, waiting

_ENDS: dict[str, tuple[ResultKind, str]] = {  # of items of which no result can be read any more
    "expired": ("expired", "the batch expired before the service came to it"),
    "canceled": ("canceled", "the batch was canceled"),
    "ended": ("missing", "the service keeps the results no longer"),
    "gone": ("missing", "the service no longer knows the batch"),
}
LATER = "`nightwatch night --collect` collects it later"


class ReadBatch(Value):
    """A batch with its results, or a sentence on why there are none so far."""

    batch: Batch
    running: str = ""


def of_sources(
    batches: Iterable[Batch], history: Iterable[NightRecord], key: str
) -> tuple[Batch, ...]:
    """Batches of nights that read the same sources, in their order.

    One whose night is not known belongs to nobody.
    """
    keys = {record.id: record.night.kind.key for record in history if record.night}
    return tuple(batch for batch in batches if keys.get(batch.night) == key)


def running_text(batch: Batch, state: BatchState | None = None) -> str:
    """Say of a batch that it has not ended, or that nobody knows whether it was submitted."""
    errors = plural(len(batch.items), "error")
    if batch.is_intent:
        return (
            f"a batch of {errors} of {moment(batch.submitted)} may have been submitted: the "
            f"service says so when it has ended, and nothing is asked again before. {LATER}."
        )
    processed = f", {state.total - state.processing:,} of them done" if state else ""
    return f"the batch {batch.id} of {errors} is still running{processed}. {LATER}."


def without_results(batch: Batch, state: BatchState) -> tuple[ItemResult, ...]:
    """Return one result for every error of a batch that ended without results that can be read."""
    kind, reason = _ENDS[state.status]
    return tuple(
        ItemResult(
            key=item.key, fingerprint=item.fingerprint, kind=kind, reason=state.reason or reason
        )
        for item in batch.items
    )


def collected(
    read: Sequence[ReadBatch], every: Iterable[Batch], now: datetime, complaints: Sequence[str] = ()
) -> BatchTriage:
    """Return the night's value of what was read; `every` has all batches of these sources."""
    done = [batch.batch for batch in read if not batch.running]
    digests = {item.digest for item in done}
    others = [batch for batch in every if batch.digest not in digests and batch.collected_by]
    judged = tuple(sighting for batch in done for sighting in sightings(batch) if sighting.result)
    newer = {item.group.fingerprint for item in judged}
    usages = (item.usage for batch in done for item in (*batch.answered, *batch.results))
    return BatchTriage(
        judged=judged,
        waiting=tuple(item for item in waiting(others, now) if item.group.fingerprint not in newer),
        running=tuple(batch.running for batch in read if batch.running),
        complaints=tuple(complaints),
        usage=sum(usages, Usage()),
    )


def with_submission(
    triage: BatchTriage, sent: Submission, cost: str, questions: Questions
) -> BatchTriage:
    """Add the submitted batches, and earlier results that still hold, to the night's value."""
    judged = {item.group.fingerprint for item in triage.judged}
    kept = (item for item in questions.kept if item.group.fingerprint not in judged)
    submitted = (
        SubmittedBatch(
            id=batch.id, model=batch.model, errors=len(batch.fingerprints), expires=batch.expires
        )
        for batch in sent.batches
    )
    update = {
        "submitted": (*triage.submitted, *submitted),
        "cost": cost if sent.batches else triage.cost,
        "kept": tuple(item for item in kept if item.result),
        "awaited": sum(item.result is None for item in questions.kept),
    }
    return with_complaints(triage.model_copy(update=update), *sent.unsure)


def with_complaints(triage: BatchTriage, *complaints: str) -> BatchTriage:
    """Add complaints, each once; empty ones say nothing."""
    every = dict.fromkeys((*triage.complaints, *filter(None, complaints)))
    return triage.model_copy(update={"complaints": tuple(every)})


def is_waiting(triage: BatchTriage) -> bool:
    """Tell whether nothing could be read because batches are still running."""
    return bool(triage.running) and not triage.judged


def taken(batch: Batch, names: frozenset[str]) -> tuple[str, ...]:
    """Return the fingerprints of a batch that nights have analysed, with tonight's `names`."""
    asked = (sighting.group.fingerprint for sighting in sightings(batch))
    return tuple(dict.fromkeys((*batch.taken, *(name for name in asked if name in names))))


# When to ask whether a batch has ended: often at first, then less and less.

MOST = 50  # times that a task can be tried again


def pauses(minutes: int) -> tuple[float, ...]:
    """List the seconds between questions, together at most `minutes`, and at most 50 of them.

    >>> pauses(6)
    (30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 60.0)
    >>> pauses(0), len(pauses(10_000))
    ((), 50)
    """
    planned = [30.0] * 10 + [60.0] * 20 + [300.0] * (MOST - 30)
    totals = accumulate(planned)
    return tuple(takewhile(lambda _: next(totals) <= 60.0 * minutes, planned))


# Whose turn it is to be analysed: flagged errors by severity, in turns with tonight's own.


def flagged(sightings: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """Return those that need an analysis and had none, the worst first, then as ranked."""
    order = get_args(Severity)  # the worst first
    by_severity = [
        (order.index(sight.severity), item.rank, item)
        for item in sightings
        if (sight := item.first_sight) and item.flagged and not item.taken
    ]
    return tuple(item for *_, item in sorted(by_severity, key=lambda row: row[:2]))


def only_flagged(
    groups: Iterable[ErrorGroup], sightings: Sequence[Sighting], candidates: int
) -> Selection:
    """Select flagged errors alone, as they were seen now where they were; the worst first."""
    now = {group.fingerprint: group for group in groups}
    every = [now.get(sighting.group.fingerprint, sighting.group) for sighting in flagged(sightings)]
    late = (
        DroppedGroup(group=group, reason=f"flagged, place {place} of {len(every)}: it waits")
        for place, group in enumerate(every[candidates:], start=candidates + 1)
    )
    return Selection(kept=tuple(every[:candidates]), dropped=tuple(late))
