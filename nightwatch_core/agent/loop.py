"""The loop: ask, run the tools that were asked for, ask again, until there is an answer.

Append-only: nothing that was said is ever changed. Every bound is looked at before a call, and the
last call inside the bounds is always one with tools off, so that an analysis ends with an answer.
One repair of an unreadable answer may come after it: that call is all by which a bound is passed,
as long as no call takes more than was to be expected after the one before.
"""

from collections.abc import Callable

from pydantic import Field

from nightwatch_core.agent.answers import read_answer
from nightwatch_core.agent.calls import Calls, RunTool, declined, with_results
from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.models.analysis import Allowance, Answer, Ending, Usage
from nightwatch_core.models.conversation import (
    Capabilities,
    Conversation,
    Reply,
    ResultsTurn,
    UserTurn,
)
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock, Model

CONCLUDING = 0.15  # share of the time that is kept for the last call
_TOKEN = 3  # characters of code a token, the cautious way
_WRITTEN = 1.25  # price of a token that is put into the cache, in prices of one that is read
_WRAP_UP = (
    "Time to conclude: no more tools. Answer now, in the schema, with what you have seen. "
    "Say what you could not check."
)
_REPAIR = "Your last message could not be read: {why}. Answer again with the JSON object only."
_OFF = "Not run: tools are off now."
_CUT = "Not run: your message was cut off here. Ask again, for fewer things at once."
_FATAL = {
    "refused": "the model refused to answer ({detail})",
    "context exceeded": "the conversation no longer fits the model's context ({detail}): lower "
    "max_iterations, or choose a model with a larger context",
}


class Talk(Value):
    """A conversation under way, and what it has used."""

    conversation: Conversation
    usage: Usage = Usage()
    last: Usage = Usage()  # of the last call; before the first, what it may be
    price: float = 0.0  # USD a token that is told to the model
    iterations: int = 0
    repaired: bool = False
    bound: str = ""  # which bound ended it
    calls: Calls = Calls()

    @property
    def read(self) -> tuple[str, ...]:
        """Files that were read, in order."""
        return self.calls.read

    @property
    def missed(self) -> int:
        """Tool calls that named what is not there."""
        return self.calls.missed


class Conclusion(Value):
    """The answer a conversation came to."""

    answer: Answer
    ending: Ending
    talk: Talk = Field(repr=False)


def converse(
    opening: Conversation, model: Model, run_tool: RunTool, allowance: Allowance, clock: Clock
) -> Conclusion:
    """Lead the conversation to an answer.

    Raises `GiveUp` where the model refuses, its answer cannot be read even after one repair, or
    nothing may be used; `TryLater` and `StopTheNight` come from the model or the tools. Each of
    them says in `usage` what was used until then.
    """
    if allowance.tokens <= 0 or allowance.cost <= 0:
        raise GiveUp("nothing is left to use: raise total_token_budget or cost_per_night")
    end, reserve = clock.monotonic() + allowance.seconds, CONCLUDING * allowance.seconds
    talk = _begun(opening, model.capabilities())
    try:
        while True:
            talk = _wrapped_up(talk, _bound_in_sight(talk, allowance, end - clock.monotonic()))
            left = max(end - clock.monotonic(), reserve, 1.0)
            reply = model.reply(talk.conversation, left)
            talk = _after(talk, reply)
            if (further := _further(talk, reply, run_tool)) is not None:
                talk = further
                continue
            try:
                answer = read_answer(reply.turn.text)
            except GiveUp as complaint:
                talk = _asked_to_repair(talk, reply, str(complaint))
                continue
            kind = Ending(kind="wrapped up", detail=talk.bound) if talk.bound else Ending()
            return Conclusion(answer=answer, ending=kind, talk=talk)
    except NightWatchError as trouble:
        trouble.usage = talk.usage + (trouble.usage or Usage())
        raise


_BOUNDS: tuple[tuple[str, Callable[[Talk, Allowance, float], bool]], ...] = (
    ("iterations", lambda talk, may, left: talk.iterations + 1 >= may.iterations),
    ("tokens", lambda talk, may, left: talk.usage.new_tokens + 2 * _tokens(talk) >= may.tokens),
    ("cost", lambda talk, may, left: (talk.usage.cost or 0) + 2 * _cost(talk) >= may.cost),
    ("time", lambda talk, may, left: left < CONCLUDING * may.seconds),
)


def _bound_in_sight(talk: Talk, allowance: Allowance, seconds_left: float) -> str:
    """The bound that leaves room for one more call only; empty where none is near."""
    near = (name for name, reached in _BOUNDS if reached(talk, allowance, seconds_left))
    return next(near, "")


def _begun(opening: Conversation, able: Capabilities) -> Talk:
    """A talk with a guess at what the first call takes; nothing where the model is local."""
    if able.local:
        return Talk(conversation=opening)
    said = opening.model_dump(include={"system", "tools", "answer_schema", "turns"})
    price = _WRITTEN * (able.input_price or 0.0) / 1_000_000
    tokens = len(str(said)) // _TOKEN
    guess = Usage(input_tokens=tokens, cost=tokens * price)
    return Talk(conversation=opening, last=guess, price=price)


def _tokens(talk: Talk) -> float:
    """New tokens the next call may take: as the last one, and what tools have told since."""
    return talk.last.new_tokens + talk.calls.waiting / _TOKEN


def _cost(talk: Talk) -> float:
    """USD the next call may take, likewise."""
    return (talk.last.cost or 0.0) + talk.price * talk.calls.waiting / _TOKEN


def _after(talk: Talk, reply: Reply) -> Talk:
    return talk.model_copy(
        update={
            "conversation": talk.conversation.said(reply.turn),
            "usage": talk.usage + reply.usage,
            "last": reply.usage,
            "iterations": talk.iterations + 1,
            "calls": talk.calls.model_copy(update={"waiting": 0}),
        }
    )


def _further(talk: Talk, reply: Reply, run_tool: RunTool) -> Talk | None:
    """The talk one turn further, where the reply is not meant as an answer."""
    if reply.stop in _FATAL:
        raise GiveUp(_FATAL[reply.stop].format(detail=reply.detail or "no reason given"))
    if talk.conversation.tools_off:
        return None
    asked = reply.turn.calls
    if not asked:
        return talk if reply.stop == "paused" else None
    if reply.stop == "cut":  # the last call may be half a call
        turn, calls = declined(asked, _CUT), talk.calls
    else:
        turn, calls = with_results(talk.calls, asked, run_tool)
    return talk.model_copy(update={"conversation": talk.conversation.said(turn), "calls": calls})


def _wrapped_up(talk: Talk, bound: str) -> Talk:
    if not bound or talk.conversation.tools_off:
        return talk
    off = talk.conversation.model_copy(update={"tools_off": True, "effort": "low"})
    update = {"conversation": off.said(UserTurn(text=_WRAP_UP)), "bound": bound}
    return talk.model_copy(update=update)


def _asked_to_repair(talk: Talk, reply: Reply, complaint: str) -> Talk:
    cut = "; it was cut off, so keep it shorter" if reply.stop == "cut" else ""
    if talk.repaired:
        raise GiveUp(f"no readable answer: {complaint}{cut}")
    turns: tuple[ResultsTurn | UserTurn, ...] = (
        UserTurn(text=_REPAIR.format(why=f"{complaint}{cut}")),
    )
    if reply.turn.calls:  # every call wants its result before anything else is said
        turns = (declined(reply.turn.calls, _OFF), *turns)
    off = talk.conversation.model_copy(update={"tools_off": True})
    return talk.model_copy(update={"conversation": off.said(*turns), "repaired": True})
