"""Edits as diffs, one a file: with context and line numbers where the file's text is at hand."""

from collections.abc import Callable

from nightwatch_core.code.edits import apply
from nightwatch_core.code.hunks import numbered_diff
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import ChangedFile

Read = Callable[[str], str | None]


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
