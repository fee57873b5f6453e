"""Plan of a night's batches: questions, and cost."""

from nightwatch_core.models.assignment import Sighting, SubmittedBatch
from nightwatch_core.models.batch import Batch, TriageItem
from nightwatch_core.models.value import Value
from nightwatch_core.triage.costs import BatchCost, affordable, cost_of, left_over


class Questions(Value):
    """Errors to ask about, and earlier words on others that still hold."""

    items: tuple[TriageItem, ...] = ()
    kept: tuple[Sighting, ...] = ()
    complaint: str = ""  # about the agent file


class Plan(Value):
    """Questions to submit, their cost, and the number beyond the budget."""

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
