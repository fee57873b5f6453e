"""The loop: ask, run the tools that were asked for, ask again, until there is an answer.

Append-only: nothing that was said is ever changed. Every bound is looked at before a call, and the
last call inside the bounds is always one with tools off, so that an analysis ends with an answer.
Where tools answered more than was to be expected, a bound is exceeded by that one call at most.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydantic import Field

from nightwatch_core.analysis import endings
from nightwatch_core.analysis.answer_reading import read_answer
from nightwatch_core.analysis.loop_state import (
    LoopState,
    asked_to_mend,
    asked_to_repair,
    asks_for_more,
    begin,
    bound_in_sight,
    concluding_seconds,
    heard,
    request,
    with_tool_results,
    wrapped_up,
)
from nightwatch_core.analysis.tool_calls import CallHistory, RunTool
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.conversation import Conversation, Reply
from nightwatch_core.models.usage import Allowance, Usage
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock, Model

Complain = Callable[[Answer, CallHistory], str]  # asks to mend an answer; empty: need not be


def no_complaint(_answer: Answer, _calls: CallHistory) -> str:
    """Take every answer as it is."""
    return ""


class Conclusion(Value):
    """The answer a conversation came to."""

    answer: Answer
    ending: Ending
    state: LoopState = Field(repr=False)


def converse(
    opening: Conversation,
    model: Model,
    run_tool: RunTool,
    allowance: Allowance,
    clock: Clock,
    complain: Complain = no_complaint,
) -> Conclusion:
    """Lead the conversation to an answer; one that `complain` objects to is sent back once.

    Raises `GiveUp` where the model refuses, its answer cannot be read even after one repair, or too
    little may be used for one call; `TryLater` and `StopTheNight` come from the model or the tools,
    `StopTheNight` too where USD are capped and the model's price is not known. Each of them says in
    `usage` what was used until then, and in `ending` how the conversation ended, where it did.
    """
    end, used = clock.monotonic() + allowance.seconds, Usage()
    state: LoopState | None = None
    try:
        with _reaching_the_model():
            able = model.capabilities()
        state = begin(opening, able, allowance)
        if bound := state.budget.bound(concluding=True):
            raise endings.not_begun(bound)
        while True:
            left = end - clock.monotonic()
            if not state.conversation.tools_off and (bound := bound_in_sight(state, left)):
                state = wrapped_up(state, bound)
            with _reaching_the_model():
                reply = model.reply(request(state), max(left, concluding_seconds(allowance), 1.0))
            state = heard(state, reply)
            used = state.budget.used
            state, answer = _after(state, reply, run_tool, complain)
            if answer:
                return _concluded(state, answer)
    except NightWatchError as trouble:
        if state and state.unmended and not isinstance(trouble, StopTheNight):
            return _concluded(state, state.unmended, trouble.usage or Usage())
        trouble.usage = used + (trouble.usage or Usage())
        raise


def _after(
    state: LoopState, reply: Reply, run_tool: RunTool, complain: Complain
) -> tuple[LoopState, Answer | None]:
    """The state after a reply was dealt with, and the answer where it was the last one."""
    if trouble := endings.fatal(reply):
        raise trouble
    if asks_for_more(state, reply):
        return with_tool_results(state, reply, run_tool), None
    try:
        answer = read_answer(reply.turn.text)
    except GiveUp as complaint:
        return asked_to_repair(state, reply, str(complaint)), None
    has_room = not state.unmended and not state.budget.bound(concluding=True)
    if has_room and (why := complain(answer, state.calls)):
        return asked_to_mend(state, answer, why), None
    return state, answer


def _concluded(state: LoopState, answer: Answer, more: Usage | None = None) -> Conclusion:
    """The answer with its ending; `more` was used by asking for a better one in vain."""
    budget = state.budget.model_copy(update={"used": state.budget.used + (more or Usage())})
    state = state.model_copy(update={"budget": budget})
    return Conclusion(answer=answer, ending=endings.with_answer(state.bound), state=state)


@contextmanager
def _reaching_the_model() -> Iterator[None]:
    try:
        yield
    except TryLater as trouble:
        endings.unreachable(trouble)
        raise
