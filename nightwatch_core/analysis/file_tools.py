"""Tools that show lines of files: read_file, search_code and read_symbol."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from nightwatch_core.analysis.previews import head, part, place, runs, seen, spans, whole_lines
from nightwatch_core.analysis.tool_context import (
    Refusal,
    ToolAnswer,
    ToolContext,
    folders,
    listed,
    near_matches,
    no_folder,
    one_folder,
    sentence_of,
)
from nightwatch_core.code.code_view import CUT, MARK, around, inside, lines_of, name, visible
from nightwatch_core.code.definitions import Definition, defined_name, definitions_in
from nightwatch_core.code.languages import BULK, is_code, kind_of, language_of, rank_of
from nightwatch_core.code.syntax import indent
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.conversation import HitsFound, LinesRead
from nightwatch_core.privacy.rules import is_secret_file, refusal
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import fixed_folder, matches, plural

WHOLE = 200  # lines: a file of more is outlined where no range is asked for
MOST = 400  # lines of one range, and of one definition
_OUTLINE = 100  # definitions
_BEGINNING, _BEGINNING_ROOM = 40, 4_000  # lines of a file that defines nothing; characters


def read_file(
    at: ToolContext, limit: int, path: str, start: int | None = None, end: int | None = None
) -> ToolAnswer:
    """Show lines `start` to `end` of a file, about `limit` characters of them.

    Without a range a long file's outline is shown. Lines that stand above are not shown again.
    """
    return answer_lines(path, at.lines(path), start, end, at.known, limit)


def answer_lines(
    path: str,
    lines: Sequence[str],
    start: int | None,
    end: int | None,
    shown_lines: Collection[str],
    limit: int,
) -> ToolAnswer:
    """Answer a reading of any file, which the conversation knows as `path`."""
    total = len(lines)
    if not lines:
        value = LinesRead(path=path, total=0)
        return ToolAnswer(f"{name(path)} is empty.", value, (place(path, 1),))
    if start is not None and start > total:
        why = f"{name(path)} has {total} lines; ask for start <= end <= {total}."
        raise Refusal(why, LinesRead(path=path, total=total))
    above = seen(path, range(1, total + 1), shown_lines)
    if start is None and end is None and total - len(above) > WHOLE:
        return _outline(path, lines, above, shown_lines)
    first, last = sorted((start or 1, min(end or total, total)))
    asked = range(first, min(last, first + MOST - 1) + 1)
    numbered = part(path, lines, asked, shown_lines, limit)
    read = range(asked.start, numbered.left or asked.stop)
    value = LinesRead(path=path, total=total, lines=whole_lines(lines, read))
    if not numbered.places:
        text = f"{name(path)}, {total} lines: shown above, lines {spans(asked)}."
        return ToolAnswer(text, value, ())
    rows = [head(path, read, total), *numbered.rows]
    if asked.stop <= last and not numbered.left:
        rows.append(f"[... at most {MOST} lines at once: go on with start {asked.stop} ...]")
    return ToolAnswer("\n".join(rows), value, numbered.places)


def _outline(
    path: str, lines: Sequence[str], above: Collection[int], shown_lines: Collection[str]
) -> ToolAnswer:
    """Name a file's definitions, outer ones only if there are many; else show its beginning."""
    total, value = len(lines), LinesRead(path=path, total=len(lines))
    shown = f" Shown above: lines {spans(above)}." if above else ""
    found = definitions_in(path, "\n".join(lines))
    by_line = {item.line: item for item in found if item.kind != "value"}
    if not by_line:
        first = range(1, min(total, _BEGINNING) + 1)
        beginning = part(path, lines, first, shown_lines, _BEGINNING_ROOM)
        ask = f"(it defines nothing that is known here; ask for more by start and end){shown}"
        rows = (head(path, first, total), *beginning.rows, ask)
        return ToolAnswer("\n".join(rows), value, beginning.places)
    outer = sorted(by_line.values(), key=lambda item: (indent(lines[item.line - 1]), item.line))
    kept = sorted(outer[:_OUTLINE], key=lambda item: item.line)
    holds = {d for d, after in pairwise(kept) if after.line < d.end}
    pairs = [f"{visible(d.name)} {d.line}{f'-{d.end}' if d in holds else ''}" for d in kept]
    top = f"{name(path)}, {total} lines; what it defines, and where. Ask by start and end.{shown}"
    left = len(by_line) - len(kept)
    more = f"\n{MARK}{left} more definitions inside these ...]" if left else ""
    text = f"{top}\n{', '.join(pairs)}{more}"
    return ToolAnswer(text, value, tuple(f"{name(path)} {pair}" for pair in pairs))


