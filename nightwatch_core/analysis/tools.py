"""The tools an analyst may call: they read the code at one commit and the case's traces, or run it.

Every answer is plain text, bounded in size, and the value that it shows. A call that cannot be
answered is told what to do instead; only `TryLater`, `GiveUp` and `StopTheNight` of the code reader
pass through.
"""

import tomllib
from collections.abc import Callable, Collection
from importlib.resources import files
from typing import Literal

from pydantic import TypeAdapter

from nightwatch_core.analysis.budget import RunsLeft
from nightwatch_core.analysis.code_tools import (
    find_files,
    find_tests,
    list_directory,
    read_library,
    read_symbol,
)
from nightwatch_core.analysis.file_tools import read_file, search_code
from nightwatch_core.analysis.history_tools import blame, history, show_commit
from nightwatch_core.analysis.limits import CALLS_A_TURN, IDLE_TURNS, TURN_CHARACTERS
from nightwatch_core.analysis.prompts import TEXTS, fenced
from nightwatch_core.analysis.research import near_matches, sentence_of
from nightwatch_core.analysis.run_tools import run_snippet, run_test
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer, complaint, settled
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import halves, inside, outside
from nightwatch_core.models.conversation import (
    NothingThere,
    ToolCall,
    ToolResult,
    ToolSpec,
    TracesShown,
)
from nightwatch_core.models.errors import Case, Trace
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeReader, LibraryReader
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.escaping import line as one_line


class Tool(Value):
    """A tool as tools.toml describes it; the arguments are named with their types."""

    description: str
    characters: int
    arguments: dict[str, Literal["string", "integer", "boolean", "texts"]]
    required: tuple[str, ...]

    def spec(self, name: str) -> ToolSpec:
        """Return the tool as it is sent to the model."""
        texts = {"type": "array", "items": {"type": "string"}}
        parameters = {
            "type": "object",
            "properties": {
                argument: texts if kind == "texts" else {"type": kind}
                for argument, kind in self.arguments.items()
            },
            "required": list(self.required),
            "additionalProperties": False,
        }
        return ToolSpec(name=name, description=self.description, parameters=parameters)


_TABLE = TypeAdapter(dict[str, Tool]).validate_python(
    tomllib.loads((files(__package__) / "tools.toml").read_text("utf-8"))
)
LIMITS = {name: tool.characters for name, tool in _TABLE.items()}  # characters of an answer
SPECS = tuple(tool.spec(name) for name, tool in _TABLE.items())
ONE_BY_ONE = ("run_test", "run_snippet")  # they share what may be run
TOLD_LIMITS = TEXTS["tool_limits"].format(
    calls=CALLS_A_TURN, characters=TURN_CHARACTERS, idle=IDLE_TURNS
)
BY_NAME = {spec.name: spec for spec in SPECS}

__all__ = ["LIMITS", "SPECS", "offered", "run"]

_TRACE_HEAD = 120  # characters around each trace


def offered(
    names: Collection[str], libraries: LibraryReader | None, *, runs: bool = False
) -> tuple[ToolSpec, ...]:
    """Give the tools of an agent, those for libraries and for running only where they work."""
    without = (*(() if libraries else ("read_library",)), *(() if runs else ONE_BY_ONE))
    return tuple(spec for spec in SPECS if spec.name in names and spec.name not in without)


def run(
    call: ToolCall,
    code: CodeReader,
    case: Case,
    traces: tuple[Trace, ...],
    known: frozenset[str] = frozenset(),
    libraries: LibraryReader | None = None,
    fence: str = "",
    runs: RunsLeft | None = None,
) -> ToolResult:
    """Answer one call; `is_error` results say what to do instead, `missing` ones named what is not.

    `known` are lines that the conversation shows: they are named, not shown again; `fence` is the
    night's name for fences. Safe for many threads where the readers are. Raises only what the
    readers raise.
    """
    try:
        answer = _answer(call, ToolContext(code, case, traces, known, libraries, fence, runs))
    except Refusal as refusal:
        return ToolResult(
            id=call.id,
            name=call.name,
            text=str(refusal),
            is_error=True,
            missing=isinstance(refusal.value, NothingThere),
            value=refusal.value,
        )
    return ToolResult(id=call.id, name=call.name, text=answer.text, value=answer.value)


