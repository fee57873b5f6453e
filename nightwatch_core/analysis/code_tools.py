"""Tools that list folders, files and commits, and that read libraries."""

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator

from nightwatch_core.analysis.file_tools import MOST, answer_lines
from nightwatch_core.analysis.previews import place as place_of
from nightwatch_core.analysis.previews import spans
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
from nightwatch_core.code import code_view
from nightwatch_core.code.code_view import name as shown_path
from nightwatch_core.code.languages import BULK, kind_of, rank_of
from nightwatch_core.code.libraries import library_places, locked_version, same_version
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Blame, ChangedFile, LoggedCommit
from nightwatch_core.models.conversation import LinesBlamed, NothingThere
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import is_glob, matches, plural
from nightwatch_core.traces.placing import is_vendored


def list_directory(at: ToolContext, limit: int, path: str) -> ToolAnswer:
    """Show the names in a folder, with the files below folders and the sizes of files."""
    entries = at.code.list_directory(path)
    if not entries:
        if path in at.code.paths():
            raise Refusal(f"{path} is a file: use read_file.")
        raise no_folder(at.code, path)
    start = f"{path}/" if path else ""
    paths = (path.removeprefix(start) for path in at.code.paths() if path.startswith(start))
    below = Counter(path.split("/")[0] for path in paths)
    rows = []
    for entry in entries:
        kind = "" if entry.kind == "file" else f" [{entry.kind}]"
        size = "" if entry.size is None else f" ({entry.size})"
        count = f"/ ({plural(below[entry.name], 'file')})"
        rows.append(f"{shown_path(entry.name)}{count if entry.kind == 'folder' else size + kind}")
    ask = "list a folder below this one, or use find_files"
    return ToolAnswer(code_view.halves("\n".join(rows), limit, ask))


def find_files(at: ToolContext, limit: int, name: str, path: str = "") -> ToolAnswer:
    """Show paths whose name holds `name`, or that match a glob, about `limit` characters."""
    paths = at.code.paths()
    if path and path not in folders(paths):
        raise no_folder(at.code, path)
    start = f"{path}/" if path else ""
    below = [path for path in paths if path.startswith(start)]
    asked = name.strip().removeprefix("./").strip("/")
    if not asked or not asked.isprintable():
        raise Refusal("Give a file's name, a part of its name, or a glob.")
    if is_glob(asked):
        found = [p for p in below if matches(p, asked) or matches(p.removeprefix(start), asked)]
    else:
        part = asked.lower()
        whole = "/" in part
        found = [p for p in below if part in (p if whole else posixpath.basename(p)).lower()]
    if not found:
        where = f" below {path}" if path else ""
        hint = sentence_of(near_matches(asked, below)) or "Try a shorter part, or search_code."
        hint += one_folder(asked)
        return ToolAnswer(f"No file is called {name!a}{where}. {hint}", None, ())

    stems = {path: posixpath.basename(path).split(".")[0].lower() for path in found}
    # our own files first, then those of exactly that name, then those higher up
    found.sort(key=lambda p: (is_vendored(p), stems[p] != asked.lower(), p.count("/"), p))
    text = listed([*map(shown_path, found)], limit, "more: give a longer part, a glob or a path")
    return ToolAnswer(text)


# What read_library shows: a dependency's own source, and whether its version is the locked one.

NO_LIBRARIES = (
    "Library source is not available here. Go on with what the repository shows of the call."
)


def read_library(
    at: ToolContext, limit: int, place: str, start: int | None = None, end: int | None = None
) -> ToolAnswer:
    """Show lines of a library's file, or the names of a package's files."""
    if code_view.inside(place) in at.code.paths():
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
        names = ", ".join(dict.fromkeys(f"{p.package} ({p.ecosystem})" for p in places[:3]))
        why = f"Not available: {names}: no source of it where NightWatch runs."
        raise Refusal(why, NothingThere())
    repository = (at.code.paths(), at.code.read_file)
    locked, file = locked_version(asked.ecosystem, copies[0].package, *repository)
    version = locked or asked.version
    copy = next((copy for copy in copies if same_version(copy.version, version)), copies[0])
    source = (shown_path(file) if locked else "the frame") if version else "nothing"
    fit = f"{source} has {version or 'its version'}, so lines may differ."
    if same_version(copy.version, version):
        fit = f"the version of {source}."
    note = f"{copy.package} {copy.version or '(version unknown)'}: {fit}"
    paths = libraries.paths(copy)
    by_depth = sorted(paths, key=lambda path: (path.count("/"), path))
    if not asked.path:
        return ToolAnswer(f"{note}\n{listed([*map(shown_path, by_depth)], 2_000, 'more files')}")
    ends = [path for path in by_depth if path.endswith(f"/{asked.path}")]
    package = f"{asked.path.removesuffix('.py')}/__init__.py"
    exact = (path for path in (asked.path, package) if path in paths)
    path = next(exact, ends[0] if ends else "")
    text = libraries.read_file(copy, path) if path else None
    if text is None:
        near = near_matches(asked.path, paths)
        reason = f"{note} It has no file {asked.path} that can be read. {sentence_of(near)}"
        raise Refusal(reason.strip(), NothingThere(near=near))
    shown = f"library/{copy.package}@{copy.version or 'unknown'}/{path}"
    answer = answer_lines(shown, code_view.lines_of(text), start, end, at.known, limit)
    return ToolAnswer(f"{note}\n{answer.text}", answer.value, answer.shown)


# The tools blame, show_commit and history.

_BLAMED_LINE = 1_500  # characters of a line that is shown
_COMMITS = 12  # of a history
_FRAMES = 3  # files of the trace that are looked for in a large commit


