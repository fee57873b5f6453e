"""What list_directory and find_files show: folders, names of files."""

from collections.abc import Iterable

from nightwatch_core.analysis.path_suggestions import (
    folders,
    near_matches,
    no_folder,
    sentence_of,
)
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import MARK, halves
from nightwatch_core.code.code_view import name as shown_name
from nightwatch_core.models.code import FolderEntry
from nightwatch_core.models.tool_values import EntriesListed, PathsFound
from nightwatch_core.text.globs import is_glob, matches
from nightwatch_core.traces.path_index import is_vendored


def list_directory(at: ToolContext, limit: int, path: str) -> ToolAnswer:
    """Show the names in a folder; a folder that holds nothing but one folder is shown with it."""
    entries = at.code.list_directory(path)
    if not entries:
        if path in at.code.paths():
            raise Refusal(f"{path} is a file: use read_file.")
        raise no_folder(at.code, path)
    below = _below(path, at.code.paths())
    rows = "\n".join(_entry(entry, below) for entry in entries)
    text = halves(rows, limit, "list a folder below this one, or use find_files")
    return ToolAnswer(text, EntriesListed(entries=entries))


def find_files(at: ToolContext, limit: int, name: str, path: str = "") -> ToolAnswer:
    """Show paths whose name holds `name`, or that a glob stands for, about `limit` characters."""
    paths = at.code.paths()
    if path and path not in folders(paths):
        raise no_folder(at.code, path)
    start = f"{path}/" if path else ""
    known = [one for one in paths if one.startswith(start)]
    wanted = name.strip().removeprefix("./").strip("/")
    if not wanted or not wanted.isprintable():
        raise Refusal("Give a file's name, a part of its name, or a glob.")
    found = sorted(_found(wanted, known, start), key=lambda one: _rank(one, wanted))
    if not found:
        where = f" below {path}" if path else ""
        hint = sentence_of(near_matches(wanted, known)) or "Try a shorter part, or search_code."
        return ToolAnswer(f"No file is called {name!a}{where}. {hint}", PathsFound())
    text = _listed(map(shown_name, found), limit, len(found))
    return ToolAnswer(text, PathsFound(paths=tuple(found)))


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
