"""Models around a model: one that remembers finished turns, one that writes down what is said."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from pydantic import ValidationError

from nightwatch_core.analysis.answers import read_answer, read_object
from nightwatch_core.errors import GiveUp, MayHaveArrived, NightWatchError
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.batch import (
    Batch,
    BatchItem,
    Settled,
    Submission,
    TokenPrice,
    TriageItem,
)
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Capabilities,
    Conversation,
    RecordedCall,
    RecordedResult,
    Reply,
    ResultsTurn,
    TranscriptEntry,
    TranscriptOpening,
    Turn,
)
from nightwatch_core.models.errors import ErrorGroup
from nightwatch_core.models.value import Value
from nightwatch_core.ports import BatchModel, BatchStore, Clock, Model, Records

T = TypeVar("T", bound=Value)


class _Wrapped:
    """What a model around another one hands on."""

    _model: Model

    def capabilities(self) -> Capabilities:
        """Return the wrapped model's capabilities."""
        return self._model.capabilities()

    def probe(self) -> str:
        """Return the wrapped model's answer."""
        return self._model.probe()


class ResumableModel(_Wrapped):
    """A Model whose turns are kept in `records`, keyed by the whole request.

    `prefix` has to name the rest: the night, and the model. Kept are turns that lead on and answers
    that can be read. A refusal, an unreadable answer or a turn of a model that stood in for another
    must not come back for as long as records live. The usage of failed attempts is kept, too, and
    counted with the turn that follows them.
    """

    def __init__(self, model: Model, records: Records, prefix: str) -> None:
        self._model, self._records, self._prefix = model, records, prefix

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """Return the kept turn of this very conversation, else a new one, which is kept."""
        digest = hashlib.sha256(_json(conversation).encode()).hexdigest()[:32]
        key = f"{self._prefix}/{digest}"
        if kept := self._kept(key, Reply):
            return kept
        lost = self._kept(f"{key}-lost", Usage) or Usage()
        try:
            reply = self._model.reply(conversation, timeout)
        except NightWatchError as trouble:
            trouble.usage = lost + (trouble.usage or Usage())
            if trouble.usage != lost:
                self._records.put(f"{key}-lost", _json(trouble.usage))
            raise
        reply = reply.model_copy(update={"usage": lost + reply.usage})
        if _is_finished(reply, conversation):
            self._records.put(key, _json(reply))
        return reply

    def _kept(self, key: str, shape: type[T]) -> T | None:
        try:
            return shape.model_validate(json.loads(self._records.get(key) or ""))
        except (ValidationError, ValueError):  # none, or damaged
            return None


def _is_finished(reply: Reply, conversation: Conversation) -> bool:
    """Check whether a night that is taken up again has to find this turn.

    A message that was cut off is one where it asks for tools: it is told so, and goes on.
    """
    if reply.stop not in ("tools", "paused", "answer", "cut"):
        return False
    if not conversation.tools_off and (reply.turn.calls or reply.stop == "paused"):
        return True
    fields = tuple(conversation.answer_schema.get("required", ()))
    is_other = bool(fields) and "root_cause" not in fields
    try:
        read_object(reply.turn.text, fields) if is_other else read_answer(reply.turn.text)
    except GiveUp:
        return False
    return True


def _json(value: Value) -> str:
    """JSON in plain ASCII: what models say may hold half characters, which pydantic refuses."""
    return json.dumps(value.model_dump(mode="json"), sort_keys=True)


class Keeper(Protocol):
    """Where transcripts are kept; it never fails, a lost line is its own affair."""

    def keep(self, night: str, fingerprint: str, entry: TranscriptEntry) -> None:
        """Add one line to the error's transcript of that night."""
        ...


class TranscribedModel(_Wrapped):
    """A Model for one error, one conversation at a time, whose turns `keeper` writes down.

    Only new turns are written, or everything where another conversation begins.
    """

    def __init__(self, model: Model, keeper: Keeper, name: str, looks: int = 0) -> None:
        self._model, self._keeper, self._night = model, keeper, name
        self._turns: tuple[Turn, ...] = ()
        self._looks = looks

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """Return the model's next turn, or what it raises; both are written down."""
        known = len(self._turns)
        if not known or conversation.turns[:known] != self._turns:
            known, self._looks = 0, self._looks + 1
            self._keep(conversation, self._opening(conversation))
        for turn in conversation.turns[known:]:
            self._keep(conversation, _entry(turn))
        self._turns = conversation.turns
        try:
            reply = self._model.reply(conversation, timeout)
        except NightWatchError as trouble:
            text, usage = str(trouble), trouble.usage or Usage()
            self._keep(conversation, TranscriptEntry(kind="failure", text=text, usage=usage))
            raise
        update = {"stop": reply.stop, "detail": reply.detail, "usage": reply.usage}
        self._keep(conversation, _entry(reply.turn).model_copy(update=update))
        self._turns = (*conversation.turns, reply.turn)
        return reply

    def _opening(self, conversation: Conversation) -> TranscriptEntry:
        return TranscriptEntry(
            kind="opening",
            opening=TranscriptOpening(
                night=self._night,
                fingerprint=conversation.case.fingerprint,
                error=conversation.case.leader.title,
                model=self._model.capabilities().model,
                effort=conversation.effort,
                tools=tuple(spec.name for spec in conversation.tools),
                look=self._looks,
                system=conversation.system,
            ),
        )

    def _keep(self, conversation: Conversation, entry: TranscriptEntry) -> None:
        self._keeper.keep(self._night, conversation.case.fingerprint, entry)


