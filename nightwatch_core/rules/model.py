"""A model that needs no network and no account: rules that read the code like a model would."""

from nightwatch_core.models.conversation import (
    AssistantTurn,
    Capabilities,
    Conversation,
    Reply,
    ToolCall,
)
from nightwatch_core.rules.answer import answer
from nightwatch_core.rules.known_code import Context, KnownCode
from nightwatch_core.rules.limits import QUESTIONS, ROUNDS


def next_turn(conversation: Conversation) -> AssistantTurn:
    """Ask for code that the rules still need, or answer with what is known.

    Nothing is remembered between calls: the same conversation gives the same turn.
    """
    code = KnownCode(conversation)
    given = answer(Context(conversation.case, conversation.research, code))
    if code.questions and not conversation.tools_off and code.rounds < ROUNDS:
        return AssistantTurn(text="I need to see more of the code.", calls=_calls(code))
    return AssistantTurn(text=given.model_dump_json())


def _calls(code: KnownCode) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(id=f"call-{code.rounds + 1}-{n}", name=asked.tool, arguments=dict(asked.arguments))
        for n, asked in enumerate(code.questions[:QUESTIONS], start=1)
    )


NAME = "rules"


class RulesModel:
    """The Model port over the rules of `nightwatch_core.rules`; keeps no state."""

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """Give the next turn; takes milliseconds, so `timeout` does not matter."""
        turn = next_turn(conversation)
        return Reply(turn=turn, stop="tools" if turn.calls else "answer")

    def capabilities(self) -> Capabilities:
        """Say that it is local and free."""
        return Capabilities(model=NAME, local=True, input_price=0, output_price=0)

    def probe(self) -> str:
        """Say what it is."""
        return "rules on this machine, no language model"
