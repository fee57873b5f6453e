"""Words for the long tail: errors a night has no room for, judged at first sight in a batch."""

from datetime import datetime

from nightwatch_core.models.batch import FirstSight, ItemResult
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.usage import Usage
from nightwatch_core.models.value import Value


class Sighting(Value):
    """What came of asking about an error, in the batch of that night."""

    group: ErrorGroup  # as it was when it was asked about
    night: str
    at: datetime  # when it was submitted
    rank: int  # among the errors of its batch, from 1
    result: ItemResult | None = None  # None: not answered yet
    taken: bool = False  # a night analysed it since

    @property
    def first_sight(self) -> FirstSight | None:
        """What was said; None where nothing was."""
        return self.result.first_sight if self.result else None

    @property
    def flagged(self) -> bool:
        """Whether it deserves an analysis."""
        return self.first_sight is not None and self.first_sight.needs_deep_investigation


class SubmittedBatch(Value):
    """A batch that a night submitted, or would have."""

    id: str = ""  # empty: held back, or nobody knows whether the service has it
    model: str
    errors: int
    expires: datetime | None = None
    note: str = ""  # why there is no id


class LongTail(Value):
    """What a night collected and submitted beyond the errors it analyses."""

    judged: tuple[Sighting, ...] = ()  # by batches that were collected tonight, or before in vain
    kept: tuple[Sighting, ...] = ()  # earlier words on tonight's errors that still hold
    waiting: tuple[Sighting, ...] = ()  # flagged on earlier nights, and not analysed since
    running: tuple[str, ...] = ()  # batches that have not ended, one sentence each
    submitted: tuple[SubmittedBatch, ...] = ()
    cost: str = ""  # of what was submitted, for people
    awaited: int = 0  # errors of tonight that an earlier batch still has
    complaints: tuple[str, ...] = ()
    usage: Usage = Usage()  # of what was collected, and of errors asked alone

    @property
    def flagged(self) -> tuple[Sighting, ...]:
        """Every error that deserves an analysis, the newest word of each."""
        every = (*self.waiting, *self.judged)
        return tuple({one.group.fingerprint: one for one in every if one.flagged}.values())
