"""Which changes a draft pull request may make, wherever its branch is made.

The base is what stands at each path before; listings that name folders give them mode 040000.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from nightwatch_core.adapters.git.limits import (
    CHANGED_FILES,
    COMMITS,
    FILE_BYTES,
    PATH_CHARACTERS,
)
from nightwatch_core.adapters.git.objects import (
    EXECUTABLE,
    FILE,
    FOLDER,
    GONE,
    Node,
    parent_folders,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposal import DraftPull, FileChange

_GIT_FOLDER = re.compile(r"\.git|git~\d+")
_SEPARATORS = "\\:\u2044\u2215\u29f5\u29f8"  # the last look like slashes
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")  # categories of characters nobody sees
Base = Mapping[str, Node]


class Refused(GiveUp):
    """The branch cannot be made as proposed; nothing was changed."""


class Made(NamedTuple):
    """A draft's last commit; `is_new` is False where an earlier try had made its branch."""

    sha: str
    is_new: bool
    whole: str = ""  # where there are several: all of them as one commit, on no branch


class PathState(NamedTuple):
    """What stands at a path; mode 000000 and no oid where nothing does."""

    mode: str
    oid: str


class Step(NamedTuple):
    """One commit: its message, the new texts, and what shall stand where after it."""

    message: str
    changes: tuple[FileChange, ...]
    wanted: dict[str, PathState]


def wanted_changes(
    changes: tuple[FileChange, ...],
    before: Base,
    content: Callable[[Node], bytes],
    named: Callable[[bytes, Node | None], str],
) -> dict[str, PathState]:
    """Return what shall stand where; raises `Refused` with the reason for what must not be made.

    `content` reads a file of the base, `named` says how git names new content that takes a file's
    place.
    """
    if len(changes) > CHANGED_FILES:
        raise Refused(f"{len(changes)} files are more than {CHANGED_FILES}")
    if len({change.path.casefold() for change in changes}) < len(changes):
        raise Refused("a file is changed twice")
    wanted = {change.path: _wanted(change, before, content, named) for change in changes}
    new = {path: state for path, state in wanted.items() if state != state_at(before, path)}
    if not new:
        raise Refused("nothing would change")
    for path in parent_folders(wanted):
        if path in wanted:
            raise Refused(f"{path[:200]!a} would be both file and folder")
    return new


def wanted_steps(
    pull: DraftPull,
    before: Base,
    content: Callable[[Node], bytes],
    named: Callable[[bytes, Node | None], str],
) -> tuple[Step, ...]:
    """Return the commits of a draft, in order; raises `Refused` as `wanted_changes`.

    Whatever way there, the last one leaves exactly what the draft's `changes` say.
    """
    whole = wanted_changes(pull.changes, before, content, named)
    if not pull.commits:
        return (Step(commit_message(pull), pull.changes, whole),)
    if len(pull.commits) > COMMITS:
        raise Refused(f"{len(pull.commits)} commits are more than {COMMITS}")
    now, own, steps = dict(before), set[str](), list[Step]()

    def read(node: Node) -> bytes:
        return b"" if node.oid in own else content(node)  # what we wrote is text

    for commit in pull.commits:
        wanted = wanted_changes(commit.changes, now, read, named)
        steps.append(Step(plain_message(commit.message or pull.title), commit.changes, wanted))
        own |= {state.oid for state in wanted.values()}
        for path, state in wanted.items():
            now.pop(path, None)
            if state.mode != GONE:
                now[path] = Node(path, state.mode, state.oid, None, path)
    came = {path for step in steps for path in step.wanted}
    ended = {path: state_at(now, path) or PathState(GONE, "") for path in came}
    news = {p: s for p, s in ended.items() if s != (state_at(before, p) or PathState(GONE, ""))}
    if news != whole:
        raise Refused("its commits do not add up to what was proposed")
    return tuple(steps)


def state_at(base: Base, path: str) -> PathState | None:
    """Return what stands at the path; None where nothing or a folder does."""
    node = base.get(path)
    return PathState(node.mode, node.oid) if node and node.mode != FOLDER else None


