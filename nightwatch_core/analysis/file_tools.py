"""The read_file tool: requested lines, or the outline of a long file."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from nightwatch_core.analysis.prompts import head, part, runs, seen, spans, whole_lines
from nightwatch_core.analysis.research import folders, near_matches, no_folder
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import MARK, around, halves, inside, lines_of, name, visible
from nightwatch_core.code.definitions import Definition, defined_name, definitions_in
from nightwatch_core.code.languages import BULK, kind_of, language_of, rank_of
from nightwatch_core.code.syntax import indent
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.conversation import HitsFound, LinesRead
from nightwatch_core.privacy.secret_files import is_secret_file, refusal
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import fixed_folder, matches

WHOLE = 120  # lines: a file of more is outlined where no range is asked for
MOST = 400  # lines of one range
_OUTLINE = 60  # definitions
_OUTLINE_ROOM = 4_000  # characters
_LONGEST_DEFINITION = 120  # characters of a line
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
    if (
        start is None
        and end is None
        and (total - len(seen(path, range(1, total + 1), known))) > WHOLE
    ):
        outline = outline_of(path, lines, known)
        return ToolAnswer(outline, LinesRead(path=path, total=total))
    first, last = sorted((start or 1, min(end or total, total)))
    asked = range(first, min(last, first + MOST - 1) + 1)
    return _range(path, lines, asked, last, known, limit)


def outline_of(path: str, lines: Sequence[str], known: Collection[str]) -> str:
    """Write what a file defines, line by line, and which of its lines stand above."""
    total = len(lines)
    rows = _definitions(path, lines)
    above = seen(path, range(1, total + 1), known)
    shown = f" Shown above: lines {spans(above)}." if above else ""
    if not rows:
        beginning = part(path, lines, range(1, min(total, _BEGINNING) + 1), known, _OUTLINE_ROOM)
        top = head(path, 1, _BEGINNING, total)
        ask = "(it defines nothing that is known here; ask for more by start and end)"
        return "\n".join((top, *beginning.rows, ask + shown))
    top = f"{name(path)}, {total} lines; its outline. Ask for lines by start and end.{shown}"
    return "\n".join((top, *rows))


def _range(
    path: str, lines: Sequence[str], asked: range, last: int, known: Collection[str], limit: int
) -> ToolAnswer:
    total = len(lines)
    told = part(path, lines, asked, known, limit)
    read = range(asked.start, told.left or asked.stop)
    value = LinesRead(path=path, total=total, lines=whole_lines(lines, read))
    if not told.numbers:
        return ToolAnswer(f"{name(path)}, {total} lines: shown above, lines {spans(asked)}.", value)
    top = head(path, asked.start, asked.stop - 1, total)
    more = (
        f"[... at most {MOST} lines at once: go on with start {asked.stop} ...]"
        if asked.stop <= last and not told.left
        else ""
    )
    return ToolAnswer("\n".join(filter(None, (top, *told.rows, more))), value)


def _definitions(path: str, lines: Sequence[str]) -> tuple[str, ...]:
    """A row for each definition, in the order of lines; of many the outer ones."""
    known = (
        definition
        for definition in definitions_in(path, "\n".join(lines))
        if definition.kind != "value"
    )
    by_line = {item.line: item for item in known}
    outer = sorted(by_line.values(), key=lambda item: (indent(lines[item.line - 1]), item.line))
    kept = sorted(outer[:_OUTLINE], key=lambda item: item.line)
    rows = [
        f"{item.line:>5}-{item.end:<5} {visible(lines[item.line - 1][:_LONGEST_DEFINITION])}"
        for item in kept
    ]
    while sum(map(len, rows)) > _OUTLINE_ROOM:
        rows.pop()
    more = sorted(by_line.keys() - {item.line for item in kept[: len(rows)]})
    if not more or not rows:
        return tuple(rows)
    onward = f"{len(more)} more definitions in lines {more[0]}-{more[-1]}, ask by start and end"
    return (*rows, f"[... {onward} ...]")


# How hits of a search are written: each in its place, as much around them as there is room for.
#
# Where room is short, what is around hits of tests goes first, then definitions and context of
# code,
# then the ends of long lines; then files at the end of the ranking are told by the numbers of their
# lines, and at last by how many those are.

BULK_LINE = 300  # characters: of a line that nobody wrote by hand
_WIDTH = 300  # characters of a row
_WHOLE = 60  # lines of a definition
_TOGETHER = 3  # hits of a file that are written below its name
_NARROW = 80  # characters of a row where not all rows fit
_ROWS, _NUMBERS = 0.6, 0.25  # shares of the room
_LEAST = 80  # characters for the numbers of one file
_ALL = 10_000  # hits: as many as there are
_GAP = "..."  # a row between hits of a list that are not neighbours


class FileHits:
    """Lines of one file that a search found."""

    def __init__(
        self,
        path: str,
        texts: dict[int, str],
        wanted: Sequence[str],
        read: Callable[[], tuple[str, ...]],
    ) -> None:
        """`texts` by line number; `read` gives all lines of the file, where they are needed."""
        self.path, self.wanted, self._read = path, wanted, read
        self.texts = dict(sorted(texts.items()))
        self.definitions: tuple[Definition, ...] = ()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Return all lines of the file."""
        return self._read()

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the texts of the hits."""
        return tuple(self.texts.values())

    def text(self, number: int, most: int = _WIDTH) -> str:
        """Write a line, the part that was searched for if it is long."""
        whole = self.texts.get(number)
        if whole is None:
            return around(self.lines[number - 1], "", most)
        query = next((item for item in self.wanted if item in whole), "")
        return around(whole, query, max(most, len(query)))


class Level(NamedTuple):
    """Level of detail."""

    definitions: int  # that are hit, whole
    context: int  # lines around a hit in code
    of_others: int  # lines around a hit in other files: tests, texts
    others: int = _ALL  # hits of such a file that are written out
    width: int = _WIDTH  # characters of a row


# What is tried, the first that fits.
_LEVELS = (
    *(Level(6, 10, 10), Level(6, 10, 0), Level(6, 10, 0, 5), Level(4, 10, 0, 5)),
    *(Level(2, 10, 0, 5), Level(2, 6, 0, 5), Level(1, 6, 0, 5), Level(1, 4, 0, 5)),
    *(Level(1, 2, 0, 5), Level(0, 2, 0, 5), Level(0, 1, 0, 5), Level(1, 0, 0)),
    *(Level(0, 0, 0), Level(0, 0, 0, width=120), Level(0, 0, 0, width=80)),
)


class Shown(NamedTuple):
    """Rendered hits, and those with less context than requested."""

    text: str
    reduced: str = ""


def fitting(files: Sequence[FileHits], context: int, known: Collection[str], limit: int) -> Shown:
    """Write all hits in about `limit` characters; tests and texts are thinned out before code."""
    others = _others(files)
    for level in _LEVELS:
        left = level.definitions
        blocks: list[str] = []
        for file in files:
            if file.path in others and not level.of_others:
                blocks += _thin(file, level, known)
                continue
            whole = _expanded(file)[:left]
            left -= len(whole)
            blocks += _block(file, whole, min(context, level.context), known, level.width)
        text = "\n".join(blocks)
        if len(text) <= limit:
            return Shown(text, _reduced(files, others, context, level))
    return Shown(_tight(files, known, limit), _reduced(files, others, context, _LEVELS[-1]))


def _others(files: Sequence[FileHits]) -> frozenset[str]:
    """Files that matter less than code; none where there is no code among them."""
    others = frozenset(file.path for file in files if kind_of(file.path) != "code")
    return others if len(others) < len(files) else frozenset()


def _reduced(files: Sequence[FileHits], others: Collection[str], asked: int, level: Level) -> str:
    rest = sum(len(file.texts) for file in files if file.path in others)
    if asked > level.context:
        hits = sum(len(file.texts) for file in files)
        none = f", none for {rest} in tests and texts" if rest and level.context else ""
        return f"context {level.context} instead of {asked}: {hits} hits{none}"
    if asked > level.of_others and rest:
        return f"no context for {rest} hits in tests and texts: name one with path"
    return ""


def _thin(file: FileHits, level: Level, known: Collection[str]) -> Iterator[str]:
    """Hits without what is around them: rows of the first ones, numbers of the others."""
    texts = dict(islice(file.texts.items(), level.others))
    first = FileHits(file.path, texts, file.wanted, lambda: file.lines)
    yield from _block(first, (), 0, known, level.width)
    if more := [str(number) for number in file.texts if number not in texts]:
        yield f"{name(file.path)}: lines {', '.join(more)}"


def _expanded(file: FileHits) -> tuple[range, ...]:
    """Lines of what is defined in a hit: whole up to 60 lines, of longer functions the first 60."""
    if kind_of(file.path) not in ("code", "test"):
        return ()
    spans = (
        (definition, range(definition.line, min(definition.end, definition.line + _WHOLE - 1) + 1))
        for definition in file.definitions
    )
    return tuple(
        span for item, span in spans if item.kind == "function" or item.end - item.line < _WHOLE
    )


def _block(
    file: FileHits, whole: Sequence[range], context: int, known: Collection[str], width: int
) -> Iterator[str]:
    """Rows of one file: hits alone in a row each, those with more around them as parts."""
    more = {n for span in whole for n in span}
    if context:
        more |= {n for hit in file.texts for n in range(hit - context, hit + context + 1)}
    is_list = not more and len(file.texts) >= _TOGETHER
    total = len(file.lines) if more or is_list else 0
    if is_list and total:
        numbers = tuple(file.texts)
        yield head(file.path, numbers[0], numbers[-1], total)
        for before, n in zip((numbers[0] - 1, *numbers), numbers, strict=False):
            yield from (_GAP,) if n > before + 1 else ()
            yield f"{n:>5}| {file.text(n, width)}"
        return
    more = {n for n in more if 1 <= n <= total} - file.texts.keys()
    more -= seen(file.path, more | file.texts.keys(), known)
    ends = {span.stop - 1 for span in whole}
    for run in runs((*more, *file.texts)):
        if more.isdisjoint(run):
            yield from (f"{name(file.path)}:{n}: {file.text(n, width)}" for n in run)
            continue
        yield head(file.path, run.start, run.stop - 1, total)
        yield from (f"{n:>5}| {file.text(n)}" for n in run)
        for definition in file.definitions:
            if definition.line in run and run.stop - 1 in ends and definition.end >= run.stop:
                yield f"({definition.name} goes on to line {definition.end})"


def _tight(files: Sequence[FileHits], known: Collection[str], limit: int) -> str:
    best = next((file for file in files if _expanded(file)), None)
    rows = [
        (file, row)
        for file in files
        for row in _block(file, _expanded(file)[:1] if file is best else (), 0, known, _NARROW)
    ]
    parts: list[str] = []
    used = 0
    for _, row in rows:
        used += len(row) + 1
        if used > limit * _ROWS:
            break
        parts.append(row)
    left: dict[int, tuple[FileHits, int]] = {}
    for file, row in rows[len(parts) :]:
        if row == _GAP:
            continue
        left[id(file)] = (file, left.get(id(file), (file, 0))[1] + 1)
    rest = list(left.values())
    share = max(int(limit * _NUMBERS) // max(len(rest), 1), _LEAST)
    while rest and len("\n".join(parts)) < limit * (_ROWS + _NUMBERS) - share:
        parts.append(_numbers(*rest.pop(0), share))
    if rest:
        counts = ", ".join(f"{name(file.path)} ({len(file.texts)})" for file, _ in rest)
        room = max(limit - len("\n".join(parts)) - 200, _LEAST)
        told = halves(counts, room, "and others").replace("\n", " ")
        parts.append(f"{MARK}and {len(rest)} more files, search with path or glob: {told} ...]")
    return "\n".join(parts)


def _numbers(file: FileHits, count: int, room: int) -> str:
    numbers = [str(number) for number in file.texts][-count:]
    row = f"{name(file.path)}: lines {', '.join(numbers)}"
    if len(row) <= room:
        return row
    kept = row[:room].rpartition(",")[0] or row[:room]
    return f"{kept} and more, {len(file.texts)} in all"


# What search_code finds: the lines that hold a text, those that matter first.

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
        if not query.strip() or not query.replace("\t", " ").isprintable() or len(query) > _QUERY:
            said = (
                f"Search for one line of visible text, at most {_QUERY} characters, no line breaks."
            )
            raise Refusal(said)
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
    ordered = sorted(merged, key=lambda item: (rank_of(item, at.frame_files), item))
    bulk = [item for item in ordered if _is_bulk(item, merged[item])]
    bulk = bulk if len(bulk) < len(ordered) else []
    files = [_file(at, item, merged[item], wanted) for item in ordered if item not in bulk]
    names = {found for query in wanted for found in _NAME.findall(query)}
    likely = (file for file in files if any(defines(file.path, row, names) for row in file.rows))
    for file in islice(likely, _DEFINED):
        defined = definitions_in(file.path, "\n".join(file.lines))
        file.definitions = tuple(item for item in defined if _is_meant(item, file, names))
    shown = fitting(files, context, at.known, limit)
    parts = (_head(counts, shown.reduced), shown.text, _told(merged, bulk, more))
    return ToolAnswer("\n".join(filter(None, parts)), _value(files, merged, bulk, wanted, more))


def _hits(
    at: ToolContext, query: str, folder: str, glob: str, whole_words: bool
) -> tuple[tuple[SearchHit, ...], bool]:
    try:
        hits = at.code.search(query, folder, SIFTED)
    except GiveUp as trouble:  # too slow, or too many files: the model can ask for less
        raise Refusal(f"No search: {line(str(trouble))}. Give path, or a longer text.") from None
    before = r"(?<![\w$])" if query[:1].isalnum() or query[:1] in "_$" else ""
    after = r"(?![\w$])" if query[-1:].isalnum() or query[-1:] in "_$" else ""
    word = re.compile(f"{before}{re.escape(query)}{after}")
    fitting = (
        hit
        for hit in hits
        if (not glob or matches(hit.path, glob))
        and (not whole_words or word.search(hit.text) or query not in hit.text)
    )
    return tuple(fitting), len(hits) >= SIFTED


def _is_bulk(path: str, hits: dict[int, str]) -> bool:
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


def defines(path: str, row: str, names: set[str]) -> bool:
    """Tell whether a line looks as if it defined one of the names."""
    is_named = defined_name(row, language_of(path)) in names
    return is_named or (bool(_DEFINES.search(row)) and any(name in row for name in names))


def _is_meant(definition: Definition, file: FileHits, names: set[str]) -> bool:
    return definition.kind != "value" and definition.name in names and definition.line in file.texts


def _head(counts: dict[str, int], reduced: str) -> str:
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
    named = near_matches(query, paths) if query.replace("_", "").isalnum() else ()
    return f"{said} Files of such a name: {', '.join(map(name, named))}." if named else said
