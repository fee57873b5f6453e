"""Batches that are submitted once, whatever happens between the intent and the service's answer.

The intent is kept before anything is sent, the id after it. An intent without an id is looked for
at the service: of the batches created since, with as many items, the one whose items carry our keys
is ours. That can be read only when a batch has ended; until then nothing of it is sent again.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from nightwatch_core.errors import GiveUp, MayHaveArrived, NightWatchError
from nightwatch_core.models.batch import Batch, BatchItem, Settled, Submission, TriageItem
from nightwatch_core.ports import BatchModel, BatchStore, Clock

SKEW = timedelta(hours=1)  # between the service's clock and ours
SETTLING = timedelta(minutes=30)  # until what was sent is on the service's list, or never will be
KEPT = timedelta(days=29)  # that the service keeps results
_OTHER = (
    "it is not known whether the batch of night {night} ({count} errors) was submitted, and it "
    "cannot be looked for: address or key are not those it was submitted with. Set them as they "
    "were, or remove its file"
)
_PERHAPS = (
    "it is not known whether the batch of night {night} ({count} errors) was submitted: it may be "
    "{ids}. That shows when the service has ended it; until then nothing is submitted again"
)
_EARLY = (
    "it is not known whether the batch of night {night} ({count} errors) was submitted: the "
    "service does not list it so far. It is looked for again from {at:%Y-%m-%d %H:%M} UTC on"
)


def submit_once(
    items: Sequence[TriageItem],
    night: str,
    model: BatchModel,
    store: BatchStore,
    clock: Clock,
    seconds: float,
) -> Submission:
    """Submit the items that no open batch has; the first is asked alone, within `seconds`.

    Raises `GiveUp` where there are no batches or a kept one cannot be read, and what the service
    says of a request it refuses; what was submitted before that is kept. Raises `TryLater` where
    another process is submitting.
    """
    with store.alone():
        settled = settle(model, store, clock)
        if complaints := store.complaints():
            raise GiveUp(f"nothing is submitted, for it may be waiting already: {complaints[0]}")
        names = {name for one in (*settled.open, *settled.intents) for name in one.fingerprints}
        wanted = [one for one in items if one.fingerprint not in names]
        waiting = tuple(one.fingerprint for one in items if one.fingerprint in names)
        batches, unsure = _submitted(wanted, night, model, store, clock, seconds)
    return Submission(batches=batches, waiting=waiting, unsure=(*settled.unsure, *unsure))


def settle(model: BatchModel, store: BatchStore, clock: Clock) -> Settled:
    """Find out what became of every intent; those of which nothing came are forgotten."""
    batches, unsure = list[Batch](), list[str]()
    for kept in store.batches():
        batch, reason = _recognised(kept, model, store, clock.now())
        batches += [batch] if batch else []
        unsure += [reason] if reason else []
    return Settled(
        open=tuple(one for one in batches if one.id and not one.collected_by),
        intents=tuple(one for one in batches if one.is_intent),
        unsure=(*unsure, *store.complaints()),
    )


def _submitted(
    items: Sequence[TriageItem],
    night: str,
    model: BatchModel,
    store: BatchStore,
    clock: Clock,
    seconds: float,
) -> tuple[tuple[Batch, ...], tuple[str, ...]]:
    """Batches with their ids, and what is not sure."""
    if not items:
        return (), ()
    alone, rest = (items[:1], items[1:]) if len(items) > 1 else ((), items)
    intents = model.intents(rest, night, clock.now())
    answered = tuple(model.ask_one(one, seconds) for one in alone)
    batches = list[Batch]()
    for intent in intents:
        errors = tuple(
            BatchItem(key=one.key, fingerprint=one.fingerprint, group=one.group) for one in alone
        )
        first = {} if batches else {"answered": answered, "alone": errors}
        kept = intent.model_copy(update={"submitted": clock.now(), **first})
        store.keep(kept)
        try:
            batches.append(model.submit(kept, rest))
        except MayHaveArrived:
            batch, reason = _recognised(kept, model, store, clock.now())
            return (*batches, *([batch] if batch and batch.id else ())), (reason,)
        except NightWatchError:
            store.drop(kept)
            raise
        store.keep(batches[-1])
    return tuple(batches), ()


def _recognised(
    kept: Batch, model: BatchModel, store: BatchStore, now: datetime
) -> tuple[Batch | None, str]:
    """The batch, with its id where that is sure; None where nothing came of it. Why it is not."""
    if not kept.is_intent:
        return kept, ""
    facts = {"night": kept.night, "count": len(kept.fingerprints)}
    if now - kept.submitted > KEPT:
        store.drop(kept)
        return None, ""
    if kept.account != model.account:
        return kept, _OTHER.format(**facts)
    ours, perhaps = _candidates(kept, model, {one.id for one in store.batches()})
    if ours:
        batch = kept.model_copy(update={"id": ours})
        store.keep(batch)
        return batch, ""
    if perhaps:
        return kept, _PERHAPS.format(**facts, ids=" or ".join(perhaps))
    if now - kept.submitted < SETTLING:
        return kept, _EARLY.format(**facts, at=kept.submitted + SETTLING)
    store.drop(kept)
    return None, ""


def _candidates(intent: Batch, model: BatchModel, known: set[str]) -> tuple[str, list[str]]:
    """The id of the service's batch that holds the intent's items, or those that may."""
    perhaps = list[str]()
    for one in model.newest(intent.submitted - SKEW):
        if one.id in known or one.state.total != len(intent.items) or one.state.status == "gone":
            continue
        is_ours = model.is_of(one.id, intent)
        if is_ours:
            return one.id, []
        if is_ours is None:
            perhaps.append(one.id)
    return "", perhaps
