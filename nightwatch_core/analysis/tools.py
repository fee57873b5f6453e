"""The tools an analyst may call: they read the code at one commit and the case's traces, or run it.

Every answer is plain text, bounded in size, and the value that it shows. A call that cannot be
answered gets a hint; only `TryLater`, `GiveUp` and `StopTheNight` of the code reader pass through.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
)

from nightwatch_core.analysis import code_tools, file_tools
from nightwatch_core.analysis.budget import CALLS_A_TURN, IDLE_TURNS, TURN_CHARACTERS
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
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.conversation import NothingThere, ToolCall, ToolResult, ToolSpec
from nightwatch_core.models.errors import Case, Trace
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeReader, LibraryReader
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.escaping import line as one_line
from nightwatch_core.text.plain_text import data_table, plural
from nightwatch_core.traces.trace_text import news_of, trace_text

_MOST = 8  # texts of a list
_BOUNDS = {"context": (0, 10), "limit": (1, 10), "number": (1, 10)}  # of other numbers: lines
# Servers that do not enforce schemas send numbers in quotes, a text for a list of one, or None for
# what is left out. Numbers out of bounds become the nearest one within.
_TEXT = Annotated[str, Field(max_length=1_000)]
CODE_CHARACTERS = 3_000  # as tools.toml says
_CODE = Annotated[str, Field(max_length=CODE_CHARACTERS)]
_TEXTS = Annotated[
    list[_TEXT],
    Field(min_length=1),
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    AfterValidator(lambda texts: texts[:_MOST]),
]
Texts = Sequence[str]
_EDITS = Annotated[list[Annotated[str, Field(max_length=20_000)]], Field(max_length=45)]
_TYPES: dict[str, Any] = {"code": _CODE, "with_fix": _EDITS}  # of arguments, whatever their kind


class Tool(Value):
    """A tool as tools.toml describes it; the arguments are named with their types."""

    description: str
    characters: int
    arguments: dict[str, Literal["string", "integer", "boolean", "texts"]]
    required: tuple[str, ...]
    aliases: dict[str, str] = {}  # other names of arguments

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

    def model(self, name: str) -> type[BaseModel]:
        """Return the model that reads the arguments of a call."""
        kinds: dict[str, Any] = {"string": _TEXT, "boolean": bool, "texts": _TEXTS}
        fields: dict[str, Any] = {}
        for argument, kind in self.arguments.items():
            of_kind = _TYPES.get(argument) or kinds.get(kind)
            of_kind = of_kind or _within(*_BOUNDS.get(argument, (1, 10_000_000)))
            is_required = argument in self.required
            fields[argument] = (of_kind, ...) if is_required else (of_kind | None, None)
        return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _within(least: int, most: int) -> Any:
    return Annotated[int, AfterValidator(lambda number: max(least, min(number, most)))]


_TABLE = data_table(__package__, "tools.toml", dict[str, Tool])
_MODELS = {name: tool.model(name) for name, tool in _TABLE.items()}
SPECS = tuple(tool.spec(name) for name, tool in _TABLE.items())
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
    shown_lines: frozenset[str] = frozenset(),
    libraries: LibraryReader | None = None,
    fence: str = "",
    runs: RunsLeft | None = None,
) -> ToolResult:
    """Answer one call; `is_error` results give a hint, `missing` ones asked for a wrong name.

    `shown_lines` are lines of the conversation: they are named, not shown again; `fence` is the
    night's name for fences. Thread-safe where the readers are. Raises only what the readers raise.
    """
    try:
        answer = _answer(call, ToolContext(code, case, traces, shown_lines, libraries, fence, runs))
    except Refusal as refusal:
        return ToolResult(
            id=call.id,
            name=call.name,
            text=str(refusal),
            is_error=True,
            missing=isinstance(refusal.value, NothingThere),
            value=refusal.value,
        )
    shown = tuple(answer.text.split("\n")) if answer.shown is None else answer.shown
    return ToolResult(id=call.id, name=call.name, text=answer.text, value=answer.value, shown=shown)


def _answer(call: ToolCall, at: ToolContext) -> ToolAnswer:
    if call.name not in _TABLE:
        raise Refusal(f"There is no tool {call.name[:80]!a}. Use one of {', '.join(_TABLE)}.")
    given = _arguments(call.name, call.arguments)
    if "path" in given:
        given["path"] = _checked(given["path"], at.code, call.name in _OF_FOLDERS)
    return _TOOLS[call.name](at, _TABLE[call.name].characters, **given)


def _arguments(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments of a call; raises `Refusal` with the first that is wrong."""
    aliases = _TABLE[name].aliases
    fields = {aliases.get(key, key): value for key, value in given.items() if value is not None}
    fields |= {key: given[key] for key in fields if given.get(key) is not None}
    try:
        return _MODELS[name].model_validate(fields).model_dump(exclude_none=True)
    except ValidationError as wrong:
        problem = wrong.errors(include_input=False, include_url=False)[-1]
    argument = str(problem["loc"][0])[:80]
    if problem["type"] == "extra_forbidden":
        arguments = ", ".join(_TABLE[name].arguments)
        what = f"There is no argument {argument!a}; {name} takes {arguments}"
    else:
        what = f"Argument {argument}: {problem['msg']}"
    raise Refusal(f"{what}. Call {name} again with that changed.")


