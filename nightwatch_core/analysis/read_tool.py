"""A file as read_file shows it: numbered lines, and of what is left out where to find it."""

from collections.abc import Iterable, Sequence

from nightwatch_core.analysis.outline import definitions
from nightwatch_core.analysis.path_suggestions import folders, near_matches
from nightwatch_core.analysis.refusals import Refusal
from nightwatch_core.code.code_view import LINE, lines_of, name, numbered, visible
from nightwatch_core.code.truncation import MARK, halves
from nightwatch_core.ports import CodeReader

_OUTLINE = 30  # definitions that are told of the part left out
_OUTLINE_SHARE = 0.2  # of the characters, at most


def read_file(
    code: CodeReader, limit: int, path: str, start: int = 1, end: int | None = None
) -> str:
    """Lines `start` to `end` of a file, about `limit` characters of them."""
    lines = lines_in(code, path)
    if not lines:
        return f"{name(path)} is empty."
    last = len(lines)
    if start > last or (end is not None and end < start):
        asked = f"{start}-{'' if end is None else end}"
        raise Refusal(f"{path} has {last} lines; ask for start <= end <= {last}, not {asked}.")
    end = min(end or last, last)
    head = f"{name(path)} (lines {start}-{end} of {last})"
    if start == end:
        return halves(f"{head}\n{start:>5}| {visible(lines[start - 1])}", limit, _PART)
    return "\n".join((head, *shortened(lines[start - 1 : end], start, limit)))


_PART = "search_code finds text in them"


def shortened(lines: Sequence[str], start: int, limit: int) -> tuple[str, ...]:
    """Numbered rows of about `limit` characters: all, or the first, the definitions, the last."""
    if sum(map(_width, lines)) <= limit:
        return tuple(numbered(lines, start))
    outline = _outline(lines, int(limit * _OUTLINE_SHARE))
    half = (limit - sum(_width(lines[index]) for index in outline)) // 2
    first = _fitting(lines, half)
    last = len(lines) - _fitting(lines[:first:-1], half)
    between = [index for index in outline if first <= index < last]
    return (
        *numbered(lines[:first], start),
        _left_out(lines[first:last], start + first, limit, bool(between)),
        *(row for index in between for row in numbered([lines[index]], start + index)),
        *((f"{MARK}the file goes on ...]",) if between else ()),
        *numbered(lines[last:], start + last),
    )


def _left_out(lines: Sequence[str], start: int, limit: int, outlined: bool) -> str:
    once = max(1, len(lines) * limit * 9 // (sum(map(_width, lines)) * 10))
    ask = f"ask for a line range (start, end), up to {once} lines at once"
    told = "; they define" if outlined else ""
    return f"{MARK}lines {start}-{start + len(lines) - 1} left out; {ask}{told} ...]"


def _outline(lines: Sequence[str], limit: int) -> tuple[int, ...]:
    """Definitions in the lines that are sure to be left out."""
    outer = len(lines) // 20
    found = definitions(lines[outer : len(lines) - outer], _OUTLINE)
    kept, used = [], 0
    for index in (outer + one for one in found):
        used += _width(lines[index])
        if used > limit:
            break
        kept.append(index)
    return tuple(kept)


def _width(line: str) -> int:
    """Characters of the line's row."""
    return len(visible(line[:LINE])) + 8


def _fitting(lines: Iterable[str], limit: int) -> int:
    """How many of the lines fit, one at least."""
    used = 0
    count = 0
    for count, line in enumerate(lines):
        used += _width(line)
        if used > limit and count:
            return count
    return count + 1


def lines_in(code: CodeReader, path: str) -> tuple[str, ...]:
    """The file's lines; raises `Refusal` where there is none to read."""
    text = code.read_file(path)
    if text is None:
        raise not_there(code, path)
    return lines_of(text)


def not_there(code: CodeReader, path: str) -> Refusal:
    """Why a file cannot be read, and what to read instead."""
    paths = code.paths()
    if path in paths:
        return Refusal(f"{path} is not text, or too large to show.")
    if any(other.startswith(f"{path}/") for other in paths):
        return Refusal(f"{path} is a folder: use list_directory.")
    hint = near(path, paths) or "Use find_files or search_code."
    return Refusal(f"There is no file {path} at this commit. {hint}", missing=True)


def no_folder(code: CodeReader, path: str) -> Refusal:
    """Why a folder cannot be looked into, and what to use instead."""
    paths = code.paths()
    hint = near(path, folders(paths)) or "List the root with path ''."
    return Refusal(f"There is no folder {path or '(root)'} at this commit. {hint}", missing=True)


def near(path: str, known: Iterable[str]) -> str:
    """Near matches in a sentence; empty where there are none."""
    found = [name(one) for one in near_matches(path, known)]
    return f"Near matches: {', '.join(found)}." if found else ""
