"""The tools an analyst may call: they read the code at one commit and the case's traces, no more.

Every answer is plain text, bounded in size. A call that cannot be answered is told what to do
instead; only `TryLater`, `GiveUp` and `StopTheNight` of the code reader pass through.
"""

from collections.abc import Callable
from typing import Any

from nightwatch_core.agent.arguments import complaint, inside
from nightwatch_core.agent.nearby import folders, near_matches
from nightwatch_core.agent.truncation import halves
from nightwatch_core.models.code import Entry
from nightwatch_core.models.conversation import ToolCall, ToolResult, ToolSpec
from nightwatch_core.models.error import Case, Trace
from nightwatch_core.ports import CodeReader

LIMITS = {  # characters of an answer
    "read_file": 8_000,
    "search_code": 4_000,
    "list_directory": 2_000,
    "get_error_traces": 4_000,
    "blame": 2_000,
}
HITS = 50  # lines a search shows
_LINE = 2_000  # characters shown of one found or blamed line

_PATH = {"type": "string", "minLength": 1, "description": "Path from the repository's root."}
_FOLDER = {"type": "string", "description": "File or folder to look in; all where left out."}


def _spec(name: str, description: str, required: tuple[str, ...], **properties: Any) -> ToolSpec:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, parameters=parameters)


SPECS: tuple[ToolSpec, ...] = (
    _spec(
        "read_file",
        "Read a file with line numbers. Use it for the lines around a frame of the trace and for "
        "definitions you found; give start and end for a part of a long file.",
        ("path",),
        path=_PATH,
        start={"type": "integer", "minimum": 1, "description": "First line; 1 where left out."},
        end={"type": "integer", "minimum": 1, "description": "Last line, included."},
    ),
    _spec(
        "search_code",
        f"Find lines that hold a text literally (no pattern), at most {HITS}. Use it to find where "
        "something is defined (`def total`, `class Order`) and who else calls it.",
        ("query",),
        query={"type": "string", "minLength": 1, "maxLength": 200, "description": "One line."},
        path=_FOLDER,
    ),
    _spec(
        "list_directory",
        "List a folder. Use it when you do not know what a file is called.",
        ("path",),
        path={"type": "string", "description": "Folder; empty for the repository's root."},
    ),
    _spec(
        "get_error_traces",
        "The stack traces of this error as production printed them, newest first. Use it when the "
        "summary you were given leaves out frames or causes.",
        (),
        limit={"type": "integer", "minimum": 1, "maximum": 10, "description": "How many."},
    ),
    _spec(
        "blame",
        "The commit that last wrote a line. Use it on the failing line and on the line at fault to "
        "learn which change brought them.",
        ("path", "line"),
        path=_PATH,
        line={"type": "integer", "minimum": 1, "description": "Line number, 1 is the first."},
    ),
)
_BY_NAME = {spec.name: spec for spec in SPECS}


class _Refusal(Exception):  # noqa: N818 - a sentence for the model, never seen outside
    pass


def run(call: ToolCall, code: CodeReader, case: Case, traces: tuple[Trace, ...]) -> ToolResult:
    """Answer one call; `is_error` results say what to do instead.

    Raises only what the code reader raises.
    """
    try:
        text = _answer(call, code, case, traces)
    except _Refusal as refusal:
        return ToolResult(id=call.id, name=call.name, text=str(refusal), is_error=True)
    return ToolResult(id=call.id, name=call.name, text=text)


def _answer(call: ToolCall, code: CodeReader, case: Case, traces: tuple[Trace, ...]) -> str:
    spec = _BY_NAME.get(call.name)
    if spec is None:
        raise _Refusal(f"There is no tool {call.name[:80]!r}. Use one of {', '.join(_BY_NAME)}.")
    wrong = complaint(spec, call.arguments)
    if wrong:
        raise _Refusal(f"{wrong[0].upper()}{wrong[1:]}. Call {spec.name} again with that changed.")
    given = {name: value for name, value in call.arguments.items() if value is not None}
    if "path" in given:
        given["path"] = _checked_path(given["path"], root="list" in call.name)
    if call.name == "get_error_traces":
        return halves(_traces(case, traces, **given), LIMITS[call.name], "the rest repeats them")
    return _TOOLS[call.name](code, **given)


def _checked_path(path: str, root: bool) -> str:
    clean = inside("" if root and path == "/" else path)
    if clean is None:
        raise _Refusal(
            "The path must stay inside the repository and start at its root, like app/models.py, "
            "without .. or backslashes."
        )
    return clean


