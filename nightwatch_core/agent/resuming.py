"""A model that remembers the turns it finished, so that a killed night does not pay twice."""

import hashlib
import json

from pydantic import ValidationError

from nightwatch_core.models.conversation import Capabilities, Conversation, Reply
from nightwatch_core.ports import Model, Records

_KEPT = ("tools", "paused")  # turns that lead on; an end, good or bad, is asked for again


class ResumableModel:
    """A Model whose turns are kept in `records`, keyed by everything that was said.

    Only turns that lead on are kept: a refusal or an unreadable answer must not come back for as
    long as records live, and a good answer is kept by whoever asked for it.
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
        reply = self._model.reply(conversation, timeout)
        if reply.stop in _KEPT:
            self._records.put(key, _text(reply))
        return reply

    def capabilities(self) -> Capabilities:
        """What the model behind can do."""
        return self._model.capabilities()

    def probe(self) -> str:
        """What the model behind says."""
        return self._model.probe()


def _digest(conversation: Conversation) -> str:
    return hashlib.sha256(_text(conversation).encode()).hexdigest()[:32]


def _text(value: Conversation | Reply) -> str:
    """JSON in plain ASCII: what models say may hold half characters, which pydantic refuses."""
    return json.dumps(value.model_dump(mode="json"), sort_keys=True)
