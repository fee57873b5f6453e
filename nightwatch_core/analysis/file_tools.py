"""The read_file tool: requested lines, or the outline of a long file."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import islice

from nightwatch_core.analysis.previews import head, part, runs, seen, spans, whole_lines
from nightwatch_core.analysis.tool_context import (
    Refusal,
    ToolAnswer,
    ToolContext,
    folders,
    near_matches,
    no_folder,
)
from nightwatch_core.code.code_view import MARK, around, halves, inside, lines_of, name, visible
from nightwatch_core.code.definitions import Definition, defined_name, definitions_in
from nightwatch_core.code.languages import BULK, kind_of, language_of, rank_of
from nightwatch_core.code.syntax import indent
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.conversation import HitsFound, LinesRead
from nightwatch_core.privacy.secret_files import is_secret_file, refusal
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import fixed_folder, matches, plural

WHOLE = 120  # lines: a file of more is outlined where no range is asked for
MOST = 400  # lines of one range
_OUTLINE = 60  # definitions
_OUTLINE_ROOM = 4_000  # characters
_BEGINNING = 40  # lines of a file that defines nothing


def read_file(
    at: ToolContext, limit: int, path: str, start: int | None = None, end: int | None = None
) -> ToolAnswer:
    """Show lines `start` to `end` of a file, about `limit` characters of them.

    Without a range a long file's outline is shown. Lines that stand above are not shown again.
    """
    lines = at.lines(path)
    return answer_lines(path, lines, start, end, at.known, limit)


def answer_lines(
    path: str,
    lines: Sequence[str],
    start: int | None,
    end: int | None,
    known: Collection[str],
    limit: int,
) -> ToolAnswer:
    """Answer a reading of any file, which the conversation knows as `path`."""
    total = len(lines)
    if not lines:
        return ToolAnswer(f"{name(path)} is empty.", LinesRead(path=path, total=0))
    if start is not None and start > total:
        why = f"{name(path)} has {total} lines; ask for start <= end <= {total}."
        raise Refusal(why, LinesRead(path=path, total=total))
    new = total - len(seen(path, range(1, total + 1), known))
    if start is None and end is None and new > WHOLE:
        return ToolAnswer(outline_of(path, lines, known), LinesRead(path=path, total=total))
    first, last = sorted((start or 1, min(end or total, total)))
    asked = range(first, min(last, first + MOST - 1) + 1)
    numbered = part(path, lines, asked, known, limit)
    read = range(asked.start, numbered.left or asked.stop)
    value = LinesRead(path=path, total=total, lines=whole_lines(lines, read))
    if not numbered.numbers:
        return ToolAnswer(f"{name(path)}, {total} lines: shown above, lines {spans(asked)}.", value)
    rows = [head(path, asked.start, asked.stop - 1, total), *numbered.rows]
    if asked.stop <= last and not numbered.left:
        rows.append(f"[... at most {MOST} lines at once: go on with start {asked.stop} ...]")
    return ToolAnswer("\n".join(rows), value)


def outline_of(path: str, lines: Sequence[str], known: Collection[str]) -> str:
    """Write what a file defines, line by line, and which of its lines stand above."""
    total = len(lines)
    above = seen(path, range(1, total + 1), known)
    shown = f" Shown above: lines {spans(above)}." if above else ""
    if rows := _definitions(path, lines):
        top = f"{name(path)}, {total} lines; its outline. Ask for lines by start and end.{shown}"
        return "\n".join((top, *rows))
    beginning = part(path, lines, range(1, min(total, _BEGINNING) + 1), known, _OUTLINE_ROOM)
    ask = f"(it defines nothing that is known here; ask for more by start and end){shown}"
    return "\n".join((head(path, 1, _BEGINNING, total), *beginning.rows, ask))


def _definitions(path: str, lines: Sequence[str]) -> list[str]:
    """A row for each definition, in the order of lines; of many the outer ones."""
    known = definitions_in(path, "\n".join(lines))
    by_line = {item.line: item for item in known if item.kind != "value"}
    outer = sorted(by_line.values(), key=lambda item: (indent(lines[item.line - 1]), item.line))
    kept = sorted(outer[:_OUTLINE], key=lambda item: item.line)
    rows = [f"{d.line:>5}-{d.end:<5} {visible(lines[d.line - 1][:120])}" for d in kept]
    while sum(map(len, rows)) > _OUTLINE_ROOM:
        rows.pop()
    more = sorted(by_line.keys() - {item.line for item in kept[: len(rows)]})
    if more and rows:
        where = f"lines {more[0]}-{more[-1]}"
        rows.append(f"[... {len(more)} more definitions in {where}, ask by start and end ...]")
    return rows


# How hits of a search are written: with definitions and lines around them where there is room, else
# alone, else the first few of every file.

BULK_LINE = 300  # characters: of a line that nobody wrote by hand
_WIDTH = 300  # characters of a row
_WHOLE = 60  # lines of a definition
_TOGETHER = 3  # hits of a file that are written below its name
_ALL = 1_000_000
# What is tried until it fits: definitions that are hit, whole; lines around a hit; hits of a file.
_LEVELS = ((6, 10, _ALL), (2, 4, _ALL), (0, 1, _ALL), *((0, 0, n) for n in (_ALL, 50, 10, 3, 1)))


class FileHits:
    """Lines of one file that a search found."""

    def __init__(
        self,
        path: str,
        texts: dict[int, str],
        queries: Sequence[str],
        read: Callable[[], tuple[str, ...]],
    ) -> None:
        """`texts` by line number; `read` gives all lines of the file, where they are needed."""
        self.path, self._queries, self._read = path, queries, read
        self.texts = dict(sorted(texts.items()))
        self.definitions: tuple[Definition, ...] = ()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Return all lines of the file."""
        return self._read()

    def text(self, number: int) -> str:
        """Write a line, the part that was searched for if it is long."""
        whole = self.texts.get(number)
        if whole is None:
            return around(self.lines[number - 1], "", _WIDTH)
        query = next((item for item in self._queries if item in whole), "")
        return around(whole, query, max(_WIDTH, len(query)))

    def expanded(self) -> tuple[range, ...]:
        """Return the lines of definitions that are hit; of longer functions the first 60."""
        spans = (
            (item, range(item.line, min(item.end, item.line + _WHOLE - 1) + 1))
            for item in self.definitions
            if kind_of(self.path) in ("code", "test")
        )
        return tuple(
            span for item, span in spans if item.kind == "function" or item.end - item.line < _WHOLE
        )


