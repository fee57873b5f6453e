"""What search_code shows: hits grouped by file, as few characters as tell all of them."""

from collections.abc import Iterable, Mapping

from nightwatch_core.analysis.path_suggestions import folders, near_matches, no_folder
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_specs import HITS
from nightwatch_core.code.code_view import MARK, around, halves, inside, lines_of, name
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.conversation import HitsFound
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import line
from nightwatch_core.text.globs import fixed_folder, matches
from nightwatch_core.traces.path_index import is_vendored

_SIFTED = 500  # hits that are looked through for those a glob fits
_PER_FILE = (HITS, 40, 30, 20, 15, 10, 7, 5, 3, 2, 1)  # places of a file; the first that fits
_MORE = f"{MARK}there may be more: search for a longer text, or with path or glob ...]"
_PATTERN = ("|", ".*", "\\b", "\\(", "\\.", "\\s", "\\d", "\\w", "^", "$")


def search_code(
    code: CodeReader, limit: int, query: str, path: str = "", glob: str = "", context: int = 0
) -> ToolAnswer:
    """Show lines that hold `query`, grouped by file, about `limit` characters."""
    if not query.strip() or not query.replace("\t", " ").isprintable():
        raise Refusal("Search for one line of visible text, without line breaks.")
    folder = path or (fixed_folder(glob) if inside(fixed_folder(glob)) else "")
    hits, more = _hits(code, query, folder, glob)
    if not hits:
        return ToolAnswer(_none(code, query, folder, glob, more), HitsFound(complete=not more))
    shown: dict[str, tuple[str, ...]] = {}
    values: list[SearchHit] = []
    for one, found in _grouped(hits[:HITS]).items():
        shown[one], texts = _shown(code, one, found, query, context)
        values += (hit.model_copy(update={"text": around(texts[hit.line], query)}) for hit in found)
    return ToolAnswer(
        _fitting(shown, limit, more), HitsFound(hits=tuple(values), complete=not more)
    )


def _hits(
    code: CodeReader, query: str, folder: str, glob: str
) -> tuple[tuple[SearchHit, ...], bool]:
    """Hits, our own files first, and whether there may be more."""
    most = _SIFTED if glob else HITS + 1
    try:
        hits = code.search(query, folder, most)
    except GiveUp as trouble:  # too slow, or too many files: the model can ask for less
        raise Refusal(f"No search: {line(str(trouble))}. Give path, or a longer text.") from None
    fitting = [hit for hit in hits if not glob or matches(hit.path, glob)]
    more = len(fitting) > HITS or len(hits) >= most
    return tuple(sorted(fitting, key=lambda hit: is_vendored(hit.path))), more


def _none(code: CodeReader, query: str, folder: str, glob: str, more: bool) -> str:
    paths = code.paths()
    if folder and folder not in paths and folder not in folders(paths):
        raise no_folder(code, folder)
    where = f" below {folder}" if folder else ""
    where += f" in files like {glob}" if glob else ""
    if more:
        return f"{MARK}none of the first {_SIFTED} lines with {query!r} is{where}: give path ...]"
    said = f"No line holds {query!r}{where}."
    if any(sign in query for sign in _PATTERN):
        said += " The text is searched for as it is: patterns do not work."
    named = near_matches(query, paths) if query.replace("_", "").isalnum() else ()
    return f"{said} Files of such a name: {', '.join(map(name, named))}." if named else said


def _grouped(hits: Iterable[SearchHit]) -> dict[str, list[SearchHit]]:
    groups: dict[str, list[SearchHit]] = {}
    for hit in hits:
        groups.setdefault(hit.path, []).append(hit)
    return {path: sorted(found, key=lambda hit: hit.line) for path, found in groups.items()}


def _shown(
    code: CodeReader, path: str, hits: list[SearchHit], query: str, context: int
) -> tuple[tuple[str, ...], dict[int, str]]:
    """Show the places of one file: a row a hit; with context, parts as read_file has them.

    Hits close together are one part. With it, the text of each line that is shown.
    """
    is_cut = any(query not in hit.text for hit in hits)
    lines = lines_of(code.read_file(path) or "") if context or is_cut else ()
    texts = {hit.line: hit.text.removesuffix("\r") for hit in hits} | {
        number: lines[number - 1] for hit in hits for number in _near(hit.line, context, len(lines))
    }
    if not context:
        rows = (f"{name(path)}:{n}: {around(texts[n], query)}" for n in sorted(texts))
        return tuple(rows), texts
    runs: list[list[int]] = []
    for number in sorted(texts):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return tuple(_part(path, run, texts, query, len(lines)) for run in runs), texts


def _part(path: str, run: list[int], texts: Mapping[int, str], query: str, last: int) -> str:
    rows = (f"{number:>5}| {around(texts[number], query)}" for number in run)
    return "\n".join((f"{name(path)} (lines {run[0]}-{run[-1]} of {last})", *rows))


def _near(line: int, context: int, last: int) -> range:
    return range(max(line - context, 1), min(line + context, last) + 1)


def _fitting(shown: Mapping[str, tuple[str, ...]], limit: int, more: bool) -> str:
    for most in _PER_FILE:
        text = "\n".join((*(_file(*one, most) for one in shown.items()), *((_MORE,) * more)))
        if len(text) <= limit:
            return text
    return _first_files(shown, limit)


def _first_files(shown: Mapping[str, tuple[str, ...]], limit: int) -> str:
    """One place a file for as many files as fit, and the names of the others."""
    parts: list[str] = []
    used = 0
    for path, places in shown.items():
        part = _file(path, places, 1)
        used += len(part) + 1
        if used > limit * 0.75 and parts:
            break
        parts.append(part)
    if rest := list(shown)[len(parts) :]:
        names = ", ".join(f"{name(path)} ({len(shown[path])})" for path in rest)
        told = halves(names, limit // 5, "and others").replace("\n", " ")
        parts.append(f"{MARK}{len(rest)} more files have it, search with path or glob: {told} ...]")
    return halves("\n".join(parts), limit, "search for a longer text, or with path or glob")


def _file(path: str, places: tuple[str, ...], most: int) -> str:
    left = len(places) - most
    note = f"{MARK}{left} more in {name(path)}, search with that path ...]"
    return "\n".join((*places[:most], *((note,) if left > 0 else ())))
