"""Words for a first look at many errors at once, sent as a batch and read hours later.

Not the team's inbox (`models/triage.py`): this is what a model says at first sight.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import Conversation
from nightwatch_core.models.errors import ErrorGroup
from nightwatch_core.models.value import Value

Severity = Literal["critical", "high", "medium", "low"]
Category = Literal["code_bug", "config", "dependency", "infra", "unknown"]
ResultKind = Literal[
    "answered",  # the only kind with a first sight
    "refused",  # by the model
    "errored",  # refused by the service
    "expired",  # the service did not come to it in time; unbilled
    "canceled",
    "unreadable",  # an answer that is no first sight: cut, not JSON, not in the schema
    "missing",  # the results were read to their end, and it was not among them
]
BatchStatus = Literal["in progress", "ended", "expired", "canceled", "gone"]
KEY = r"^[a-zA-Z0-9_-]{1,64}$"
BATCH_SHARE = 0.5  # of the list prices that a batch costs


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _category(value: Any) -> Any:
    return _lower(value) if _lower(value) in get_args(Category) else "unknown"


class FirstSight(Value, extra="ignore"):
    """A model's judgement of an error without reading the code; untrusted text: escape it."""

    severity: Annotated[Severity, BeforeValidator(_lower)]
    likely_cause: str
    needs_deep_investigation: bool
    category: Annotated[Category, BeforeValidator(_category)] = "unknown"


class TriageItem(Value):
    """One error to be looked at; `key` names it in the batch."""

    key: str = Field(pattern=KEY)
    fingerprint: str
    conversation: Conversation  # one turn of ours, no tools; its `answer_schema` is the answer's
    group: ErrorGroup | None = None


class ItemResult(Value):
    """Result for one error; `usage` is its cost, half price in a batch."""

    key: str
    fingerprint: str
    kind: ResultKind
    first_sight: FirstSight | None = None
    reason: str = ""  # for people; untrusted text: escape it
    usage: Usage = Usage()


class TokenPrice(Value):
    """List prices in USD per million tokens, for prompts of up to `up_to` tokens (None: any)."""

    up_to: int | None = None
    input: float
    output: float
    cache_read: float
    cache_write: float  # for five minutes
    cache_write_1h: float


class BatchItem(Value):
    """Facts about an error that are needed when its result is read, perhaps in another night."""

    key: str = Field(pattern=KEY)
    fingerprint: str
    group: ErrorGroup | None = None


class Batch(Value):
    """One batch, or, while it has no `id`, the intent to submit it.

    `digest` names exactly these items. `submitted` is by our clock, and an intent's is when it was
    written.
    """

    id: str = Field(default="", pattern=r"^[a-zA-Z0-9_-]{0,128}$")
    digest: str = Field(pattern=r"^[0-9a-f]{16,64}$")
    night: str
    model: str
    submitted: datetime
    expires: datetime | None = None
    items: tuple[BatchItem, ...]
    prices: tuple[TokenPrice, ...] = ()  # as they were; empty: unknown
    priced: str = ""  # date of the prices
    results: tuple[ItemResult, ...] = ()  # as they were read; empty: not yet
    collected_by: str = ""  # the night whose report has the results
    taken: tuple[str, ...] = ()  # fingerprints that a night analysed since

    @classmethod
    def intent(cls, items: Sequence[TriageItem], **fields: Any) -> "Batch":
        """Return the intent to submit these items; `fields` are the batch's others."""
        keys = json.dumps(sorted(item.key for item in items))
        rows = tuple(
            BatchItem(key=item.key, fingerprint=item.fingerprint, group=item.group)
            for item in items
        )
        return cls(digest=hashlib.sha256(keys.encode()).hexdigest()[:32], items=rows, **fields)

    @property
    def is_intent(self) -> bool:
        """Tell whether it is not known which batch of the service it is."""
        return not self.id

    @property
    def fingerprints(self) -> frozenset[str]:
        """Return the fingerprints of all its errors."""
        return frozenset(item.fingerprint for item in self.items)


class BatchState(Value):
    """State of a batch; all counts but `processing` stay 0 until it has ended."""

    status: BatchStatus
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0
    expires: datetime | None = None
    readable: bool = False  # there are results to be read
    reason: str = ""  # for people, where there is more to say

    @property
    def total(self) -> int:
        """Return items of the batch."""
        return self.processing + self.succeeded + self.errored + self.canceled + self.expired


class ListedBatch(Value):
    """A batch as the service lists it: it does not say what is in it before it has ended."""

    id: str
    created: datetime  # by the service's clock
    state: BatchState


class Submission(Value):
    """Submitted batches; an unsure one waits for a later night, and is never sent again."""

    batches: tuple[Batch, ...] = ()
    waiting: tuple[str, ...] = ()  # fingerprints that a batch which is not collected has already
    unsure: tuple[str, ...] = ()  # sentences with what to do


class Settled(Value):
    """State of stored batches, after the service was asked about intents."""

    open: tuple[Batch, ...] = ()  # with an id, not collected, oldest first
    intents: tuple[Batch, ...] = ()  # of which it is not known what became of them
    unsure: tuple[str, ...] = ()  # about these intents, and about files that cannot be read
