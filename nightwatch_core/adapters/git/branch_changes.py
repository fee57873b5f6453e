"""Which changes a draft pull request may make, wherever its branch is made.

The base is what stands at each path before; listings that name folders give them mode 040000.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from nightwatch_core.adapters.git.tree import EXECUTABLE, FILE, Node, folders, why_unsafe
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposal import DraftPull, FileChange

MOST_CHANGES = 100
LARGEST_TEXT = 2 * 1024 * 1024  # bytes
FOLDER = "040000"
GONE = "000000"
Base = Mapping[str, Node]


class Refused(GiveUp):
    """The branch cannot be made as proposed; nothing was changed."""


class Stand(NamedTuple):
    """What stands at a path; mode 000000 and no oid where nothing does."""

    mode: str
    oid: str


def wanted_changes(
    changes: tuple[FileChange, ...],
    before: Base,
    content: Callable[[Node], bytes],
    named: Callable[[bytes, Node | None], str],
) -> dict[str, Stand]:
    """What shall stand where; raises `Refused` with the reason for what must not be made.

    `content` reads a file of the base, `named` says how git names new content that takes a file's
    place.
    """
    if len(changes) > MOST_CHANGES:
        raise Refused(f"{len(changes)} files are more than {MOST_CHANGES}")
    if len({change.path.casefold() for change in changes}) < len(changes):
        raise Refused("a file is changed twice")
    wanted = {change.path: _wanted(change, before, content, named) for change in changes}
    new = {path: stand for path, stand in wanted.items() if stand != stands(before, path)}
    if not new:
        raise Refused("nothing would change")
    for path in folders(wanted):
        if path in wanted:
            raise Refused(f"{path[:200]!a} would be both file and folder")
    return new


def stands(base: Base, path: str) -> Stand | None:
    """What stands at the path; None where nothing or a folder does."""
    node = base.get(path)
    return Stand(node.mode, node.oid) if node and node.mode != FOLDER else None


def check_not_moved(changes: Iterable[FileChange], then: Base, now: Base) -> None:
    """Edits that were made on another text may mean something else; raises `Refused`."""
    for change in changes:
        if stands(then, change.path) != stands(now, change.path):
            raise Refused(f"base moved: {change.path[:200]!a} changed")


def commit_message(pull: DraftPull) -> str:
    """The commit's message, whole characters only; the title where there is none."""
    said = (pull.commit_message.strip() or pull.title).replace("\0", "")
    return said.encode(errors="replace").decode()


def _wanted(
    change: FileChange,
    before: Base,
    content: Callable[[Node], bytes],
    named: Callable[[bytes, Node | None], str],
) -> Stand:
    said = f"{change.path[:200]!a}"
    if why := why_unsafe(change.path):
        raise Refused(f"{said} {why}")
    node = before.get(change.path)
    node = None if node and node.mode == FOLDER else node
    if node is None and change.text is None:
        raise Refused(f"{said} is not there to be deleted")
    if node is None:
        _check_room(change.path, before)
    elif node.mode not in (FILE, EXECUTABLE):
        raise Refused(f"{said} is a {node.kind}, no plain file")
    if change.text is None:
        return Stand(GONE, "")
    text = _bytes(said, change.text)
    if node is not None:
        _check_is_text(said, node, content)
    return Stand(node.mode if node else FILE, named(text, node))


def _check_room(path: str, before: Base) -> None:
    """A new file must not stand on, below, or beside a name that some systems hold for the same."""
    taken = {*before, *folders(before)}
    folded = {name.casefold() for name in taken}
    if path.casefold() in folded:
        raise Refused(f"{path[:200]!a} is taken already")
    for folder in folders([path]):
        node = before.get(folder)
        if node and node.mode != FOLDER:
            raise Refused(f"{folder[:200]!a} is a {node.kind}, no folder")
        if folder not in taken and folder.casefold() in folded:
            raise Refused(f"{folder[:200]!a} is there in another spelling")


def _bytes(said: str, text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"{said}: the new text holds half a character") from error
    if "\0" in text or len(content) > LARGEST_TEXT:
        raise Refused(f"{said}: the new text is binary or over {LARGEST_TEXT} bytes")
    return content


def _check_is_text(said: str, node: Node, content: Callable[[Node], bytes]) -> None:
    """Readers replace bytes that are not UTF-8; writing that back would change more than asked."""
    if (node.size or 0) > LARGEST_TEXT:
        raise Refused(f"{said} is over {LARGEST_TEXT} bytes")
    try:
        content(node).decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{said} is not UTF-8") from error
