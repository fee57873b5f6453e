"""Tools that list folders and find files and definitions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nightwatch_core.analysis.file_tools import SIFTED, answer_lines, defines
from nightwatch_core.analysis.prompts import head, part, place, spans
from nightwatch_core.analysis.research import folders, near_matches, no_folder, sentence_of
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import MARK, halves, inside, lines_of, name
from nightwatch_core.code.code_view import name as shown_name
from nightwatch_core.code.definitions import Definition, definitions_in
from nightwatch_core.code.languages import BULK, is_code, kind_of, rank_of
from nightwatch_core.code.libraries import (
    LibraryPlace,
    library_places,
    locked_version,
    same_version,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import FolderEntry, Library
from nightwatch_core.models.conversation import (
    DefinitionPlace,
    DefinitionsFound,
    EntriesListed,
    NothingThere,
    PathsFound,
)
from nightwatch_core.ports import LibraryReader
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import is_glob, matches
from nightwatch_core.traces.placing import is_vendored


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
    known = [path for path in paths if path.startswith(start)]
    wanted = name.strip().removeprefix("./").strip("/")
    if not wanted or not wanted.isprintable():
        raise Refusal("Give a file's name, a part of its name, or a glob.")
    found = sorted(_found(wanted, known, start), key=lambda item: _rank(item, wanted))
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
        return (item for item in known if part in item.lower())
    return (item for item in known if part in item.rpartition("/")[2].lower())


def _rank(path: str, wanted: str) -> tuple[bool, bool, int, str]:
    """Our own files first, then those called just that, then those higher up."""
    stem = path.rpartition("/")[2].split(".")[0]
    return is_vendored(path), stem.lower() != wanted.lower(), path.count("/"), path


def _listed(names: Iterable[str], limit: int, total: int) -> str:
    rows: list[str] = []
    used = 0
    for item in names:
        used += len(item) + 1
        if used > limit and rows:
            left = total - len(rows)
            rows.append(f"{MARK}{left} more: give a longer part, a glob or a path ...]")
            break
        rows.append(item)
    return "\n".join(rows)


def _below(path: str, paths: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """By the name of a folder: the folders that lead to where it branches, and its files."""
    start = f"{path}/" if path else ""
    inside: dict[str, list[str]] = {}
    for item in paths:
        if item.startswith(start) and "/" in (rest := item[len(start) :]):
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
    for item, other in zip(first.split("/")[:-1], last.split("/")[:-1], strict=False):
        if item != other:
            break
        shared.append(item)
    return "/".join(shared)


def _entry(entry: FolderEntry, below: dict[str, tuple[str, int]]) -> str:
    if entry.kind == "folder":
        folder, files = below.get(entry.name, (entry.name, 0))
        return f"{shown_name(folder)}/ ({files} file{'' if files == 1 else 's'})"
    size = "" if entry.size is None else f" ({entry.size})"
    kind = "" if entry.kind == "file" else f" [{entry.kind}]"
    return f"{shown_name(entry.name)}{size}{kind}"


# What read_symbol shows: where a name is defined, and the whole of it.

_LONGEST = 200  # characters of a name
_READ = 60  # files that are read for a name
_LISTED = 30  # places that are named
_MOST = 400  # lines of one definition
_OTHERS = 8_000  # characters of all bodies beyond the first
_SEPARATORS = re.compile(r"::|->|[.#\\/]")
_LAST = re.compile(r"[A-Za-z_$][\w$]*[?!=]?")
_ABOVE = ("@", "#[")  # begin a line that belongs to the definition below it


class Candidate(NamedTuple):
    """A definition of the name, with the file it stands in."""

    path: str
    lines: tuple[str, ...]
    defined: Definition
    owner: str
    is_owned: bool  # by what the question names as its owner


def read_symbol(at: ToolContext, limit: int, name: str) -> ToolAnswer:
    """Show the definitions of a name, the likeliest first, about `limit` characters."""
    parts = [item for item in _SEPARATORS.split(name.strip().removesuffix("()")) if item]
    if not parts or len(name) > _LONGEST or not _LAST.fullmatch(parts[-1]):
        raise Refusal("Give the name of a class, function or method: total, Order.total.")
    *owners, wanted = parts
    found = sorted(
        _candidates(at, wanted, owners), key=lambda candidate: _rank_symbol_tool(at, candidate)
    )
    if not found:
        near = near_matches(wanted, at.code.paths())
        hint = sentence_of(near) or "Use search_code for its uses, read_library for a dependency."
        raise Refusal(f"Nothing in the repository defines {wanted!a}. {hint}")
    owned = [item for item in found if item.is_owned]
    notes = []
    if owners and not owned:
        notes.append(f"{owners[-1]} itself does not define {wanted}; it may inherit it.")
    shown = tuple(owned or found)
    others = [item for item in found if item not in shown]
    if len(found) > 1:
        notes += [_listed_symbol_tool(item) for item in (*shown, *others)[:_LISTED]]
    if len(found) > _LISTED:
        notes.append(f"{MARK}{len(found) - _LISTED} more: name its owner, like Order.total ...]")
    bodies = _bodies(at, shown, limit - sum(map(len, notes)))
    value = DefinitionsFound(places=tuple(map(_place, (*shown, *others))))
    return ToolAnswer("\n".join((*notes, *bodies)), value)


def _candidates(at: ToolContext, wanted: str, owners: list[str]) -> Iterator[Candidate]:
    for path in _files(at, wanted):
        text = at.code.read_file(path)
        if not text or wanted not in text:
            continue
        lines, known = lines_of(text), definitions_in(path, text)
        for item in known:
            if item.name == wanted:
                owner = _owner(item, known)
                yield Candidate(
                    path, lines, item, owner, _is_owned(path, lines, item, owner, owners)
                )


def _files(at: ToolContext, wanted: str) -> tuple[str, ...]:
    """Files that may define the name: those of frames, then those a line of which looks so."""
    try:
        hits = at.code.search(wanted, "", SIFTED)
    except GiveUp as trouble:
        near = at.frame_files
        if not near:
            why = f"No search: {line(str(trouble))}. Use find_files and read_file."
            raise Refusal(why) from None
        return near
    names = {wanted}
    likely = dict.fromkeys(hit.path for hit in hits if defines(hit.path, hit.text, names))
    coded = dict.fromkeys(hit.path for hit in hits if is_code(hit.path))
    paths = (item for item in (*likely, *coded) if kind_of(item) not in BULK)
    once = dict.fromkeys((*at.frame_files, *paths))
    ranked = sorted(
        once, key=lambda item: (item not in likely, rank_of(item, at.frame_files), item)
    )
    return tuple(dict.fromkeys((*at.frame_files, *ranked)))[:_READ]


def _owner(definition: Definition, known: Iterable[Definition]) -> str:
    around = (
        d
        for d in known
        if d.kind == "class" and d.line < definition.line and definition.end <= d.end
    )
    return max(around, key=lambda d: d.line, default=definition).name


def _is_owned(
    path: str, lines: tuple[str, ...], definition: Definition, owner: str, owners: list[str]
) -> bool:
    if not owners:
        return True
    wanted = _plain(owners[-1])
    *folders, file = path.split("/")
    places = {_plain(owner), _plain(file.split(".")[0]), *map(_plain, folders[-1:])}
    receiver = re.match(r"\s*func\s*\(([^)]{0,200})\)", lines[definition.line - 1])
    return wanted in places or bool(receiver and owners[-1] in re.findall(r"\w+", receiver[1]))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _rank_symbol_tool(
    at: ToolContext, candidate: Candidate
) -> tuple[bool, bool, tuple[int, int], str, int]:
    is_value = candidate.defined.kind == "value"
    return (
        not candidate.is_owned,
        is_value,
        rank_of(candidate.path, at.frame_files),
        candidate.path,
        candidate.defined.line,
    )


def _listed_symbol_tool(candidate: Candidate) -> str:
    owner = "" if candidate.owner == candidate.defined.name else f"{candidate.owner}."
    defined = candidate.defined
    return f"{place(candidate.path, defined.line)} {defined.kind} {owner}{defined.name}"


def _place(candidate: Candidate) -> DefinitionPlace:
    owner = "" if candidate.owner == candidate.defined.name else candidate.owner
    start, end = candidate.defined.line, candidate.defined.end
    return DefinitionPlace(
        path=candidate.path, start=start, end=end, name=candidate.defined.name, owner=owner
    )


def _bodies(at: ToolContext, shown: tuple[Candidate, ...], room: int) -> Iterator[str]:
    left = _OTHERS
    for number, candidate in enumerate(shown):
        first = _first_line(candidate)
        asked = range(
            first, min(candidate.defined.end, first + _MOST - 1, len(candidate.lines)) + 1
        )
        told = part(candidate.path, candidate.lines, asked, at.known, room)
        size = sum(map(len, told.rows))
        if number and (size > left or size > room):
            return
        room, left = room - size, left - size * bool(number)
        if told.numbers:
            top = head(candidate.path, asked.start, asked.stop - 1, len(candidate.lines))
            yield "\n".join((top, *told.rows))
        else:
            yield f"{shown_name(candidate.path)}: shown above, lines {spans(asked)}."
        if asked.stop <= candidate.defined.end and not told.left:
            yield f"{MARK}it goes on to line {candidate.defined.end}, ask read_file for more ...]"


def _first_line(candidate: Candidate) -> int:
    first = candidate.defined.line
    while first > 1 and candidate.lines[first - 2].lstrip().startswith(_ABOVE):
        first -= 1
    return first


# What read_library shows: a dependency's own source, and whether its version is the locked one.

NO_LIBRARIES = (
    "Library source is not available here. Go on with what the repository shows of the call."
)
_LISTED_LIBRARY_TOOL = 2_000  # characters of names


def read_library(
    at: ToolContext, limit: int, place: str, start: int | None = None, end: int | None = None
) -> ToolAnswer:
    """Show lines of a library's file, or the names of a package's files."""
    if inside(place) in at.code.paths():
        raise Refusal(f"{place} is in the repository: use read_file.")
    if at.libraries is None:
        raise Refusal(NO_LIBRARIES)
    language = at.case.trace.language if at.case.trace else ""
    places = library_places(place, language)
    if not places:
        raise Refusal("Give a frame's path, a package, or package/file: requests/sessions.py.")
    for item in places:
        if copies := _of_language(at.libraries.copies(item.ecosystem, item.package), language):
            return _answer(at, at.libraries, item, copies, start, end, limit)
    names = ", ".join(dict.fromkeys(f"{item.package} ({item.ecosystem})" for item in places[:3]))
    raise Refusal(f"Not available: {names}: no source of it where NightWatch runs.", NothingThere())


def _of_language(copies: tuple[Library, ...], language: str) -> tuple[Library, ...]:
    """Leave Python's own modules out where something else failed: json is a gem, too."""
    is_python = language.lower() in ("", "python")
    return tuple(copy for copy in copies if is_python or not copy.is_standard)


