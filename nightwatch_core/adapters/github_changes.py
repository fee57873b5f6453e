"""Which changes a draft pull request may make, seen from GitHub's listing of the base."""

import base64
import hashlib
from collections.abc import Mapping

from nightwatch_core.adapters.git_branch import LARGEST_TEXT, MOST_CHANGES, Refused
from nightwatch_core.adapters.git_tree import EXECUTABLE, FILE, KINDS, folders, why_unsafe
from nightwatch_core.adapters.github_rows import BlobRow, Place, TreeEntry, read
from nightwatch_core.adapters.github_trees import FOLDER, GONE, Stand
from nightwatch_core.models.proposal import FileChange

Around = Mapping[str, TreeEntry]


def wanted_changes(
    place: Place, changes: tuple[FileChange, ...], before: Around
) -> dict[str, Stand]:
    """What shall stand where; raises `Refused` with the reason for what must not be made."""
    if len(changes) > MOST_CHANGES:
        raise Refused(f"{len(changes)} files are more than {MOST_CHANGES}")
    if len({change.path.casefold() for change in changes}) < len(changes):
        raise Refused("a file is changed twice")
    wanted = {change.path: _stand(place, change, before) for change in changes}
    new = {path: stand for path, stand in wanted.items() if stand != stands(before, path)}
    if not new:
        raise Refused("nothing would change")
    for path in folders(wanted):
        if path in wanted:
            raise Refused(f"{path[:200]!a} would be both file and folder")
    return new


def stands(around: Around, path: str) -> Stand | None:
    """What stands at the path; None where nothing does."""
    entry = around.get(path)
    return Stand(entry.mode, entry.sha) if entry else None


def _stand(place: Place, change: FileChange, before: Around) -> Stand:
    said = f"{change.path[:200]!a}"
    if why := why_unsafe(change.path):
        raise Refused(f"{said} {why}")
    entry = before.get(change.path)
    entry = None if entry and entry.mode == FOLDER else entry
    if entry is None and change.text is None:
        raise Refused(f"{said} is not there to be deleted")
    if entry is None:
        _check_room(change.path, before)
    elif entry.mode not in (FILE, EXECUTABLE):
        raise Refused(f"{said} is a {KINDS.get(entry.mode, 'file')}, no plain file")
    if change.text is None:
        return Stand(GONE, "")
    content = _bytes(said, change.text)
    if entry is not None:
        _check_is_text(place, said, entry)
    return Stand(entry.mode if entry else FILE, _oid(content, entry))


def _check_is_text(place: Place, said: str, entry: TreeEntry) -> None:
    """Readers replace bytes that are not UTF-8; writing that back would change more."""
    if (entry.size or 0) > LARGEST_TEXT:
        raise Refused(f"{said} is over {LARGEST_TEXT} bytes")
    answer = place.client.ask(lambda rest: rest.git.get_blob(*place.at, entry.sha))
    try:
        base64.b64decode(read(BlobRow, answer).content).decode()
    except ValueError as error:
        raise Refused(f"{said} is not UTF-8") from error


def _check_room(path: str, before: Around) -> None:
    """A new file must not stand on, below, or beside a name that some systems hold for the same."""
    folded = {name.casefold() for name in before}
    if path.casefold() in folded:
        raise Refused(f"{path[:200]!a} is taken already")
    for folder in folders([path]):
        entry = before.get(folder)
        if entry and entry.mode != FOLDER:
            raise Refused(f"{folder[:200]!a} is a {KINDS.get(entry.mode, 'file')}, no folder")
        if entry is None and folder.casefold() in folded:
            raise Refused(f"{folder[:200]!a} is there in another spelling")


def _bytes(said: str, text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"{said}: the new text holds half a character") from error
    if "\0" in text or len(content) > LARGEST_TEXT:
        raise Refused(f"{said}: the new text is binary or over {LARGEST_TEXT} bytes")
    return content


def _oid(content: bytes, beside: TreeEntry | None) -> str:
    """The name git will give the content."""
    kind = hashlib.sha256 if beside and len(beside.sha) == 64 else hashlib.sha1
    return kind(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()
