"""The loop: ask, run the tools that were asked for, ask again, until there is an answer.

Append-only: nothing that was said is ever changed. Every bound is looked at before a call, and the
last call inside the bounds is always one with tools off, so that an analysis ends with an answer.
Where tools answered more than was to be expected, a bound is exceeded by that one call at most.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import Field

from nightwatch_core.analysis import endings
from nightwatch_core.analysis.answer_reading import read_answer
from nightwatch_core.analysis.budget import Bound, CallBudget, Prompt
from nightwatch_core.analysis.limits import CONCLUSION_SHARE, IDLE_TURNS
from nightwatch_core.analysis.tool_calls import (
    CallHistory,
    RunTool,
    declined,
    lines_of_opening,
    with_results,
)
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.conversation import (
    Capabilities,
    Conversation,
    Reply,
    ResultsTurn,
    UserTurn,
)
from nightwatch_core.models.usage import Allowance, Usage
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock, Model
from nightwatch_core.text.units import estimated_tokens

_WRAP_UP = (
    "Time to conclude: no more tools. Answer now, in the schema, with what you have seen. "
    "Say what you could not check."
)
_REPAIR = "Your last message could not be read: {why}. Answer again with the JSON object only."
_OFF = "Not run: tools are off now."
_CUT = "Not run: your message was cut off here. Ask again, for fewer things at once."


class LoopState(Value):
    """A conversation under way, what it may still use, and what its tool calls came to."""

    conversation: Conversation
    budget: CallBudget
    calls: CallHistory = CallHistory()
    iterations: int = 0
    bound: Bound | None = None  # that ended it
    repaired: bool = False  # an answer that could not be read was asked for once more
    cleared: int = 0  # tokens of tool results that the model is no longer sent


class Conclusion(Value):
    """The answer a conversation came to."""

    answer: Answer
    ending: Ending
    state: LoopState = Field(repr=False)


def converse(
    opening: Conversation, model: Model, run_tool: RunTool, allowance: Allowance, clock: Clock
) -> Conclusion:
    """Lead the conversation to an answer.

    Raises `GiveUp` where the model refuses, its answer cannot be read even after one repair, or too
    little may be used for one call; `TryLater` and `StopTheNight` come from the model or the tools,
    `StopTheNight` too where USD are capped and the model's price is not known. Each of them says in
    `usage` what was used until then, and in `ending` how the conversation ended, where it did.
    """
    end, used = clock.monotonic() + allowance.seconds, Usage()
    try:
        with _reaching_the_model():
            able = model.capabilities()
        state = begin(opening, able, allowance)
        if bound := state.budget.bound(concluding=True):
            raise endings.not_begun(bound)
        while True:
            seconds = end - clock.monotonic()
            if not state.conversation.tools_off and (bound := bound_in_sight(state, seconds)):
                state = _wrapped_up(state, bound)
            with _reaching_the_model():
                reply = model.reply(_request(state), max(seconds, _concluding(allowance), 1.0))
            state = _heard(state, reply)
            used = state.budget.used
            if trouble := endings.fatal(reply):
                raise trouble
            if _asks_for_more(state, reply):
                state = _with_results(state, reply, run_tool)
                continue
            try:
                answer = read_answer(reply.turn.text)
            except GiveUp as complaint:
                state = _asked_to_repair(state, reply, str(complaint))
                continue
            return Conclusion(answer=answer, ending=endings.with_answer(state.bound), state=state)
    except NightWatchError as trouble:
        trouble.usage = used + (trouble.usage or Usage())
        raise


def begin(opening: Conversation, able: Capabilities, allowance: Allowance) -> LoopState:
    """Return the state before the first call; raises where USD are capped without a price."""
    if (
        not able.local
        and allowance.cost is not None
        and None in (able.input_price, able.output_price)
    ):
        raise endings.unpriced(able.model)
    fixed = estimated_tokens(str(opening.model_dump(include={"system", "tools", "answer_schema"})))
    budget = CallBudget(
        allowance=allowance,
        able=able,
        max_tokens=opening.max_tokens,
        fixed=fixed,
        prompt=Prompt(new=fixed + estimated_tokens(str(opening.model_dump(include={"turns"})))),
    )
    calls = CallHistory(known=lines_of_opening(opening))
    return LoopState(conversation=opening, budget=budget, calls=calls)


def bound_in_sight(state: LoopState, seconds_left: float) -> Bound | None:
    """Name the bound that leaves room for one more call only; None where none is near."""
    allowance = state.budget.allowance
    if state.iterations + 1 >= allowance.iterations:
        return "iterations"
    if state.calls.idle >= IDLE_TURNS:
        return "progress"
    if seconds_left < _concluding(allowance):
        return "time"
    return state.budget.bound(concluding=False)


def _concluding(allowance: Allowance) -> float:
    """Seconds kept for the call that concludes."""
    return CONCLUSION_SHARE * allowance.seconds


@contextmanager
def _reaching_the_model() -> Iterator[None]:
    try:
        yield
    except TryLater as trouble:
        endings.unreachable(trouble)
        raise


def _wrapped_up(state: LoopState, bound: Bound) -> LoopState:
    """Tools off, and the model told to conclude."""
    off = state.conversation.model_copy(update={"tools_off": True})
    state = state.model_copy(update={"conversation": off, "bound": bound})
    return _said(state, UserTurn(text=_WRAP_UP, effort="low"))


def _request(state: LoopState) -> Conversation:
    """What is sent: the conversation, with as many output tokens as its bounds allow."""
    granted = state.budget.granted(concluding=state.conversation.tools_off)
    return state.conversation.model_copy(update={"max_tokens": granted})


def _heard(state: LoopState, reply: Reply) -> LoopState:
    """The model's turn added; once results were cleared, their calls may be asked again."""
    cleared = max(state.cleared, reply.usage.cleared_tokens)
    forgets = cleared > state.cleared or reply.usage.compactions
    return state.model_copy(
        update={
            "conversation": state.conversation.said(reply.turn),
            "budget": state.budget.after(reply.usage),
            "calls": state.calls.forgotten() if forgets else state.calls,
            "iterations": state.iterations + 1,
            "cleared": cleared,
        }
    )


