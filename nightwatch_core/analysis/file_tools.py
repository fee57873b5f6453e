"""What read_file, list_directory and find_files show: lines, folders, names of files."""

from collections.abc import Iterable, Sequence

from nightwatch_core.analysis.path_suggestions import (
    folders,
    near_matches,
    no_file,
    no_folder,
    sentence_of,
)
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.code.code_view import MARK, halves, lines_of, numbered, visible
from nightwatch_core.code.code_view import name as shown_name
from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.code.limits import SHOWN_LINE
from nightwatch_core.code.line_reading import indent
from nightwatch_core.models.code import FolderEntry
from nightwatch_core.models.conversation import EntriesListed, LinesRead, PathsFound
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.globs import is_glob, matches
from nightwatch_core.traces.path_index import is_vendored

_OUTLINE = 30  # definitions that are told of the part left out
_OUTLINE_SHARE = 0.2  # of the characters, at most
_LONGEST_DEFINITION = 160  # characters of a line that is told
_PART = "search_code finds text in them"


def read_file(
    code: CodeReader, limit: int, path: str, start: int = 1, end: int | None = None
) -> ToolAnswer:
    """Show lines `start` to `end` of a file, about `limit` characters of them."""
    lines = lines_in(code, path)
    last = len(lines)
    if not lines:
        return ToolAnswer(f"{shown_name(path)} is empty.", LinesRead(path=path, total=0))
    if start > last or (end is not None and end < start):
        asked = f"{start}-{'' if end is None else end}"
        why = f"{path} has {last} lines; ask for start <= end <= {last}, not {asked}."
        raise Refusal(why, LinesRead(path=path, total=last))
    end = min(end or last, last)
    head = f"{shown_name(path)} (lines {start}-{end} of {last})"
    if start == end:
        only = visible(lines[start - 1])
        text = halves(f"{head}\n{start:>5}| {only}", limit, _PART)
        known = {start: only} if len(text) == len(head) + 8 + len(only) else {}
        return ToolAnswer(text, LinesRead(path=path, total=last, lines=known))
    asked_for = lines[start - 1 : end]
    outline = _outline(path, lines, range(start - 1, end), int(limit * _OUTLINE_SHARE))
    rows, shown = _rows_of(asked_for, start, limit, outline)
    whole = {n: visible(lines[n - 1]) for n in shown if len(lines[n - 1]) <= SHOWN_LINE}
    return ToolAnswer("\n".join((head, *rows)), LinesRead(path=path, total=last, lines=whole))


def list_directory(code: CodeReader, limit: int, path: str) -> ToolAnswer:
    """Show the names in a folder; a folder that holds nothing but one folder is shown with it."""
    entries = code.list_directory(path)
    if not entries:
        if path in code.paths():
            raise Refusal(f"{path} is a file: use read_file.")
        raise no_folder(code, path)
    below = _below(path, code.paths())
    rows = "\n".join(_entry(entry, below) for entry in entries)
    text = halves(rows, limit, "list a folder below this one, or use find_files")
    return ToolAnswer(text, EntriesListed(entries=entries))


def find_files(code: CodeReader, limit: int, name: str, path: str = "") -> ToolAnswer:
    """Show paths whose name holds `name`, or that a glob stands for, about `limit` characters."""
    paths = code.paths()
    if path and path not in folders(paths):
        raise no_folder(code, path)
    start = f"{path}/" if path else ""
    known = [one for one in paths if one.startswith(start)]
    wanted = name.strip().removeprefix("./").strip("/")
    found = sorted(_found(wanted, known, start), key=lambda one: _rank(one, wanted))
    if not found:
        where = f" below {path}" if path else ""
        hint = sentence_of(near_matches(wanted, known)) or "Try a shorter part, or search_code."
        return ToolAnswer(f"No file is called {name!a}{where}. {hint}", PathsFound())
    text = _listed(map(shown_name, found), limit, len(found))
    return ToolAnswer(text, PathsFound(paths=tuple(found)))


def lines_in(code: CodeReader, path: str) -> tuple[str, ...]:
    """Give the file's lines; raises `Refusal` where there is none to read."""
    text = code.read_file(path)
    if text is None:
        raise no_file(code, path)
    return lines_of(text)


