"""The loop: ask, run the tools that were asked for, ask again, until there is an answer.

Append-only: nothing that was said is ever changed. Every bound is looked at before a call, and the
last call inside the bounds is always one with tools off, so that an analysis ends with an answer.
Where tools answered more than was to be expected, a bound is exceeded by that one call at most.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Literal, TypeVar

from pydantic import Field

from nightwatch_core.analysis.answers import read_answer
from nightwatch_core.analysis.budget import (
    CALLS_A_TURN,
    CONCLUSION_SHARE,
    IDLE_TURNS,
    TURN_CHARACTERS,
    Bound,
    CallBudget,
    Prompt,
)
from nightwatch_core.analysis.previews import place
from nightwatch_core.analysis.prompts import TEXTS
from nightwatch_core.analysis.tools import ONE_BY_ONE
from nightwatch_core.code.candidate_symbols import LINE
from nightwatch_core.code.code_view import MARK
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models import conversation as chat
from nightwatch_core.models.analysis import Analysis, Ending, Failure
from nightwatch_core.models.answer import Allowance, Answer, Usage
from nightwatch_core.models.errors import Case
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock, Model
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import estimated_tokens, plural, text_table

T = TypeVar("T")


# How conversations end, and what the log says of it.

DETAIL = 300  # characters of an ending's detail
WithoutAnswer = Literal["refused", "context exceeded", "invalid", "budget gone"]
_TEXTS = text_table(__package__, "endings.toml")


def gave_up(kind: WithoutAnswer, detail: str) -> GiveUp:
    """Return the error of a conversation that ended without an answer, with its ending."""
    trouble = GiveUp(_TEXTS[kind].format(detail=detail or "no reason given"))
    trouble.ending = Ending(kind=kind, detail=detail[:DETAIL])
    return trouble


def fatal(reply: chat.Reply) -> GiveUp | None:
    """Return why the conversation cannot go on after this reply; None where it can."""
    if reply.stop in ("refused", "context exceeded"):
        return gave_up(reply.stop, reply.detail)
    return None


def not_begun(bound: Bound) -> GiveUp:
    """Return the error that not even one call fits the budget, or the model's context."""
    if bound == "context":
        return gave_up("context exceeded", "the first message alone")
    return gave_up("budget gone", bound)


def unpriced(model: str) -> StopTheNight:
    """Return the error of a model without a known price where USD are capped."""
    return StopTheNight(_TEXTS["unpriced"].format(model=line(model, 80)))


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
    """Describe for the log how it ended."""
    ending, look = analysis.ending, analysis.second_look
    text = f"{ending.kind} {ending.detail}".rstrip()
    text += f"; {analysis.iterations} turns, {analysis.usage.new_tokens:,} new tokens"
    if look:
        result = f"skipped, {look.skipped}" if look.skipped else f"the {look.kept} verdict was kept"
        way = f" ({look.way}: {look.way_because})" if look.way else ""
        text += f"; second look, because {look.reason}{way}: {result}"
    return text


# One turn's tool calls: run side by side, answered in order, never the same one twice.
#
# A turn is idle if its answers show no new line or row. A line of a file counts once, whether it
# came in a preview, a search or a reading.

# Takes a call, and what is shown already.
RunTool = Callable[[chat.ToolCall, frozenset[str]], chat.ToolResult]

CALLS_AT_ONCE = 8  # calls that run side by side
LEAST_ANSWER = 2_000  # characters that are left to each other answer beside those of files
_WHOLE = ("read_file", "read_symbol")  # asked for by place or name, and of use only whole
_OF_FILES = ("read_file", "search_code", "read_symbol")  # tools that show lines of the repository


class AnsweredCall(Value):
    """A call that was answered before."""

    turn: int  # of the model, the first is 1
    is_error: bool = False