def blame(at: ToolContext, limit: int, path: str, start: int, end: int | None = None) -> ToolAnswer:
    """Show which commits last wrote lines, the newest first."""
    first, last = sorted((start, end or start))
    blames = at.code.blame(path, first, min(last, first + MOST - 1))
    if not blames:
        total = len(at.lines(path))
        if first > total:
            raise Refusal(f"{path} has {total} lines; ask for a line up to {total}.")
        raise Refusal(f"Who wrote {path}:{first} is not known here; go on without blame.")
    # texts without what could start a second line
    texts = ((item, line(item.author, 100), line(item.subject, 200)) for item in blames)
    plain = tuple(
        item.model_copy(update={"sha": item.sha[:10], "author": author, "subject": subject})
        for item, author, subject in texts
    )
    by_commit: dict[tuple[str, bool], list[Blame]] = {}
    for item in sorted(plain, key=lambda item: (item.at, -item.line), reverse=True):
        by_commit.setdefault((item.sha, item.only_indented), []).append(item)
    rows = []
    for commit, *more in by_commit.values():
        numbers = [commit.line, *(item.line for item in more)]
        lines = f"{shown_path(path)} lines {spans(numbers)}"
        where = lines if more else place_of(path, commit.line)
        moved = f" [then in {shown_path(commit.path)}]" if commit.path not in ("", path) else ""
        moved += " [only their indentation]" if commit.only_indented else ""
        rows.append(f"{where} {_logged(commit)}{moved}")
    if len({item.line for item in plain}) == 1:
        rows.append(code_view.around(plain[0].text, "", _BLAMED_LINE))
    return ToolAnswer(listed(rows, limit, "more, ask for fewer lines"), LinesBlamed(blames=plain))


def show_commit(at: ToolContext, limit: int, id: str, path: str = "") -> ToolAnswer:
    """Show a commit's message and changes, the trace's files first; of one path its changes."""
    limit = limit if path else limit // 3
    commit = _one_line(id, "a commit's id")
    shown = at.code.show_commit(commit, path)
    if shown is None:
        raise Refusal("No such commit is known up to the one that failed; history lists them.")
    listed_files = {file.path: file for file in shown.files}
    if shown.changed > len(listed_files) and not path:  # a commit's first files are those of A to Z
        wanted = [file for file in at.frame_files[:_FRAMES] if file not in listed_files]
        more = filter(None, (at.code.show_commit(commit, file) for file in wanted))
        listed_files |= {file.path: file for diff in more for file in diff.files}
    ordered = sorted(listed_files, key=lambda item: (rank_of(item, at.frame_files), item))
    files = [listed_files[item] for item in ordered]
    message = shown.message.removeprefix(shown.commit.subject).strip()
    changed = len(files) if path else max(shown.changed, len(files))
    count = f"{plural(changed, 'file')} changed{f' below {path}' if path else ''}:"
    rows = [*filter(None, (_logged(shown.commit), "" if path else block(message, 800), count))]
    names = {file.path: _changed(file) for file in files[:20]}
    room = limit - sum(len(row) + 1 for row in (*rows, *names.values()))
    for file, diff in _diffs(files, room, shown.commit.sha):
        names.pop(file.path, None)
        rows.append(diff)
    rows += names.values()
    if (left := changed - min(len(files), 20)) > 0:
        rows.append(f"{code_view.MARK}{left} more files, ask with path ...]")
    return ToolAnswer("\n".join(rows), shown)


def _changed(file: ChangedFile) -> str:
    old = f" (was {shown_path(file.old_path)})" if file.old_path else ""
    return f"{shown_path(file.path)}{old} +{file.added} -{file.removed}"


def history(at: ToolContext, limit: int, path: str = "", symbol: str = "") -> ToolAnswer:
    """List commits that touched a path, or added or removed a text, newest first."""
    text = _one_line(symbol, "a symbol or text") if symbol else ""
    try:
        commits = at.code.history(path, text, _COMMITS)
    except GiveUp as trouble:
        hint = "Use blame, or history of a path."
        raise Refusal(f"No history: {line(str(trouble))}. {hint}") from None
    if not commits:
        what = f" that added or removed {text!r}" if text else ""
        where = f" below {path}" if path else ""
        return ToolAnswer(f"No commit is known{what}{where}.", None, ())
    rows = [_logged(item) for item in commits]
    if len(commits) == _COMMITS:
        rows.append(f"{code_view.MARK}there may be older ones ...]")
    return ToolAnswer(listed(rows, limit, "more, give a path or a symbol"))


def _one_line(text: str, what: str) -> str:
    if not text.strip() or len(text) > 200 or not text.replace("\t", " ").isprintable():
        raise Refusal(f"Give {what} in one line of at most 200 visible characters.")
    return text.strip()


def _logged(commit: LoggedCommit | Blame) -> str:
    author, subject = line(commit.author, 100), line(commit.subject, 200)
    named = f"({commit.sign}{commit.pull})"
    pull = f" {named}" if commit.pull and named not in subject else ""
    return f"{commit.sha[:10]} {commit.at:%Y-%m-%d} {author}: {subject}{pull}"


def _diffs(files: Iterable[ChangedFile], room: int, sha: str) -> Iterator[tuple[ChangedFile, str]]:
    """Changes of files, bulk left out, as far as there is room; a cut is at an end and said."""
    for file in files:
        if file.diff and kind_of(file.path) not in BULK and room > 0:
            lines = file.diff.rstrip("\n").split("\n")
            rows = [code_view.visible(row[: code_view.SHOWN_LINE]) for row in lines]
            more = f"more lines: show_commit {sha[:10]}, path {shown_path(file.path)}"
            shown = listed([f"--- {_changed(file)}", *rows], room, more)
            room -= len(shown) + 1
            yield file, shown
