"""Tools that list folders and find files and definitions."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nightwatch_core.analysis.file_tools import MOST, SIFTED, answer_lines, defines
from nightwatch_core.analysis.previews import head, part, place, spans
from nightwatch_core.analysis.tool_context import (
    Refusal,
    ToolAnswer,
    ToolContext,
    folders,
    listed,
    near_matches,
    no_folder,
    sentence_of,
)
from nightwatch_core.code.candidate_symbols import files_testing
from nightwatch_core.code.code_view import MARK, around, halves, inside, lines_of, name, visible
from nightwatch_core.code.code_view import name as shown_name
from nightwatch_core.code.definitions import Definition, definitions_in
from nightwatch_core.code.languages import BULK, is_code, kind_of, rank_of
from nightwatch_core.code.libraries import (
    LibraryPlace,
    library_places,
    locked_version,
    same_version,
)
from nightwatch_core.code.limits import SHOWN_LINE
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Blame, ChangedFile, Library, LoggedCommit
from nightwatch_core.models.conversation import LinesBlamed, NothingThere
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import is_glob, matches, plural
from nightwatch_core.traces.placing import is_vendored


def list_directory(at: ToolContext, limit: int, path: str) -> ToolAnswer:
    """Show the names in a folder; a folder that holds nothing but one folder is shown with it."""
    entries = at.code.list_directory(path)
    if not entries:
        if path in at.code.paths():
            raise Refusal(f"{path} is a file: use read_file.")
        raise no_folder(at.code, path)
    start = f"{path}/" if path else ""
    below: dict[str, list[str]] = {}
    for item in at.code.paths():
        if item.startswith(start) and "/" in (rest := item[len(start) :]):
            below.setdefault(rest.split("/", 1)[0], []).append(posixpath.dirname(rest))
    rows = []
    for entry in entries:
        if entry.kind == "folder":
            inner = below.get(entry.name, [])
            folder = posixpath.commonpath(inner) if inner else entry.name
            rows.append(f"{shown_name(folder)}/ ({plural(len(inner), 'file')})")
        else:
            size = "" if entry.size is None else f" ({entry.size})"
            kind = "" if entry.kind == "file" else f" [{entry.kind}]"
            rows.append(f"{shown_name(entry.name)}{size}{kind}")
    ask = "list a folder below this one, or use find_files"
    return ToolAnswer(halves("\n".join(rows), limit, ask))


def find_files(at: ToolContext, limit: int, name: str, path: str = "") -> ToolAnswer:
    """Show paths whose name holds `name`, or that match a glob, about `limit` characters."""
    paths = at.code.paths()
    if path and path not in folders(paths):
        raise no_folder(at.code, path)
    start = f"{path}/" if path else ""
    known = [path for path in paths if path.startswith(start)]
    wanted = name.strip().removeprefix("./").strip("/")
    if not wanted or not wanted.isprintable():
        raise Refusal("Give a file's name, a part of its name, or a glob.")
    if is_glob(wanted):
        found = [p for p in known if matches(p, wanted) or matches(p.removeprefix(start), wanted)]
    else:
        part = wanted.lower()
        whole = "/" in part
        found = [p for p in known if part in (p if whole else posixpath.basename(p)).lower()]
    if not found:
        where = f" below {path}" if path else ""
        hint = sentence_of(near_matches(wanted, known)) or "Try a shorter part, or search_code."
        return ToolAnswer(f"No file is called {name!a}{where}. {hint}")

    def rank(path: str) -> tuple[bool, bool, int, str]:
        """Our own files first, then those of exactly that name, then those higher up."""
        stem = posixpath.basename(path).split(".")[0]
        return is_vendored(path), stem.lower() != wanted.lower(), path.count("/"), path

    found.sort(key=rank)
    text = listed(list(map(shown_name, found)), limit, "more: give a longer part, a glob or a path")
    return ToolAnswer(text)


# What read_symbol shows: where a name is defined, and the whole of it.

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
    owner: str  # the class around it
    is_owned: bool  # by the owner that was asked for


def read_symbol(at: ToolContext, limit: int, name: str) -> ToolAnswer:
    """Show the definitions of a name, the likeliest first, about `limit` characters."""
    parts = [item for item in _SEPARATORS.split(name.strip().removesuffix("()")) if item]
    if not parts or len(name) > 200 or not _LAST.fullmatch(parts[-1]):
        raise Refusal("Give the name of a class, function or method: total, Order.total.")
    *owners, wanted = parts
    found = sorted(
        _candidates(at, wanted, owners),
        key=lambda item: (
            *(not item.is_owned, item.defined.kind == "value"),
            *(rank_of(item.path, at.frame_files), item.path, item.defined.line),
        ),
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
    every = (*shown, *(item for item in found if item not in shown))
    for item in every[:_LISTED] if len(found) > 1 else ():
        owner = f"{item.owner}." if item.owner != item.defined.name else ""
        where = place(item.path, item.defined.line)
        notes.append(f"{where} {item.defined.kind} {owner}{item.defined.name}")
    if len(found) > _LISTED:
        notes.append(f"{MARK}{len(found) - _LISTED} more: name its owner, like Order.total ...]")
    bodies = _bodies(at, shown, limit - sum(map(len, notes)))
    return ToolAnswer("\n".join((*notes, *bodies)))


def _candidates(at: ToolContext, wanted: str, owners: list[str]) -> Iterator[Candidate]:
    for path in _files(at, wanted):
        text = at.code.read_file(path)
        if not text or wanted not in text:
            continue
        lines, known = lines_of(text), definitions_in(path, text)
        for item in known:
            if item.name != wanted:
                continue
            classes = (
                other
                for other in known
                if other.kind == "class" and other.line < item.line and item.end <= other.end
            )
            owner = max(classes, key=lambda other: other.line, default=item).name
            is_owned = not owners or _is_of(owners[-1], owner, path, lines[item.line - 1])
            yield Candidate(path, lines, item, owner, is_owned)


def _files(at: ToolContext, wanted: str) -> tuple[str, ...]:
    """Files that may define the name: those of frames, then those with a line that looks so."""
    try:
        hits = at.search(wanted, "", SIFTED, "Use find_files and read_file.")
    except Refusal:
        if not at.frame_files:
            raise
        return at.frame_files
    names = {wanted}
    likely = dict.fromkeys(hit.path for hit in hits if defines(hit.path, hit.text, names))
    coded = dict.fromkeys(hit.path for hit in hits if is_code(hit.path))
    paths = [item for item in (*likely, *coded) if kind_of(item) not in BULK]
    paths.sort(key=lambda item: (item not in likely, rank_of(item, at.frame_files), item))
    return tuple(dict.fromkeys((*at.frame_files, *paths)))[:_READ]


def _is_of(wanted: str, owner: str, path: str, row: str) -> bool:
    """Check for the class, the file, its folder, or the receiver of a method of Go."""
    *folders, file = path.split("/")
    places = {item.replace("_", "").lower() for item in (owner, file.split(".")[0], *folders[-1:])}
    receiver = re.match(r"\s*func\s*\(([^)]{0,200})\)", row)
    return wanted.replace("_", "").lower() in places or bool(
        receiver and wanted in re.findall(r"\w+", receiver[1])
    )


def _bodies(at: ToolContext, shown: tuple[Candidate, ...], room: int) -> Iterator[str]:
    left = _OTHERS
    for number, candidate in enumerate(shown):
        path, lines = candidate.path, candidate.lines
        first, end = candidate.defined.line, candidate.defined.end
        while first > 1 and lines[first - 2].lstrip().startswith(_ABOVE):
            first -= 1
        asked = range(first, min(end, first + _MOST - 1, len(lines)) + 1)
        numbered = part(path, lines, asked, at.known, room)
        size = sum(map(len, numbered.rows))
        if number and (size > left or size > room):
            return
        room, left = room - size, left - size * bool(number)
        if numbered.numbers:
            yield "\n".join((head(path, asked.start, asked.stop - 1, len(lines)), *numbered.rows))
        else:
            yield f"{shown_name(path)}: shown above, lines {spans(asked)}."
        if asked.stop <= end and not numbered.left:
            yield f"{MARK}it goes on to line {end}, ask read_file for more ...]"


# What read_library shows: a dependency's own source, and whether its version is the locked one.

NO_LIBRARIES = (
    "Library source is not available here. Go on with what the repository shows of the call."
)


def read_library(
    at: ToolContext, limit: int, place: str, start: int | None = None, end: int | None = None
) -> ToolAnswer:
    """Show lines of a library's file, or the names of a package's files."""
    if inside(place) in at.code.paths():
        raise Refusal(f"{place} is in the repository: use read_file.")
    libraries = at.libraries
    if libraries is None:
        raise Refusal(NO_LIBRARIES)
    language = at.case.trace.language.lower() if at.case.trace else ""
    places = library_places(place, language)
    if not places:
        raise Refusal("Give a frame's path, a package, or package/file: requests/sessions.py.")
    is_python = language in ("", "python")  # json is a gem, too
    found = (
        (item, copies)
        for item in places
        if (copies := libraries.copies(item.ecosystem, item.package))
        and (copies := tuple(copy for copy in copies if is_python or not copy.is_standard))
    )
    asked, copies = next(found, (None, ()))
    if asked is None:
        known = ", ".join(dict.fromkeys(f"{p.package} ({p.ecosystem})" for p in places[:3]))
        raise Refusal(
            f"Not available: {known}: no source of it where NightWatch runs.", NothingThere()
        )
    locked, file = locked_version(
        asked.ecosystem, copies[0].package, at.code.paths(), at.code.read_file
    )
    wanted = locked or asked.version
    copy = next((copy for copy in copies if same_version(copy.version, wanted)), copies[0])
    version = copy.version or "(version unknown)"
    note = f"{copy.package} {version}: {_version_note(copy, locked, file, asked)}"
    paths = libraries.paths(copy)
    if not asked.path:
        names = [name(item) for item in sorted(paths, key=lambda path: (path.count("/"), path))]
        return ToolAnswer(f"{note}\n{listed(names, 2_000, 'more files')}")
    ends = [path for path in paths if path.endswith(f"/{asked.path}")]
    exact = (asked.path, f"{asked.path.removesuffix('.py')}/__init__.py")
    path = next(
        (item for item in exact if item in paths),
        min(ends, key=lambda end: (end.count("/"), end), default=""),
    )
    text = libraries.read_file(copy, path) if path else None
    if text is None:
        near = near_matches(asked.path, paths)
        reason = f"{note} It has no file {asked.path} that can be read. {sentence_of(near)}"
        raise Refusal(reason.strip(), NothingThere(near=near))
    shown = f"library/{copy.package}@{copy.version or 'unknown'}/{path}"
    answer = answer_lines(shown, lines_of(text), start, end, at.known, limit)
    return ToolAnswer(f"{note}\n{answer.text}", answer.value)


def _version_note(copy: Library, locked: str, file: str, asked: LibraryPlace) -> str:
    named, where = locked or asked.version, name(file) if locked else "the frame"
    if same_version(copy.version, named):
        return f"the version of {where}."
    return f"{where if named else 'nothing'} has {named or 'its version'}, so lines may differ."


# What find_tests shows: tests of a file or a name, by their own names and what they mention.

_HITS = 2_000  # lines with a name that are looked at
_NAMES = 4  # of a file that are looked for
_FILES = 15  # of tests that are listed
_LINES = 8  # mentions of a file that are told
_PACKAGE = re.compile(r"/(?:index|__init__)(?=\.\w+$)")  # such a file is called as its folder
_COMMON = frozenset(
    ("index", "main", "app", "__init__", "utils", "util", "helpers", "models", "views", "base")
)


def find_tests(at: ToolContext, limit: int, target: str) -> ToolAnswer:
    """List existing tests of a file or a symbol, about `limit` characters."""
    target = target.strip()
    if not target or len(target) > 300 or not target.isprintable():
        raise Refusal("Give a path, or the name of a class, function or method.")
    paths = at.code.paths()
    tests = frozenset(path for path in paths if kind_of(path) == "test")
    if not tests:
        return ToolAnswer("This repository has no tests.")
    path = inside(target) or ""
    if is_file := path in paths:
        names = _names_in(at, path)
        called = files_testing(_PACKAGE.sub("", path), tests)
    else:
        parts = re.split(r"::|->|[.#\\]", target)
        names = (parts[-1],)
        endings = {posixpath.splitext(test)[1] for test in tests}
        called = tuple(
            found
            for part in parts
            for ending in sorted(endings)
            for found in files_testing(f"{part}{ending}", tests)
        )
    mentions: dict[str, set[int]] = {}
    for wanted in names:
        word = re.compile(rf"(?<![\w$]){re.escape(wanted)}(?![\w$])")
        for hit in at.search(wanted, "", _HITS, "Use find_files."):
            if hit.path in tests and word.search(hit.text):
                mentions.setdefault(hit.path, set()).add(hit.line)
    ranked = sorted(mentions, key=lambda path: (path not in called, -len(mentions[path]), path))
    once = tuple(dict.fromkeys((*called, *ranked)))
    if not once:
        none = f"No test is called after {target!a}, and none mentions it."
        return ToolAnswer(none)
    rows = []
    for item in once[:_FILES]:
        reasons = ["by its name"] if item in called else []
        if lines := sorted(mentions.get(item, ())):
            more = f" and {len(lines) - _LINES} more" if len(lines) > _LINES else ""
            reasons.append(f"mentions it in lines {spans(lines[:_LINES])}{more}")
        rows.append(f"{name(item)}: {'; '.join(reasons)}")
    if len(once) > _FILES:
        rows.append(f"{MARK}{len(once) - _FILES} more tests mention it ...]")
    if is_file and names:
        rows.append(f"(looked for {', '.join(names)})")
    return ToolAnswer(listed(rows, limit, "more"))


def _names_in(at: ToolContext, path: str) -> tuple[str, ...]:
    """Names that a test of the file would mention: its classes and functions, and itself."""
    text = at.code.read_file(path) or ""
    stem = posixpath.basename(path).split(".")[0]
    known = [definition for definition in definitions_in(path, text) if definition.kind != "value"]
    outer = [item for item in known if not any(d.line < item.line <= d.end for d in known)]
    by_kind = sorted(outer, key=lambda item: (item.kind != "class", -(item.end - item.line)))
    own = (stem,) if stem not in _COMMON and len(stem) > 3 else ()
    return tuple(dict.fromkeys((*own, *(item.name for item in by_kind))))[:_NAMES]


# The tools blame, show_commit and history.

_BLAMED_LINE = 1_500  # characters of a line that is shown
_COMMITS = 12  # of a history


def blame(at: ToolContext, limit: int, path: str, start: int, end: int | None = None) -> ToolAnswer:
    """Show which commits last wrote lines, the newest first."""
    first, last = sorted((start, end or start))
    known = at.code.blame(path, first, min(last, first + MOST - 1))
    if not known:
        total = len(at.lines(path))
        if first > total:
            raise Refusal(f"{path} has {total} lines; ask for a line up to {total}.")
        raise Refusal(f"Who wrote {path}:{first} is not known here; go on without blame.")
    # texts without what could start a second line
    plain = tuple(
        item.model_copy(
            update={
                "sha": item.sha[:10],
                "author": line(item.author, 100),
                "subject": line(item.subject, 200),
            }
        )
        for item in known
    )
    by_commit: dict[str, list[Blame]] = {}
    for item in sorted(plain, key=lambda item: (item.at, -item.line), reverse=True):
        by_commit.setdefault(item.sha, []).append(item)
    rows = []
    for commit, *more in by_commit.values():
        numbers = [commit.line, *(item.line for item in more)]
        where = f"{name(path)} lines {spans(numbers)}" if more else place(path, commit.line)
        moved = f" [then in {name(commit.path)}]" if commit.path not in ("", path) else ""
        rows.append(f"{where} {_logged(commit)}{moved}")
    if len(plain) == 1:
        rows.append(around(plain[0].text, "", _BLAMED_LINE))
    return ToolAnswer(listed(rows, limit, "more, ask for fewer lines"), LinesBlamed(blames=plain))


def show_commit(at: ToolContext, limit: int, id: str, path: str = "") -> ToolAnswer:
    """Show a commit's message and what it changed; of one path about `limit` characters."""
    limit = limit if path else limit // 3
    known = at.code.show_commit(_one_line(id, "a commit's id"), path)
    if known is None:
        raise Refusal("No such commit is known up to the one that failed; history lists them.")
    files = sorted(known.files, key=lambda file: (rank_of(file.path, at.frame_files), file.path))
    message = block(known.message, 800) if known.message != known.commit.subject else ""
    where = f" below {path}" if path else ""
    count = f"{known.changed or len(files)} files changed{where}:"
    rows = [*filter(None, (_logged(known.commit), message, count))]
    for file in files[:20]:
        old = f" (was {name(file.old_path)})" if file.old_path else ""
        rows.append(f"{name(file.path)}{old} +{file.added} -{file.removed}")
    if (more := max(known.changed, len(files)) - 20) > 0:
        rows.append(f"{MARK}{more} more files, ask with path ...]")
    diffs = _diffs(files, limit - sum(len(row) + 1 for row in rows), known.commit.sha)
    return ToolAnswer("\n".join((*rows, *diffs)), known)


