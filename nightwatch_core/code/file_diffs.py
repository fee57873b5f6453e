"""Edits as diffs, one a file: with context and line numbers where the file's text is at hand."""

import re
from collections.abc import Callable
from difflib import unified_diff

from nightwatch_core.code.edits import apply
from nightwatch_core.code.limits import DIFF_AROUND, DIFF_COMPARED
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import ChangedFile

Read = Callable[[str], str | None]
_HEAD = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def file_diffs(edits: tuple[Edit, ...], read: Read | None = None) -> tuple[ChangedFile, ...]:
    r"""Show what the edits do to each file; `read` gives a file's text, None where there is none.

    Without it, or where the edits do not apply, old and new texts are compared as they are known.

    >>> edit = Edit(path="a.py", old="x = 1", new="x = 2")
    >>> print(file_diffs((edit,), {"a.py": "import y\nx = 1\n"}.get)[0].diff)
    @@ -1,2 +1,2 @@
     import y
    -x = 1
    +x = 2
    >>> print(file_diffs((edit,))[0].diff)
    -x = 1
    +x = 2
    """
    applied = apply(edits, read) if read and edits else None
    if applied and read and not applied.refusal:
        whole = ((c.path, _lines(read(c.path)), _lines(c.text)) for c in applied.changes)
        return tuple(_changed(path, numbered_diff(old, new)) for path, old, new in whole)
    paths = dict.fromkeys(edit.path for edit in edits)
    parts = {path: [_known(edit) for edit in edits if edit.path == path] for path in paths}
    return tuple(_changed(path, "\n@@\n".join(filter(None, parts[path]))) for path in paths)


def joined_diff(files: tuple[ChangedFile, ...]) -> str:
    """Give the diffs of several files as one, each under its name.

    >>> print(joined_diff((ChangedFile(path="a.py", diff="-x"),)))
    --- a/a.py
    +++ b/a.py
    -x
    """
    return "\n".join(f"--- a/{one.path}\n+++ b/{one.path}\n{one.diff}" for one in files)


def numbered_diff(old: list[str], new: list[str]) -> str:
    """Compare two texts line by line; what they have in common at their ends is not looked at."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    first = max(0, head - DIFF_AROUND)
    before, after = (text[first : len(text) - max(0, tail - DIFF_AROUND)] for text in (old, new))
    if max(len(before), len(after)) > DIFF_COMPARED:
        return "@@ too large to be shown @@"
    rows = [*unified_diff(before, after, n=DIFF_AROUND, lineterm="")][2:]
    return "\n".join(_HEAD.sub(lambda at: _moved(at, first), row, count=1) for row in rows)


def _moved(at: re.Match[str], first: int) -> str:
    old, new = (int(at[n]) + first for n in (1, 3))
    return f"@@ -{old}{at[2] or ''} +{new}{at[4] or ''} @@"


def _known(edit: Edit) -> str:
    """Without the numbers of lines, which nobody knows."""
    rows = numbered_diff(_lines(edit.old), _lines(edit.new)).split("\n")
    return "\n".join("@@" if row.startswith("@@ -") else row for row in rows).removeprefix("@@\n")


def _changed(path: str, diff: str) -> ChangedFile:
    rows = diff.split("\n")
    added, removed = (sum(row.startswith(mark) for row in rows) for mark in "+-")
    return ChangedFile(path=path, added=added, removed=removed, diff=diff)


def _lines(text: str | None) -> list[str]:
    rows = (text or "").replace("\r\n", "\n").split("\n")
    return rows[:-1] if rows[-1] == "" else rows


def _common(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(old), len(new)))