def fitting(files: Sequence[FileHits], context: int, known: Collection[str], limit: int) -> str:
    """Write all hits in about `limit` characters; says how much was left out."""
    for whole, lines, hits in _LEVELS:
        left, rows = whole, list[str]()
        for file in files:
            spans = file.expanded()[:left]
            left -= len(spans)
            rows += _block(file, spans, min(context, lines), known, hits)
        if sum(map(len, rows)) + len(rows) <= limit:
            break
    else:  # rows in half of the room, in the other the names of files
        size, shown = 0, 0
        while size <= limit // 2:
            size, shown = size + len(rows[shown]) + 1, shown + 1
        text = "\n".join(rows[:shown])
        counts = [f"{name(f.path)} ({len(f.texts)})" for f in files if name(f.path) not in text]
        names = halves(", ".join(counts), limit // 2 - 200, "and others").replace("\n", " ")
        more = f"{len(counts)} more files, search with path or glob: {names}"
        rows = [*rows[:shown], f"{MARK}and {more} ...]"]
    if context > lines:
        found = sum(len(file.texts) for file in files)
        rows.insert(0, f"context {lines} instead of {context}: {found} hits")
    return "\n".join(rows)


def _block(
    file: FileHits, whole: Sequence[range], context: int, known: Collection[str], most: int
) -> Iterator[str]:
    """Rows of one file: hits alone in a row each, those with more around them as parts."""
    hits = list(file.texts)[:most]
    more = {n for span in whole for n in span}
    if context:
        more |= {n for hit in hits for n in range(hit - context, hit + context + 1)}
    is_list = not more and len(hits) >= _TOGETHER
    total = len(file.lines) if more or is_list else 0
    if is_list and total:
        yield head(file.path, hits[0], hits[-1], total)
        for before, n in zip((hits[0] - 1, *hits), hits, strict=False):
            yield from ("...",) if n > before + 1 else ()
            yield f"{n:>5}| {file.text(n)}"
    else:
        more = {n for n in more if 1 <= n <= total}.difference(hits)
        more -= seen(file.path, more.union(hits), known)
        for run in runs((*more, *hits)):
            if more.isdisjoint(run):
                yield from (f"{name(file.path)}:{n}: {file.text(n)}" for n in run)
                continue
            yield head(file.path, run.start, run.stop - 1, total)
            yield from (f"{n:>5}| {file.text(n)}" for n in run)
            for span in whole:
                if span.start in run and span.stop == run.stop and len(span) == _WHOLE:
                    yield "(it goes on: ask read_file for more)"
    if len(hits) < len(file.texts):
        yield f"(and {len(file.texts) - len(hits)} more lines of {name(file.path)})"


# What search_code finds: the lines that hold a text, those that matter first.

SIFTED = 5_000  # hits of a text that are looked at
_PATTERN = ("|", ".*", "\\b", "\\(", "\\.", "\\s", "\\d", "\\w", "^", "$")
_NAME = re.compile(r"[A-Za-z_$][\w$]{0,99}[?!]?")
_DEFINES = re.compile(
    r"\b(?:def|class|module|func|fun|fn|function|interface|struct|trait|enum|type|record)\b"
)


def search_code(
    at: ToolContext,
    limit: int,
    queries: Sequence[str],
    path: str = "",
    glob: str = "",
    context: int = 0,
) -> ToolAnswer:
    """Show lines that hold one of the texts, grouped by file, about `limit` characters."""
    if is_secret_file(path):
        raise Refusal(f"{refusal(line(path))}.")
    wanted = tuple(dict.fromkeys(queries))
    for query in wanted:
        if not query.strip() or not query.replace("\t", " ").isprintable() or len(query) > 200:
            visible = "one line of visible text, at most 200 characters, no line breaks"
            raise Refusal(f"Search for {visible}.")
    folder = path or (fixed_folder(glob) if inside(fixed_folder(glob)) else "")
    merged: dict[str, dict[int, str]] = {}  # texts of lines by number, by path
    counts: dict[str, int] = {}
    cut = False
    for query in wanted:
        # too slow, or too many files: the model can ask for less
        hits = at.search(query, folder, SIFTED, "Give path, or a longer text.")
        fitting_hits = [hit for hit in hits if not glob or matches(hit.path, glob)]
        counts[query], cut = len(fitting_hits), cut or len(hits) >= SIFTED
        for hit in fitting_hits:
            merged.setdefault(hit.path, {})[hit.line] = hit.text
    if not merged:
        none = "\n".join(_none(at, query, folder, glob, cut) for query in wanted)
        return ToolAnswer(none, HitsFound(complete=not cut))
    ordered = sorted(merged, key=lambda item: (rank_of(item, at.frame_files), item))
    bulk = {item: kind for item in ordered if (kind := _bulk_kind(item, merged[item]))}
    bulk = bulk if len(bulk) < len(ordered) else {}
    files = [_file(at, item, merged[item], wanted) for item in ordered if item not in bulk]
    names = {found for query in wanted for found in _NAME.findall(query)}
    likely = (f for f in files if any(defines(f.path, row, names) for row in f.texts.values()))
    for file in islice(likely, 40):
        file.definitions = tuple(
            item
            for item in definitions_in(file.path, "\n".join(file.lines))
            if item.kind != "value" and item.name in names and item.line in file.texts
        )
    several = counts.items() if len(counts) > 1 else ()
    top = [f"{query!r}: {count or 'no'} lines" for query, count in several]
    rows = ["; ".join(top), fitting(files, context, at.known, limit)]
    kinds = [
        f"{sum(lines)} in {plural(len(lines), f'{kind} file')}"
        for kind in dict.fromkeys(bulk.values())
        if (lines := [len(merged[item]) for item in bulk if bulk[item] == kind])
    ]
    if kinds:
        rows.append(f"(lines not shown: {', '.join(kinds)}; name one with path or glob)")
    if cut:
        rows.append(f"{MARK}there may be more: give a longer text, path or glob ...]")
    found = [
        *((file.path, n, file.text(n)) for file in files for n in file.texts),
        *((path, n, around(text, wanted[0])) for path in bulk for n, text in merged[path].items()),
    ]
    value = HitsFound(
        hits=tuple(SearchHit(path=path, line=n, text=text) for path, n, text in found[:1_000]),
        complete=not cut and len(found) <= 1_000,
    )
    return ToolAnswer("\n".join(filter(None, rows)), value)


def _bulk_kind(path: str, hits: dict[int, str]) -> str:
    """The kind of a file that nobody wrote by hand; empty for others."""
    is_long = any(len(text) >= BULK_LINE for text in hits.values())
    is_minified = is_long and path.endswith((".js", ".css", ".json", ".html"))
    return kind_of(path) if kind_of(path) in BULK else "minified" if is_minified else ""


def _file(at: ToolContext, path: str, hits: dict[int, str], wanted: Sequence[str]) -> FileHits:
    """The file's hits; the text is read where a line of the search is cut before the hit."""
    texts = {number: text.removesuffix("\r") for number, text in hits.items()}
    file = FileHits(path, texts, wanted, lambda: lines_of(at.code.read_file(path) or ""))
    if any(not any(query in text for query in wanted) for text in hits.values()):
        file.texts |= {n: file.lines[n - 1] for n in texts if n <= len(file.lines)}
    return file


def defines(path: str, row: str, names: set[str]) -> bool:
    """Check whether a line looks as if it defined one of the names."""
    is_named = defined_name(row, language_of(path)) in names
    return is_named or (bool(_DEFINES.search(row)) and any(name in row for name in names))


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
    named = near_matches(query, paths) if query.replace("_", "").isalnum() else ()
    return f"{said} Files of such a name: {', '.join(map(name, named))}." if named else said