def _checked(path: str, code: CodeReader, may_be_root: bool) -> str:
    """Return the path inside the repository; "/" is its root where a folder is asked for."""
    clean_path = "" if path.strip() == "/" and may_be_root else inside(path)
    if clean_path or (clean_path == "" and may_be_root):
        return clean_path
    near = near_matches(path.replace("\\", "/"), code.paths()) if path.isprintable() else ()
    why = f"The path {outside(path) or 'must name a file'}. {sentence_of(near)}"
    raise Refusal(why.strip(), NothingThere(near=near))


def get_error_traces(at: ToolContext, most: int, limit: int = 3, number: int = 0) -> ToolAnswer:
    """Show what up to `limit` traces add to the one above, or one by its number, whole."""
    traces = at.traces or ((at.case.trace,) if at.case.trace else ())
    if not traces:
        return ToolAnswer("This error came without a stack trace.", None, ())
    if number > len(traces):
        raise Refusal(f"There are {len(traces)} traces; ask for number <= {len(traces)}.")
    asked = [number] if number else range(1, min(limit, len(traces)) + 1)
    share = max(most // len(asked) - _TRACE_HEAD, 200)
    above, parts = trace_text(at.case.trace or traces[0]), []
    for n in asked:
        trace = traces[n - 1]
        whole = trace.raw.strip() or trace_text(trace)
        news = whole if number else news_of(trace, above)
        release = one_line(trace.release, 60)
        title = f"trace {n} of {len(traces)}{f', release {release}' if release else ''}"
        shown = halves(news, share, "ask for it alone, by number")
        parts.append(f"{title}\n{fenced(clean(shown), at.fence)}" if news else f"{title}: as above")
        above = whole
    return ToolAnswer("\n\n".join(parts))


def run_code(
    at: ToolContext, limit: int, test: str = "", code: str | None = None, with_fix: Texts = ()
) -> ToolAnswer:
    """Run a test file, or code, with a fix made first; about `limit` characters of its output."""
    left = at.runs
    if left is None:
        raise Refusal("Nothing can be run here. Go on without.")
    if len(with_fix) % 3:
        raise Refusal("with_fix is a list of path, old text and new text, for each edit in turn.")
    edits = tuple(
        Edit(path=path, action="edit" if old else "create", old=old, new=new)
        for path, old, new in zip(with_fix[::3], with_fix[1::3], with_fix[2::3], strict=True)
    )
    run = left.take("test", test, edits) if code is None else left.take("snippet", code, edits)
    how = f"exit {run.code}" if run.ended == "exited" else f"killed, it {run.ended}"
    how += ", production's error" if run.shows_crash else ""
    head = f"{how} after {run.seconds:.1f} s ({plural(left.runs, 'run')} left)"
    printed = clean(run.output).strip()
    if not printed:
        return ToolAnswer(f"{head}; it printed nothing")
    output = fenced(halves(printed, limit, "print less to see them"), at.fence)
    return ToolAnswer(f"{head}\n{output}")


_OF_FOLDERS = ("search_code", "find_files", "list_directory", "show_commit", "history")
_TOOLS: dict[str, Callable[..., ToolAnswer]] = {
    "read_file": file_tools.read_file,
    "search_code": file_tools.search_code,
    "read_symbol": file_tools.read_symbol,
    "find_files": code_tools.find_files,
    "list_directory": code_tools.list_directory,
    "get_error_traces": get_error_traces,
    "blame": code_tools.blame,
    "show_commit": code_tools.show_commit,
    "history": code_tools.history,
    "read_library": code_tools.read_library,
    "run_test": run_code,
    "run_snippet": run_code,
}
