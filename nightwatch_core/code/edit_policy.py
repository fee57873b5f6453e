"""Decides which files a fix may touch and how large it may be: ordinary files, seen in whole."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile

from nightwatch_core.models.proposals import FileChange
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.rule_files import load_rules

# Deny by default whatever runs at build time, decides about reviews, instructs agents, or is spelt
# so that two programs may read it differently. Paths are compared after NFKC and case folding. What
# builds and checks run by themselves stands at the top: a `hooks` folder below `src` is code.


class Folders(Value):
    """Names of folders, by how deep they are protected."""

    anywhere: frozenset[str]
    at_the_top: frozenset[str]
    operations: frozenset[str]
    source: frozenset[str]


class ProtectedNames(Value):
    """Shell patterns of files, and why they are protected."""

    reason: str
    patterns: tuple[str, ...]

    def match(self, path: str) -> bool:
        """Compare a pattern without a slash with the file's name, one with a slash with the end."""
        name = path.rsplit("/", 1)[-1]
        return any(
            fnmatchcase(f"/{path}", f"*/{pattern}")
            if "/" in pattern
            else fnmatchcase(name, pattern)
            for pattern in self.patterns
        )


class ProtectedPaths(Value):
    """`rules/protected_paths.toml`."""

    folders: Folders
    endings: dict[str, tuple[str, ...]]
    names: dict[str, tuple[str, ...]]
    files: tuple[ProtectedNames, ...]


PATHS = load_rules("protected_paths", ProtectedPaths)
_DEVICES = frozenset(PATHS.names["devices"])
_LOOK_ALIKE = re.compile("[\u0370-\u058f\u13a0-\u13ff]")  # Greek, Cyrillic, Armenian, Cherokee
_TROUBLESOME = '\\%:*?"<>|~`\u2044\u2215\u29f5\u29f8'  # the last look like slashes


def _malformed(path: str) -> bool:
    return (
        not path
        or len(path) > 400
        or any(len(part.encode("utf-8", "replace")) > 255 for part in path.split("/"))
        or any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn") for c in path)
        or any(c in path for c in _TROUBLESOME)
        or path.startswith(("-", "$"))
        or "$(" in path
        or "${" in path
        or path != path.strip()
    )


def _dotted(path: str) -> bool:
    # `..name` is no tool's name
    is_hidden = re.search(r"(?:^|/)\.(?!\.)", path)
    return bool(is_hidden or re.search(r"[. ](?:/|$)", path))


def _in_protected_folder(path: str) -> bool:
    folders = path.split("/")[:-1]
    at_the_top = folders[:1] if folders[:1] != ["packages"] else folders[2:3]
    protected = PATHS.folders.at_the_top | PATHS.folders.operations
    return not PATHS.folders.anywhere.isdisjoint(folders) or not protected.isdisjoint(at_the_top)


def _operates(path: str) -> bool:
    *folders, name = path.split("/")
    outer = takewhile(lambda part: part not in PATHS.folders.source, folders)
    operates = any(part in PATHS.folders.operations for part in outer)
    return operates and not name.endswith(PATHS.endings["ordinary"])


def _looks_alike(path: str) -> bool:
    stems = (part.rpartition(".")[0] or part for part in path.split("/"))
    return any(re.search(r"[a-z]", stem, re.I) and _LOOK_ALIKE.search(stem) for stem in stems)


RULES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is not a plain path", _malformed),
    ("mixes letters that look alike", _looks_alike),
    ("leaves the repository", lambda path: any(not p.strip(" .") for p in path.split("/"))),
    ("is spelt ambiguously", lambda p: unicodedata.normalize("NFKC", p) != p or clean(p) != p),
    ("is in a dot folder or a dot file", _dotted),
    (
        "is the name of a device",
        lambda path: any(part.split(".")[0].strip() in _DEVICES for part in path.split("/")),
    ),
    *((rule.reason, rule.match) for rule in PATHS.files if rule.reason != "is binary"),
    ("is in a protected folder", _in_protected_folder),
    ("is in a folder for CI or deployment", _operates),
    *((rule.reason, rule.match) for rule in PATHS.files if rule.reason == "is binary"),
)


def refusal(path: str, paths: Collection[str] = ()) -> str:
    """Return the reason a path is protected; empty where it is not.

    `paths` are the files of the tree: they tell a Python package from a folder of scripts.
    """
    folded = unicodedata.normalize("NFKC", path).casefold()
    is_in_package = path.endswith(".py") and f"{path.rpartition('/')[0]}/__init__.py" in paths
    for reason, broken in RULES:
        is_excused = broken is _operates and is_in_package
        if not is_excused and (broken(path) or broken(folded)):
            return f"{ascii(path[:200])[1:-1]} {reason}"
    return ""


MAX_FILES = 5
MAX_LINES = 400
MAX_BYTES = 256 * 1024
_COMPARED = 2_000  # lines that are compared one by one; of more, the whole stretch counts
_PLAIN = ("\N{ZERO WIDTH JOINER}", "\N{VARIATION SELECTOR-16}")  # in emoji


def refused(
    changes: tuple[FileChange, ...],
    before: Callable[[str], str | None],
    paths: Collection[str] = (),
) -> str:
    """Say why changes may not be proposed, empty where they may; `paths` are the tree's files."""
    for change in changes:
        old = before(change.path)
        why = refusal(change.path, paths) or hidden_in(change, old or "")
        if why:
            return why
    return too_large(changes, before)


def too_large(changes: tuple[FileChange, ...], before: Callable[[str], str | None]) -> str:
    """Say why a set of changes is more than a person reviews gladly; empty where it is not."""
    sizes = [_size(before(change.path), change.text) for change in changes]
    lines, size = sum(lines for lines, _ in sizes), sum(size for _, size in sizes)
    limits = (
        (len(changes) > MAX_FILES, f"{len(changes)} files, at most {MAX_FILES}"),
        (lines > MAX_LINES, f"{lines} changed lines, at most {MAX_LINES}"),
        (size > MAX_BYTES, f"{size} new bytes, at most {MAX_BYTES}"),
    )
    return next((f"the change is too large: {why}" for over, why in limits if over), "")


def hidden_in(change: FileChange, before: str) -> str:
    """Say why a reviewer would not see all of the change; empty where they would."""
    new = _hidden(change.text or "") - _hidden(before)
    if not new:
        return ""
    which = ", ".join(f"U+{ord(c):04X}" for c in sorted(new)[:5])
    return f"the change to {change.path} adds invisible characters: {which}"


def _hidden(text: str) -> set[str]:
    kept = text.replace("\r\n", "\n")
    return {c for c in set(kept) if c not in _PLAIN and clean(f"a{c}b") != f"a{c}b"}


def _size(before: str | None, after: str | None) -> tuple[int, int]:
    old, new = differing_lines(before or "", after or "")
    if max(len(old), len(new)) > _COMPARED:
        return max(len(old), len(new)), _bytes(new)
    compared = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [(a, b, c, d) for tag, a, b, c, d in compared if tag != "equal"]
    lines = sum(max(b - a, d - c) for a, b, c, d in changed)
    return lines, sum(_bytes(new[c:d]) for _, _, c, d in changed)


def differing_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines of both texts without those that they begin and end with alike."""
    old, new = before.split("\n"), after.split("\n")
    head = common_lines(old, new)
    tail = common_lines(old[head:][::-1], new[head:][::-1])
    return old[head : len(old) - tail], new[head : len(new) - tail]


def _bytes(lines: list[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def common_lines(old: Sequence[str], new: Sequence[str]) -> int:
    """Count the lines that both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