# What search_code finds: the lines that hold a text, those that matter first.

SIFTED = 5_000  # hits of a text that are looked at
LONG_LINE = 300  # characters: of a line that nobody wrote by hand, and of a row
_OTHER = 8  # lines that hold a text in another case
_PROSE = (".md", ".rst", ".adoc", ".txt")
_TESTS = 600  # characters of the places in tests, where other code is hit, too
_DEFINITION = 60  # lines of a definition that is hit
_READ = 60  # files that are read for the definition of a symbol
_ALL = 1_000_000
# What is tried until it fits: definitions that are hit, whole; lines around a hit; hits of a file.
_LEVELS = (
    *((6, 10, _ALL), (2, 4, _ALL), (0, 1, _ALL), (0, 0, _ALL)),
    *((0, 0, 50), (0, 0, 5), (0, 0, 1)),
)
_PATTERN = ("|", ".*", "\\b", "\\(", "\\.", "\\s", "\\d", "\\w", "^", "$")
_NAME = re.compile(r"[A-Za-z_$][\w$]{0,99}[?!]?")
_DEFINES = re.compile(
    r"\b(?:def|class|module|func|fun|fn|function|interface|struct|trait|enum|type|record)\b"
)


@dataclass
class FileHits:
    """Lines of one file that a search found; the file is read only for what is shown of it."""

    at: ToolContext
    path: str
    texts: dict[int, str]  # by line number
    queries: Sequence[str]

    @cached_property
    def definitions(self) -> tuple[range, ...]:
        """Return definitions of a name in the queries; of longer functions the first lines."""
        names = {found for query in self.queries for found in _NAME.findall(query)}
        likely = any(defines(self.path, row, names) for row in self.texts.values())
        if not likely or kind_of(self.path) not in ("code", "test"):
            return ()
        return tuple(
            range(item.line, min(item.end, item.line + _DEFINITION - 1) + 1)
            for item in definitions_in(self.path, "\n".join(self.lines))
            if item.name in names
            and item.line in self.texts
            and (item.kind == "function" or item.end - item.line < _DEFINITION)
            and item.kind != "value"
        )

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Return all lines of the file."""
        return lines_of(self.at.code.read_file(self.path) or "")

    def text(self, number: int) -> str:
        """Return a line, of a long one the part that was searched for."""
        found = self.texts.get(number)
        if found is None:
            return around(self.lines[number - 1], "", LONG_LINE)
        query = next((item for item in self.queries if item in found), "")
        if not query and number <= len(self.lines):  # the search cut the line before its hit
            found = self.lines[number - 1]
            query = next((item for item in self.queries if item in found), "")
        return around(found.removesuffix("\r"), query, max(LONG_LINE, len(query)))

    def block(self, numbers: Collection[int], most: int) -> Iterator[str]:
        """Write lines: few alone in a row each, more below the file's name."""
        hits = list(self.texts)[:most]
        added = {n for n in numbers if 1 <= n <= len(self.lines)}.difference(hits)
        shown = sorted({*hits, *added} - (seen(self.path, added, self.at.known) - {*hits}))
        if (len(shown) < 3 and not added) or not self.lines:
            yield from (f"{name(self.path)}:{n}: {self.text(n)}" for n in shown)
        else:
            yield head(self.path, shown, len(self.lines))
            for run in runs(shown):
                yield from ("...",) if run.start > shown[0] else ()
                yield from (f"{n:>5}| {self.text(n)}" for n in run)
        if len(hits) < len(self.texts):
            yield f"(and {len(self.texts) - len(hits)} more lines of {name(self.path)})"


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
    texts = tuple(dict.fromkeys(queries))
    for query in texts:
        if not query.strip() or not query.replace("\t", " ").isprintable() or len(query) > 200:
            one_line = "one line of visible text, at most 200 characters, no line breaks"
            raise Refusal(f"Search for {one_line}.")
    folder = path or (fixed_folder(glob) if inside(fixed_folder(glob)) else "")
    merged: dict[str, dict[int, str]] = {}  # texts of lines by number, by path
    counts: dict[str, int] = {}
    is_cut = False
    for query in texts:
        found = at.search(query, folder, SIFTED, "Give path, or a longer text.")
        is_cut = is_cut or len(found) >= SIFTED
        found = tuple(hit for hit in found if not glob or matches(hit.path, glob))
        counts[query] = len(found)
        for hit in found:
            merged.setdefault(hit.path, {})[hit.line] = hit.text
    missed = [query for query in texts if not counts[query] and not is_cut]
    otherwise = [row for query in missed for row in _in_another_case(at, query, folder, glob)]
    if not merged:
        rows = [*(_none(at, query, folder, glob, is_cut) for query in texts), *otherwise]
        value = HitsFound(complete=not is_cut)
        return ToolAnswer("\n".join(rows), value, tuple(places_in("\n".join(otherwise))))
    ordered = sorted(merged, key=lambda item: (rank_of(item, at.frame_files), item))
    bulk = {item: kind for item in ordered if (kind := _bulk_kind(item, merged[item]))}
    bulk = bulk if len(bulk) < len(ordered) else {}
    by_hand = (item for item in ordered if item not in bulk)
    files = [FileHits(at, item, dict(sorted(merged[item].items())), texts) for item in by_hand]
    kinds_hit = {file.path: kind_of(file.path) for file in files}
    is_code_hit = "code" in kinds_hit.values()
    tests = [file for file in files if is_code_hit and kinds_hit[file.path] == "test"]
    others = [file for file in files if file not in tests]
    several = counts.items() if len(counts) > 1 else ()
    top = "; ".join(f"{query!r}: {count or 'no'} lines" for query, count in several)
    rows = [top, _fitting(others, context, limit)]
    if tests:
        places = [f"{name(file.path)} {', '.join(map(str, file.texts))}" for file in tests]
        rows.append(around(f"(tests: {'; '.join(places)})", "(tests: ", _TESTS))
    kinds = [
        f"{sum(lines)} in {plural(len(lines), f'{kind} file')}"
        for kind in dict.fromkeys(bulk.values())
        if (lines := [len(merged[item]) for item in bulk if bulk[item] == kind])
    ]
    if kinds:
        rows.append(f"(lines not shown: {', '.join(kinds)}; name one with path or glob)")
    if is_cut:
        rows.append(f"{MARK}there may be more: give a longer text, path or glob ...]")
    text = "\n".join(filter(None, (*rows, *otherwise)))
    hits = [SearchHit(path=f.path, line=n, text=f.text(n)) for f in files for n in f.texts]
    hits += [
        SearchHit(path=item, line=n, text=around(row, texts[0]))
        for item in bulk
        for n, row in merged[item].items()
    ]
    value = HitsFound(hits=tuple(hits[:1_000]), complete=not is_cut and len(hits) <= 1_000)
    return ToolAnswer(text, value, tuple(places_in(text)))


