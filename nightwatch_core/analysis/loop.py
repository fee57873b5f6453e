"""The loop: ask, run the tools that were asked for, ask again, until there is an answer.

Append-only: nothing that was said is ever changed. Every bound is looked at before a call, and the
last call inside the bounds is always one with tools off, so that an analysis ends with an answer.
Where tools answered more than was to be expected, a bound is exceeded by that one call at most.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context

from pydantic import Field

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.answers import (
    NUMBERED,
    files_read,
    lines_of_opening,
    lines_shown,
    read_answer,
)
from nightwatch_core.analysis.budget import Bound, CallBudget, Prompt
from nightwatch_core.analysis.limits import CONCLUSION_SHARE, ENDING, IDLE_TURNS
from nightwatch_core.analysis.tools import ONE_BY_ONE
from nightwatch_core.code.code_view import CUT as CUT_code_view
from nightwatch_core.code.code_view import MARK
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.analysis import Analysis, Ending, Failure
from nightwatch_core.models.answer import Allowance, Answer, Usage
from nightwatch_core.models.conversation import (
    Capabilities,
    Conversation,
    Reply,
    ResultsTurn,
    ToolCall,
    ToolResult,
    UserTurn,
)
from nightwatch_core.models.errors import Case
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock, Model
from nightwatch_core.text.plain_text import estimated_tokens

# How conversations end, each way by its name for reports to count, and what the log says of it.

_FATAL: Mapping[str, str] = {
    "refused": "the model refused to answer ({detail})",
    "context exceeded": "the conversation no longer fits the model's context ({detail}): choose a "
    "model with a larger context, or lower max_iterations of the agent file",
}
_TOO_LITTLE = (
    "what is left ({bound}) does not pay for one call: raise total_token_budget or cost_per_night"
)
_UNPRICED = (
    "the price of the model {model} is not known, so that no cap on USD can be kept: set "
    "NIGHTWATCH_COST_PER_NIGHT=0 (--cost-per-night 0) to go without one, tokens stay bounded by "
    "total_token_budget; or choose a model whose price is known"
)


def with_answer(bound: Bound | None) -> Ending:
    """Return the ending of a conversation that came to an answer, by itself or at a bound."""
    return Ending(kind="wrapped up", detail=bound) if bound else Ending()


def fatal(reply: Reply) -> GiveUp | None:
    """Say why the conversation cannot go on after this reply; None where it can."""
    if reply.stop != "refused" and reply.stop != "context exceeded":
        return None
    text = _FATAL[reply.stop].format(detail=reply.detail or "no reason given")
    return _ended(text, Ending(kind=reply.stop, detail=reply.detail[:ENDING]))


def invalid(complaint: str) -> GiveUp:
    """Say that no readable answer came, even after it was asked for once more."""
    ending = Ending(kind="invalid", detail=complaint[:ENDING])
    return _ended(f"no readable answer: {complaint}", ending)


def not_begun(bound: Bound) -> GiveUp:
    """Say that not even one call fits what may be used, or the model's context."""
    if bound == "context":
        text = _FATAL["context exceeded"].format(detail="the first message alone")
        return _ended(text, Ending(kind="context exceeded", detail=bound))
    return _ended(_TOO_LITTLE.format(bound=bound), Ending(kind="budget gone", detail=bound))


def unreachable(trouble: NightWatchError) -> None:
    """Note on what a model raised that it could not be reached."""
    if trouble.ending is None:
        trouble.ending = Ending(kind="unreachable", detail=str(trouble)[:ENDING])


def unpriced(model: str) -> StopTheNight:
    """Say that a cap on USD was asked for, and nobody knows what the model costs."""
    return StopTheNight(_UNPRICED.format(model=model[:80]))


def failure(case: Case, trouble: BaseException) -> Failure:
    """Make a line of the report of what an analysis raised; any other exception is "failed"."""
    if not isinstance(trouble, NightWatchError):
        return Failure(case=case, reason=f"{type(trouble).__name__}: {trouble}"[:1_000])
    return Failure(
        case=case,
        reason=str(trouble),
        usage=trouble.usage or Usage(),
        ending=trouble.ending or Ending(kind="failed"),
    )


