"""Markdown documents in folders that strangers write to: no link is followed, no size trusted."""

import itertools
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.limits import DOCUMENT_BYTES
from nightwatch_core.errors import GiveUp

QUARANTINE = "quarantine"
REASON = ".reason.txt"  # ends the name of a file that says why a document was put away
_NO_DOCUMENTS = (".", "README")

# inode, size, time of change in ns: equal means unchanged. It is the time that nobody can set, so
# that a document is noticed that was put in another's place with the time it had elsewhere.
Stamp = tuple[int, int, int]


def documents(folder: Path, name: str) -> dict[str, Stamp]:
    """The stamps of the documents `name/*.md`, by file; empty where there is no such folder.

    Links, folders and devices are none. Raises `OSError` where the folder cannot be listed.
    """
    if (folder / name).is_symlink():
        return {}
    try:
        with os.scandir(folder / name) as entries:
            there = {
                f"{name}/{entry.name}": _stamp(entry.stat(follow_symlinks=False))
                for entry in entries
                if _is_document(entry.name) and entry.is_file(follow_symlinks=False)
            }
    except FileNotFoundError:
        return {}
    return dict(sorted(there.items()))


def stamps(folder: Path, files: Iterable[str]) -> dict[str, Stamp]:
    """The stamps of those of these files that are documents: plain, and there."""
    there: dict[str, Stamp] = {}
    for file in sorted(files):
        with suppress(FileNotFoundError):
            info = (folder / file).lstat()
            if stat.S_ISREG(info.st_mode):
                there[file] = _stamp(info)
    return there


def stamp_of(path: Path) -> Stamp:
    """What changes when the file does; raises `OSError`."""
    return _stamp(path.lstat())


def names(folder: Path, name: str, *, tidy: bool = False) -> tuple[str, ...]:
    """What the documents `name/*.md` may be: names alone, without a look at each file.

    Empty where there is no such folder. `tidy` removes temporary files on the way, for the only
    writer. Raises `OSError` where the folder cannot be listed.
    """
    if (folder / name).is_symlink():
        return ()
    try:
        every = os.listdir(folder / name)  # noqa: PTH208  # 50,000 paths take their time
    except FileNotFoundError:
        return ()
    if tidy:
        for left in [one for one in every if one.startswith(atomic_files.TEMPORARY)]:
            (folder / name / left).unlink(missing_ok=True)
    return tuple([one for one in every if _is_document(one)])


def is_plain(file: str, *folders: str) -> bool:
    """Whether a file is a document's name directly in one of these folders."""
    folder, _, name = file.partition("/")
    return folder in folders and "/" not in name and "\0" not in name and _is_document(name)


def links(folder: Path, *names: str) -> tuple[str, ...]:
    """Complaints about links where documents belong."""
    found_links: list[Path] = []
    for place in (folder / name for name in names):
        inside = place.glob("*.md") if place.is_dir() and not place.is_symlink() else ()
        found_links += [path for path in (place, *inside) if path.is_symlink()]
    return tuple(
        f"{path.relative_to(folder)}: a link, not followed" for path in sorted(found_links)
    )


def text_of(path: Path, most: int = DOCUMENT_BYTES) -> str:
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
            for left in folder.glob(f"{atomic_files.TEMPORARY}*"):
                left.unlink(missing_ok=True)


def put_away(folder: Path, file: str, place: str, reason: str = "") -> str:
    """Move a document to `place/`, with a file beside it that says why; returns its new name.

    A name that is taken there gets a number. Empty where the document is gone. A writer that is
    killed leaves the document in one of the two places. Raises `OSError`.
    """
    if not os.path.lexists(folder / file):
        return ""  # somebody has removed it since
    target = free_name(folder, f"{place}/{file.rpartition('/')[2]}")
    beside = reason_file(folder, target)
    if reason:
        content = f"{file}: {reason}\n".encode("utf-8", "replace")
        atomic_files.write(beside, content, through=folder)
    else:
        beside.unlink(missing_ok=True)  # of a document that is gone
    atomic_files.move(folder / file, folder / target)
    return target


def reason_file(folder: Path, file: str) -> Path:
    """Where it is said why a document was put away."""
    return (folder / file).with_suffix(REASON)


def free_name(folder: Path, file: str) -> str:
    """The name, with a number where it is taken."""
    stem = file.removesuffix(".md")
    numbered = (file if n == 1 else f"{stem}-{n}.md" for n in itertools.count(1))
    return next(one for one in numbered if not os.path.lexists(folder / one))


def quarantined(folder: Path, most: int = 100) -> tuple[str, ...]:
    """What the reason files of the quarantine say, one line each."""
    place = folder / QUARANTINE
    if not place.is_dir() or place.is_symlink():
        return ()
    return tuple(
        " ".join(path.read_text(encoding="utf-8", errors="replace")[:1_000].split())
        for path in sorted(place.glob(f"*{REASON}"))[:most]
        if path.is_file() and not path.is_symlink()
    )


def _is_document(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(_NO_DOCUMENTS)


def _stamp(info: os.stat_result) -> Stamp:
    return info.st_ino, info.st_size, info.st_ctime_ns