def _fitting(files: Sequence[FileHits], context: int, limit: int) -> str:
    """All hits in about `limit` characters; says how much was left out."""
    for level in _LEVELS:
        rows, size = list[str](), 0
        for row in _rows(files, context, level):
            rows.append(row)
            size += len(row) + 1
            if size > limit and level is not _LEVELS[-1]:
                break  # does not fit: the files behind are not read, either
        if size <= limit:
            break
    lines = level[1]
    if context > lines:
        count = sum(len(file.texts) for file in files)
        rows.insert(0, f"context {lines} instead of {context}: {count} hits")
    return listed(rows, limit, f"rows more, of {len(files)} files: search with path or glob")


def _rows(files: Sequence[FileHits], context: int, level: tuple[int, int, int]) -> Iterator[str]:
    left, lines, most = level
    around_hit = min(context, lines)
    for file in files:
        shown = file.definitions[:left] if left else ()
        more = {n for span in shown for n in span}
        left -= len(shown)
        if around_hit:
            more |= {n + step for n in file.texts for step in range(-around_hit, around_hit + 1)}
        yield from file.block(more, most)


def defines(path: str, row: str, names: Collection[str]) -> bool:
    """Check whether a line looks as if it defined one of the names."""
    is_named = defined_name(row, language_of(path)) in names
    return is_named or (bool(_DEFINES.search(row)) and any(name in row for name in names))


