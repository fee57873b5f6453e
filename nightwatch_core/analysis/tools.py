"""The tools an analyst may call: they read the code at one commit and the case's traces, no more.

Every answer is plain text, bounded in size. A call that cannot be answered is told what to do
instead; only `TryLater`, `GiveUp` and `StopTheNight` of the code reader pass through.
"""

from collections.abc import Callable
from typing import Any

from nightwatch_core.analysis.list_tool import find_files, list_directory
from nightwatch_core.analysis.read_tool import lines_in, near, read_file
from nightwatch_core.analysis.refusals import Refusal
from nightwatch_core.analysis.search_tool import search_code
from nightwatch_core.analysis.tool_specs import BY_NAME, HITS, LIMITS, SPECS
from nightwatch_core.analysis.trace_tool import get_error_traces
from nightwatch_core.code.arguments import complaint, inside, outside, settled
from nightwatch_core.code.code_view import around, name
from nightwatch_core.models.conversation import ToolCall, ToolResult
from nightwatch_core.models.error import Case, Trace
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import line as one_line

__all__ = ["HITS", "LIMITS", "SPECS", "run"]

_LONGEST_LINE = 1_500  # characters of a blamed line


def run(call: ToolCall, code: CodeReader, case: Case, traces: tuple[Trace, ...]) -> ToolResult:
    """Answer one call; `is_error` results say what to do instead, `missing` ones named what is not.

    Safe for many threads where the reader is. Raises only what the code reader raises.
    """
    try:
        text = _answer(call, code, case, traces)
    except Refusal as refusal:
        return ToolResult(
            id=call.id, name=call.name, text=str(refusal), is_error=True, missing=refusal.missing
        )
    return ToolResult(id=call.id, name=call.name, text=text)


def _answer(call: ToolCall, code: CodeReader, case: Case, traces: tuple[Trace, ...]) -> str:
    spec = BY_NAME.get(call.name)
    if spec is None:
        raise Refusal(f"There is no tool {call.name[:80]!a}. Use one of {', '.join(BY_NAME)}.")
    given = settled(spec, call.arguments)
    wrong = complaint(spec, given)
    if wrong:
        raise Refusal(f"{wrong[0].upper()}{wrong[1:]}. Call {spec.name} again with that changed.")
    if "path" in given:
        given["path"] = _checked(given["path"], code, spec.parameters["properties"]["path"])
    return _TOOLS[call.name](code, case, traces, **given)


def _checked(path: str, code: CodeReader, schema: dict[str, Any]) -> str:
    """The path inside the repository; "/" is its root where a folder is asked for."""
    if path.strip() == "/" and "minLength" not in schema:
        return ""
    clean = inside(path)
    if clean:
        return clean
    if clean == "" and "minLength" not in schema:
        return ""
    why = outside(path) or "must name a file"
    hint = near(path.replace("\\", "/"), code.paths()) if path.isprintable() else ""
    raise Refusal(f"The path {why}. {hint}".strip(), missing=True)


def _blame(code: CodeReader, path: str, line: int) -> str:
    blame = code.blame(path, line)
    if blame is None:
        lines = lines_in(code, path)
        if line > len(lines):
            raise Refusal(f"{path} has {len(lines)} lines; ask for a line up to {len(lines)}.")
        raise Refusal(f"Who wrote {path}:{line} is not known here; go on without blame.")
    who = one_line(f"{blame.author}: {blame.subject}", 400)  # neither can start a second line
    head = f"{name(path)}:{line} {blame.sha[:10]} {blame.at:%Y-%m-%d} {who}"
    return f"{head}\n{around(blame.text, '', _LONGEST_LINE)}"


_TOOLS: dict[str, Callable[..., str]] = {
    "read_file": lambda code, case, traces, **given: read_file(code, LIMITS["read_file"], **given),
    "search_code": lambda code, case, traces, **given: search_code(
        code, LIMITS["search_code"], **given
    ),
    "find_files": lambda code, case, traces, **given: find_files(
        code, LIMITS["find_files"], **given
    ),
    "list_directory": lambda code, case, traces, **given: list_directory(
        code, LIMITS["list_directory"], **given
    ),
    "get_error_traces": lambda code, case, traces, limit=3, number=0: get_error_traces(
        case, traces, LIMITS["get_error_traces"], limit, number
    ),
    "blame": lambda code, case, traces, **given: _blame(code, **given),
}
