"""The files of one commit, and the paths that may stand in a tree we write."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple
from urllib.parse import unquote

from nightwatch_core.adapters.git.command import Git

LONGEST_PATH = 1_000  # characters
FILE, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"
KINDS = {FILE: "file", EXECUTABLE: "file", "100664": "file", LINK: "link", SUBMODULE: "submodule"}
_MISLEADING = re.compile(r"[\x00-\x1f\x7f-\x9f]|(?:^|/)(?:\.{0,2}|\.git)(?:/|\Z)", re.IGNORECASE)
_GIT_FOLDER = re.compile(r"\.git|git~\d+")
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")  # categories of characters nobody sees


class Node(NamedTuple):
    """One name in a commit; `raw` is its path as the system spells it, which may not be UTF-8."""

    path: str
    mode: str
    oid: str
    size: int | None
    raw: str

    @property
    def kind(self) -> str:
        """One of file, link, submodule."""
        return KINDS.get(self.mode, "file")


def tree(git: Git, sha: str) -> dict[str, Node]:
    """Everything in the tree of commit `sha`, by path, in git's order.

    Names that lead out of the tree or hold control characters are left out: they are in no honest
    repository. Raises `GiveUp` where there is no such commit or the tree is absurdly large.
    """
    listing = git.run("ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", sha)
    nodes: dict[str, Node] = {}
    for record in listing.split(b"\0"):
        if not record:
            continue
        about, name = record.split(b"\t", 1)
        mode, _, oid, size = about.decode().split()
        path = name.decode(errors="replace")
        node = Node(path, mode, oid, int(size) if size.isdigit() else None, os.fsdecode(name))
        if not _MISLEADING.search(path):
            nodes.setdefault(path, node)
    return nodes


def _is_too_long(path: str) -> bool:
    return not path or len(path) > LONGEST_PATH


def _holds_unseen_characters(path: str) -> bool:
    return any(unicodedata.category(character) in _UNSEEN for character in path)


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or path[1:2] == ":"


def _holds_foreign_separators(path: str) -> bool:
    return "\\" in path or ":" in path


def _leaves_the_tree(path: str) -> bool:
    return any(part.strip(" .") == "" for part in path.split("/"))


def _is_in_git_folder(path: str) -> bool:
    return any(_GIT_FOLDER.fullmatch(part.rstrip(" .").casefold()) for part in path.split("/"))


def _looks_like_an_option(path: str) -> bool:
    return path.startswith("-")


UNSAFE: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is empty or too long", _is_too_long),
    ("holds unseen characters", _holds_unseen_characters),
    ("is absolute", _is_absolute),
    ("holds a backslash or colon", _holds_foreign_separators),
    ("leaves the repository", _leaves_the_tree),
    ("is in the git folder", _is_in_git_folder),
    ("looks like an option", _looks_like_an_option),
)


def why_unsafe(path: str) -> str:
    """Why `path` must not be written to a tree; empty where it may.

    Every reading of the path counts: as it is, with compatibility characters folded, and with
    percent signs decoded.

    >>> why_unsafe("app/models/order.rb")
    ''
    >>> why_unsafe("app/%2e%2e/x"), why_unsafe("a/.GIT /config"), why_unsafe("／etc/passwd")
    ('leaves the repository', 'is in the git folder', 'is absolute')
    """
    spellings = _spellings(path)
    return next((why for why, unsafe in UNSAFE if any(map(unsafe, spellings))), "")


def _spellings(path: str) -> tuple[str, ...]:
    spellings = [path]
    for _ in range(3):  # "%25252e" is a dot after three rounds
        path = unicodedata.normalize("NFKC", unquote(path[: LONGEST_PATH + 1]))
        spellings.append(path)
    return tuple(dict.fromkeys(spellings))


def folders(paths: Iterable[str]) -> set[str]:
    """Every folder above the paths.

    >>> sorted(folders(["a/b/c.rb", "d"]))
    ['a', 'a/b']
    """
    found: set[str] = set()
    for path in paths:
        while "/" in path:
            path = path.rsplit("/", 1)[0]
            if path in found:
                break
            found.add(path)
    return found