def _bulk_kind(path: str, hits: dict[int, str]) -> str:
    """The kind of a file that nobody wrote by hand; empty for others."""
    if kind_of(path) in BULK:
        return kind_of(path)
    is_long = any(len(text) >= LONG_LINE for text in hits.values())
    return "minified" if is_long and path.endswith((".js", ".css", ".json", ".html")) else ""


def _none(at: ToolContext, query: str, folder: str, glob: str, is_cut: bool) -> str:
    paths = at.code.paths()
    if folder and folder not in paths and folder not in folders(paths):
        raise no_folder(at.code, folder)
    where = f" below {folder}" if folder else ""
    where += f" in files like {glob}" if glob else ""
    if is_cut:
        return f"{MARK}none of the first {SIFTED} lines with {query!r} is{where}: give path ...]"
    text = f"No line holds {query!r}{where}.{one_folder(glob)}"
    if any(sign in query for sign in _PATTERN):
        text += " The text is searched for as it is: patterns do not work."
    named = near_matches(query, paths) if query.replace("_", "").isalnum() else ()
    return f"{text} Files of such a name: {', '.join(map(name, named))}." if named else text


def _in_another_case(at: ToolContext, query: str, folder: str, glob: str) -> Iterator[str]:
    """Show lines that hold a text in small letters, in capitals, or with capitals at the front."""
    forms = {query.lower(), query.upper(), query.capitalize(), query.title()} - {query}
    found = {
        (rank_of(hit.path, at.frame_files), hit.path, hit.line): around(hit.text, form, LONG_LINE)
        for form in sorted(forms)
        for hit in at.search(form, folder, SIFTED, "Give path, or a longer text.")
        if (not glob or matches(hit.path, glob)) and not hit.path.endswith(_PROSE)
    }
    if found:
        yield f"{plural(len(found), 'line holds', 'lines hold')} {query!r} in another case:"
    yield from (f"{name(path)}:{n}: {row}" for (_, path, n), row in sorted(found.items())[:_OTHER])


# What read_symbol shows: where a name is defined, and the whole of it.

_LISTED = 30  # places that are named
_OTHERS = 8_000  # characters of all bodies beyond the first
_SEPARATORS = re.compile(r"::|->|[.#\\/]")
_LAST = re.compile(r"[A-Za-z_$][\w$]*[?!=]?")
_ABOVE = ("@", "#[")  # begin a line that belongs to the definition below it


class Candidate(NamedTuple):
    """A definition of the name, with the file it stands in."""

    path: str
    lines: tuple[str, ...]
    defined: Definition
    owner: str  # the class around it
    is_owned: bool  # by the owner that was asked for


def read_symbol(at: ToolContext, limit: int, name: str) -> ToolAnswer:
    """Show the definitions of a name, the likeliest first, about `limit` characters."""
    parts = [item for item in _SEPARATORS.split(name.strip().removesuffix("()")) if item]
    if not parts or len(name) > 200 or not _LAST.fullmatch(parts[-1]):
        raise Refusal("Give the name of a class, function or method: total, Order.total.")
    *owners, symbol = parts
    found = sorted(
        _candidates(at, symbol, owners),
        key=lambda item: (
            *(not item.is_owned, item.defined.kind == "value"),
            *(rank_of(item.path, at.frame_files), item.path, item.defined.line),
        ),
    )
    if not found:
        near = near_matches(symbol, at.code.paths())
        hint = sentence_of(near) or "Use search_code for its uses, read_library for a dependency."
        raise Refusal(f"Nothing in the repository defines {symbol!a}. {hint}")
    owned = [item for item in found if item.is_owned]
    notes = []
    if owners and not owned:
        notes.append(f"{owners[-1]} itself does not define {symbol}; it may inherit it.")
    for item in found[:_LISTED] if len(found) > 1 else ():
        owner = f"{item.owner}." if item.owner != item.defined.name else ""
        where = place(item.path, item.defined.line)
        notes.append(f"{where} {item.defined.kind} {owner}{item.defined.name}")
    if len(found) > _LISTED:
        notes.append(f"{MARK}{len(found) - _LISTED} more: name its owner, like Order.total ...]")
    text = "\n".join((*notes, *_bodies(at, owned or found, limit - sum(map(len, notes)))))
    return ToolAnswer(text, None, tuple(places_in(text)))


