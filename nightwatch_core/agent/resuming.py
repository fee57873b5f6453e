"""A model that remembers the turns it finished, so that a killed night does not pay twice."""

import hashlib

from pydantic import ValidationError

from nightwatch_core.models.conversation import Capabilities, Conversation, Reply
from nightwatch_core.ports import Model, Records


class ResumableModel:
    """A Model whose turns are kept in `records`, keyed by everything that was said."""

    def __init__(self, model: Model, records: Records, prefix: str) -> None:
        """Keep turns of `model` below `prefix`."""
        self._model, self._records, self._prefix = model, records, prefix

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """The turn that was kept for this very conversation, else a new one, which is kept."""
        key = f"{self._prefix}/{_digest(conversation)}"
        kept = self._records.get(key)
        if kept is not None:
            try:
                return Reply.model_validate_json(kept)
            except ValidationError:
                pass  # written by an older version: ask again
        reply = self._model.reply(conversation, timeout)
        self._records.put(key, reply.model_dump_json())
        return reply

    def capabilities(self) -> Capabilities:
        """What the model behind can do."""
        return self._model.capabilities()


def _digest(conversation: Conversation) -> str:
    return hashlib.sha256(conversation.model_dump_json().encode()).hexdigest()[:32]
