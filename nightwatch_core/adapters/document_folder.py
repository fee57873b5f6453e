"""Markdown documents in folders of strangers' making: no link is followed, no size is trusted."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from nightwatch_core.adapters import atomic
from nightwatch_core.errors import GiveUp

MOST_BYTES = 1024 * 1024  # of a document
TEMPORARY = ".tmp-"
QUARANTINE = "quarantine"

Stamp = tuple[int, int, int]  # inode, size, time of change in ns: equal means unchanged


def documents(folder: Path, shelf: str) -> dict[str, Stamp]:
    """The documents `shelf/*.md` by their names; empty where there is no such folder.

    Links, folders and devices are none. Raises `OSError` where the folder cannot be listed.
    """
    if (folder / shelf).is_symlink():
        return {}
    try:
        with os.scandir(folder / shelf) as entries:
            found = {
                f"{shelf}/{entry.name}": _stamp(entry.stat(follow_symlinks=False))
                for entry in entries
                if entry.name.endswith(".md")
                and not entry.name.startswith((".", "README"))
                and entry.is_file(follow_symlinks=False)
            }
    except FileNotFoundError:
        return {}
    return dict(sorted(found.items()))


def links(folder: Path, *shelves: str) -> tuple[str, ...]:
    """Complaints about links where documents belong."""
    found = [folder / shelf for shelf in shelves if (folder / shelf).is_symlink()]
    for shelf in shelves:
        if (folder / shelf).is_dir() and not (folder / shelf).is_symlink():
            found += [path for path in (folder / shelf).glob("*.md") if path.is_symlink()]
    return tuple(f"{path.relative_to(folder)}: a link, not followed" for path in sorted(found))


def text_of(path: Path, most: int = MOST_BYTES) -> str:
    """The text of one plain file; raises `GiveUp` where it is too long or no text, or `OSError`."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise GiveUp("not a plain file")
        content = file.read(most + 1)
    if len(content) > most:
        raise GiveUp(f"longer than {most // 1024} KiB")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GiveUp(f"not UTF-8 text: byte {error.start}") from None


def remove_temporaries(*folders: Path) -> None:
    """Remove what a writer that was killed left behind; call it as the only writer."""
    for folder in folders:
        if folder.is_dir() and not folder.is_symlink():
            for path in folder.glob(f"{TEMPORARY}*"):
                path.unlink(missing_ok=True)


def quarantine(folder: Path, name: str, reason: str) -> None:
    """Move a document to `quarantine/`, with a file beside it that says why."""
    if not os.path.lexists(folder / name):
        return  # somebody has removed it since
    target = next(path for path in _free_names(folder / QUARANTINE, Path(name)) if not _taken(path))
    atomic.write(target.with_suffix(".reason.txt"), f"{name}: {reason}\n".encode())
    (folder / name).rename(target)


def quarantined(folder: Path, most: int = 100) -> tuple[str, ...]:
    """What the reason files of the quarantine say, one line each."""
    place = folder / QUARANTINE
    if not place.is_dir() or place.is_symlink():
        return ()
    reasons = sorted(place.glob("*.reason.txt"))[:most]
    return tuple(
        " ".join(path.read_text(encoding="utf-8", errors="replace")[:1_000].split())
        for path in reasons
        if path.is_file() and not path.is_symlink()
    )


def _free_names(place: Path, name: Path) -> Iterator[Path]:
    yield place / name.name
    for number in range(2, 100_000):
        yield place / f"{name.stem}-{number}.md"


def _taken(path: Path) -> bool:
    return os.path.lexists(path) or os.path.lexists(path.with_suffix(".reason.txt"))


def stamp_of(path: Path) -> Stamp:
    """What changes when the file does; raises `OSError`."""
    return _stamp(path.lstat())


def _stamp(info: os.stat_result) -> Stamp:
    return info.st_ino, info.st_size, info.st_mtime_ns