def _answer(
    at: ToolContext,
    libraries: LibraryReader,
    asked: LibraryPlace,
    copies: tuple[Library, ...],
    start: int | None,
    end: int | None,
    limit: int,
) -> ToolAnswer:
    locked, file = locked_version(
        asked.ecosystem, copies[0].package, at.code.paths(), at.code.read_file
    )
    wanted = locked or asked.version
    copy = next((copy for copy in copies if same_version(copy.version, wanted)), copies[0])
    note = (
        f"{copy.package} {copy.version or '(version unknown)'}: {_fit(copy, locked, file, asked)}"
    )
    paths = libraries.paths(copy)
    if not asked.path:
        return ToolAnswer(f"{note}\n{_names(paths)}", PathsFound(paths=paths))
    path = _meant(asked, paths)
    text = libraries.read_file(copy, path) if path else None
    if text is None:
        near = near_matches(asked.path, paths)
        why = f"{note} It has no file {asked.path} that can be read. {sentence_of(near)}"
        raise Refusal(why.strip(), NothingThere(near=near))
    shown = f"library/{copy.package}@{copy.version or 'unknown'}/{path}"
    answer = answer_lines(shown, lines_of(text), start, end, at.known, limit)
    return ToolAnswer(f"{note}\n{answer.text}", answer.value)


