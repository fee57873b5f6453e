"""Which fixes may be made at all: a fix as a whole, in the files that it leaves."""

from collections.abc import Callable, Collection, Iterable

from nightwatch_core.code import edit_policy, syntax
from nightwatch_core.code.edits import Applied
from nightwatch_core.models.answer import Edit
from nightwatch_core.privacy.key_values import holds_mask

Read = Callable[[str], str | None]


def refused(
    edits: Iterable[Edit],
    applied: Applied,
    seen: Collection[str],
    read: Read,
    paths: Collection[str] = (),
) -> str:
    """Say why a fix cannot be, or may not be, proposed; empty where it may.

    `seen` are the files that whoever made it was shown, `paths` all files of the tree.
    """
    return (
        _masked(edits)
        or applied.refusal
        or edit_policy.refused(applied.changes, read, paths)
        or _unseen(applied, seen, read)
        or _does_not_parse(applied, read)
    )


def _masked(edits: Iterable[Edit]) -> str:
    """Why an edit may not be made that repeats a mask: nobody was shown what it stands for."""
    masked = (edit for edit in edits if holds_mask(f"{edit.old}\n{edit.new}"))
    edit = next(masked, None)
    return f"its change of {edit.path} repeats a mask: nobody was shown the value" if edit else ""


def _unseen(applied: Applied, seen: Collection[str], read: Read) -> str:
    """Why a file may not be changed that the analyst never saw, tonight or for its lesson."""
    paths = (c.path for c in applied.changes if c.path not in seen)
    unseen = next((path for path in paths if read(path) is not None), "")
    return f"it changes {unseen}, which was not read" if unseen else ""


def _does_not_parse(applied: Applied, read: Read) -> str:
    complaints = (
        syntax.complaint(change.path, change.text, read(change.path))
        for change in applied.changes
        if change.text is not None
    )
    return next((why for why in complaints if why), "")
