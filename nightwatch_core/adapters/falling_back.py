"""A model that answers where another one cannot be reached, and says so."""

import json
import time
from collections.abc import Sequence

from nightwatch_core.errors import TryLater
from nightwatch_core.escaping import line
from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.conversation import (
    FELL_BACK,
    AssistantTurn,
    Capabilities,
    Conversation,
    Reply,
    Turn,
)
from nightwatch_core.ports import Model

_MARK = "fell back"
_NEXT = "{said}, because: {why} Analyse this error again once the model can be reached."


class FallingBack:
    """`first`, but `second` for conversations that `first` could not begin.

    Whoever begins a conversation leads it to its end: the second one's turns are marked, so that no
    state is kept here. Its answer carries the tag `FELL_BACK` and the reason as a next step, and
    its replies have both in `detail`. Only `TryLater` makes it fall back: bad credentials and
    retired models end the night, and a `TryLater` in mid-conversation is the caller's to repeat.

    With `midway`, for a caller who will not repeat it, the second model takes over in
    mid-conversation too: it begins anew from the opening, and never sees what the first one did.
    """

    def __init__(self, first: Model, second: Model, tries: int = 1, midway: bool = False) -> None:
        """Ask `first` up to `tries` times for a turn that may fall to `second`."""
        self._first, self._second, self._tries = first, second, tries
        self._midway = midway

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """The next turn by the model that leads this conversation."""
        turns = [turn for turn in conversation.turns if isinstance(turn, AssistantTurn)]
        if turns and (why := _reason(turns[-1])):
            return self._instead(conversation, timeout, why, Usage())
        if turns and not self._midway:
            return self._first.reply(conversation, timeout)
        return self._asked(conversation, timeout)

    def capabilities(self) -> Capabilities:
        """The first model's; the second's, with the reason as its note, while it is away."""
        try:
            return self._first.capabilities()
        except TryLater as trouble:
            able = self._second.capabilities()
            return able.model_copy(update={"note": f"{FELL_BACK}: {line(str(trouble), 300)}"})

    def _asked(self, conversation: Conversation, timeout: float) -> Reply:
        end, why, spent = time.monotonic() + timeout, "it was not asked", Usage()
        for _ in range(self._tries):
            left = end - time.monotonic()
            if left <= 0:
                break
            try:
                reply = self._first.reply(conversation, left)
                return reply.model_copy(update={"usage": spent + reply.usage})
            except TryLater as trouble:
                why, spent = line(str(trouble), 300), spent + (trouble.usage or Usage())
        return self._instead(conversation, timeout, why, spent)

    def _instead(self, conversation: Conversation, timeout: float, why: str, spent: Usage) -> Reply:
        """The second model's turn, marked; it never sees the marks."""
        turns = tuple(
            turn.model_copy(update={"opaque": _unmarked(turn)})
            if isinstance(turn, AssistantTurn)
            else turn
            for turn in _its_own(conversation.turns)
        )
        plain = conversation.model_copy(update={"turns": turns})
        reply = self._second.reply(plain, timeout)
        mark = json.dumps({_MARK: why, "opaque": reply.turn.opaque})
        text = reply.turn.text if reply.turn.calls else _tagged(reply.turn.text, why)
        turn = reply.turn.model_copy(update={"opaque": mark, "text": text})
        detail = "; ".join(filter(None, (f"{FELL_BACK}: {why}", reply.detail)))
        told = {"turn": turn, "detail": detail, "usage": spent + reply.usage}
        return reply.model_copy(update=told)


def _its_own(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The opening, and what was said since the second model took over."""
    said = [number for number, turn in enumerate(turns) if isinstance(turn, AssistantTurn)]
    marked = (n for n in said if isinstance(turn := turns[n], AssistantTurn) and _reason(turn))
    opening = said[0] if said else len(turns)
    return (*turns[:opening], *turns[next(marked, len(turns)) :])


def _marks(turn: AssistantTurn) -> dict[str, str]:
    try:
        marks = json.loads(turn.opaque or "{}")
    except ValueError:
        return {}
    return marks if isinstance(marks, dict) and _MARK in marks else {}


def _reason(turn: AssistantTurn) -> str:
    return _marks(turn).get(_MARK, "")


def _unmarked(turn: AssistantTurn) -> str:
    return _marks(turn).get("opaque", turn.opaque)


def _tagged(text: str, why: str) -> str:
    """The answer with the tag and the reason; what is no JSON object stays as it is."""
    try:
        answer = json.loads(text)
    except ValueError:
        return text
    if not isinstance(answer, dict):
        return text
    told = _NEXT.format(said=FELL_BACK.capitalize(), why=why.rstrip(".") + ".")
    more = {
        "tags": [FELL_BACK, *_listed(answer.get("tags"))],
        "suggested_next_steps": [told, *_listed(answer.get("suggested_next_steps"))],
    }
    return json.dumps({**answer, **more})


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
