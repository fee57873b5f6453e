"""Wrappers of a model: one keeps finished turns, one writes transcripts."""

import hashlib
import json
from typing import Protocol, TypeVar

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.models import conversation as chat
from nightwatch_core.models.answer import Answer, Usage
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Model, Records
from nightwatch_core.text.json_objects import object_in

T = TypeVar("T", bound=Value)


class _Wrapped:
    """Pass everything on to the model inside."""

    _model: Model

    def capabilities(self) -> chat.Capabilities:
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

    def reply(self, conversation: chat.Conversation, timeout: float) -> chat.Reply:
        """Return the kept turn of this very conversation, else a new one, which is kept."""
        digest = hashlib.sha256(plain_json(conversation).encode()).hexdigest()[:32]
        key = f"{self._prefix}/{digest}"
        if before := kept(self._records, key, chat.Reply):
            return before
        lost = kept(self._records, f"{key}-lost", Usage) or Usage()
        try:
            reply = self._model.reply(conversation, timeout)
        except NightWatchError as trouble:
            trouble.usage = lost + (trouble.usage or Usage())
            if trouble.usage != lost:
                self._records.put(f"{key}-lost", plain_json(trouble.usage))
            raise
        reply = reply.model_copy(update={"usage": lost + reply.usage})
        if _is_finished(reply, conversation):
            self._records.put(key, plain_json(reply))
        return reply


def kept(records: Records, key: str, shape: type[T]) -> T | None:
    """Return the record of that shape; None where there is none, or it is damaged."""
    try:
        return shape.model_validate(json.loads(records.get(key) or ""))
    except (ValidationError, ValueError):
        return None


def _is_finished(reply: chat.Reply, conversation: chat.Conversation) -> bool:
    """Check whether a night that is taken up again has to find this turn.

    A message that was cut off is one where it asks for tools: it is told so, and goes on.
    """
    if reply.stop in ("refused", "context exceeded"):
        return False
    if not conversation.tools_off and (reply.turn.calls or reply.stop == "paused"):
        return True
    needed = conversation.answer_schema.get("required") or Answer.model_fields
    try:
        object_in(reply.turn.text, needed)
    except GiveUp:
        return False
    return True


def plain_json(value: Value) -> str:
    """Write ASCII: what models say may hold half characters, which pydantic refuses."""
    return json.dumps(value.model_dump(mode="json"), sort_keys=True)


class Keeper(Protocol):
    """Where transcripts are kept; it never fails, a lost line is its own affair."""

    def keep(self, night: str, fingerprint: str, entry: chat.TranscriptEntry) -> None:
        """Add one line to the error's transcript of that night."""


class TranscribedModel(_Wrapped):
    """A Model for one error, one conversation at a time, whose turns `keeper` writes down.

    Only new turns are written, or everything where another conversation begins.
    """

    def __init__(self, model: Model, keeper: Keeper, name: str, looks: int = 0) -> None:
        self._model, self._keeper, self._night = model, keeper, name
        self._turns: tuple[chat.Turn, ...] = ()
        self._looks = looks

    def reply(self, conversation: chat.Conversation, timeout: float) -> chat.Reply:
        """Return the model's next turn, or what it raises; both are written down."""
        recorded = len(self._turns)
        if not recorded or conversation.turns[:recorded] != self._turns:
            recorded, self._looks = 0, self._looks + 1
            self._keep(conversation, self._opening(conversation))
        for turn in conversation.turns[recorded:]:
            self._keep(conversation, _entry(turn))
        self._turns = conversation.turns
        try:
            reply = self._model.reply(conversation, timeout)
        except NightWatchError as trouble:
            text, usage = str(trouble), trouble.usage or Usage()
            self._keep(conversation, chat.TranscriptEntry(kind="failure", text=text, usage=usage))
            raise
        update = {"stop": reply.stop, "detail": reply.detail, "usage": reply.usage}
        self._keep(conversation, _entry(reply.turn).model_copy(update=update))
        self._turns = (*conversation.turns, reply.turn)
        return reply

    def _opening(self, conversation: chat.Conversation) -> chat.TranscriptEntry:
        return chat.TranscriptEntry(
            kind="opening",
            opening=chat.TranscriptOpening(
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

    def _keep(self, conversation: chat.Conversation, entry: chat.TranscriptEntry) -> None:
        self._keeper.keep(self._night, conversation.case.fingerprint, entry)


def _entry(turn: chat.Turn) -> chat.TranscriptEntry:
    if isinstance(turn, chat.AssistantTurn):
        calls = tuple(chat.RecordedCall(name=c.name, arguments=c.arguments) for c in turn.calls)
        return chat.TranscriptEntry(kind="assistant", text=turn.text, calls=calls)
    if isinstance(turn, chat.ResultsTurn):
        results = tuple(
            chat.RecordedResult(name=result.name, text=result.text, is_error=result.is_error)
            for result in turn.results
        )
        return chat.TranscriptEntry(kind="results", results=results)
    return chat.TranscriptEntry(kind="user", text=turn.text)