class CallHistory(Value):
    """Results of a conversation's calls."""

    answered: dict[str, AnsweredCall] = {}  # by `_key`
    known: frozenset[str] = frozenset()  # lines and rows in the conversation
    idle: int = 0  # turns in a row that added none
    read: tuple[str, ...] = ()  # files a line of which was shown, in that order


_FORGOTTEN = {"answered": {}, "known": frozenset[str]()}  # every call may be repeated


class Talk(Value):
    """A conversation that came to its answer, as far as another look needs it to go on in it."""

    turns: tuple[chat.Turn, ...]
    calls: CallHistory
    prompt: Prompt  # of its next request
    model: str


def lines_of_opening(opening: chat.Conversation) -> frozenset[str]:
    """Collect the lines that the first message shows, as `path:line`.

    A line of a preview counts where its row is in the text: not all previews need to be told.
    """
    text = "\n".join(turn.text for turn in opening.turns if isinstance(turn, chat.UserTurn))
    rows = frozenset(row.lstrip() for row in text.split("\n"))
    return frozenset(
        place(preview.path, number)
        for preview in opening.research.previews
        for number, row in enumerate(preview.text.split("\n"), start=preview.start)
        if len(row) < LINE and f"{number}| {row}" in rows
    )


def with_results(
    history: CallHistory, calls: tuple[chat.ToolCall, ...], run_tool: RunTool, turn: int = 1
) -> tuple[chat.ResultsTurn, CallHistory]:
    """Return a result for every call, in order; a call that was made before is not run again.

    A repeated call is answered with the turn that holds the answer. `turn` is the model's, from 1.
    """
    fresh: dict[str, chat.ToolCall] = {}
    for call in calls:
        if _key(call) not in history.answered and len(fresh) < CALLS_A_TURN:
            fresh.setdefault(_key(call), call)
    ran = dict(zip(fresh, _side_by_side(run_tool, [*fresh.values()], history.known), strict=True))
    sent = _fitting(ran)
    results = [
        sent[_key(call)] if fresh.get(_key(call)) is call else _not_run(call, sent, history, turn)
        for call in calls
    ]
    whole = {key: result for key, result in sent.items() if result is ran[key]}
    lines = frozenset(row for result in whole.values() for row in result.shown)
    is_new = bool(lines - history.known) or len(whole) < len(sent)
    places = (row for r in ran.values() if r.name in _OF_FILES for row in r.shown)
    read = dict.fromkeys((*history.read, *(row.rpartition(":")[0] for row in places)))
    turns = {key: AnsweredCall(turn=turn, is_error=r.is_error) for key, r in whole.items()}
    update = {
        "answered": {**history.answered, **turns},  # what was cut may be asked again
        "known": history.known | lines,
        "idle": 0 if is_new else history.idle + 1,
        "read": tuple(filter(None, read)),
    }
    return chat.ResultsTurn(results=tuple(results)), history.model_copy(update=update)


def _not_run_at_all(calls: tuple[chat.ToolCall, ...], why: str) -> chat.ResultsTurn:
    results = (chat.ToolResult(id=c.id, name=c.name, text=why, is_error=True) for c in calls)
    return chat.ResultsTurn(results=tuple(results))


def _side_by_side(
    run_tool: RunTool, calls: Sequence[chat.ToolCall], shown_lines: frozenset[str]
) -> tuple[chat.ToolResult, ...]:
    """Run all calls, each in a copy of the caller's context; results in order.

    Those that share something come after the others, one after another. Raises what the first call
    that failed raised; what has not begun by then is not begun.
    """
    apart = [call for call in calls if call.name not in ONE_BY_ONE]
    if len(apart) < 2:
        return tuple(run_tool(call, shown_lines) for call in calls)
    with ThreadPoolExecutor(min(len(apart), CALLS_AT_ONCE)) as pool:
        begun = [pool.submit(copy_context().run, run_tool, call, shown_lines) for call in apart]
        try:
            results = iter([item.result() for item in begun])
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return tuple(
        run_tool(call, shown_lines) if call.name in ONE_BY_ONE else next(results) for call in calls
    )


