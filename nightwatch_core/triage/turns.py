"""Whose turn it is to be analysed: flagged errors by severity, in turns with tonight's own."""

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import get_args

from nightwatch_core.models.batch import Severity
from nightwatch_core.models.error import DroppedGroup, ErrorGroup, Selection
from nightwatch_core.models.long_tail import Sighting

_ORDER: tuple[str, ...] = get_args(Severity)  # the worst first


def flagged(sightings: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """Those that deserve an analysis and had none, the worst first, then as they were ranked."""
    open_ones = (one for one in sightings if one.flagged and not one.taken)
    return tuple(sorted(open_ones, key=_place))


def with_flagged(selection: Selection, sightings: Sequence[Sighting], candidates: int) -> Selection:
    """Let tonight's errors and flagged ones take turns, tonight's best first.

    At most `candidates` flagged ones come in. One that was seen tonight comes as it was tonight;
    it comes once, and not at all where somebody ignores it.
    """
    ignored = {
        name for one in selection.dropped if one.kind == "ignored" for name in one.group.names
    }
    tonight = {name: group for group in _seen(selection) for name in group.names}
    wanted = (tonight.get(one.group.fingerprint, one.group) for one in flagged(sightings))
    come = [one for one in wanted if ignored.isdisjoint(one.names)][:candidates]
    turns = filter(None, chain.from_iterable(zip_longest(selection.kept, come)))
    kept = tuple({one.fingerprint: one for one in turns}.values())
    names = {one.fingerprint for one in kept}
    dropped = tuple(one for one in selection.dropped if one.group.fingerprint not in names)
    earlier = tuple(sorted(names - {group.fingerprint for group in _seen(selection)}))
    return selection.model_copy(update={"kept": kept, "dropped": dropped, "earlier": earlier})


def only_flagged(
    groups: Iterable[ErrorGroup], sightings: Sequence[Sighting], candidates: int
) -> Selection:
    """Select flagged errors alone, as they were seen now where they were; the worst first."""
    now = {name: group for group in groups for name in group.names}
    every = [now.get(one.group.fingerprint, one.group) for one in flagged(sightings)]
    late = (
        DroppedGroup(group=group, reason=f"flagged, place {place} of {len(every)}: it waits")
        for place, group in enumerate(every[candidates:], start=candidates + 1)
    )
    return Selection(kept=tuple(every[:candidates]), dropped=tuple(late))


def _seen(selection: Selection) -> tuple[ErrorGroup, ...]:
    return (*selection.kept, *(one.group for one in selection.dropped))


def _place(one: Sighting) -> tuple[int, int]:
    severity = one.first_sight.severity if one.first_sight else _ORDER[-1]
    return _ORDER.index(severity), one.rank