def ending_text(analysis: Analysis) -> str:
    """Say for the log how it ended, and what was shortened, cleared or looked at again."""
    usage, look = analysis.usage, analysis.second_look
    parts = [
        f"{analysis.ending.kind} {analysis.ending.detail}".rstrip(),
        f"{analysis.iterations} turns, {usage.new_tokens:,} new tokens",
    ]
    if analysis.truncated:
        parts.append(f"{analysis.truncated} tool results shortened")
    if analysis.missed:
        parts.append(f"{analysis.missed} files asked for that are not there")
    if usage.cleared_tokens:
        parts.append(f"{usage.cleared_tokens:,} tokens cleared")
    if usage.compactions:
        parts.append(f"{usage.compactions} summaries")
    if look and look.skipped:
        parts.append(f"no second look, though {look.wanted}: {look.skipped}")
    elif look:
        parts.append(f"second look, because {look.wanted}: the {look.kept} verdict was kept")
    return "; ".join(parts)


def _ended(text: str, ending: Ending) -> GiveUp:
    trouble = GiveUp(text)
    trouble.ending = ending
    return trouble


# What the loop says to a model between its turns. Each text is a prompt.

WRAP_UP = (
    "Time to conclude: no more tools. Answer now, in the schema, with what you have seen. "
    "Say what you could not check."
)
REPAIR = "Your last message could not be read: {why}. Answer again with the JSON object only."
TOOLS_OFF = "Not run: tools are off now."
CUT = "Not run: your message was cut off here. Ask again, for fewer things at once."
TURNS_TOLD = 3  # turns before the last one from which on they are counted down
LITTLE_LEFT = 0.35  # of its tokens, from which on they are told


def what_is_left(turns: int, tokens_left: int, tokens: int) -> str:
    """Say what is left before the model has to conclude; empty while there is plenty.

    `turns` are those that may still use tools.

    >>> what_is_left(2, 90_000, 100_000)
    '2 more turns may use tools, then you have to answer.'
    >>> what_is_left(9, 30_000, 100_000)
    'About 30,000 new tokens are left of 100,000: read what decides, then answer.'
    >>> what_is_left(9, 90_000, 100_000)
    ''
    """
    if turns <= TURNS_TOLD:
        more = "1 more turn may use tools" if turns == 1 else f"{turns} more turns may use tools"
        return f"{more}, then you have to answer."
    if tokens_left < LITTLE_LEFT * tokens:
        rounded = tokens_left // 1_000 * 1_000
        return (
            f"About {rounded:,} new tokens are left of {tokens:,}: read what decides, then answer."
        )
    return ""


# One turn's tool calls: run side by side, told in order, never the same one twice.
#
# A turn is idle if its answers show no line or hit that the conversation did not hold before. A
# line
# of a file counts once, whether it came in a preview, a search or a reading; what a tool says
# around
# it (headings, "nothing found", advice) counts for nothing.

RunTool = Callable[[ToolCall, frozenset[str]], ToolResult]  # a call, and what is shown already

_SAME_AGAIN = (
    "You asked this in your turn {turn}; the answer there still holds. Ask something else or "
    "conclude."
)
_AGAIN = "As in your turn {turn}, nothing has changed:\n{text}"
_TOO_MANY = (
    f"Not run: at most {limits.CALLS_A_TURN} calls at once. Ask again for what you still need."
)
_ROOM = 200  # characters for saying that an answer was shortened


class AnsweredCall(Value):
    """A call that was answered before."""

    turn: int  # of the model, the first is 1
    text: str
    is_error: bool = False
    reminded: bool = False  # it was asked again


class CallHistory(Value):
    """Results of a conversation's calls."""

    answered: dict[str, AnsweredCall] = {}  # by `_key`
    known: frozenset[str] = frozenset()  # lines and hits in the conversation
    cleared: frozenset[str] = frozenset()  # those that were in it once, and were taken out
    idle: int = 0  # turns in a row that added none
    read: tuple[str, ...] = ()  # files a line of which was shown, in that order
    missed: int = 0  # calls that named what is not there
    truncated: int = 0  # answers that were shortened

    def forgotten(self) -> "CallHistory":
        """The same, after answers were taken out of what the model is sent: all may be asked."""
        update = {"answered": {}, "known": frozenset(), "cleared": self.shown}
        return self.model_copy(update=update)

    @property
    def shown(self) -> frozenset[str]:
        """Return every line and hit the model has seen, whether it is still sent to it or not."""
        return self.known | self.cleared

    def idled(self) -> "CallHistory":
        """Return the same, after a turn that brought nothing."""
        return self.model_copy(update={"idle": self.idle + 1})