def _candidates(at: ToolContext, symbol: str, owners: list[str]) -> Iterator[Candidate]:
    for path in _files(at, symbol):
        text = at.code.read_file(path)
        if not text or symbol not in text:
            continue
        lines, defined = lines_of(text), definitions_in(path, text)
        classes = [item for item in defined if item.kind == "class"]
        for item in (item for item in defined if item.name == symbol):
            outer = (o for o in classes if o.line < item.line and item.end <= o.end)
            owner = max(outer, key=lambda other: other.line, default=item).name
            is_owned = not owners or _is_of(owners[-1], owner, path, lines[item.line - 1])
            yield Candidate(path, lines, item, owner, is_owned)


def _files(at: ToolContext, symbol: str) -> tuple[str, ...]:
    """Files that may define the name: those of frames, then those with a line that looks so."""
    try:
        hits = at.search(symbol, "", SIFTED, "Use find_files and read_file.")
    except Refusal:
        if not at.frame_files:
            raise
        return at.frame_files
    likely = {hit.path for hit in hits if defines(hit.path, hit.text, {symbol})}
    paths = {hit.path for hit in hits if is_code(hit.path) or hit.path in likely}
    written = [item for item in paths if kind_of(item) not in BULK]
    written.sort(key=lambda item: (item not in likely, rank_of(item, at.frame_files), item))
    return tuple(dict.fromkeys((*at.frame_files, *written)))[:_READ]


def _is_of(asked: str, owner: str, path: str, row: str) -> bool:
    """Check for the class, the file, its folder, or the receiver of a method of Go."""
    *above, file = path.split("/")
    places = {item.replace("_", "").lower() for item in (owner, file.split(".")[0], *above[-1:])}
    receiver = re.match(r"\s*func\s*\(([^)]{0,200})\)", row)
    types = re.findall(r"\w+", receiver[1]) if receiver else ()
    return asked.replace("_", "").lower() in places or asked in types


def _bodies(at: ToolContext, shown: Iterable[Candidate], room: int) -> Iterator[str]:
    left = _OTHERS
    for number, candidate in enumerate(shown):
        path, lines = candidate.path, candidate.lines
        first, end = candidate.defined.line, candidate.defined.end
        while first > 1 and lines[first - 2].lstrip().startswith(_ABOVE):
            first -= 1
        asked = range(first, min(end, first + MOST - 1, len(lines)) + 1)
        numbered = part(path, lines, asked, at.known, room)
        size = sum(map(len, numbered.rows))
        if number and size > min(left, room):
            return
        room, left = room - size, left - size * bool(number)
        if numbered.places:
            whole = range(asked.start, numbered.left or asked.stop)
            yield "\n".join((head(path, whole, len(lines)), *numbered.rows))
        else:
            yield f"{name(path)}: shown above, lines {spans(asked)}."
        if asked.stop <= end and not numbered.left:
            yield f"{MARK}it goes on to line {end}, ask read_file for more ...]"


# Lines that an answer of this module shows, read back from its text.

_HEAD = re.compile(r"(?P<path>\S.{0,999}) \(lines? \d[^()]{0,200} of \d{1,8}\)")
_HIT = re.compile(r"(?P<path>[^\s:|][^:|]{0,999}):(?P<line>\d{1,8}): ")
_NUMBERED = re.compile(r" {0,8}(?P<line>\d{1,8})\| ")


def places_in(text: str) -> Iterator[str]:
    """Yield `path:line` of every line; of one that is cut, another part is another place."""
    path = ""
    for row in text.split("\n"):
        if top := _HEAD.fullmatch(row):
            path = top["path"]
        elif found := _HIT.match(row) or _NUMBERED.match(row):
            where = found.groupdict().get("path", path)
            yield f"{where}:{found['line']}{row[:LONG_LINE] if CUT in row else ''}"
