"""Two texts compared line by line; what was added begins where a reader would say it begins.

Where lines repeat, several places are equally right: a block slides to where a definition begins.
"""

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from nightwatch_core.code.limits import DIFF_AROUND, DIFF_COMPARED

Opcode = tuple[str, int, int, int, int]  # as difflib has them: what, and from where to where


def numbered_diff(old: list[str], new: list[str]) -> str:
    """Show what differs with the lines around it; what the ends have in common is not compared.

    >>> old = ["def a():", "  go()", "", "def b():", "  go()"]
    >>> new = [*old[:3], "def c():", "  go()", "", *old[3:]]
    >>> [row for row in numbered_diff(old, new).split("\\n") if row[0] == "+"]
    ['+def c():', '+  go()', '+']
    """
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    if max(len(old), len(new)) - head - tail > DIFF_COMPARED:
        return "@@ too large to be shown @@"
    changed = _Slid(head, tail, old, new)
    hunks = changed.get_grouped_opcodes(DIFF_AROUND)
    return "\n".join(row for hunk in hunks for row in _rows(hunk, old, new))


class _Slid(SequenceMatcher[str]):
    """Compares the middle of two texts; its opcodes are of the whole texts."""

    def __init__(self, head: int, tail: int, old: list[str], new: list[str]) -> None:
        super().__init__(None, old[head : len(old) - tail], new[head : len(new) - tail])
        self._head, self._tail, self._old, self._new = head, tail, old, new

    def get_opcodes(self) -> list[Opcode]:  # type: ignore[override]
        """List them, blocks that were only added or removed slid to their best places."""
        head, old, new = self._head, len(self._old), len(self._new)
        codes: list[Opcode] = [("equal", 0, head, 0, head)]
        for what, *places in super().get_opcodes():
            i1, i2, j1, j2 = (place + head for place in places)
            codes.append((what, i1, i2, j1, j2))
        codes.append(("equal", old - self._tail, old, new - self._tail, new))
        codes = _joined(codes)
        for at in range(1, len(codes) - 1):
            codes[at - 1 : at + 2] = self._slid(codes[at - 1], codes[at], codes[at + 1])
        return [code for code in codes if code[1] < code[2] or code[3] < code[4]]

    def _slid(self, before: Opcode, block: Opcode, after: Opcode) -> list[Opcode]:
        what, i1, i2, j1, j2 = block
        if what not in ("insert", "delete") or {before[0], after[0]} != {"equal"}:
            return [before, block, after]
        text, first, last = (self._new, j1, j2) if what == "insert" else (self._old, i1, i2)
        by = _way(text, first, last, before[2] - before[1], after[2] - after[1])
        return [
            ("equal", before[1], before[2] + by, before[3], before[4] + by),
            (what, i1 + by, i2 + by, j1 + by, j2 + by),
            ("equal", after[1] + by, after[2], after[3] + by, after[4]),
        ]


def _joined(codes: list[Opcode]) -> list[Opcode]:
    """Make one of equal stretches that touch."""
    joined = codes[:1]
    for code in codes[1:]:
        if joined[-1][0] == code[0] == "equal":
            joined[-1] = ("equal", joined[-1][1], code[2], joined[-1][3], code[4])
        else:
            joined.append(code)
    return joined


def _way(text: list[str], first: int, last: int, above: int, below: int) -> int:
    """How many lines a block moves: to after a blank line, then to the least indented line."""
    up = next((n for n in range(above) if text[first - 1 - n] != text[last - 1 - n]), above)
    down = next((n for n in range(below) if text[first + n] != text[last + n]), below)

    def fit(by: int) -> tuple[bool, bool, int, int]:
        begins, at = text[first + by], first + by
        after_blank = at == 0 or not text[at - 1].strip()
        indent = len(begins) - len(begins.lstrip())
        return bool(begins.strip()) and after_blank, bool(begins.strip()), -indent, -abs(by)

    return max(range(-up, down + 1), key=fit)


def _rows(hunk: Iterable[Opcode], old: list[str], new: list[str]) -> Iterator[str]:
    codes = tuple(hunk)
    (_, i1, _, j1, _), (_, _, i2, _, j2) = codes[0], codes[-1]
    yield f"@@ -{_span(i1, i2)} +{_span(j1, j2)} @@"
    for what, a1, a2, b1, b2 in codes:
        if what == "equal":
            yield from (f" {row}" for row in old[a1:a2])
        else:
            yield from (f"-{row}" for row in old[a1:a2])
            yield from (f"+{row}" for row in new[b1:b2])


def _span(first: int, last: int) -> str:
    """Lines as a hunk's head has them: where they begin, and how many unless one."""
    count = last - first
    begins = first + 1 if count else first
    return f"{begins}" if count == 1 else f"{begins},{count}"


def _common(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(old), len(new)))
