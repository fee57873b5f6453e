"""What a night that is taken up, or a step that is tried again, need not ask and pay for again."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Answer, Usage
from nightwatch_core.models.conversation import Conversation, Reply
from nightwatch_core.models.journal import Event
from nightwatch_core.privacy.proxy import Member
from nightwatch_core.text.json_objects import object_in


class Earlier(NamedTuple):
    """An event of the night with the same question, and the answer as JSON."""

    event: Event
    value: Any


class EarlierAnswers(Protocol):
    """Finds what any process of the night was answered before."""

    def of(self, question: Event) -> tuple[Earlier, ...]:
        """Return the events of the same port, call and exact question, in their order."""


class Resumption(NamedTuple):
    """A call whose finished answer is given again."""

    is_finished: Callable[[Any, Mapping[str, Any]], bool]  # of the answer and the arguments

    def answer(
        self, before: Iterable[Earlier], member: Member, arguments: Mapping[str, Any]
    ) -> Any:
        """Return the finished answer among those given before; None where it is to be asked.

        An answer that masks have changed is not given again: it is not what was said.
        """
        for event, plain in before:
            if event.kind == "value" and not event.masked:
                try:
                    value = member.value(plain)
                except ValidationError:  # of an older version
                    continue
                if self.is_finished(value, arguments):
                    return value
        return None


def failed_usage(before: Iterable[Earlier]) -> Usage | None:
    """Return what attempts took that brought no answer; None for nothing."""
    failures = [event.usage for event, _ in before if event.kind != "value" and event.usage]
    return sum(failures, Usage()) if failures else None


def is_finished(reply: Reply, arguments: Mapping[str, Any]) -> bool:
    """Check whether a night that is taken up again has to find this turn of a model.

    A refusal, an unreadable answer or a turn of a model that stood in for another must not come
    back. A message that was cut off is one where it asks for tools: it is told so, and goes on.
    """
    conversation: Conversation = arguments["conversation"]
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


RESUMED: Mapping[str, Resumption] = {"model.reply": Resumption(is_finished)}
"""Calls that cost: a finished answer of the same night is given again."""
