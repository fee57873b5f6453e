"""One turn's tool calls: run side by side, told in order, never the same one twice.

A turn is idle if its answers show no line or hit that the conversation did not hold before. A line
of a file counts once, whether it came in a preview, a search or a reading; what a tool says around
it (headings, "nothing found", advice) counts for nothing.
"""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.answer_rows import NUMBERED, files_read, lines_shown
from nightwatch_core.analysis.tool_specs import ONE_BY_ONE
from nightwatch_core.code.code_view import CUT, MARK
from nightwatch_core.models.conversation import (
    ResultsTurn,
    ToolCall,
    ToolResult,
)
from nightwatch_core.models.value import Value

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
    """What the calls of a conversation came to."""

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
        """Every line and hit the model has seen, whether it is still sent to it or not."""
        return self.known | self.cleared

    def idled(self) -> "CallHistory":
        """The same, after a turn that brought nothing."""
        return self.model_copy(update={"idle": self.idle + 1})


def with_results(
    history: CallHistory,
    calls: tuple[ToolCall, ...],
    run_tool: RunTool,
    turn: int = 1,
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
            results = iter([one.result() for one in begun])
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return tuple(
        run_tool(call, known) if call.name in ONE_BY_ONE else next(results) for call in calls
    )


def _not_run(call: ToolCall, in_this_turn: bool, history: CallHistory, turn: int) -> ToolResult:
    """What is told of a call that was made before, or is one too many."""
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
            "truncated": history.truncated + sum(f"\n{MARK}" in one.text for _, one in new),
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
        one.model_copy(update={"text": _cut(one.text, max(cap - _ROOM, _ROOM))})
        if len(one.text) > cap
        else one
        for one in results
    )


def _cut(text: str, room: int) -> str:
    """The beginning of a text, up to a line's end, and where it was cut."""
    end = text.rfind("\n", room // 2, room)
    kept = text[:end] if end > 0 else f"{text[:room]}{CUT}"
    numbered = [row for row in kept.split("\n") if NUMBERED.match(row)]
    last = NUMBERED.match(numbered[-1]) if numbered else None
    onward = f", lines from {int(last['line']) + 1}" if last else ""
    why = f"{len(text) - len(kept)} characters did not fit into this turn"
    return f"{kept}\n{MARK}cut here: {why}; ask for this alone{onward} ...]"


def _key(call: ToolCall) -> str:
    """Equal for calls that ask the same; None stands for an argument that was left out."""
    given = {name: value for name, value in call.arguments.items() if value is not None}
    return json.dumps([call.name, given], sort_keys=True, default=str)