def _asks_for_more(state: LoopState, reply: Reply) -> bool:
    """Whether the reply is not meant as an answer: it calls tools, or was only paused."""
    return not state.conversation.tools_off and (bool(reply.turn.calls) or reply.stop == "paused")


def _with_results(state: LoopState, reply: Reply, run_tool: RunTool) -> LoopState:
    """What the tools told added; of a message that was cut off the last call may be half a call."""
    if not reply.turn.calls:
        return state
    if reply.stop == "cut":
        turn, calls = declined(reply.turn.calls, _CUT), state.calls.idled()
    else:
        turn, calls = with_results(state.calls, reply.turn.calls, run_tool, state.iterations)
    return _said(state.model_copy(update={"calls": calls}), turn)


def _asked_to_repair(state: LoopState, reply: Reply, complaint: str) -> LoopState:
    """The answer asked for once more, tools off; raises `GiveUp` the second time.

    Where words did not keep the model from calling tools, calls are forbidden: the cache is lost.
    """
    why = f"{complaint}; it was cut off, so keep it shorter" if reply.stop == "cut" else complaint
    if state.repaired:
        raise endings.invalid(why)
    if state.bound and (bound := state.budget.bound(concluding=True)):
        raise endings.invalid(f"{why}; too little is left to ask again ({bound})")
    update: dict[str, object] = {"tools_off": True}
    if calls := reply.turn.calls:
        update["no_calls"] = True
        state = state.model_copy(update={"budget": state.budget.uncached()})
    conversation = state.conversation.model_copy(update=update)
    state = state.model_copy(update={"conversation": conversation, "repaired": True})
    ask = UserTurn(text=_REPAIR.format(why=why))
    # every call wants its result before anything else is said
    return _said(state, declined(calls, _OFF), ask) if calls else _said(state, ask)


def _said(state: LoopState, *turns: ResultsTurn | UserTurn) -> LoopState:
    """The state after we said something more."""
    texts: list[str] = []
    for turn in turns:
        texts += [turn.text] if isinstance(turn, UserTurn) else [one.text for one in turn.results]
    conversation, budget = state.conversation.said(*turns), state.budget.told(texts)
    return state.model_copy(update={"conversation": conversation, "budget": budget})
