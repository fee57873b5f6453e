"""Turn proposed edits into whole files: exact old text, found exactly once, or no change at all."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.limits import DIFF_CONTEXT
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.models.value import Value

Read = Callable[[str], str | None]


class Applied(Value):
    """Files as they shall be; or the reason why the edits cannot be made."""

    changes: tuple[FileChange, ...] = ()
    refusal: str = ""


def apply(edits: tuple[Edit, ...], read: Read, paths: Collection[str] = ()) -> Applied:
    """Make the edits, in order, on the files that `read` gives (None: no such file, or no text).

    `paths` are all files of the tree: with them, nothing is created over a file that is not text,
    over a folder, or below a file. A file whose lines end in CRLF keeps doing so.

    >>> edit = Edit(path="a.py", old="x = 1", new="x = 2")
    >>> apply((edit,), {"a.py": "x = 1"}.get).changes[0].text
    'x = 2'
    >>> apply((edit,), {"a.py": "x = 1; x = 1"}.get).refusal
    'a.py: the old text stands there 2 times, not once'
    """
    before: dict[str, str | None] = {}
    texts: dict[str, str | None] = {}
    for edit in edits:
        if edit.path not in texts:
            texts[edit.path] = before[edit.path] = read(edit.path)
        occupied = _occupied(edit, texts, before, paths)
        after, refusal = (None, occupied) if occupied else _edited(edit, texts[edit.path])
        if refusal:
            return Applied(refusal=f"{edit.path}: {refusal}")
        texts[edit.path] = after
    changed = tuple(
        FileChange(path=path, text=text) for path, text in texts.items() if text != before[path]
    )
    return Applied(changes=changed, refusal="" if changed else "the edits change nothing")


def fix_digest(edits: tuple[Edit, ...]) -> str:
    """Name what a fix does to the code, whatever its edits are called; empty for no fix.

    New tests that come with it do not count: with another test it is still the same fix.

    >>> fix_digest((Edit(path="a.py", old="x", new="y", description="one"),))
    'f1:98a04f187683'
    >>> fix_digest(())
    ''
    """
    if not edits:
        return ""
    mending = [e for e in edits if e.action != "create" or not TEST.search(e.path)]
    edited = sorted(
        repr((e.path, e.action, e.old.split(), e.new.split())) for e in mending or edits
    )
    return f"f1:{hashlib.sha256('|'.join(edited).encode('utf-8', 'replace')).hexdigest()[:12]}"


def _occupied(
    edit: Edit, texts: dict[str, str | None], before: dict[str, str | None], paths: Collection[str]
) -> str:
    """Why a new file cannot stand there; empty where it can."""
    if edit.action != "create":
        return ""
    if before[edit.path] is None and edit.path in paths:
        return "there is such a file already, and it is not text"
    gone = {path for path, text in texts.items() if text is None and before[path] is not None}
    there = [*(path for path in paths if path not in gone), *(p for p, t in texts.items() if t)]
    if any(path.startswith(f"{edit.path}/") for path in there):
        return "there is a folder of that name"
    above = next((path for path in there if edit.path.startswith(f"{path}/")), "")
    return f"{above} is a file, not a folder" if above else ""


def _edited(edit: Edit, before: str | None) -> tuple[str | None, str]:
    if edit.action == "create":
        return (edit.new, "") if before is None else (None, "there is such a file already")
    if before is None:
        return None, "there is no such file"
    if edit.action == "delete":
        return None, ""
    if not edit.old:
        return None, "the old text is empty"
    old, new = _as_lines_end_here(edit, before)
    times = _times(old, before)
    if times != 1:
        return None, f"the old text stands there {times} times, not once"
    return before.replace(old, new, 1), ""


def _as_lines_end_here(edit: Edit, text: str) -> tuple[str, str]:
    """Old and new text with the file's line ends: readers are shown all of them as plain ones."""
    if 2 * text.count("\r\n") <= text.count("\n"):
        return edit.old, edit.new
    old, new = (_crlf(part) for part in (edit.old, edit.new))
    return (old, new) if old in text else (edit.old, new)


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _times(part: str, text: str) -> int:
    """How often `part` stands in `text`, overlapping ones too; counts no further than 99.

    >>> _times("aa", "aaa"), _times("b", "aaa")
    (2, 0)
    """
    times, at = 0, text.find(part)
    while at >= 0 and times < 99:
        times, at = times + 1, text.find(part, at + 1)
    return times


def diff(edits: tuple[Edit, ...]) -> str:
    """Give the edits as a readable diff, without line numbers: what is taken out, what is put in.

    >>> print(diff((Edit(path="a.py", old="a\\nb", new="a\\nc"),)))
    --- a.py
    +++ a.py
     a
    -b
    +c
    """
    return "\n".join(text for edit in edits for text in _diff_of(edit))


def _diff_of(edit: Edit) -> list[str]:
    old, new = edit.old.splitlines(), edit.new.splitlines()
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return [
        f"--- {'/dev/null' if edit.action == 'create' else edit.path}",
        f"+++ {'/dev/null' if edit.action == 'delete' else edit.path}",
        *(f" {text}" for text in old[max(0, head - DIFF_CONTEXT) : head]),
        *(f"-{text}" for text in old[head : len(old) - tail]),
        *(f"+{text}" for text in new[head : len(new) - tail]),
        *(f" {text}" for text in old[len(old) - tail :][:DIFF_CONTEXT]),
    ]


def _common(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(old), len(new)))


def edits_for(
    path: str, lines: Sequence[str], changed: Mapping[int, str], description: str
) -> tuple[Edit, ...]:
    r"""Make edits that put `changed` (line number to new text) into the file; none if impossible.

    Each edit takes neighbouring lines along until its old text is the only one of its kind.

    >>> [edit] = edits_for("a.py", ("x()", "a", "x()"), {3: "y()"}, "")
    >>> edit.old, edit.new
    ('a\nx()', 'a\ny()')
    """
    if not changed or not all(1 <= number <= len(lines) for number in changed):
        return ()
    whole = "\n".join(lines)
    blocks = [(number, number) for number in sorted(changed)]
    while True:
        grown = _merged([_grown(block, whole, lines) for block in blocks])
        if grown == blocks:
            break
        blocks = grown
    edits = tuple(_edit(path, lines, changed, block, description) for block in blocks)
    return edits if _apply(whole, edits) else ()


def _grown(block: tuple[int, int], whole: str, lines: Sequence[str]) -> tuple[int, int]:
    first, last = block
    text = "\n".join(lines[first - 1 : last])
    if text.strip() and whole.count(text) == 1:
        return block
    if first > 1:
        return first - 1, last
    return first, min(last + 1, len(lines))


def _merged(blocks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in blocks:
        if merged and first <= merged[-1][1]:
            merged[-1] = (min(merged[-1][0], first), max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def _edit(
    path: str,
    lines: Sequence[str],
    changed: Mapping[int, str],
    block: tuple[int, int],
    description: str,
) -> Edit:
    numbers = range(block[0], block[1] + 1)
    return Edit(
        path=path,
        old="\n".join(lines[n - 1] for n in numbers),
        new="\n".join(changed.get(n, lines[n - 1]) for n in numbers),
        description=description,
    )


def _apply(text: str, edits: tuple[Edit, ...]) -> bool:
    """Whether every edit finds its old text exactly once when its turn comes."""
    for edit in edits:
        if not edit.old or text.count(edit.old) != 1:
            return False
        text = text.replace(edit.old, edit.new)
    return True