def with_results(
    history: CallHistory, calls: tuple[ToolCall, ...], run_tool: RunTool, turn: int = 1
) -> tuple[ResultsTurn, CallHistory]:
    """Give a result for every call, in order; a call that was made before is not run again.

    What was asked before is answered with the turn that holds the answer; asked once more, with
    that answer itself. `turn` is the model's, from 1.
    """
    fresh: dict[str, ToolCall] = {}
    for call in calls:
        if _key(call) not in history.answered and len(fresh) < limits.CALLS_A_TURN:
            fresh.setdefault(_key(call), call)
    asked = tuple(fresh.values())
    ran = dict(zip(fresh, _side_by_side(run_tool, asked, history.known), strict=True))
    whole: list[ToolResult] = []
    for call in calls:
        is_fresh = fresh.get(_key(call)) is call
        whole.append(
            ran[_key(call)] if is_fresh else _not_run(call, _key(call) in ran, history, turn)
        )
    results = _bounded(whole)
    new = [
        (call, full, told)
        for call, full, told in zip(calls, whole, results, strict=True)
        if fresh.get(_key(call)) is call
    ]
    answered = dict(history.answered)
    for call in calls:
        if _key(call) in answered:
            update = {"reminded": True}
            answered[_key(call)] = answered[_key(call)].model_copy(update=update)
    for call, full, told in new:
        if told is full:  # what was cut may be asked again
            answered[_key(call)] = AnsweredCall(turn=turn, text=full.text, is_error=full.is_error)
    history = history.model_copy(update={"answered": answered})
    history = _noted(history, [(call, told) for call, _, told in new])
    return ResultsTurn(results=results), history


def declined(calls: tuple[ToolCall, ...], why: str) -> ResultsTurn:
    """Give every call a result that says why none of them was run."""
    return ResultsTurn(
        results=tuple(
            ToolResult(id=call.id, name=call.name, text=why, is_error=True) for call in calls
        )
    )


def _side_by_side(
    run_tool: RunTool, calls: Sequence[ToolCall], known: frozenset[str]
) -> tuple[ToolResult, ...]:
    """Run all calls, each in a copy of the caller's context; results in order.

    Those that share something come after the others, one after another. Raises what the first call
    that failed raised; what has not begun by then is not begun.
    """
    apart = [call for call in calls if call.name not in ONE_BY_ONE]
    if len(apart) < 2:
        return tuple(run_tool(call, known) for call in calls)
    with ThreadPoolExecutor(min(len(apart), limits.CALLS_AT_ONCE)) as pool:
        begun = [pool.submit(copy_context().run, run_tool, call, known) for call in apart]
        try:
            results = iter([item.result() for item in begun])
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return tuple(
        run_tool(call, known) if call.name in ONE_BY_ONE else next(results) for call in calls
    )


def _not_run(call: ToolCall, in_this_turn: bool, history: CallHistory, turn: int) -> ToolResult:
    before = history.answered.get(_key(call))
    if in_this_turn:
        text, is_error = _SAME_AGAIN.format(turn=turn), False
    elif before is None:
        text, is_error = _TOO_MANY, False
    else:
        note = _AGAIN if before.reminded else _SAME_AGAIN
        text, is_error = note.format(turn=before.turn, text=before.text), before.is_error
    return ToolResult(id=call.id, name=call.name, text=text, is_error=is_error)


def _noted(history: CallHistory, new: Sequence[tuple[ToolCall, ToolResult]]) -> CallHistory:
    """The history with what new results added: lines, files read, calls that missed."""
    lines = frozenset[str]().union(*(lines_shown(call, result) for call, result in new))
    read = (path for call, result in new for path in files_read(call, result))
    return history.model_copy(
        update={
            "known": history.known | lines,
            "idle": 0 if lines - history.known else history.idle + 1,
            "read": tuple(dict.fromkeys((*history.read, *read))),
            "missed": history.missed + sum(result.missing for _, result in new),
            "truncated": history.truncated + sum(f"\n{MARK}" in item.text for _, item in new),
        }
    )


def _bounded(results: Sequence[ToolResult]) -> tuple[ToolResult, ...]:
    """The results, the longest cut at their end so that all stay within `TURN_CHARACTERS`."""
    left, cap = limits.TURN_CHARACTERS, limits.TURN_CHARACTERS
    for done, length in enumerate(sorted(len(result.text) for result in results)):
        cap = left // (len(results) - done)
        if length > cap:
            break
        left -= length
    else:
        return tuple(results)
    return tuple(
        result.model_copy(update={"text": _cut(result.text, max(cap - _ROOM, _ROOM))})
        if len(result.text) > cap
        else result
        for result in results
    )


