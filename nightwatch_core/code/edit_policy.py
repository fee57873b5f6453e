"""Which changes may be proposed: of ordinary files, seen whole by a reviewer, and not too large."""

import difflib
from collections.abc import Callable, Collection

from nightwatch_core.code.protected_paths import refusal
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.text.escaping import clean

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
    """Say why a set of changes may not be proposed; empty where it may.

    `paths` are the files of the tree.
    """
    for change in changes:
        old = before(change.path)
        why = refusal(change.path, paths, is_new=old is None) or hidden_in(change, old or "")
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
    return f"the change to {change.path} adds characters that nobody sees: {which}"


def _hidden(text: str) -> set[str]:
    kept = text.replace("\r\n", "\n")
    return {c for c in set(kept) if c not in _PLAIN and clean(f"a{c}b") != f"a{c}b"}


def _size(before: str | None, after: str | None) -> tuple[int, int]:
    """Changed lines, and bytes that are new."""
    old, new = differing_lines(before or "", after or "")
    if max(len(old), len(new)) > _COMPARED:
        return max(len(old), len(new)), _bytes(new)
    compared = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [(a, b, c, d) for tag, a, b, c, d in compared if tag != "equal"]
    lines = sum(max(b - a, d - c) for a, b, c, d in changed)
    return lines, sum(_bytes(new[c:d]) for _, _, c, d in changed)


def differing_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines of both texts without those that they begin and end with alike.

    >>> differing_lines("a\\nb\\nc", "a\\nx\\ny\\nc")
    (['b'], ['x', 'y'])
    """
    old, new = before.split("\n"), after.split("\n")
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return old[head : len(old) - tail], new[head : len(new) - tail]


def _bytes(lines: list[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _common(old: list[str], new: list[str]) -> int:
    same = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        same += 1
    return same