def history(at: ToolContext, limit: int, path: str = "", symbol: str = "") -> ToolAnswer:
    """List commits that touched a path, or added or removed a text, newest first."""
    text = _one_line(symbol, "a symbol or text") if symbol else ""
    try:
        known = at.code.history(path, text, _COMMITS)
    except GiveUp as trouble:
        hint = "Use blame, or history of a path."
        raise Refusal(f"No history: {line(str(trouble))}. {hint}") from None
    if not known:
        what = f" that added or removed {text!r}" if text else ""
        where = f" below {path}" if path else ""
        return ToolAnswer(f"No commit is known{what}{where}.")
    rows = [_logged(item) for item in known]
    if len(known) == _COMMITS:
        rows.append(f"{MARK}there may be older ones ...]")
    text = listed(rows, limit, "more, give a path or a symbol")
    return ToolAnswer(text)


def _one_line(text: str, what: str) -> str:
    if not text.strip() or len(text) > 200 or not text.replace("\t", " ").isprintable():
        raise Refusal(f"Give {what} in one line of at most 200 visible characters.")
    return text.strip()


def _logged(commit: LoggedCommit | Blame) -> str:
    author, subject = line(commit.author, 100), line(commit.subject, 200)
    is_new = commit.pull and f"(#{commit.pull})" not in subject
    pull = f" (#{commit.pull})" if is_new else ""
    return f"{commit.sha[:10]} {commit.at:%Y-%m-%d} {author}: {subject}{pull}"


def _diffs(files: Iterable[ChangedFile], room: int, sha: str) -> Iterator[str]:
    """Changes of files, bulk left out, as far as there is room; a cut is at an end and said."""
    for file in files:
        if not file.diff or kind_of(file.path) in BULK:
            continue
        if room <= 0:
            yield f"{MARK}more changes: show_commit {sha[:10]} with path ...]"
            return
        rows = [visible(row[:SHOWN_LINE]) for row in file.diff.rstrip("\n").split("\n")]
        more = f"more lines: show_commit {sha[:10]}, path {name(file.path)}"
        shown = listed([f"\n--- {name(file.path)}", *rows], room, more)
        room -= len(shown) + 1
        yield shown
