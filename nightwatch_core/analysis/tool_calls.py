"""One turn's tool calls: run side by side, told in order, never the same one twice.

A turn is idle if its answers show no line or hit that the conversation did not hold before. A line
of a file counts once, whether it came in a preview, a search or a reading; what a tool says around
it (headings, "nothing found", advice) counts for nothing.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from nightwatch_core.analysis import limits
from nightwatch_core.code.code_view import CUT, MARK, halves, inside
from nightwatch_core.models.conversation import (
    Conversation,
    ResultsTurn,
    ToolCall,
    ToolResult,
    UserTurn,
)
from nightwatch_core.models.value import Value

RunTool = Callable[[ToolCall], ToolResult]

_SAME_AGAIN = (
    "You asked this in your turn {turn}; the answer there still holds. Ask something else or "
    "conclude."
)
_AGAIN = "As in your turn {turn}, nothing has changed:\n{text}"
_TOO_MANY = (
    f"Not run: at most {limits.CALLS_A_TURN} calls at once. Ask again for what you still need."
)
_ROOM = 200  # characters for saying that an answer was shortened
_ALONE = "too much was asked at once, ask for this alone to see them"
_CODE = ("read_file", "search_code")  # tools that show lines of files
_HEAD = re.compile(r"(?P<path>\S.{0,999}) \(lines \d{1,8}-\d{1,8} of \d{1,8}\)")
_NUMBERED = re.compile(r" {0,8}(?P<line>\d{1,8})\|")
_HIT = re.compile(r"(?P<path>[^\s:|][^:|]{0,999}):(?P<line>\d{1,8}): ")
_SAYINGS = (MARK, "No file is called", "This error came without", "```")  # how other tools say it


class AnsweredCall(Value):
    """A call that was answered before."""

    turn: int  # of the model, the first is 1
    text: str
    is_error: bool = False
    reminded: bool = False  # it was asked again, or the model is no longer sent its answer


class CallHistory(Value):
    """What the calls of a conversation came to."""

    answered: dict[str, AnsweredCall] = {}  # by `_key`
    known: frozenset[str] = frozenset()  # lines and hits in the conversation
    cleared: frozenset[str] = frozenset()  # those that were in it once, and were taken out
    idle: int = 0  # turns in a row that added none
    read: tuple[str, ...] = ()  # files, in the order they were first read
    missed: int = 0  # calls that named what is not there
    truncated: int = 0  # answers that were shortened

    def forgotten(self) -> "CallHistory":
        """The same, after answers were taken out of what the model is sent."""
        answered = {
            key: one.model_copy(update={"reminded": True}) for key, one in self.answered.items()
        }
        update = {"answered": answered, "known": frozenset(), "cleared": self.shown}
        return self.model_copy(update=update)

    @property
    def shown(self) -> frozenset[str]:
        """Every line and hit the model has seen, whether it is still sent to it or not."""
        return self.known | self.cleared

    def idled(self) -> "CallHistory":
        """The same, after a turn that brought nothing."""
        return self.model_copy(update={"idle": self.idle + 1})


def with_results(
    history: CallHistory, calls: tuple[ToolCall, ...], run_tool: RunTool, turn: int = 1
) -> tuple[ResultsTurn, CallHistory]:
    """Give a result for every call, in order; a call that was made before is not run again.

    What was asked before is answered with the turn that holds the answer; asked once more, or
    once the model no longer sees it, with that answer itself. `turn` is the model's, from 1.
    """
    fresh: dict[str, ToolCall] = {}
    for call in calls:
        if _key(call) not in history.answered and len(fresh) < limits.CALLS_A_TURN:
            fresh.setdefault(_key(call), call)
    ran = dict(zip(fresh, _side_by_side(run_tool, tuple(fresh.values())), strict=True))
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
    return ResultsTurn(results=results), _noted(history, [(call, told) for call, _, told in new])


def declined(calls: tuple[ToolCall, ...], why: str) -> ResultsTurn:
    """Give every call a result that says why none of them was run."""
    return ResultsTurn(
        results=tuple(
            ToolResult(id=call.id, name=call.name, text=why, is_error=True) for call in calls
        )
    )


def lines_of_opening(opening: Conversation) -> frozenset[str]:
    """Collect what the conversation holds before the first call: `path:line`, or rows of text."""
    said = (turn.text for turn in opening.turns if isinstance(turn, UserTurn))
    places = (
        f"{preview.path}:{number}"
        for preview in opening.research.previews
        for number in range(preview.start, preview.end + 1)
    )
    return frozenset((*places, *_texts("\n".join(said))))


def lines_shown(call: ToolCall, result: ToolResult) -> frozenset[str]:
    r"""Collect the lines and hits in a tool's answer: `path:line` where they have a place.

    >>> call = ToolCall(id="1", name="read_file")
    >>> answer = ToolResult(id="1", name="read_file", text="a.py (lines 7-7 of 9)\n    7| x = 1")
    >>> sorted(lines_shown(call, answer))
    ['a.py:7']
    """
    if result.is_error:
        return frozenset()
    return frozenset((_places if call.name in _CODE else _texts)(result.text))


def _side_by_side(run_tool: RunTool, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
    """Run all calls, each in a copy of the caller's context; results in order.

    Raises what the first call that failed raised; what has not begun by then is not begun.
    """
    if len(calls) < 2:
        return tuple(map(run_tool, calls))
    with ThreadPoolExecutor(min(len(calls), limits.CALLS_AT_ONCE)) as pool:
        begun = [pool.submit(copy_context().run, run_tool, call) for call in calls]
        try:
            return tuple(one.result() for one in begun)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


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
    read = (_path(call) for call, result in new if call.name == "read_file" and not result.is_error)
    return history.model_copy(
        update={
            "known": history.known | lines,
            "idle": 0 if lines - history.known else history.idle + 1,
            "read": tuple(dict.fromkeys((*history.read, *filter(None, read)))),
            "missed": history.missed + sum(result.missing for _, result in new),
            "truncated": history.truncated + sum(f"\n{MARK}" in one.text for _, one in new),
        }
    )


def _bounded(results: Sequence[ToolResult]) -> tuple[ToolResult, ...]:
    """The results, the longest shortened so that all stay within `TURN_CHARACTERS`."""
    left, cap = limits.TURN_CHARACTERS, limits.TURN_CHARACTERS
    for done, length in enumerate(sorted(len(result.text) for result in results)):
        cap = left // (len(results) - done)
        if length > cap:
            break
        left -= length
    else:
        return tuple(results)
    return tuple(
        one.model_copy(update={"text": halves(one.text, max(cap - _ROOM, _ROOM), _ALONE)})
        if len(one.text) > cap
        else one
        for one in results
    )


def _key(call: ToolCall) -> str:
    """Equal for calls that ask the same; None stands for an argument that was left out."""
    given = {name: value for name, value in call.arguments.items() if value is not None}
    return json.dumps([call.name, given], sort_keys=True, default=str)


def _path(call: ToolCall) -> str:
    path = call.arguments.get("path")
    return (inside(path) or "") if isinstance(path, str) else ""


def _places(text: str) -> Iterable[str]:
    path = ""
    for row in text.split("\n"):
        if head := _HEAD.fullmatch(row):
            path = head["path"]
        elif found := _HIT.match(row) or _NUMBERED.match(row):
            at = found.groupdict().get("path") or path
            # another part of a long line is new
            part = row[: limits.COMPARED_LINE] if CUT in row else ""
            yield f"{at}:{found['line']}{part}"


def _texts(text: str) -> Iterable[str]:
    rows = (row.strip()[: limits.COMPARED_LINE] for row in text.split("\n"))
    return (row for row in rows if row and not row.startswith(_SAYINGS))
