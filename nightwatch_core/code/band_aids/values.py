"""A band-aid: its kind, where it stands, and both versions of the file it was told by."""

import difflib
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from tree_sitter import Node

from nightwatch_core.code.grammars import ending_of, parsed
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.limits import COMPARED_LINES, NAMED_LINE
from nightwatch_core.code.statements import nodes_in
from nightwatch_core.models.value import Value

Kind = Literal[
    "guard_only",
    "swallowed_exception",
    "widened_exception",
    "masking_default",
    "timeout_inflation",
    "retry_inflation",
    "lowered_log_level",
    "silenced_report",
    "widened_ignore",
    "weakened_test",
    "skipped_test",
    "deleted_test",
    "weakened_validation",
    "commented_out",
    "cast",
    "ignored_warning",
]
# What no fix needs: it is neither run nor drafted, whatever the setting.
NEVER: frozenset[Kind] = frozenset(("weakened_test", "skipped_test", "deleted_test"))


class BandAid(Value):
    """What a change does instead of mending the cause; `line` counts from 1, in the new file."""

    kind: Kind
    path: str
    line: int
    code: str = ""


class Pair(NamedTuple):
    """A line that took the place of another: stripped texts, and the new one's row from 0."""

    old: str
    new: str
    row: int


class Change:
    """Both versions of one file, and the lines in which they differ."""

    def __init__(self, path: str, before: str, after: str) -> None:
        """Compare the lines without their indentation: what is only wrapped stays the same."""
        self.path, self.ending = path, ending_of(path)
        self.before, self.after = before, after
        self.old = [line[:NAMED_LINE].strip() for line in before.split("\n")]
        self.new = [line[:NAMED_LINE].strip() for line in after.split("\n")]
        too_long = max(len(self.old), len(self.new)) > COMPARED_LINES
        compared = difflib.SequenceMatcher(None, self.old, self.new, autojunk=too_long)
        self._blocks = [one for one in compared.get_opcodes() if one[0] != "equal"]

    @property
    def is_test(self) -> bool:
        """Whether the file holds tests."""
        return bool(TEST.search(self.path))

    @cached_property
    def added(self) -> dict[int, str]:
        """New lines by row, without empty ones."""
        rows = (row for *_, c, d in self._blocks for row in range(c, d))
        return {row: self.new[row] for row in rows if self.new[row]}

    @cached_property
    def removed(self) -> dict[int, str]:
        """Lines that are gone, by their old row, without empty ones."""
        rows = (row for _, a, b, *_ in self._blocks for row in range(a, b))
        return {row: self.old[row] for row in rows if self.old[row]}

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Lines that were changed: in a block of as many old as new ones, or by likeness."""
        return tuple(pair for block in self._blocks for pair in self._paired(*block[1:]))

    def _paired(self, a: int, b: int, c: int, d: int) -> Iterator[Pair]:
        old = [line for line in self.old[a:b] if line]
        rows = [row for row in range(c, d) if self.new[row]]
        if len(old) == len(rows):
            yield from (Pair(one, self.new[row], row) for one, row in zip(old, rows, strict=True))
            return
        if len(old) == 1 and len(rows) == 2:
            first, second = rows
            yield Pair(old[0], in_one(self.new[first], self.new[second]), second)
        for one in old:
            texts = [self.new[row] for row in rows]
            near = difflib.get_close_matches(one, texts, n=1, cutoff=0.5)
            if near:
                row = rows.pop(texts.index(near[0]))
                yield Pair(one, near[0], row)

    @cached_property
    def old_nodes(self) -> tuple[Node, ...]:
        """The nodes of the old version's tree; none where no grammar reads it."""
        return self._nodes(self.before)

    @cached_property
    def new_nodes(self) -> tuple[Node, ...]:
        """The nodes of the new version's tree."""
        return self._nodes(self.after)

    def _nodes(self, text: str) -> tuple[Node, ...]:
        root = parsed(self.path, text)
        return tuple(nodes_in(root)) if root is not None else ()

    def is_new(self, node: Node) -> bool:
        """Whether the line on which a node of the new tree begins is an added one."""
        return node.start_point[0] in self.added

    def band_aid(self, kind: Kind, row: int) -> BandAid:
        """Name what stands at a row of the new version."""
        code = self.new[row] if row < len(self.new) else ""
        return BandAid(kind=kind, path=self.path, line=row + 1, code=code[:200])


def in_one(first: str, second: str) -> str:
    """Put what a line gives a name in that name's places in the next one.

    >>> in_one("entry = RATES.get(country)", "return entry.value if entry else 0")
    'return RATES.get(country).value if RATES.get(country) else 0'
    """
    match = re.match(r"(?:(?:const|let|var|final)\s+)?(\$?\w+)\s*:?=\s*([^=].*?);?$", first)
    if not match:
        return second
    return re.sub(rf"(?<![\w.$]){re.escape(match[1])}\b", lambda _: match[2], second)