def _answer(call: ToolCall, at: ToolContext) -> ToolAnswer:
    spec = BY_NAME.get(call.name)
    if spec is None:
        raise Refusal(f"There is no tool {call.name[:80]!a}. Use one of {', '.join(BY_NAME)}.")
    given = settled(spec, call.arguments)
    wrong = complaint(spec, given)
    if wrong:
        raise Refusal(f"{wrong[0].upper()}{wrong[1:]}. Call {spec.name} again with that changed.")
    if "path" in given:
        given["path"] = _checked(given["path"], at.code, spec.name in _OF_FOLDERS)
    return _TOOLS[call.name](at, LIMITS[call.name], **given)


def _checked(path: str, code: CodeReader, may_be_root: bool) -> str:
    """Give the path inside the repository; "/" is its root where a folder is asked for."""
    if path.strip() == "/" and may_be_root:
        return ""
    clean_path = inside(path)
    if clean_path or (clean_path == "" and may_be_root):
        return clean_path
    near = near_matches(path.replace("\\", "/"), code.paths()) if path.isprintable() else ()
    why = f"The path {outside(path) or 'must name a file'}. {sentence_of(near)}"
    raise Refusal(why.strip(), NothingThere(near=near))


def get_error_traces(at: ToolContext, most: int, limit: int = 3, number: int = 0) -> ToolAnswer:
    """Show up to `limit` traces, newest first, or one by its number; about `most` characters."""
    known = at.traces or ((at.case.trace,) if at.case.trace else ())
    if not known:
        return ToolAnswer("This error came without a stack trace.", TracesShown())
    if number > len(known):
        raise Refusal(f"There are {len(known)} traces; ask for number <= {len(known)}.")
    asked = [number] if number else list(range(1, min(limit, len(known)) + 1))
    texts = {n: _text(known[n - 1]) for n in asked}
    different = len(set(texts.values()))
    share = max(most // different - _TRACE_HEAD, 200)
    first: dict[str, int] = {}
    parts = []
    for n, text in texts.items():
        release = f", release {one_line(known[n - 1].release, 60)}" if known[n - 1].release else ""
        title = f"trace {n} of {len(known)}{release}"
        same = first.setdefault(text, n)
        shown = fenced(clean(halves(text, share, "ask for it alone, by number")), at.fence)
        parts.append(f"{title}: the same as trace {same}" if same < n else f"{title}\n{shown}")
    return ToolAnswer("\n\n".join(parts), TracesShown(traces=tuple(known[n - 1] for n in asked)))


def _text(trace: Trace) -> str:
    return trace.raw.strip() or _rendered(trace)


def _rendered(trace: Trace) -> str:
    lines = []
    for link in trace.links:
        lines.append(f"{link.error_class}: {link.message}")
        lines += [f"  at {frame.place} in {frame.function or '?'}" for frame in link.frames]
    return "\n".join(lines)


_OF_FOLDERS = ("search_code", "find_files", "list_directory", "show_commit", "history")
_TOOLS: dict[str, Callable[..., ToolAnswer]] = {
    "read_file": read_file,
    "search_code": search_code,
    "read_symbol": read_symbol,
    "find_files": find_files,
    "list_directory": list_directory,
    "get_error_traces": get_error_traces,
    "blame": blame,
    "show_commit": show_commit,
    "history": history,
    "find_tests": find_tests,
    "read_library": read_library,
    "run_test": run_test,
    "run_snippet": run_snippet,
}
