"""The tools an analyst may call: they read the code at one commit and the case's traces, or run it.

Every answer is plain text, bounded in size, and the value that it shows. A call that cannot be
answered is told what to do instead; only `TryLater`, `GiveUp` and `StopTheNight` of the code reader
pass through.
"""

from collections.abc import Callable, Collection
from typing import Any

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
from nightwatch_core.analysis.prompts import fenced
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
from nightwatch_core.ports import CodeReader, LibraryReader
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.escaping import line as one_line

# What the model is told of its tools: names, arguments, limits. Descriptions are prompts.
#
# They are paid for with every conversation, so a test holds them to 60 words each and 1,200 tokens
# together. Bounds of numbers are in `tool_arguments.BOUNDS`, where they are applied.

LIMITS = {  # characters of an answer
    "read_file": 39_000,
    "search_code": 7_000,
    "read_symbol": 20_000,
    "find_files": 2_000,
    "list_directory": 2_000,
    "get_error_traces": 4_000,
    "blame": 4_000,
    "show_commit": 6_000,  # with a path; a third of it without
    "history": 2_000,
    "find_tests": 3_000,
    "read_library": 20_000,
    "run_test": 3_000,
    "run_snippet": 3_000,
}
ONE_BY_ONE = ("run_test", "run_snippet")  # they share what may be run
TOLD_LIMITS = f"""\
# Limits

At most {CALLS_A_TURN} calls a turn; the answers of one turn share {TURN_CHARACTERS:,} characters, \
and what does not fit is cut at its end and said. {IDLE_TURNS} turns in a row that show nothing \
new end the reading. You are told when few turns or tokens are left."""

_PATH = {"type": "string"}
_NUMBER = {"type": "integer"}
_TEXT = {"type": "string"}


def _spec(called: str, description: str, required: tuple[str, ...], **properties: Any) -> ToolSpec:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name=called, description=description, parameters=parameters)


SPECS: tuple[ToolSpec, ...] = (
    _spec(
        "read_file",
        "Lines of a file, best the 30 around a place you know; up to 400 come whole. Without a "
        "range, over 120 lines: its outline.",
        ("path",),
        path=_PATH,
        start=_NUMBER,
        end=_NUMBER,
    ),
    _spec(
        "search_code",
        "Lines that hold a text exactly (no patterns), several texts at once: callers, writers "
        "of a field. All hits, with up to 10 lines of context; a definition that is hit comes "
        "whole.",
        ("queries",),
        queries={"type": "array", "items": _TEXT},
        path=_PATH,
        glob=_TEXT,
        whole_words={"type": "boolean"},
        context=_NUMBER,
    ),
    _spec(
        "read_symbol",
        "A definition whole, wherever it is (total, Order#total, billing::total); all places.",
        ("name",),
        name=_TEXT,
    ),
    _spec(
        "find_files",
        "Files by part of a name or a glob, before you guess a path.",
        ("name",),
        name=_TEXT,
        path=_PATH,
    ),
    _spec("list_directory", "List a folder; '' is the root.", ("path",), path=_PATH),
    _spec(
        "get_error_traces",
        "This error's traces as printed, newest first.",
        (),
        limit=_NUMBER,
        number=_NUMBER,
    ),
    _spec(
        "blame",
        "Commits that last wrote these lines: did a change bring the fault?",
        ("path", "start"),
        path=_PATH,
        start=_NUMBER,
        end=_NUMBER,
    ),
    _spec(
        "show_commit",
        "A commit's message and diff, or that of one file.",
        ("id",),
        id=_TEXT,
        path=_PATH,
    ),
    _spec(
        "history",
        "Commits that changed a path, or added or removed a text, newest first.",
        (),
        path=_PATH,
        symbol=_TEXT,
    ),
    _spec(
        "find_tests",
        "Tests of a file or symbol, by name and by mentions.",
        ("target",),
        target=_TEXT,
    ),
    _spec(
        "read_library",
        "Source of a dependency: a frame's path outside the repository, package/file, package.",
        ("place",),
        place=_TEXT,
        start=_NUMBER,
        end=_NUMBER,
    ),
    _spec("run_test", "Run a test file, or one: file::test.", ("test",), test=_TEXT),
    _spec("run_snippet", "Run code in the project, confined.", ("code",), code=_TEXT),
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
