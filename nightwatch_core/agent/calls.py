"""One turn's tool calls: run in order, never the same one twice, and what they showed."""

import json
from collections.abc import Callable

from nightwatch_core.agent.arguments import inside
from nightwatch_core.models.conversation import ResultsTurn, ToolCall, ToolResult
from nightwatch_core.models.value import Value

RunTool = Callable[[ToolCall], ToolResult]

MOST_CALLS = 16  # that are run for one turn
_SAME_AGAIN = "You asked this before; the answer above still holds. Ask something else or conclude."
_TOO_MANY = f"Not run: at most {MOST_CALLS} calls at once. Ask again for what you still need."


class Calls(Value):
    """What the calls of a conversation came to."""

    asked: frozenset[str] = frozenset()
    read: tuple[str, ...] = ()  # files, in the order they were first read
    missed: int = 0  # calls that named what is not there
    waiting: int = 0  # characters told since the model last spoke


def with_results(
    before: Calls, calls: tuple[ToolCall, ...], run_tool: RunTool
) -> tuple[ResultsTurn, Calls]:
    """A result for every call, in order; a call that was made before is not run again."""
    results: list[ToolResult] = []
    asked, read, missed = set(before.asked), list(before.read), before.missed
    for number, call in enumerate(calls):
        key = _key(call)
        if key in asked or number >= MOST_CALLS:
            note = _SAME_AGAIN if key in asked else _TOO_MANY
            results.append(ToolResult(id=call.id, name=call.name, text=note))
            continue
        asked.add(key)
        result = run_tool(call)
        results.append(result)
        missed += result.missing
        path = _path(call)
        if call.name == "read_file" and not result.is_error and path and path not in read:
            read.append(path)
    waiting = before.waiting + sum(len(result.text) for result in results)
    after = Calls(asked=frozenset(asked), read=tuple(read), missed=missed, waiting=waiting)
    return ResultsTurn(results=tuple(results)), after


def declined(calls: tuple[ToolCall, ...], why: str) -> ResultsTurn:
    """A result for every call that says why none of them was run."""
    return ResultsTurn(
        results=tuple(
            ToolResult(id=call.id, name=call.name, text=why, is_error=True) for call in calls
        )
    )


def _key(call: ToolCall) -> str:
    """Equal for calls that ask the same; None stands for an argument that was left out."""
    given = {name: value for name, value in call.arguments.items() if value is not None}
    return json.dumps([call.name, given], sort_keys=True, default=str)


def _path(call: ToolCall) -> str:
    path = call.arguments.get("path")
    return (inside(path) or "") if isinstance(path, str) else ""
