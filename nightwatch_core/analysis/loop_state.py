"""A conversation under way: what it holds, what it may still use, and how each turn changes it.

Every function gives the state after something happened; nothing that was said is ever changed.
"""

from nightwatch_core.analysis import endings, turn_texts
from nightwatch_core.analysis.answer_rows import lines_of_opening
from nightwatch_core.analysis.budget import Bound, CallBudget, Prompt
from nightwatch_core.analysis.limits import CONCLUSION_SHARE, IDLE_TURNS
from nightwatch_core.analysis.tool_calls import (
    CallHistory,
    RunTool,
    declined,
    with_results,
)
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.conversation import (
    Capabilities,
    Conversation,
    Reply,
    ResultsTurn,
    UserTurn,
)
from nightwatch_core.models.usage import Allowance
from nightwatch_core.models.value import Value
from nightwatch_core.text.units import estimated_tokens


class LoopState(Value):
    """A conversation under way, what it may still use, and what its tool calls came to."""

    conversation: Conversation
    budget: CallBudget
    calls: CallHistory = CallHistory()
    iterations: int = 0
    bound: Bound | None = None  # that ended it
    repaired: bool = False  # an answer that could not be read was asked for once more
    unmended: Answer | None = None  # a readable answer that was sent back once
    cleared: int = 0  # tokens of tool results that the model is no longer sent


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
    if seconds_left < concluding_seconds(allowance):
        return "time"
    return state.budget.bound(concluding=False)


def concluding_seconds(allowance: Allowance) -> float:
    """Seconds kept for the call that concludes."""
    return CONCLUSION_SHARE * allowance.seconds


def wrapped_up(state: LoopState, bound: Bound) -> LoopState:
    """Tools off, and the model told to conclude."""
    off = state.conversation.model_copy(update={"tools_off": True})
    state = state.model_copy(update={"conversation": off, "bound": bound})
    return _said(state, UserTurn(text=turn_texts.WRAP_UP, effort="low"))


def request(state: LoopState) -> Conversation:
    """What is sent: the conversation, with as many output tokens as its bounds allow."""
    granted = state.budget.granted(concluding=state.conversation.tools_off)
    return state.conversation.model_copy(update={"max_tokens": granted})


def heard(state: LoopState, reply: Reply) -> LoopState:
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


def asks_for_more(state: LoopState, reply: Reply) -> bool:
    """Whether the reply is not meant as an answer: it calls tools, or was only paused."""
    return not state.conversation.tools_off and (bool(reply.turn.calls) or reply.stop == "paused")


def with_tool_results(state: LoopState, reply: Reply, run_tool: RunTool) -> LoopState:
    """What the tools told added; of a message that was cut off the last call may be half a call."""
    if not reply.turn.calls:
        return state
    if reply.stop == "cut":
        turn, calls = declined(reply.turn.calls, turn_texts.CUT), state.calls.idled()
    else:
        turn, calls = with_results(state.calls, reply.turn.calls, run_tool, state.iterations)
    notice = _what_is_left(state)
    turns = (turn, UserTurn(text=notice)) if notice else (turn,)
    return _said(state.model_copy(update={"calls": calls}), *turns)


def _what_is_left(state: LoopState) -> str:
    """What the model is told of its bounds; a model of our own has none."""
    allowance, used = state.budget.allowance, state.budget.used
    if state.budget.able.local:
        return ""
    turns = allowance.iterations - state.iterations - 1
    left = allowance.tokens - used.new_tokens
    return turn_texts.what_is_left(turns, left, allowance.tokens) if turns > 0 else ""


def asked_to_repair(state: LoopState, reply: Reply, complaint: str) -> LoopState:
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
    ask = UserTurn(text=turn_texts.REPAIR.format(why=why))
    # every call wants its result before anything else is said
    return _said(state, declined(calls, turn_texts.TOOLS_OFF), ask) if calls else _said(state, ask)


def asked_to_mend(state: LoopState, answer: Answer, why: str) -> LoopState:
    """The answer sent back once; it may still look at what it has to, within its bounds."""
    state = state.model_copy(update={"unmended": answer})
    return _said(state, UserTurn(text=why))


def _said(state: LoopState, *turns: ResultsTurn | UserTurn) -> LoopState:
    """The state after we said something more."""
    texts: list[str] = []
    for turn in turns:
        texts += [turn.text] if isinstance(turn, UserTurn) else [one.text for one in turn.results]
    conversation, budget = state.conversation.said(*turns), state.budget.told(texts)
    return state.model_copy(update={"conversation": conversation, "budget": budget})
