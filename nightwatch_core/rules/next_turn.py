"""The next turn of a conversation: questions while there are some, then the answer."""

from nightwatch_core.models.conversation import AssistantTurn, Conversation, ToolCall
from nightwatch_core.rules.answer import answer
from nightwatch_core.rules.context import Context
from nightwatch_core.rules.known_code import Notebook

ROUNDS = 6  # turns with questions
QUESTIONS = 6  # tool calls in one turn


def next_turn(conversation: Conversation) -> AssistantTurn:
    """Ask for code that the rules still need, or answer with what is known.

    Nothing is remembered between calls: the same conversation gives the same turn.
    """
    notebook = Notebook(conversation)
    context = Context(conversation.case, conversation.research, notebook)
    found = answer(context)
    if notebook.wishes and not conversation.tools_off and notebook.rounds < ROUNDS:
        return AssistantTurn(text="I need to see more of the code.", calls=_calls(notebook))
    return AssistantTurn(text=found.model_dump_json())


def _calls(notebook: Notebook) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(id=f"call-{notebook.rounds + 1}-{number}", name=name, arguments=arguments)
        for number, (name, arguments) in enumerate(notebook.wishes[:QUESTIONS], start=1)
    )
