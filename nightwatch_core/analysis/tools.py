"""The tools an analyst may call: they read the code at one commit and the case's traces, or run it.

Every answer is plain text, bounded in size, and the value that it shows. A call that cannot be
answered gets a hint; only `TryLater`, `GiveUp` and `StopTheNight` of the code reader pass through.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from importlib.resources import files
from typing import Any, Literal

from pydantic import TypeAdapter

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
from nightwatch_core.analysis.tool_context import (
    Refusal,
    RunsLeft,
    ToolAnswer,
    ToolContext,
    near_matches,
    sentence_of,
)
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
from nightwatch_core.text.plain_text import plural


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
SPECS = tuple(tool.spec(name) for name, tool in _TABLE.items())
BY_NAME = {spec.name: spec for spec in SPECS}
ONE_BY_ONE = ("run_test", "run_snippet")  # they share the remaining runs
LIMITS_TEXT = TEXTS["tool_limits"].format(
    calls=CALLS_A_TURN, characters=TURN_CHARACTERS, idle=IDLE_TURNS
)
LIMITS = {name: tool.characters for name, tool in _TABLE.items()}  # characters of an answer
_TRACE_HEAD = 120  # characters around each trace


def offered(
    names: Collection[str], libraries: LibraryReader | None, *, runs: bool = False
) -> tuple[ToolSpec, ...]:
    """Return the tools of an agent, those for libraries and for running only where they work."""
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
    """Answer one call; `is_error` results give a hint, `missing` ones asked for a wrong name.

    `known` are lines that the conversation shows: they are named, not shown again; `fence` is the
    night's name for fences. Thread-safe where the readers are. Raises only what the readers raise.
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
    given = _typed(spec, call.arguments)
    if wrong := _misuse(spec, given):
        raise Refusal(f"{wrong[0].upper()}{wrong[1:]}. Call {spec.name} again with that changed.")
    if "path" in given:
        given["path"] = _checked(given["path"], at.code, spec.name in _OF_FOLDERS)
    return _TOOLS[call.name](at, _TABLE[call.name].characters, **given)


# Arguments: servers that do not enforce schemas send numbers in quotes, a text for a list of one,
# or None for what is left out. Numbers out of bounds become the nearest one within.

_LONGEST = 1_000  # characters of a text
_MOST = 8  # texts of a list
BOUNDS: dict[str, tuple[int, int]] = {
    "start": (1, 10_000_000),
    "end": (1, 10_000_000),
    "context": (0, 10),
    "limit": (1, 10),
    "number": (1, 10),
}
# Other names of an argument.
ALIASES: dict[str, dict[str, str]] = {
    "search_code": {"query": "queries"},
    "blame": {"line": "start"},
    "show_commit": {"sha": "id"},
    "history": {"text": "symbol"},
}
_EXAMPLES = {
    "string": "text in quotes",
    "integer": "a whole number like 12",
    "boolean": "true or false",
    "array": "a list of texts",
}


def _typed(spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given, each of its type where it can be read so."""
    known, aliases = spec.parameters["properties"], ALIASES.get(spec.name, {})
    given: dict[str, Any] = {}
    for called, value in arguments.items():
        name = called if called in known else aliases.get(called, called)
        if value is None or (name != called and arguments.get(name) is not None):
            continue
        kind = known.get(name, {}).get("type")
        if kind == "integer":
            is_text = isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value.strip())
            if is_text or (isinstance(value, float) and value.is_integer()):
                value = int(value)
            if isinstance(value, int) and not isinstance(value, bool) and name in BOUNDS:
                value = max(BOUNDS[name][0], min(value, BOUNDS[name][1]))
        elif kind == "boolean" and isinstance(value, str):
            value = {"true": True, "false": False}.get(value.strip().lower(), value)
        elif kind == "array" and isinstance(value, str | list):
            value = [value] if isinstance(value, str) else value[:_MOST]
        given[name] = value
    return given


def _misuse(spec: ToolSpec, arguments: Mapping[str, Any]) -> str:
    """Say what is wrong with the arguments and what to send instead; empty where nothing is."""
    known, required = spec.parameters["properties"], spec.parameters["required"]
    for name in arguments:
        if name not in known:
            return f"there is no argument {name[:80]!a}; {spec.name} takes {', '.join(known)}"
    for name in required:
        if arguments.get(name) is None:
            return f"argument {name} is missing"
    for name, value in arguments.items():
        kind = known[name]["type"]
        fits = {
            "string": isinstance(value, str),
            "integer": isinstance(value, int) and not isinstance(value, bool),
            "boolean": isinstance(value, bool),
            "array": isinstance(value, list) and all(isinstance(item, str) for item in value),
        }
        if not fits[kind]:
            wanted = f"of type {kind} ({_EXAMPLES[kind]})"
            return f"argument {name} must be {wanted}, not {type(value).__name__}"
        if value == []:
            return f"argument {name} must not be empty"
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and len(text) > _LONGEST for text in texts):
            return f"argument {name} must not be longer than {_LONGEST} characters"
    return ""


def _checked(path: str, code: CodeReader, may_be_root: bool) -> str:
    """Return the path inside the repository; "/" is its root where a folder is asked for."""
    clean_path = "" if path.strip() == "/" and may_be_root else inside(path)
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
    texts = {n: known[n - 1].raw.strip() or _rendered(known[n - 1]) for n in asked}
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


def _rendered(trace: Trace) -> str:
    lines = []
    for link in trace.links:
        lines.append(f"{link.error_class}: {link.message}")
        lines += [f"  at {frame.place} in {frame.function or '?'}" for frame in link.frames]
    return "\n".join(lines)


def run_test(at: ToolContext, limit: int, test: str) -> ToolAnswer:
    """Run a test file or one test; about `limit` characters of its output."""
    return _run(at, limit, "run_test", test)


def run_snippet(at: ToolContext, limit: int, code: str) -> ToolAnswer:
    """Run code; about `limit` characters of its output."""
    return _run(at, limit, "run_snippet", code)


def _run(at: ToolContext, limit: int, method: str, text: str) -> ToolAnswer:
    left = at.runs
    if left is None:
        raise Refusal("Nothing can be run here. Go on without.")
    run = left.take(getattr(left.runner, method), text)
    how = f"exit {run.code}" if run.ended == "exited" else f"killed, it {run.ended}"
    head = f"{how} after {run.seconds:.1f} s ({plural(left.runs, 'run')} left)"
    printed = clean(run.output).strip()
    if not printed:
        return ToolAnswer(f"{head}; it printed nothing")
    return ToolAnswer(
        f"{head}\n{fenced(halves(printed, limit, 'print less to see them'), at.fence)}"
    )


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
