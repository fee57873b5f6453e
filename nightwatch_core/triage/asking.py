"""Which errors are asked about: nobody who waits for an answer, or has one that still holds."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from nightwatch_core.models.batch import Batch
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.long_tail import Sighting
from nightwatch_core.triage import limits


def sightings(batch: Batch) -> tuple[Sighting, ...]:
    """Every error of a batch with what came of it, those that were asked alone too.

    Results without an error that is known here are left out.
    """
    results = {one.key: one for one in (*batch.answered, *batch.results)}
    return tuple(
        Sighting(
            group=item.group,
            night=batch.night,
            at=batch.submitted,
            rank=rank,
            result=results.get(item.key),
            taken=item.fingerprint in batch.taken,
        )
        for rank, item in enumerate((*batch.alone, *batch.items), start=1)
        if item.group is not None
    )


def latest(batches: Iterable[Batch]) -> Mapping[str, Sighting]:
    """The last sighting of every error, by each of its names; batches come oldest first."""
    return {name: one for batch in batches for one in sightings(batch) for name in one.group.names}


def is_left_over(batch: Batch) -> bool:
    """Tell whether a batch flagged errors that no night has analysed."""
    return any(one.flagged and not one.taken for one in sightings(batch))


def to_ask(
    groups: Iterable[ErrorGroup], batches: Iterable[Batch], now: datetime, days: int
) -> tuple[tuple[ErrorGroup, ...], tuple[Sighting, ...]]:
    """Part errors into those to ask about, and what is still said of the others.

    Not asked about is what waits for its answer, and what was judged at most `days` ago (0: ever)
    and has not changed since. What was refused is not asked again either; what expired, fell to
    an error or could not be read is.
    """
    known, ask, kept = latest(batches), list[ErrorGroup](), list[Sighting]()
    for group in groups:
        before = next((known[name] for name in group.names if name in known), None)
        if before is None or not _holds(before, group, now, days):
            ask.append(group)
        else:
            kept.append(before)
    return tuple(ask[: limits.ERRORS]), tuple(kept)


def _holds(before: Sighting, group: ErrorGroup, now: datetime, days: int) -> bool:
    if before.result is None:
        return True
    if before.result.kind not in ("answered", "refused"):
        return False
    is_old = days > 0 and now - before.at > timedelta(days=days)
    return not is_old and not changed(before.group, group)


def changed(before: ErrorGroup, now: ErrorGroup) -> bool:
    """Whether an error is no longer what was judged: it came back, or happens ten times as often.

    >>> was = ErrorGroup(fingerprint="v1:0", source="file", error_class="E", occurrences=3)
    >>> changed(was, was.model_copy(update={"occurrences": 29}))
    False
    >>> changed(was, was.model_copy(update={"occurrences": 30}))
    True
    """
    came_back = now.triage.state == "regressed" and before.triage.state != "regressed"
    more = now.occurrences >= limits.TENFOLD * max(before.occurrences, 1)
    users = (now.users or 0) >= limits.TENFOLD * max(before.users or 0, 1)
    return came_back or more or (users and before.users is not None)


def waiting(batches: Iterable[Batch], now: datetime) -> Iterator[Sighting]:
    """Flagged errors of collected batches that no night has analysed, the newest word of each."""
    recent = timedelta(days=limits.WAITING_DAYS)
    last = {id(one): one for one in latest(batches).values()}
    return (
        one for one in last.values() if one.flagged and not one.taken and now - one.at <= recent
    )
