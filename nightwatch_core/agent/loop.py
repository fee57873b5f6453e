"""The loop: ask, run the tools that were asked for, ask again, until there is an answer.

Append-only: nothing that was said is ever changed. Every bound is looked at before a call, and the
last call inside the bounds is always one with tools off, so that an analysis ends with an answer.
"""

import json
from collections.abc import Callable

from pydantic import Field

from nightwatch_core.agent.answers import read_answer
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.analysis import Allowance, Answer, Ending, Usage
from nightwatch_core.models.conversation import (
    Conversation,
    Reply,
    ResultsTurn,
    ToolCall,
    ToolResult,
    UserTurn,
)
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock, Model

RunTool = Callable[[ToolCall], ToolResult]

_WRAP_UP = (
    "Time to conclude: no more tools. Answer now, in the schema, with what you have seen. "
    "Say what you could not check."
)
_REPAIR = "Your last message could not be read: {why}. Answer again with the JSON object only."
_SAME_AGAIN = "You asked this before; the answer above still holds. Ask something else or conclude."


class Talk(Value):
    """A conversation under way, and what it has used."""

    conversation: Conversation
    usage: Usage = Usage()
    iterations: int = 0
    repaired: bool = False
    asked: frozenset[str] = frozenset()
    read: tuple[str, ...] = ()
    missed: int = 0


class Conclusion(Value):
    """The answer a conversation came to."""

    answer: Answer
    ending: Ending
    talk: Talk = Field(repr=False)


def converse(
    opening: Conversation, model: Model, run_tool: RunTool, allowance: Allowance, clock: Clock
) -> Conclusion:
    """Lead the conversation to an answer.

    Raises `GiveUp` where the model refuses, or its answer cannot be read even after one repair;
    `TryLater` and `StopTheNight` come from the model or the tools.
    """
    talk, end = Talk(conversation=opening), clock.monotonic() + allowance.seconds
    while True:
        bound = _bound_in_sight(talk, allowance, end - clock.monotonic())
        if bound and not talk.conversation.tools_off:
            talk = _wrapping_up(talk)
        reply = model.reply(talk.conversation, max(end - clock.monotonic(), 1.0))
        talk = _after(talk, reply)
        if reply.stop == "tools" and not talk.conversation.tools_off:
            talk = _with_results(talk, reply.turn.calls, run_tool)
            continue
        answer, complaint = _answer_in(reply)
        if answer:
            kind = Ending(kind="wrapped up", detail=bound) if bound else Ending()
            return Conclusion(answer=answer, ending=kind, talk=talk)
        talk = _asked_to_repair(talk, complaint, allowance)


_BOUNDS: tuple[tuple[str, Callable[[Talk, Allowance, float], bool]], ...] = (
    ("iterations", lambda talk, may, left: talk.iterations + 1 >= may.iterations),
    ("tokens", lambda talk, may, left: _next(talk.usage.new_tokens, talk) >= may.tokens),
    ("cost", lambda talk, may, left: _next(talk.usage.cost or 0.0, talk) >= may.cost),
    ("time", lambda talk, may, left: left < 0.15 * may.seconds),
)


def _bound_in_sight(talk: Talk, allowance: Allowance, seconds_left: float) -> str:
    """The bound that leaves room for one more call only; empty where none is near."""
    near = (name for name, reached in _BOUNDS if reached(talk, allowance, seconds_left))
    return next(near, "")


def _next(used: float, talk: Talk) -> float:
    """What will be used after one more call of the average size, twice over for the wrap-up."""
    return used + 2 * used / max(talk.iterations, 1)


def _after(talk: Talk, reply: Reply) -> Talk:
    return talk.model_copy(
        update={
            "conversation": talk.conversation.said(reply.turn),
            "usage": talk.usage + reply.usage,
            "iterations": talk.iterations + 1,
        }
    )


def _with_results(talk: Talk, calls: tuple[ToolCall, ...], run_tool: RunTool) -> Talk:
    results, asked, read, missed = [], set(talk.asked), list(talk.read), talk.missed
    for call in calls:
        key = json.dumps([call.name, call.arguments], sort_keys=True, default=str)
        if key in asked:
            results.append(ToolResult(id=call.id, name=call.name, text=_SAME_AGAIN))
            continue
        asked.add(key)
        result = run_tool(call)
        results.append(result)
        missed += result.is_error
        path = str(call.arguments.get("path", ""))
        if call.name == "read_file" and not result.is_error and path not in read:
            read.append(path)
    turn = ResultsTurn(results=tuple(results))
    return talk.model_copy(
        update={
            "conversation": talk.conversation.said(turn),
            "asked": frozenset(asked),
            "read": tuple(read),
            "missed": missed,
        }
    )


def _wrapping_up(talk: Talk) -> Talk:
    off = talk.conversation.model_copy(update={"tools_off": True, "effort": "low"})
    return talk.model_copy(update={"conversation": off.said(UserTurn(text=_WRAP_UP))})


def _answer_in(reply: Reply) -> tuple[Answer | None, str]:
    if reply.stop == "refused":
        raise GiveUp(f"the model refused to answer ({reply.detail or 'no category given'})")
    if reply.stop == "context exceeded":
        raise GiveUp("the conversation no longer fits the model's context")
    try:
        return read_answer(reply.turn.text), ""
    except GiveUp as complaint:
        cut = "; it was cut off, so keep it shorter" if reply.stop == "cut" else ""
        return None, f"{complaint}{cut}"


def _asked_to_repair(talk: Talk, complaint: str, allowance: Allowance) -> Talk:
    if talk.repaired or talk.iterations >= allowance.iterations + 1:
        raise GiveUp(f"no readable answer: {complaint}")
    repair = UserTurn(text=_REPAIR.format(why=complaint))
    off = talk.conversation.model_copy(update={"tools_off": True})
    return talk.model_copy(update={"conversation": off.said(repair), "repaired": True})
