"""Which files are meant: names with commas between them, folders, patterns, lists of names."""

import glob
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import MAX_FILES
from nightwatch_core.adapters.files.record_values import name_of
from nightwatch_core.models.options import STANDARD_INPUT

LIST = "@"  # before the name of a file that lists names, one a line
_MOST_COMMAS = 8  # in one name
_LIST_LIMIT = 16_777_216  # bytes of a list of names


class File(NamedTuple):
    """A file to read, and what stands for it in places."""

    path: Path
    label: str


class Below(NamedTuple):
    """The files of a name, and sentences: what cannot be read, and what is left out."""

    files: tuple[File, ...]
    unread: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def named_paths(errors: str) -> tuple[Path, ...]:
    """Split names with commas between them; a name that is there may hold commas itself.

    >>> [str(path) for path in named_paths("a.log, logs/*.gz")]
    ['a.log', 'logs/*.gz']
    """
    whole = _path(errors)
    if is_there(whole):
        return (whole,)
    parts, names, at = errors.split(","), [], 0
    while at < len(parts):
        for end in range(min(len(parts), at + _MOST_COMMAS + 1), at, -1):
            joined = ",".join(parts[at:end]).strip()
            if end == at + 1 or is_there(_path(joined)):
                names += [_path(joined)] if joined else []
                at = end
                break
    return tuple(names)


def files_of(path: Path) -> Below:
    """Give the file itself, all files of a folder or pattern, or those that a list names."""
    text = str(path)
    if is_there(path):
        return _of_folder(path) if path.is_dir() else Below((_file(path),))
    if text == STANDARD_INPUT:
        return Below((), ("the standard input is read by `--errors -` of a command alone",))
    if text.startswith(LIST):
        return _of_list(_path(text.removeprefix(LIST)))
    if glob.has_magic(text):
        return _of_pattern(text)
    return Below((_file(path),))  # that it is not there is said when it is opened


def is_there(path: Path) -> bool:
    """Tell whether something has that name; broken links and impossible names have nothing."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _of_folder(folder: Path) -> Below:
    """Files below a folder, sorted; hidden ones are left out, links to folders not followed."""
    problems: list[str] = []
    files: list[File] = []
    for path in islice(_walk(folder, problems), MAX_FILES + 1):
        if path.is_file():
            files.append(_file(path, folder))
        else:
            problems.append(
                f"{_shown(path)} is {'a broken link' if path.is_symlink() else 'no file'}"
            )
    if not files:
        problems.append(f"{_shown(folder)} holds no files")
    return _bounded(files, problems, folder)


def _walk(folder: Path, problems: list[str]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        problems.append(
            f"{_shown(error.filename)} cannot be read ({error.strerror}): check permissions"
        )

    below: list[Path] = []
    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below += (Path(root, name) for name in names if not name.startswith("."))
        if len(below) > MAX_FILES:
            break
    yield from sorted(below)


def _of_pattern(pattern: str) -> Below:
    """Files that a pattern matches (`*`, `?`, `[…]`, and `**` for any folders), sorted."""
    matches = islice(glob.iglob(pattern, recursive=True), MAX_FILES + 1)  # noqa: PTH207
    files = [_file(path) for path in sorted(map(Path, matches)) if path.is_file()]
    unread = () if files else (f"no file matches {_shown(pattern)}",)
    return _bounded(files, [], pattern)._replace(unread=unread)


def _of_list(path: Path) -> Below:
    """Files of all names that a file lists, one a line."""
    try:
        with path.open("rb") as file:
            text = file.read(_LIST_LIMIT).decode("utf-8-sig", "replace")
    except (OSError, ValueError) as error:
        return Below((), (f"the list {_shown(path)} cannot be read: {_shown(error)}",))
    names = [line.strip() for line in text.splitlines() if line.strip()]
    circle = Below((), (f"{_shown(path)}: a list names no lists",))
    below = [circle if name.startswith(LIST) else files_of(_path(name)) for name in names]
    left_out = [sentence for one in below for sentence in one.left_out]
    files = [file for one in below for file in one.files]
    unread = tuple(sentence for one in below for sentence in one.unread)
    empty = () if names else (f"{_shown(path)} lists no files",)
    return _bounded(files, left_out, path)._replace(unread=(*unread, *empty))


def _bounded(files: list[File], problems: list[str], name: Path | str) -> Below:
    if len(files) > MAX_FILES:
        problems.append(f"{_shown(name)}: files after the first {MAX_FILES:,} are left out")
    return Below(tuple(files[:MAX_FILES]), (), tuple(problems))


def _path(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # the home of nobody
        return Path(name)


def _file(path: Path, folder: Path | None = None) -> File:
    """The file, by its name below the folder that was named."""
    return File(path, _shown(path.relative_to(folder).as_posix() if folder else path.name))


def _shown(name: object) -> str:
    """A name as text on one line: file names may hold any byte."""
    return name_of(str(name))
