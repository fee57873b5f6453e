"""The next turn of a conversation: questions while there are some, then the answer."""

from nightwatch_core.models.conversation import AssistantTurn, Conversation, ToolCall
from nightwatch_core.rules.answer import answer
from nightwatch_core.rules.context import Context
from nightwatch_core.rules.known_code import KnownCode

ROUNDS = 6  # turns with questions
QUESTIONS = 6  # tool calls in one turn


def next_turn(conversation: Conversation) -> AssistantTurn:
    """Ask for code that the rules still need, or answer with what is known.

    Nothing is remembered between calls: the same conversation gives the same turn.
    """
    code = KnownCode(conversation)
    found = answer(Context(conversation.case, conversation.research, code))
    if code.questions and not conversation.tools_off and code.rounds < ROUNDS:
        return AssistantTurn(text="I need to see more of the code.", calls=_calls(code))
    return AssistantTurn(text=found.model_dump_json())


def _calls(code: KnownCode) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(id=f"call-{code.rounds + 1}-{n}", name=asked.tool, arguments=dict(asked.arguments))
        for n, asked in enumerate(code.questions[:QUESTIONS], start=1)
    )
