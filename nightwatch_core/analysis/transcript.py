"""A model whose conversations are written down, turn by turn."""

from typing import Protocol

from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.analysis import Usage
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
from nightwatch_core.ports import Model


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

    def __init__(self, model: Model, keeper: Keeper, name: str) -> None:
        """Write down what `model` is told and says, in the night called `name`."""
        self._model, self._keeper, self._night = model, keeper, name
        self._turns: tuple[Turn, ...] = ()
        self._looks = 0

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
