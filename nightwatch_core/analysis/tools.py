"""The tools an analyst may call: they read the code at one commit and the case's traces, no more.

Every answer is plain text, bounded in size, and the value that it shows. A call that cannot be
answered is told what to do instead; only `TryLater`, `GiveUp` and `StopTheNight` of the code reader
pass through.
"""

from collections.abc import Callable
from typing import Any

from nightwatch_core.analysis.file_tools import find_files, lines_in, list_directory, read_file
from nightwatch_core.analysis.path_suggestions import near_matches, sentence_of
from nightwatch_core.analysis.prompts import fenced
from nightwatch_core.analysis.search_tool import search_code
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer, complaint, settled
from nightwatch_core.analysis.tool_specs import BY_NAME, HITS, LIMITS, SPECS
from nightwatch_core.code.code_view import around, halves, inside, name, outside
from nightwatch_core.models.conversation import NothingThere, ToolCall, ToolResult, TracesShown
from nightwatch_core.models.error import Case
from nightwatch_core.models.trace import Trace
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.escaping import line as one_line

__all__ = ["HITS", "LIMITS", "SPECS", "run"]

_BLAMED_LINE, _AUTHOR, _SUBJECT = 1_500, 100, 300  # characters that blame shows
_TRACE_HEAD = 120  # characters around each trace


def run(call: ToolCall, code: CodeReader, case: Case, traces: tuple[Trace, ...]) -> ToolResult:
    """Answer one call; `is_error` results say what to do instead, `missing` ones named what is not.

    Safe for many threads where the reader is. Raises only what the code reader raises.
    """
    try:
        answer = _answer(call, code, case, traces)
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


def _answer(call: ToolCall, code: CodeReader, case: Case, traces: tuple[Trace, ...]) -> ToolAnswer:
    spec = BY_NAME.get(call.name)
    if spec is None:
        raise Refusal(f"There is no tool {call.name[:80]!a}. Use one of {', '.join(BY_NAME)}.")
    given = settled(spec, call.arguments)
    wrong = complaint(spec, given)
    if wrong:
        raise Refusal(f"{wrong[0].upper()}{wrong[1:]}. Call {spec.name} again with that changed.")
    if "path" in given:
        given["path"] = _checked(given["path"], code, spec.parameters["properties"]["path"])
    if call.name == "get_error_traces":
        return get_error_traces(case, traces, LIMITS[call.name], **given)
    return _CODE_TOOLS[call.name](code, LIMITS[call.name], **given)


def _checked(path: str, code: CodeReader, schema: dict[str, Any]) -> str:
    """Give the path inside the repository; "/" is its root where a folder is asked for."""
    may_be_root = "minLength" not in schema
    if path.strip() == "/" and may_be_root:
        return ""
    clean_path = inside(path)
    if clean_path or (clean_path == "" and may_be_root):
        return clean_path
    near = near_matches(path.replace("\\", "/"), code.paths()) if path.isprintable() else ()
    why = f"The path {outside(path) or 'must name a file'}. {sentence_of(near)}"
    raise Refusal(why.strip(), NothingThere(near=near))


def blame(code: CodeReader, limit: int, path: str, line: int) -> ToolAnswer:
    """Tell who last wrote a line."""
    known = next(iter(code.blame(path, line)), None)
    if known is None:
        lines = lines_in(code, path)
        if line > len(lines):
            raise Refusal(f"{path} has {len(lines)} lines; ask for a line up to {len(lines)}.")
        raise Refusal(f"Who wrote {path}:{line} is not known here; go on without blame.")
    author, subject = one_line(known.author, _AUTHOR), one_line(known.subject, _SUBJECT)
    known = known.model_copy(
        update={"sha": known.sha[:10], "author": author, "subject": subject}
    )  # neither can start a second line
    head = f"{name(path)}:{line} {known.sha} {known.at:%Y-%m-%d} {author}: {subject}"
    return ToolAnswer(f"{head}\n{around(known.text, '', _BLAMED_LINE)}", known)


def get_error_traces(
    case: Case, traces: tuple[Trace, ...], most: int, limit: int = 3, number: int = 0
) -> ToolAnswer:
    """Show up to `limit` traces, newest first, or one by its number; about `most` characters."""
    known = traces or ((case.trace,) if case.trace else ())
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
        shown = fenced(clean(halves(text, share, "ask for it alone, by number")))
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


_CODE_TOOLS: dict[str, Callable[..., ToolAnswer]] = {
    "read_file": read_file,
    "search_code": search_code,
    "find_files": find_files,
    "list_directory": list_directory,
    "blame": blame,
}