def _fit(copy: Library, locked: str, file: str, asked: LibraryPlace) -> str:
    if copy.is_standard and asked.version and asked.version != copy.version:
        return f"Python {copy.version}'s of this machine; the frame's is {asked.version}."
    if copy.is_standard:
        return f"Python {copy.version}'s of this machine; the application's may differ."
    if same_version(copy.version, locked):
        return f"the version in {name(file)}."
    if locked:
        return f"{name(file)} has {locked}, so lines may differ."
    if asked.version:
        is_same = same_version(copy.version, asked.version)
        return (
            "the frame's version." if is_same else f"the frame's is {asked.version}: lines differ."
        )
    return "no lock file names it, so lines may differ."


def _meant(asked: LibraryPlace, paths: tuple[str, ...]) -> str:
    if asked.path in paths:
        return asked.path
    package = f"{asked.path.removesuffix('.py')}/__init__.py"
    if package in paths:
        return package
    ends = [path for path in paths if path.endswith(f"/{asked.path}")]
    return min(ends, key=lambda end: (end.count("/"), end), default="")


def _names(paths: Iterable[str]) -> str:
    rows: list[str] = []
    known = sorted(paths, key=lambda path: (path.count("/"), path))
    for number, item in enumerate(known):
        if sum(map(len, rows)) > _LISTED_LIBRARY_TOOL:
            return "\n".join((*rows, f"{MARK}{len(known) - number} more files ...]"))
        rows.append(name(item))
    return "\n".join(rows)


# What find_tests shows: tests of a file or a name, by their own names and what they mention.

_LONGEST_COVERAGE_TOOL = 300  # characters of what is asked for
_HITS = 2_000  # lines with a name that are looked at
_NAMES = 4  # of a file that are looked for
_FILES = 15  # of tests that are listed
_LINES = 8  # mentions of a file that are told
_MARKS = re.compile(r"^(?:test|spec)s?[_.-]|[_.-](?:test|spec)s?$", re.IGNORECASE)
_SUFFIX = re.compile(r"(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|IT)$")
_COMMON = frozenset(
    ("index", "main", "app", "__init__", "utils", "util", "helpers", "models", "views", "base")
)
_SEPARATORS_COVERAGE_TOOL = re.compile(r"::|->|[.#\\]")


