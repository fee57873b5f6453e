"""Models around a model: one that remembers finished turns, one that writes down what is said."""

import hashlib
import json
from typing import Protocol

from pydantic import ValidationError

from nightwatch_core.analysis.answer_reading import read_answer
from nightwatch_core.analysis.json_objects import read_object
from nightwatch_core.errors import GiveUp, NightWatchError
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
from nightwatch_core.models.usage import Usage
from nightwatch_core.ports import Model, Records

_LEADING_ON = ("tools", "paused")


class ResumableModel:
    """A Model whose turns are kept in `records`, keyed by everything that was said.

    Everything is the whole request: prompt, tools, schema, turns, effort, how much may be written.
    `prefix` has to name the rest: the night, and the model. Kept are turns that lead on and answers
    that can be read. A refusal, an unreadable answer or a turn of a model that stood in for another
    must not come back for as long as records live. What attempts took that came to nothing is kept
    too, and counted with the turn that came of it.
    """

    def __init__(self, model: Model, records: Records, prefix: str) -> None:
        """Keep turns of `model` below `prefix`."""
        self._model, self._records, self._prefix = model, records, prefix

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """The turn that was kept for this very conversation, else a new one, which is kept."""
        key = f"{self._prefix}/{_digest(conversation)}"
        kept = self._records.get(key)
        if kept is not None:
            try:
                return Reply.model_validate(json.loads(kept))
            except (ValidationError, ValueError):
                pass  # damaged, or written by an older version: ask again
        lost = self._lost(key)
        try:
            reply = self._model.reply(conversation, timeout)
        except NightWatchError as trouble:
            trouble.usage = lost + (trouble.usage or Usage())
            if trouble.usage != lost:
                self._records.put(f"{key}-lost", _text(trouble.usage))
            raise
        reply = reply.model_copy(update={"usage": lost + reply.usage})
        if _is_finished(reply, conversation):
            self._records.put(key, _text(reply))
        return reply

    def capabilities(self) -> Capabilities:
        """What the model behind can do."""
        return self._model.capabilities()

    def probe(self) -> str:
        """What the model behind says."""
        return self._model.probe()

    def _lost(self, key: str) -> Usage:
        """What earlier attempts at this turn took."""
        try:
            return Usage.model_validate(json.loads(self._records.get(f"{key}-lost") or "{}"))
        except (ValidationError, ValueError):
            return Usage()


def _is_finished(reply: Reply, conversation: Conversation) -> bool:
    """Whether a night that is taken up again has to find this turn.

    A message that was cut off is one where it asks for tools: it is told so, and goes on.
    """
    if reply.stop not in (*_LEADING_ON, "answer", "cut"):
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


def _digest(conversation: Conversation) -> str:
    return hashlib.sha256(_text(conversation).encode()).hexdigest()[:32]


def _text(value: Conversation | Reply | Usage) -> str:
    """JSON in plain ASCII: what models say may hold half characters, which pydantic refuses."""
    return json.dumps(value.model_dump(mode="json"), sort_keys=True)


class Keeper(Protocol):
    """Where transcripts are kept; it never fails, a lost line is its own affair."""

    def keep(self, night: str, fingerprint: str, entry: TranscriptEntry) -> None:
        """Add one line to the error's transcript of that night."""
        ...


class TranscribedModel:
    """A Model for one error, one conversation at a time, which `keeper` hears of.

    What was said already is not said again: only turns that are new, or everything where another
    conversation begins.
    """

    def __init__(self, model: Model, keeper: Keeper, name: str, looks: int = 0) -> None:
        """Write down what `model` is told and says, in the night `name`, after so many looks."""
        self._model, self._keeper, self._night = model, keeper, name
        self._turns: tuple[Turn, ...] = ()
        self._looks = looks

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """The model's next turn, or what it raises; both are written down."""
        self._tell_news(conversation)
        try:
            reply = self._model.reply(conversation, timeout)
        except NightWatchError as trouble:
            usage = trouble.usage or Usage()
            self._keep(
                conversation, TranscriptEntry(kind="failure", text=str(trouble), usage=usage)
            )
            raise
        said = {"stop": reply.stop, "detail": reply.detail, "usage": reply.usage}
        self._keep(conversation, _entry(reply.turn).model_copy(update=said))
        self._turns = (*conversation.turns, reply.turn)
        return reply

    def capabilities(self) -> Capabilities:
        """What the model behind can do."""
        return self._model.capabilities()

    def probe(self) -> str:
        """What the model behind says."""
        return self._model.probe()

    def _tell_news(self, conversation: Conversation) -> None:
        known = len(self._turns)
        if not known or conversation.turns[:known] != self._turns:
            known, self._looks = 0, self._looks + 1
            self._keep(conversation, self._opening(conversation))
        for turn in conversation.turns[known:]:
            self._keep(conversation, _entry(turn))
        self._turns = conversation.turns

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
        calls = tuple(RecordedCall(name=one.name, arguments=one.arguments) for one in turn.calls)
        return TranscriptEntry(kind="assistant", text=turn.text, calls=calls)
    if isinstance(turn, ResultsTurn):
        results = tuple(
            RecordedResult(name=one.name, text=one.text, is_error=one.is_error)
            for one in turn.results
        )
        return TranscriptEntry(kind="results", results=results)
    return TranscriptEntry(kind="user", text=turn.text)
