"""Turn proposed edits into whole files: exact old text, found exactly once, or no change at all."""

from collections.abc import Callable

from nightwatch_core.models.analysis import Edit
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.models.value import Value

Read = Callable[[str], str | None]


class Applied(Value):
    """Files as they shall be; or the reason why the edits cannot be made."""

    changes: tuple[FileChange, ...] = ()
    refusal: str = ""


def apply(edits: tuple[Edit, ...], read: Read) -> Applied:
    """Make the edits on the files that `read` gives (None: no such file).

    >>> edit = Edit(path="a.py", old="x = 1", new="x = 2")
    >>> apply((edit,), {"a.py": "x = 1"}.get).changes[0].text
    'x = 2'
    >>> apply((edit,), {"a.py": "x = 1; x = 1"}.get).refusal
    'a.py: the old text stands there 2 times, not once'
    """
    texts: dict[str, str | None] = {}
    for edit in edits:
        before = texts[edit.path] if edit.path in texts else read(edit.path)
        after, refusal = _edited(edit, before)
        if refusal:
            return Applied(refusal=f"{edit.path}: {refusal}")
        texts[edit.path] = after
    changed = tuple(
        FileChange(path=path, text=text) for path, text in texts.items() if text != read(path)
    )
    return Applied(changes=changed, refusal="" if changed else "the edits change nothing")


def _edited(edit: Edit, before: str | None) -> tuple[str | None, str]:
    if edit.action == "create":
        return (edit.new, "") if before is None else (None, "there is such a file already")
    if before is None:
        return None, "there is no such file"
    if edit.action == "delete":
        return None, ""
    found = before.count(edit.old) if edit.old else 0
    if found != 1:
        return None, f"the old text stands there {found} times, not once"
    return before.replace(edit.old, edit.new), ""
