"""Line changes as edits: old text that stands exactly once in the file, and what replaces it."""

from collections.abc import Mapping, Sequence

from nightwatch_core.models.analysis import Edit


def edits_for(
    path: str, lines: Sequence[str], changed: Mapping[int, str], description: str
) -> tuple[Edit, ...]:
    r"""Edits that put `changed` (line number to new text) into the file; empty where impossible.

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
