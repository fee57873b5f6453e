"""What read_library shows: a dependency's own source, and whether its version is the locked one."""

from collections.abc import Iterable

from nightwatch_core.analysis.file_tools import answer_lines
from nightwatch_core.analysis.path_suggestions import near_matches, sentence_of
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import MARK, inside, lines_of, name
from nightwatch_core.code.library_places import LibraryPlace, library_places
from nightwatch_core.code.lock_files import locked_version, same_version
from nightwatch_core.models.code import Library
from nightwatch_core.models.tool_values import NothingThere, PathsFound
from nightwatch_core.ports import LibraryReader

NO_LIBRARIES = (
    "Library source is not available here. Go on with what the repository shows of the call."
)
_LISTED = 2_000  # characters of names


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
    for one in places:
        if copies := _of_language(at.libraries.copies(one.ecosystem, one.package), language):
            return _answer(at, at.libraries, one, copies, start, end, limit)
    names = ", ".join(dict.fromkeys(f"{one.package} ({one.ecosystem})" for one in places[:3]))
    raise Refusal(f"Not available: {names}: no source of it where NightWatch runs.", NothingThere())


def _of_language(copies: tuple[Library, ...], language: str) -> tuple[Library, ...]:
    """Leave Python's own modules out where something else failed: json is a gem, too."""
    is_python = language.lower() in ("", "python")
    return tuple(one for one in copies if is_python or not one.is_standard)


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
    copy = next((one for one in copies if same_version(one.version, wanted)), copies[0])
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
    """Say whether this is the version that ran."""
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
    """The file of the package that was asked for, however much of its path was given."""
    if asked.path in paths:
        return asked.path
    package = f"{asked.path.removesuffix('.py')}/__init__.py"
    if package in paths:
        return package
    ends = [one for one in paths if one.endswith(f"/{asked.path}")]
    return min(ends, key=lambda one: (one.count("/"), one), default="")


def _names(paths: Iterable[str]) -> str:
    rows: list[str] = []
    known = sorted(paths, key=lambda one: (one.count("/"), one))
    for number, one in enumerate(known):
        if sum(map(len, rows)) > _LISTED:
            return "\n".join((*rows, f"{MARK}{len(known) - number} more files ...]"))
        rows.append(name(one))
    return "\n".join(rows)