def _rows_of(
    lines: Sequence[str], start: int, limit: int, outline: Sequence[int]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Number rows of about `limit` characters: all, or the first, the definitions, the last.

    `outline` are the numbers of lines that define something. With the rows, the numbers of the
    lines that are shown.
    """
    if sum(map(_width, lines)) <= limit:
        return tuple(numbered(lines, start)), tuple(range(start, start + len(lines)))
    half = (limit - sum(_width(lines[number - start]) for number in outline)) // 2
    first = _fitting(lines, half)
    last = len(lines) - _fitting(lines[:first:-1], half)
    between = [number for number in outline if start + first <= number < start + last]
    rows = (
        *numbered(lines[:first], start),
        _left_out(lines[first:last], start + first, limit, bool(between)),
        *(row for n in between for row in numbered([lines[n - start]], n)),
        *((f"{MARK}the file goes on ...]",) if between else ()),
        *numbered(lines[last:], start + last),
    )
    ends = (*range(start, start + first), *range(start + last, start + len(lines)))
    return rows, (*ends, *between)


def _left_out(lines: Sequence[str], start: int, limit: int, outlined: bool) -> str:
    once = max(1, len(lines) * limit * 9 // (sum(map(_width, lines)) * 10))
    ask = f"ask for a line range (start, end), up to {once} lines at once"
    told = "; they define" if outlined else ""
    return f"{MARK}lines {start}-{start + len(lines) - 1} left out; {ask}{told} ...]"


def _outline(path: str, lines: Sequence[str], part: range, limit: int) -> tuple[int, ...]:
    """Number the lines that define something and are sure to be left out, outer ones first."""
    outer = len(part) // 20
    between = range(part.start + outer + 1, part.stop - outer + 1)
    if sum(map(_width, lines[part.start : part.stop])) <= limit / _OUTLINE_SHARE:
        return ()
    defined = {d.line for d in definitions_in(path, "\n".join(lines)) if d.kind != "value"}
    short = [n for n in defined if n in between and len(lines[n - 1]) <= _LONGEST_DEFINITION]
    outermost = sorted(short, key=lambda n: (indent(lines[n - 1]), n))[:_OUTLINE]
    kept: list[int] = []
    used = 0
    for number in sorted(outermost):
        used += _width(lines[number - 1])
        if used > limit:
            break
        kept.append(number)
    return tuple(kept)


def _width(line: str) -> int:
    """Characters of the line's row."""
    return len(visible(line[:SHOWN_LINE])) + 8


def _fitting(lines: Iterable[str], limit: int) -> int:
    """How many of the lines fit, one at least."""
    used = 0
    count = 0
    for count, line in enumerate(lines):
        used += _width(line)
        if used > limit and count:
            return count
    return count + 1


def _found(wanted: str, known: Iterable[str], start: str) -> Iterable[str]:
    if is_glob(wanted):
        return (p for p in known if matches(p, wanted) or matches(p.removeprefix(start), wanted))
    part = wanted.lower()
    if "/" in part:
        return (one for one in known if part in one.lower())
    return (one for one in known if part in one.rpartition("/")[2].lower())


def _rank(path: str, wanted: str) -> tuple[bool, bool, int, str]:
    """Our own files first, then those called just that, then those higher up."""
    stem = path.rpartition("/")[2].split(".")[0]
    return is_vendored(path), stem.lower() != wanted.lower(), path.count("/"), path


def _listed(names: Iterable[str], limit: int, total: int) -> str:
    rows: list[str] = []
    used = 0
    for one in names:
        used += len(one) + 1
        if used > limit and rows:
            left = total - len(rows)
            rows.append(f"{MARK}{left} more: give a longer part, a glob or a path ...]")
            break
        rows.append(one)
    return "\n".join(rows)


def _below(path: str, paths: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """By the name of a folder: the folders that lead to where it branches, and its files."""
    start = f"{path}/" if path else ""
    inside: dict[str, list[str]] = {}
    for one in paths:
        if one.startswith(start) and "/" in (rest := one[len(start) :]):
            inside.setdefault(rest.split("/", 1)[0], []).append(rest)
    return {
        name: (_shared_folder(files[0], files[-1]), len(files)) for name, files in inside.items()
    }


def _shared_folder(first: str, last: str) -> str:
    """The folder that holds all of a sorted list of paths, of its first and last one.

    >>> _shared_folder("main/java/shop/A.java", "main/java/shop/b/B.java")
    'main/java/shop'
    """
    shared: list[str] = []
    for one, other in zip(first.split("/")[:-1], last.split("/")[:-1], strict=False):
        if one != other:
            break
        shared.append(one)
    return "/".join(shared)


def _entry(entry: FolderEntry, below: dict[str, tuple[str, int]]) -> str:
    if entry.kind == "folder":
        folder, files = below.get(entry.name, (entry.name, 0))
        return f"{shown_name(folder)}/ ({files} file{'' if files == 1 else 's'})"
    size = "" if entry.size is None else f" ({entry.size})"
    kind = "" if entry.kind == "file" else f" [{entry.kind}]"
    return f"{shown_name(entry.name)}{size}{kind}"
