"""What a night submits: the questions, the batches made of them, and what they may cost."""

from collections.abc import Sequence

from nightwatch_core.intake.selection import select
from nightwatch_core.models.assignment import Sighting, SubmittedBatch
from nightwatch_core.models.batch import Batch, TriageItem
from nightwatch_core.models.errors import DroppedGroup, ErrorGroup, Fetched
from nightwatch_core.models.knowledge import IgnoreRules
from nightwatch_core.models.value import Value
from nightwatch_core.triage.costs import BatchCost, affordable, cost_of, left_over


class Questions(Value):
    """Errors to ask about, and earlier words on others that still hold."""

    items: tuple[TriageItem, ...] = ()
    kept: tuple[Sighting, ...] = ()
    complaint: str = ""  # about the agent file


class Plan(Value):
    """What is submitted of the questions, what it costs, and how many money was not left for."""

    items: tuple[TriageItem, ...] = ()
    cost: BatchCost = BatchCost()
    over: str = ""


def plan(items: tuple[TriageItem, ...], prices: Batch, left: float | None) -> Plan:
    """Take as many of the items, best first, as cannot cost more than `left` USD; None: all."""
    some = items[: affordable(items, prices, left)]
    over = left_over(len(items) - len(some), left)
    return Plan(items=some, cost=cost_of(some, prices), over=over)


def submitted(batch: Batch) -> SubmittedBatch:
    """Make what the report says of a batch."""
    return SubmittedBatch(
        id=batch.id, model=batch.model, errors=len(batch.fingerprints), expires=batch.expires
    )


def long_tail(
    fetched: Fetched, dropped: Sequence[DroppedGroup], known: Sequence[str]
) -> tuple[ErrorGroup, ...]:
    """List the errors a night had no room for, best ranked first, but for those lessons cover."""
    names = frozenset(known)
    left = {one.group.fingerprint for one in dropped if one.kind == "limit"}
    ranked = select(fetched.groups, IgnoreRules(), len(fetched.groups), fetched.window).kept
    return tuple(
        group for group in ranked if group.fingerprint in left and group.fingerprint not in names
    )