def find_tests(at: ToolContext, limit: int, target: str) -> ToolAnswer:
    """List existing tests of a file or a symbol, about `limit` characters."""
    target = target.strip()
    if not target or len(target) > _LONGEST_COVERAGE_TOOL or not target.isprintable():
        raise Refusal("Give a path, or the name of a class, function or method.")
    paths = at.code.paths()
    tests = frozenset(path for path in paths if kind_of(path) == "test")
    if not tests:
        return ToolAnswer("This repository has no tests.", PathsFound())
    path = inside(target) or ""
    is_file = path in paths
    names = _names_in(at, path) if is_file else (_SEPARATORS_COVERAGE_TOOL.split(target)[-1],)
    stems = (
        (_stem(path),)
        if is_file
        else tuple(map(_stem_of_symbol, _SEPARATORS_COVERAGE_TOOL.split(target)))
    )
    called = sorted(test for test in tests if _tests_stem(test) in stems)
    mentions = _mentions(at, names, tests)
    ranked = sorted(
        mentions, key=lambda mention: (mention not in called, -len(mentions[mention]), mention)
    )
    once = tuple(dict.fromkeys((*called, *ranked)))
    if not once:
        return ToolAnswer(
            f"No test is called after {target!a}, and none mentions it.", PathsFound()
        )
    rows = [_row(item, item in called, mentions.get(item, ())) for item in once[:_FILES]]
    if len(once) > _FILES:
        rows.append(f"{MARK}{len(once) - _FILES} more tests mention it ...]")
    if is_file and names:
        rows.append(f"(looked for {', '.join(names)})")
    return ToolAnswer("\n".join(_within(rows, limit)), PathsFound(paths=once))


def _stem(path: str) -> str:
    """The name of a file in the letters that naming conventions keep; its folder's for "index"."""
    *folders, file = path.split("/")
    stem = file.split(".")[0]
    if stem in _COMMON and folders and stem in ("index", "__init__"):
        stem = folders[-1]
    return _letters(stem)


def _stem_of_symbol(name: str) -> str:
    return _letters(name)


def _tests_stem(path: str) -> str:
    """Return the stem a test file is named after: order for test_order.py, order.spec.ts.

    >>> [_tests_stem(p) for p in ("t/test_order.py", "OrderTest.java", "a/order.spec.ts")]
    ['order', 'order', 'order']
    """
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return _letters(_SUFFIX.sub("", _MARKS.sub("", _MARKS.sub("", stem))))


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _names_in(at: ToolContext, path: str) -> tuple[str, ...]:
    """Names that a test of the file would mention: its classes and functions, and itself."""
    text = at.code.read_file(path) or ""
    stem = path.rpartition("/")[2].split(".")[0]
    known = [definition for definition in definitions_in(path, text) if definition.kind != "value"]
    outer = [item for item in known if not any(d.line < item.line <= d.end for d in known)]
    by_kind = sorted(outer, key=lambda item: (item.kind != "class", -(item.end - item.line)))
    own = (stem,) if stem not in _COMMON and len(stem) > 3 else ()
    return tuple(dict.fromkeys((*own, *(item.name for item in by_kind))))[:_NAMES]


def _mentions(
    at: ToolContext, names: Iterable[str], tests: frozenset[str]
) -> dict[str, tuple[int, ...]]:
    lines: dict[str, set[int]] = {}
    for wanted in names:
        word = re.compile(rf"(?<![\w$]){re.escape(wanted)}(?![\w$])")
        try:
            hits = at.code.search(wanted, "", _HITS)
        except GiveUp as trouble:
            raise Refusal(f"No search: {line(str(trouble))}. Use find_files.") from None
        for hit in hits:
            if hit.path in tests and word.search(hit.text):
                lines.setdefault(hit.path, set()).add(hit.line)
    return {path: tuple(sorted(numbers)) for path, numbers in lines.items()}


def _row(path: str, is_called: bool, mentions: Sequence[int]) -> str:
    why = "by its name" if is_called else ""
    more = f" and {len(mentions) - _LINES} more" if len(mentions) > _LINES else ""
    where = f"mentions it in lines {spans(mentions[:_LINES])}{more}" if mentions else ""
    return f"{name(path)}: {'; '.join(filter(None, (why, where)))}"


def _within(rows: Sequence[str], limit: int) -> Sequence[str]:
    used = 0
    for number, row in enumerate(rows):
        used += len(row) + 1
        if used > limit:
            return (*rows[:number], f"{MARK}{len(rows) - number} more ...]")
    return rows
