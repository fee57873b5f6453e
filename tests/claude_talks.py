"""Conversations and models for the tests of Claude."""

from analysis_shapes import case, trace
from pydantic import SecretStr

from nightwatch_core.adapters.claude.model import Claude
from nightwatch_core.analysis.prompts import first_message
from nightwatch_core.analysis.tools import SPECS
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.conversation import Conversation, ResultsTurn, ToolResult, UserTurn
from nightwatch_core.models.research import ResearchContext

SHOWN = "shop/cart.py (lines 1-2 of 2)\n    1| def total(lines):\n    2|     return line.price"
OPUS = "claude-opus-5-5"


def claude(server, model=OPUS, **more):
    return Claude(SecretStr(server.key), model, server.url, **{"patience": 0.0, **more})


def opening(**more):
    text = first_message(case(), (trace(),), ResearchContext())
    told = {
        "system": "Find the cause. " * 200,
        "tools": SPECS,
        "answer_schema": Answer.model_json_schema(),
    }
    return Conversation(**{**told, "turns": (UserTurn(text=text),), "case": case(), **more})


def shown(**more):
    """An opening whose first message holds the failing line: it can be answered at once."""
    first = opening().turns[0].text
    return opening(turns=(UserTurn(text=f"{first}\n\n{SHOWN}"),), **more)


def results(reply, text=SHOWN):
    """What the tools answer to a reply."""
    return ResultsTurn(
        results=tuple(
            ToolResult(id=call.id, name=call.name, text=text) for call in reply.turn.calls
        )
    )