def _entry(turn: Turn) -> TranscriptEntry:
    if isinstance(turn, AssistantTurn):
        calls = tuple(RecordedCall(name=call.name, arguments=call.arguments) for call in turn.calls)
        return TranscriptEntry(kind="assistant", text=turn.text, calls=calls)
    if isinstance(turn, ResultsTurn):
        results = tuple(
            RecordedResult(name=result.name, text=result.text, is_error=result.is_error)
            for result in turn.results
        )
        return TranscriptEntry(kind="results", results=results)
    return TranscriptEntry(kind="user", text=turn.text)


# Names for what is sent as a batch: of the whole set, of each item, of each batch.
#
# An item's key carries the name of its set, so that a batch that was submitted by a night which did
# not live to write down its id can be recognised by what is in it.


def request_set(
    night: str, asked: Sequence[tuple[ErrorGroup, Conversation]]
) -> tuple[TriageItem, ...]:
    """Return the items to submit, one for each error; equal questions of a night give equal keys.

    An error that is asked about twice is there once.
    """
    questions = {group.fingerprint: (group, talk) for group, talk in asked}
    texts = [
        json.dumps((name, talk.system, [turn.model_dump(mode="json") for turn in talk.turns]))
        for name, (_, talk) in questions.items()
    ]
    name = _digest_of((night, *texts), 24)
    return tuple(
        TriageItem(
            key=f"{name}-{_digest_of((fingerprint,), 32)}",
            fingerprint=fingerprint,
            conversation=talk,
            group=group,
        )
        for fingerprint, (group, talk) in questions.items()
    )


def intent_of(
    items: Sequence[TriageItem],
    night: str,
    model: str,
    now: datetime,
    prices: tuple[TokenPrice, ...] = (),
    priced: str = "",
    account: str = "",
) -> Batch:
    """Return the intent to submit these items as one batch."""
    return Batch(
        digest=_digest_of(sorted(item.key for item in items), 32),
        night=night,
        model=model,
        submitted=now,
        items=_batch_items(items),
        prices=prices,
        priced=priced,
        account=account,
    )


def _batch_items(items: Iterable[TriageItem]) -> tuple[BatchItem, ...]:
    return tuple(
        BatchItem(key=item.key, fingerprint=item.fingerprint, group=item.group) for item in items
    )


def _digest_of(parts: Iterable[str], length: int) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()[:length]


# Batches that are submitted once, whatever happens between the intent and the service's answer.
#
# The intent is kept before anything is sent, the id after it. An intent without an id is looked for
# at the service: of the batches created since, with as many items, the one whose items carry our
# keys
# is ours. That can be read only when a batch has ended; until then nothing of it is sent again.

SKEW = timedelta(hours=1)  # between the service's clock and ours
SETTLING = timedelta(minutes=30)  # until what was sent is on the service's list, or never will be
KEPT = timedelta(days=29)  # that the service keeps results
_UNKNOWN = "it is not known whether the batch of night {night} ({count} errors) was submitted"
_OTHER = (
    f"{_UNKNOWN}, and it cannot be looked for: address or key are not those it was submitted with. "
    "Set them as they were, or remove its file"
)
_PERHAPS = (
    f"{_UNKNOWN}: it may be {{ids}}. That shows when the service has ended it; until then nothing "
    "is submitted again"
)
_EARLY = (
    f"{_UNKNOWN}: the service does not list it so far. It is looked for again from "
    "{at:%Y-%m-%d %H:%M} UTC on"
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
        names = {name for item in (*settled.open, *settled.intents) for name in item.fingerprints}
        wanted = [item for item in items if item.fingerprint not in names]
        waiting = tuple(item.fingerprint for item in items if item.fingerprint in names)
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
        open=tuple(batch for batch in batches if batch.id and not batch.collected_by),
        intents=tuple(batch for batch in batches if batch.is_intent),
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
    answered = tuple(model.ask_one(item, seconds) for item in alone)
    batches = list[Batch]()
    for intent in intents:
        first = {} if batches else {"answered": answered, "alone": _batch_items(alone)}
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
    if now - kept.submitted > KEPT:
        store.drop(kept)
        return None, ""
    facts = {"night": kept.night, "count": len(kept.fingerprints)}
    if kept.account != model.account:
        return kept, _OTHER.format(**facts)
    known, perhaps = {batch.id for batch in store.batches()}, list[str]()
    for found in model.newest(kept.submitted - SKEW):
        is_other = found.state.total != len(kept.items) or found.state.status == "gone"
        is_ours = False if found.id in known or is_other else model.is_of(found.id, kept)
        if is_ours:
            batch = kept.model_copy(update={"id": found.id})
            store.keep(batch)
            return batch, ""
        perhaps += [found.id] if is_ours is None else []
    if perhaps:
        return kept, _PERHAPS.format(**facts, ids=" or ".join(perhaps))
    if now - kept.submitted < SETTLING:
        return kept, _EARLY.format(**facts, at=kept.submitted + SETTLING)
    store.drop(kept)
    return None, ""
