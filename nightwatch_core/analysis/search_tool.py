"""What search_code finds: the lines that hold a text, those that matter first."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from nightwatch_core.analysis.path_suggestions import folders, near_matches, no_folder
from nightwatch_core.analysis.search_text import BULK_LINE, FileHits, fitting
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import MARK, around, inside, lines_of, name
from nightwatch_core.code.definitions import Definition, defined_name, definitions_in
from nightwatch_core.code.file_kinds import BULK, kind_of, rank_of
from nightwatch_core.code.languages import language_of
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.tool_values import HitsFound
from nightwatch_core.privacy.secret_files import is_secret_file, refusal
from nightwatch_core.text.escaping import line
from nightwatch_core.text.globs import fixed_folder, matches

SIFTED = 5_000  # hits of a text that are looked at
_VALUES = 1_000  # hits that code is given
_QUERY = 200  # characters of a text
_DEFINED = 40  # files in which definitions are looked for
_PATTERN = ("|", ".*", "\\b", "\\(", "\\.", "\\s", "\\d", "\\w", "^", "$")
_NAME = re.compile(r"[A-Za-z_$][\w$]{0,99}[?!]?")
_DEFINES = re.compile(
    r"\b(?:def|class|module|func|fun|fn|function|interface|struct|trait|enum|type|record)\b"
)

Hits = dict[str, dict[int, str]]  # texts of lines by number, by path


def search_code(
    at: ToolContext,
    limit: int,
    queries: Sequence[str],
    path: str = "",
    glob: str = "",
    whole_words: bool = False,
    context: int = 0,
) -> ToolAnswer:
    """Show lines that hold one of the texts, grouped by file, about `limit` characters."""
    wanted = tuple(dict.fromkeys(queries))
    if is_secret_file(path):
        raise Refusal(f"{refusal(line(path))}.")
    for query in wanted:
        _check(query)
    folder = path or (fixed_folder(glob) if inside(fixed_folder(glob)) else "")
    merged: Hits = {}
    counts: dict[str, int] = {}
    more = False
    for query in wanted:
        hits, cut = _hits(at, query, folder, glob, whole_words)
        counts[query], more = len(hits), more or cut
        for hit in hits:
            merged.setdefault(hit.path, {})[hit.line] = hit.text
    if not merged:
        none = "\n".join(_none(at, query, folder, glob, more) for query in wanted)
        return ToolAnswer(none, HitsFound(complete=not more))
    ordered = sorted(merged, key=lambda one: (rank_of(one, at.frame_files), one))
    bulk = [one for one in ordered if _is_bulk(one, merged[one])]
    bulk = bulk if len(bulk) < len(ordered) else []
    files = [_file(at, one, merged[one], wanted) for one in ordered if one not in bulk]
    _define(files, wanted)
    shown = fitting(files, context, at.known, limit)
    parts = (_head(counts, shown.reduced), shown.text, _told(merged, bulk, more))
    return ToolAnswer("\n".join(filter(None, parts)), _value(files, merged, bulk, wanted, more))


def _check(query: str) -> None:
    if not query.strip() or not query.replace("\t", " ").isprintable() or len(query) > _QUERY:
        said = f"Search for one line of visible text, at most {_QUERY} characters, no line breaks."
        raise Refusal(said)


def _hits(
    at: ToolContext, query: str, folder: str, glob: str, whole_words: bool
) -> tuple[tuple[SearchHit, ...], bool]:
    """Lines with the text, and whether there may be more."""
    try:
        hits = at.code.search(query, folder, SIFTED)
    except GiveUp as trouble:  # too slow, or too many files: the model can ask for less
        raise Refusal(f"No search: {line(str(trouble))}. Give path, or a longer text.") from None
    word = _as_word(query)
    fitting = (
        hit
        for hit in hits
        if (not glob or matches(hit.path, glob))
        and (not whole_words or word.search(hit.text) or query not in hit.text)
    )
    return tuple(fitting), len(hits) >= SIFTED


def _as_word(query: str) -> re.Pattern[str]:
    """The text as a whole word, at those of its ends that are part of one."""
    before = r"(?<![\w$])" if query[:1].isalnum() or query[:1] in "_$" else ""
    after = r"(?![\w$])" if query[-1:].isalnum() or query[-1:] in "_$" else ""
    return re.compile(f"{before}{re.escape(query)}{after}")


def _is_bulk(path: str, hits: dict[int, str]) -> bool:
    """Whether the file is data that was made, or lies in lines nobody reads."""
    is_long = any(len(text) >= BULK_LINE for text in hits.values())
    return kind_of(path) in BULK or (is_long and path.endswith((".js", ".css", ".json", ".html")))


def _file(at: ToolContext, path: str, hits: dict[int, str], wanted: Sequence[str]) -> FileHits:
    """The file's hits; the text is read where a line of the search is cut before the hit."""
    is_cut = any(not any(query in text for query in wanted) for text in hits.values())
    texts = {number: text.removesuffix("\r") for number, text in hits.items()}
    file = FileHits(path, texts, wanted, lambda: lines_of(at.code.read_file(path) or ""))
    if is_cut:
        file.texts |= {n: file.lines[n - 1] for n in texts if n <= len(file.lines)}
    return file