def _cut(text: str, room: int) -> str:
    end = text.rfind("\n", room // 2, room)
    kept = text[:end] if end > 0 else f"{text[:room]}{CUT_code_view}"
    numbered = [row for row in kept.split("\n") if NUMBERED.match(row)]
    last = NUMBERED.match(numbered[-1]) if numbered else None
    onward = f", lines from {int(last['line']) + 1}" if last else ""
    why = f"{len(text) - len(kept)} characters did not fit into this turn"
    return f"{kept}\n{MARK}cut here: {why}; ask for this alone{onward} ...]"


def _key(call: ToolCall) -> str:
    """Equal for calls that ask the same; None stands for an argument that was left out."""
    given = {name: value for name, value in call.arguments.items() if value is not None}
    return json.dumps([call.name, given], sort_keys=True, default=str)


# A conversation under way: what it holds, what it may still use, and how each turn changes it.
#
# Every function gives the state after something happened; nothing that was said is ever changed.


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
        raise unpriced(able.model)
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
    return _said(state, UserTurn(text=WRAP_UP, effort="low"))


def request(state: LoopState) -> Conversation:
    """Return the conversation to send, with the output tokens its bounds allow."""
    granted = state.budget.granted(concluding=state.conversation.tools_off)
    return state.conversation.model_copy(update={"max_tokens": granted})


def heard(state: LoopState, reply: Reply) -> LoopState:
    """Return the model's turn added; once results were cleared, their calls may be asked again."""
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
    """Tell whether the reply is not meant as an answer: it calls tools, or was only paused."""
    return not state.conversation.tools_off and (bool(reply.turn.calls) or reply.stop == "paused")


def with_tool_results(state: LoopState, reply: Reply, run_tool: RunTool) -> LoopState:
    """Add the tool results; the last call of a truncated message may be incomplete."""
    if not reply.turn.calls:
        return state
    if reply.stop == "cut":
        turn, calls = declined(reply.turn.calls, CUT), state.calls.idled()
    else:
        turn, calls = with_results(state.calls, reply.turn.calls, run_tool, state.iterations)
    notice = _what_is_left(state)
    turns = (turn, UserTurn(text=notice)) if notice else (turn,)
    return _said(state.model_copy(update={"calls": calls}), *turns)


def _what_is_left(state: LoopState) -> str:
    allowance, used = state.budget.allowance, state.budget.used
    if state.budget.able.local:
        return ""
    turns = allowance.iterations - state.iterations - 1
    left = allowance.tokens - used.new_tokens
    return what_is_left(turns, left, allowance.tokens) if turns > 0 else ""


def asked_to_repair(state: LoopState, reply: Reply, complaint: str) -> LoopState:
    """Return the answer asked for once more, tools off; raises `GiveUp` the second time.

    Where words did not keep the model from calling tools, calls are forbidden: the cache is lost.
    """
    why = f"{complaint}; it was cut off, so keep it shorter" if reply.stop == "cut" else complaint
    if state.repaired:
        raise invalid(why)
    if state.bound and (bound := state.budget.bound(concluding=True)):
        raise invalid(f"{why}; too little is left to ask again ({bound})")
    update: dict[str, object] = {"tools_off": True}
    if calls := reply.turn.calls:
        update["no_calls"] = True
        state = state.model_copy(update={"budget": state.budget.uncached()})
    conversation = state.conversation.model_copy(update=update)
    state = state.model_copy(update={"conversation": conversation, "repaired": True})
    ask = UserTurn(text=REPAIR.format(why=why))
    # every call wants its result before anything else is said
    return _said(state, declined(calls, TOOLS_OFF), ask) if calls else _said(state, ask)


def asked_to_mend(state: LoopState, answer: Answer, why: str) -> LoopState:
    """Return the answer sent back once; it may still look at what it has to, within its bounds."""
    state = state.model_copy(update={"unmended": answer})
    return _said(state, UserTurn(text=why))


def _said(state: LoopState, *turns: ResultsTurn | UserTurn) -> LoopState:
    texts: list[str] = []
    for turn in turns:
        texts += (
            [turn.text] if isinstance(turn, UserTurn) else [result.text for result in turn.results]
        )
    conversation, budget = state.conversation.said(*turns), state.budget.adding(texts)
    return state.model_copy(update={"conversation": conversation, "budget": budget})


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
            raise not_begun(bound)
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
    if trouble := fatal(reply):
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
    return Conclusion(answer=answer, ending=with_answer(state.bound), state=state)


@contextmanager
def _reaching_the_model() -> Iterator[None]:
    try:
        yield
    except TryLater as trouble:
        unreachable(trouble)
        raise