def _not_run(
    call: chat.ToolCall, sent: Mapping[str, chat.ToolResult], history: CallHistory, turn: int
) -> chat.ToolResult:
    before = history.answered.get(_key(call))
    is_error = before is not None and before.is_error and _key(call) not in sent
    if _key(call) in sent or before:
        text = TEXTS["same_again"].format(turn=before.turn if before else turn)
    else:
        text = TEXTS["too_many_calls"].format(most=CALLS_A_TURN)
    return chat.ToolResult(id=call.id, name=call.name, text=text, is_error=is_error)


def _fitting(ran: Mapping[str, chat.ToolResult]) -> dict[str, chat.ToolResult]:
    """Cut the widest answers until all fit a turn; files, of use only whole, are cut last."""
    sent, room = dict[str, chat.ToolResult](), TURN_CHARACTERS
    is_whole = {key: item.name in _WHOLE for key, item in ran.items()}
    order = sorted(ran, key=lambda key: (not is_whole[key], len(ran[key].text)))
    for left, key in zip(range(len(ran), 0, -1), order, strict=True):
        longest = room - LEAST_ANSWER * (left - 1) if is_whole[key] else room // left
        sent[key] = _shortened(ran[key], longest)
        room -= len(sent[key].text)
    return sent


def _shortened(result: chat.ToolResult, longest: int) -> chat.ToolResult:
    """The result, cut at its end where it is longer; a cut one counts as not shown."""
    if len(result.text) <= longest:
        return result
    note = f"\n{MARK}cut here: the rest did not fit into this turn; ask for this alone ...]"
    room = longest - len(note)
    end = result.text.rfind("\n", room // 2, room)
    text = f"{result.text[: end if end > 0 else room]}{note}"
    return result.model_copy(update={"text": text, "shown": ()})


def _key(call: chat.ToolCall) -> str:
    """Equal for calls that ask the same; None stands for an argument that was left out."""
    given = {name: value for name, value in call.arguments.items() if value is not None}
    return json.dumps([call.name, given], sort_keys=True, default=str)


# A conversation under way: what it holds, what it may still use, and how each turn changes it.
#
# Every function gives the state after something happened; nothing that was said is ever changed.


class LoopState(Value):
    """A conversation under way, what it may still use, and what its tool calls came to."""

    conversation: chat.Conversation
    budget: CallBudget
    calls: CallHistory = CallHistory()
    iterations: int = 0
    bound: Bound | None = None  # that ended it
    repaired: bool = False  # an unreadable answer was asked for once more
    unmended: Answer | None = None  # a readable answer that was sent back once
    cleared: int = 0  # tokens of tool results that the model is no longer sent

    def saying(self, *turns: chat.ResultsTurn | chat.UserTurn, **update: object) -> "LoopState":
        """Return the state with turns added, and other fields updated."""
        texts: list[str] = []
        for turn in turns:
            texts += (
                [turn.text] if isinstance(turn, chat.UserTurn) else [r.text for r in turn.results]
            )
        conversation, budget = self.conversation.said(*turns), self.budget.adding(texts)
        return self.model_copy(update={"conversation": conversation, "budget": budget, **update})

    def switched(self, **update: object) -> "LoopState":
        """Return the state with fields of the conversation changed."""
        conversation = self.conversation.model_copy(update=update)
        return self.model_copy(update={"conversation": conversation})


def begin(
    opening: chat.Conversation,
    capabilities: chat.Capabilities,
    allowance: Allowance,
    before: Talk | None = None,
) -> LoopState:
    """Return the state before the first call; raises where USD are capped without a price.

    `before` is what the opening goes on from, with one turn more.
    """
    prices = (capabilities.input_price, capabilities.output_price)
    if not capabilities.local and allowance.cost is not None and None in prices:
        raise unpriced(capabilities.model)
    fixed = estimated_tokens(str(opening.model_dump(include={"system", "tools", "answer_schema"})))
    calls = CallHistory(known=lines_of_opening(opening))
    prompt = Prompt(new=fixed + estimated_tokens(str(opening.model_dump(include={"turns"}))))
    if before:
        calls = before.calls.model_copy(update={"idle": 0})
        new = before.prompt.new + estimated_tokens(str(opening.turns[-1]))
        prompt = before.prompt.model_copy(update={"new": new})
    budget = CallBudget(
        allowance=allowance,
        able=capabilities,
        max_tokens=opening.max_tokens,
        fixed=fixed,
        prompt=prompt,
    )
    return LoopState(conversation=opening, budget=budget, calls=calls)


def bound_in_sight(state: LoopState, seconds_left: float) -> Bound | None:
    """Name the bound that leaves room for one more call only; None where none is near."""
    allowance = state.budget.allowance
    if state.iterations + 1 >= allowance.iterations:
        return "iterations"
    if state.calls.idle >= IDLE_TURNS:
        return "progress"
    if seconds_left < CONCLUSION_SHARE * allowance.seconds:
        return "time"
    return state.budget.bound(concluding=False)


def request(state: LoopState) -> chat.Conversation:
    """Return the conversation to send, with the output tokens its bounds allow."""
    granted = state.budget.granted(concluding=state.conversation.tools_off)
    return state.conversation.model_copy(update={"max_tokens": granted})


def with_reply(state: LoopState, reply: chat.Reply) -> LoopState:
    """Return the state with the model's turn; calls whose results were cleared may be repeated."""
    cleared = max(state.cleared, reply.usage.cleared_tokens)
    forgets = cleared > state.cleared or reply.usage.compactions
    update = {
        "conversation": state.conversation.said(reply.turn),
        "budget": state.budget.after(reply.usage),
        "calls": state.calls.model_copy(update=_FORGOTTEN) if forgets else state.calls,
        "iterations": state.iterations + 1,
        "cleared": cleared,
    }
    return state.model_copy(update=update)


def _with_tool_results(state: LoopState, reply: chat.Reply, run_tool: RunTool) -> LoopState:
    """Add the tool results; the last call of a truncated message may be incomplete."""
    if not reply.turn.calls:
        return state
    if reply.stop == "cut":
        turn = _not_run_at_all(reply.turn.calls, TEXTS["cut_calls"])
        calls = state.calls.model_copy(update={"idle": state.calls.idle + 1})
    else:
        number = sum(isinstance(turn, chat.AssistantTurn) for turn in state.conversation.turns)
        turn, calls = with_results(state.calls, reply.turn.calls, run_tool, number)
    allowance, capabilities = state.budget.allowance, state.budget.able
    turns = allowance.iterations - state.iterations - 1  # that may still use tools
    tokens = allowance.tokens - state.budget.used.new_tokens
    notice = ""
    if turns > 0 and not capabilities.local:
        if turns <= 3:
            notice = TEXTS["turns_left"].format(more=plural(turns, "more turn"))
        elif tokens < 0.35 * allowance.tokens:
            left = tokens // 1_000 * 1_000
            notice = TEXTS["tokens_left"].format(left=left, tokens=allowance.tokens)
    return state.saying(turn, *([chat.UserTurn(text=notice)] if notice else []), calls=calls)


def asked_to_repair(state: LoopState, reply: chat.Reply, complaint: str) -> LoopState:
    """Ask for the answer once more, tools off; raises `GiveUp` the second time.

    Where words did not keep the model from calling tools, calls are forbidden: the cache is lost.
    """
    why = f"{complaint}; it was cut off, so keep it shorter" if reply.stop == "cut" else complaint
    if state.repaired:
        raise gave_up("invalid", why)
    if state.bound and (bound := state.budget.bound(concluding=True)):
        raise gave_up("invalid", f"{why}; too little is left to ask again ({bound})")
    ask, calls = chat.UserTurn(text=TEXTS["repair"].format(why=why)), reply.turn.calls
    if not calls:
        return state.switched(tools_off=True).saying(ask, repaired=True)
    state = state.model_copy(update={"budget": state.budget.uncached()})
    state = state.switched(tools_off=True, no_calls=True)
    # every call needs its result before anything else is said
    return state.saying(_not_run_at_all(calls, TEXTS["tools_off"]), ask, repaired=True)


Complain = Callable[[Answer, CallHistory], str]  # asks to mend an answer; empty: need not be


class Conclusion(Value):
    """The answer a conversation came to."""

    answer: Answer
    ending: Ending
    state: LoopState = Field(repr=False)


def converse(
    opening: chat.Conversation,
    model: Model,
    run_tool: RunTool,
    allowance: Allowance,
    clock: Clock,
    complain: Complain = lambda _answer, _calls: "",
    before: Talk | None = None,
) -> Conclusion:
    """Lead the conversation to an answer; one that `complain` objects to is sent back once.

    `before` is the conversation that the opening goes on in.

    Raises `GiveUp` where the model refuses, its answer cannot be read even after one repair, or too
    little may be used for one call; `TryLater` and `StopTheNight` come from the model or the tools,
    `StopTheNight` too where USD are capped and the model's price is not known. Each of them has the
    `usage` until then, and in `ending` how the conversation ended, where it did.
    """
    end, used = clock.monotonic() + allowance.seconds, Usage()
    state: LoopState | None = None
    try:
        capabilities = _reached(model.capabilities)
        state = begin(opening, capabilities, allowance, before)
        if bound := state.budget.bound(concluding=True):
            raise not_begun(bound)
        while True:
            left = end - clock.monotonic()
            if not state.conversation.tools_off and (bound := bound_in_sight(state, left)):
                ask = chat.UserTurn(text=TEXTS["wrap_up"], effort="low")
                state = state.switched(tools_off=True).saying(ask, bound=bound)
            seconds = max(left, CONCLUSION_SHARE * allowance.seconds, 1.0)
            reply = _reached(model.reply, request(state), seconds)
            state = with_reply(state, reply)
            used = state.budget.used
            state, answer = _after(state, reply, run_tool, complain)
            if answer:
                break
    except NightWatchError as trouble:
        if state is None or not state.unmended or isinstance(trouble, StopTheNight):
            trouble.usage = used + (trouble.usage or Usage())
            raise
        # asking for a better answer was in vain
        answer, more = state.unmended, trouble.usage or Usage()
        budget = state.budget.model_copy(update={"used": state.budget.used + more})
        state = state.model_copy(update={"budget": budget})
    ending = Ending(kind="wrapped up", detail=state.bound) if state.bound else Ending()
    return Conclusion(answer=answer, ending=ending, state=state)


def _after(
    state: LoopState, reply: chat.Reply, run_tool: RunTool, complain: Complain
) -> tuple[LoopState, Answer | None]:
    if trouble := fatal(reply):
        raise trouble
    if not state.conversation.tools_off and (reply.turn.calls or reply.stop == "paused"):
        return _with_tool_results(state, reply, run_tool), None
    try:
        answer = read_answer(reply.turn.text, state.unmended)
    except GiveUp as complaint:
        return asked_to_repair(state, reply, str(complaint)), None
    has_room = not state.unmended and not state.budget.bound(concluding=True)
    if has_room and (why := complain(answer, state.calls)):
        return state.saying(chat.UserTurn(text=why), unmended=answer), None
    return state, answer


def _reached(ask: Callable[..., T], *arguments: object) -> T:
    try:
        return ask(*arguments)
    except TryLater as trouble:
        if trouble.ending is None:
            trouble.ending = Ending(kind="unreachable", detail=str(trouble)[:DETAIL])
        raise