def _define(files: Sequence[FileHits], wanted: Sequence[str]) -> None:
    """Note in which hits something is defined that the texts name."""
    names = {found for query in wanted for found in _NAME.findall(query)}
    likely = (file for file in files if any(defines(file.path, row, names) for row in file.rows))
    for file in islice(likely, _DEFINED):
        defined = definitions_in(file.path, "\n".join(file.lines))
        file.definitions = tuple(one for one in defined if _is_meant(one, file, names))


def defines(path: str, row: str, names: set[str]) -> bool:
    """Tell whether a line looks as if it defined one of the names."""
    is_named = defined_name(row, language_of(path)) in names
    return is_named or (bool(_DEFINES.search(row)) and any(name in row for name in names))


def _is_meant(one: Definition, file: FileHits, names: set[str]) -> bool:
    return one.kind != "value" and one.name in names and one.line in file.texts


def _head(counts: dict[str, int], reduced: str) -> str:
    """Say of several texts how often each was found, and that there is less around the hits."""
    several = counts.items() if len(counts) > 1 else ()
    rows = [f"{query!r}: {count or 'no'} lines" for query, count in several]
    return "; ".join((*rows, *((reduced,) if reduced else ())))


def _told(merged: Hits, bulk: Sequence[str], more: bool) -> str:
    """Say what is not shown."""
    by_kind: dict[str, list[int]] = {}
    for path in bulk:
        kind = kind_of(path) if kind_of(path) in BULK else "minified"
        by_kind.setdefault(kind, []).append(len(merged[path]))
    counts = ", ".join(
        f"{sum(lines)} in {len(lines)} {kind} file{'' if len(lines) == 1 else 's'}"
        for kind, lines in by_kind.items()
    )
    rows = (
        f"(lines not shown: {counts}; name one with path or glob)" if counts else "",
        f"{MARK}there may be more: give a longer text, path or glob ...]" if more else "",
    )
    return "\n".join(filter(None, rows))


def _value(
    files: Sequence[FileHits], merged: Hits, bulk: Sequence[str], wanted: Sequence[str], more: bool
) -> HitsFound:
    """The hits in the order of the answer, what is only counted at the end."""
    shown = ((file.path, number, file.text(number)) for file in files for number in file.texts)
    counted = (
        (path, n, around(text, wanted[0])) for path in bulk for n, text in merged[path].items()
    )
    hits = [SearchHit(path=path, line=n, text=text) for path, n, text in (*shown, *counted)]
    return HitsFound(hits=tuple(hits[:_VALUES]), complete=not more and len(hits) <= _VALUES)


def _none(at: ToolContext, query: str, folder: str, glob: str, more: bool) -> str:
    paths = at.code.paths()
    if folder and folder not in paths and folder not in folders(paths):
        raise no_folder(at.code, folder)
    where = f" below {folder}" if folder else ""
    where += f" in files like {glob}" if glob else ""
    if more:
        return f"{MARK}none of the first {SIFTED} lines with {query!r} is{where}: give path ...]"
    said = f"No line holds {query!r}{where}."
    if any(sign in query for sign in _PATTERN):
        said += " The text is searched for as it is: patterns do not work."
    named = _named(query, paths)
    return f"{said} Files of such a name: {', '.join(map(name, named))}." if named else said


def _named(query: str, paths: Iterable[str]) -> tuple[str, ...]:
    return near_matches(query, paths) if query.replace("_", "").isalnum() else ()