def check_not_moved(changes: Iterable[FileChange], then: Base, now: Base) -> None:
    """Raise `Refused` where a file changed: edits of another text may mean something else."""
    for change in changes:
        if state_at(then, change.path) != state_at(now, change.path):
            raise Refused(f"base moved: {change.path[:200]!a} changed")


def commit_message(pull: DraftPull) -> str:
    """Return the commit's message, whole characters only; the title where there is none."""
    return plain_message(pull.commit_message.strip() or pull.title)


def plain_message(text: str) -> str:
    """Return a message as git takes it."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _wanted(
    change: FileChange,
    before: Base,
    content: Callable[[Node], bytes],
    named: Callable[[bytes, Node | None], str],
) -> PathState:
    shown = f"{change.path[:200]!a}"
    if why := why_unsafe(change.path):
        raise Refused(f"{shown} {why}")
    node = before.get(change.path)
    node = None if node and node.mode == FOLDER else node
    if node is None and change.text is None:
        raise Refused(f"{shown} is not there to be deleted")
    if node is None:
        _check_room(change.path, before)
    elif node.mode not in (FILE, EXECUTABLE):
        raise Refused(f"{shown} is a {node.kind}, no plain file")
    if change.text is None:
        return PathState(GONE, "")
    text = _bytes(shown, change.text)
    if node is not None:
        _check_is_text(shown, node, content)
    return PathState(node.mode if node else FILE, named(text, node))


def _check_room(path: str, before: Base) -> None:
    """A new file must not stand on, below, or beside a name that some systems hold for the same."""
    taken = {*before, *parent_folders(before)}
    folded = {name.casefold() for name in taken}
    if path.casefold() in folded:
        raise Refused(f"{path[:200]!a} is taken already")
    for folder in parent_folders([path]):
        node = before.get(folder)
        if node and node.mode != FOLDER:
            raise Refused(f"{folder[:200]!a} is a {node.kind}, no folder")
        if folder not in taken and folder.casefold() in folded:
            raise Refused(f"{folder[:200]!a} is there in another spelling")


def _bytes(shown: str, text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"{shown}: the new text holds half a character") from error
    if "\0" in text or len(content) > FILE_BYTES:
        raise Refused(f"{shown}: the new text is binary or over {FILE_BYTES} bytes")
    return content


def _check_is_text(shown: str, node: Node, content: Callable[[Node], bytes]) -> None:
    """Readers replace bytes that are not UTF-8; writing that back would change more than asked."""
    if (node.size or 0) > FILE_BYTES:
        raise Refused(f"{shown} is over {FILE_BYTES} bytes")
    try:
        content(node).decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{shown} is not UTF-8") from error


def why_unsafe(path: str) -> str:
    """Say why `path` must not be written to a tree; empty where it may.

    Every reading of the path counts: as it is, with compatibility characters folded, and with
    percent signs decoded.

    >>> why_unsafe("app/models/order.rb")
    ''
    >>> why_unsafe("app/%2e%2e/x"), why_unsafe("a/.GIT /config"), why_unsafe("／etc/passwd")
    ('leaves the repository', 'is in the git folder', 'is absolute')
    """
    spellings = [path]
    for _ in range(3):  # "%25252e" is a dot after three rounds
        path = unicodedata.normalize("NFKC", unquote(path[: PATH_CHARACTERS + 1]))
        spellings.append(path)
    return next((why for why, is_unsafe in UNSAFE if any(map(is_unsafe, spellings))), "")


def _is_in_git_folder(path: str) -> bool:
    return any(_GIT_FOLDER.fullmatch(part.rstrip(" .").casefold()) for part in path.split("/"))


UNSAFE: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is empty or too long", lambda path: not 0 < len(path) <= PATH_CHARACTERS),
    ("holds unseen characters", lambda path: any(unicodedata.category(c) in _UNSEEN for c in path)),
    ("is absolute", lambda path: path.startswith(("/", "~")) or path[1:2] == ":"),
    ("holds a backslash or colon", lambda path: any(c in path for c in _SEPARATORS)),
    ("leaves the repository", lambda path: any(not part.strip(" .") for part in path.split("/"))),
    ("is in the git folder", _is_in_git_folder),
    ("looks like an option", lambda path: path.startswith("-")),
)
