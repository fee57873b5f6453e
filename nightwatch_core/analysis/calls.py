"""One turn's tool calls: run side by side, told in order, never the same one twice."""

import json
from collections.abc import Callable, Sequence

from nightwatch_core.analysis.parallel import in_order
from nightwatch_core.analysis.progress import shown
from nightwatch_core.code.arguments import inside
from nightwatch_core.code.truncation import MARK, halves
from nightwatch_core.models.conversation import ResultsTurn, ToolCall, ToolResult
from nightwatch_core.models.value import Value

RunTool = Callable[[ToolCall], ToolResult]

MOST_CALLS = 16  # that are run for one turn
MOST_TOLD = 32_000  # characters that the answers of one turn have together
_SAME_AGAIN = (
    "You asked this in your turn {turn}; the answer there still holds. Ask something else or "
    "conclude."
)
_AGAIN = "As in your turn {turn}, nothing has changed:\n{text}"
_TOO_MANY = f"Not run: at most {MOST_CALLS} calls at once. Ask again for what you still need."
_ROOM = 200  # characters for saying that an answer was shortened
_ALONE = "too much was asked at once, ask for this alone to see them"


class Asked(Value):
    """A call that was answered before."""

    turn: int  # of the model, the first is 1
    text: str
    is_error: bool = False
    reminded: bool = False  # it was asked again, or the model is no longer sent its answer


class Calls(Value):
    """What the calls of a conversation came to."""

    asked: dict[str, Asked] = {}
    known: frozenset[str] = frozenset()  # lines and hits in the conversation
    idle: int = 0  # turns in a row that added none
    read: tuple[str, ...] = ()  # files, in the order they were first read
    missed: int = 0  # calls that named what is not there
    truncated: int = 0  # answers that were shortened

    def forgotten(self) -> "Calls":
        """The same, after answers were taken out of what the model is sent."""
        asked = {key: one.model_copy(update={"reminded": True}) for key, one in self.asked.items()}
        return self.model_copy(update={"asked": asked, "known": frozenset()})

    def idled(self) -> "Calls":
        """The same, after a turn that brought nothing."""
        return self.model_copy(update={"idle": self.idle + 1})


def with_results(
    before: Calls, calls: tuple[ToolCall, ...], run_tool: RunTool, turn: int = 1
) -> tuple[ResultsTurn, Calls]:
    """A result for every call, in order; a call that was made before is not run again.

    What was asked before is answered with the turn that holds the answer; asked once more, or
    once the model no longer sees it, with that answer itself. `turn` is the model's, from 1.
    """
    fresh: dict[str, ToolCall] = {}
    for call in calls:
        if _key(call) not in before.asked and len(fresh) < MOST_CALLS:
            fresh.setdefault(_key(call), call)
    ran = dict(zip(fresh, in_order(run_tool, tuple(fresh.values())), strict=True))
    whole = [_result(call, ran, fresh, before.asked, turn) for call in calls]
    told = _bounded(whole)
    asked = {
        _key(call): Asked(turn=turn, text=full.text, is_error=full.is_error)
        for call, full, result in zip(calls, whole, told, strict=True)
        if fresh.get(_key(call)) is call and result is full  # what was cut may be asked again
    }
    again = {
        _key(call): before.asked[_key(call)].model_copy(update={"reminded": True})
        for call in calls
        if _key(call) in before.asked
    }
    results = ResultsTurn(results=told)
    noted = before.model_copy(update={"asked": {**before.asked, **asked, **again}})
    return results, _noted(noted, calls, told, fresh)


def declined(calls: tuple[ToolCall, ...], why: str) -> ResultsTurn:
    """A result for every call that says why none of them was run."""
    return ResultsTurn(
        results=tuple(
            ToolResult(id=call.id, name=call.name, text=why, is_error=True) for call in calls
        )
    )


def _result(
    call: ToolCall,
    ran: dict[str, ToolResult],
    fresh: dict[str, ToolCall],
    asked: dict[str, Asked],
    turn: int,
) -> ToolResult:
    key = _key(call)
    if fresh.get(key) is call:
        return ran[key]
    if key in ran:
        return ToolResult(id=call.id, name=call.name, text=_SAME_AGAIN.format(turn=turn))
    known = asked.get(key)
    if known is None:
        return ToolResult(id=call.id, name=call.name, text=_TOO_MANY)
    note = (_AGAIN if known.reminded else _SAME_AGAIN).format(turn=known.turn, text=known.text)
    return ToolResult(id=call.id, name=call.name, text=note, is_error=known.is_error)


def _noted(
    calls: Calls,
    made: tuple[ToolCall, ...],
    told: tuple[ToolResult, ...],
    fresh: dict[str, ToolCall],
) -> Calls:
    """What these results added: lines, files that were read, calls that missed."""
    new = [pair for pair in zip(made, told, strict=True) if fresh.get(_key(pair[0])) is pair[0]]
    lines = frozenset[str]().union(*(shown(call, result) for call, result in new))
    read = (_path(call) for call, result in new if call.name == "read_file" and not result.is_error)
    return calls.model_copy(
        update={
            "known": calls.known | lines,
            "idle": 0 if lines - calls.known else calls.idle + 1,
            "read": tuple(dict.fromkeys((*calls.read, *filter(None, read)))),
            "missed": calls.missed + sum(result.missing for _, result in new),
            "truncated": calls.truncated + sum(f"\n{MARK}" in one.text for _, one in new),
        }
    )


def _bounded(results: Sequence[ToolResult]) -> tuple[ToolResult, ...]:
    """The results, the longest shortened so that all together stay within `MOST_TOLD`."""
    left, cap = MOST_TOLD, MOST_TOLD
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