def _read_file(code: CodeReader, path: str, start: int = 1, end: int | None = None) -> str:
    lines = _lines(code, path)
    if start > len(lines) or (end is not None and end < start):
        raise _Refusal(f"{path} has {len(lines)} lines; ask for start <= end <= {len(lines)}.")
    end = min(end or len(lines), len(lines))
    numbered = (f"{n:>5}| {text}" for n, text in enumerate(lines[start - 1 : end], start))
    text = "\n".join((f"{path} (lines {start}-{end} of {len(lines)})", *numbered))
    ask = "ask for a line range (start, end) to see them"
    return halves(text, LIMITS["read_file"], ask)


def _lines(code: CodeReader, path: str) -> list[str]:
    """The file's lines as compilers count them: separators inside strings do not end a line."""
    text = code.read_file(path)
    if text is None:
        raise _Refusal(_not_there(code, path))
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def _not_there(code: CodeReader, path: str) -> str:
    paths = code.paths()
    if path in paths:
        return f"{path} is not text, or too large to show."
    if any(name.startswith(f"{path}/") for name in paths):
        return f"{path} is a folder: use list_directory."
    near = near_matches(path, paths)
    hint = f"Near matches: {', '.join(near)}." if near else "Use list_directory or search_code."
    return f"There is no file {path} at this commit. {hint}"


def _search_code(code: CodeReader, query: str, path: str = "") -> str:
    if not query.strip() or not query.replace("\t", " ").isprintable():
        raise _Refusal("Search for one line of visible text, without line breaks.")
    hits = code.search(query, path, HITS)
    if not hits:
        where = f" below {path}" if path else ""
        if path and path not in (paths := code.paths()) and path not in folders(paths):
            where += ", which is not there: leave path out or use list_directory"
        return f"No line holds {query!r}{where}."
    lines = [f"{hit.path}:{hit.line}: {hit.text[:_LINE]}" for hit in hits[:HITS]]
    more = ["(there may be more: search for a longer text, or below a path)"]
    text = "\n".join(lines + (more if len(hits) >= HITS else []))
    return halves(text, LIMITS["search_code"], "search for a longer text, or below a path")


def _list_directory(code: CodeReader, path: str) -> str:
    entries = code.list_directory(path)
    if not entries:
        paths = code.paths()
        if path in paths:
            raise _Refusal(f"{path} is a file: use read_file.")
        near = near_matches(path, folders(paths))
        hint = f"Near matches: {', '.join(near)}." if near else "List the root with path ''."
        raise _Refusal(f"There is no folder {path or '(root)'} at this commit. {hint}")
    ask = "list a folder below this one to see them"
    return halves("\n".join(map(_entry, entries)), LIMITS["list_directory"], ask)


def _entry(entry: Entry) -> str:
    if entry.kind == "folder":
        return f"{entry.name}/"
    size = "" if entry.size is None else f" ({entry.size})"
    return f"{entry.name}{size}" + ("" if entry.kind == "file" else f" [{entry.kind}]")


def _blame(code: CodeReader, path: str, line: int) -> str:
    blame = code.blame(path, line)
    if blame is None:
        lines = _lines(code, path)
        if line > len(lines):
            raise _Refusal(f"{path} has {len(lines)} lines; ask for a line up to {len(lines)}.")
        raise _Refusal(f"Who wrote {path}:{line} is not known here; go on without blame.")
    head = f"{path}:{line} {blame.sha[:10]} {blame.at:%Y-%m-%d} {blame.author}: {blame.subject}"
    flat = " ".join(head.split())  # a name or subject cannot start a second line
    return halves(f"{flat}\n{blame.text[:_LINE]}", LIMITS["blame"])


def _traces(case: Case, traces: tuple[Trace, ...], limit: int = 3) -> str:
    known = traces or ((case.trace,) if case.trace else ())
    if not known:
        return "This error came without a stack trace."
    parts = []
    for number, trace in enumerate(known[:limit], start=1):
        release = f", release {trace.release}" if trace.release else ""
        parts.append(f"trace {number} of {len(known)}{release}\n{trace.raw or _rendered(trace)}")
    return "\n\n".join(parts)


def _rendered(trace: Trace) -> str:
    lines = []
    for link in trace.links:
        lines.append(f"{link.error_class}: {link.message}")
        lines += [f"  at {frame.place} in {frame.function or '?'}" for frame in link.frames]
    return "\n".join(lines)


_TOOLS: dict[str, Callable[..., str]] = {
    "read_file": _read_file,
    "search_code": _search_code,
    "list_directory": _list_directory,
    "blame": _blame,
}
