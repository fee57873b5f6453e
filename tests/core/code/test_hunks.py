"""Differences between two texts: valid, and where a reader would say that they begin."""

import re

from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.code.diffs import numbered_diff

TEXTS = st.lists(st.sampled_from(["", "a", "  b", "def c():"]), max_size=24)
HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def patched(old: list[str], diff: str) -> list[str]:
    """Apply a diff as `patch` does; every line it takes for granted is looked at."""
    new, at = [], 0
    for row in diff.split("\n") if diff else []:
        if head := HEAD.fullmatch(row):
            first, count = int(head[1]), int(head[2] or 1)
            begins = first - 1 if count else first
            new += old[at:begins]
            at = begins
            assert int(head[3]) == len(new) + (head[4] != "0")
            continue
        if row[0] in " -":
            assert old[at] == row[1:]
            at += 1
        if row[0] in " +":
            new.append(row[1:])
    return new + old[at:]


@given(TEXTS, TEXTS)
def test_a_diff_makes_the_new_text_of_the_old(old: list[str], new: list[str]) -> None:
    assert patched(old, numbered_diff(old, new)) == new


def test_an_added_test_begins_at_its_definition() -> None:
    ends = ["", "        self.assertEqual(tags, {1})", ""]
    old = ["    def test_a(self):", "        a()", *ends, "    def test_c(self):", "        c()"]
    added = ["    def test_b(self):", "        b()", *ends]
    rows = numbered_diff(old, [*old[:5], *added, *old[5:]]).split("\n")
    assert rows[0] == "@@ -3,5 +3,10 @@"
    assert [row[1:] for row in rows if row[0] == "+"] == added


def test_a_block_slides_over_the_decorator_it_shares() -> None:
    old = ["import x", "", "@mark", "def a():", "    go()"]
    new = ["import x", "", "@mark", "def b():", "    go()", "", *old[2:]]
    rows = numbered_diff(old, new).split("\n")
    assert [row for row in rows if row[0] == "+"] == ["+@mark", "+def b():", "+    go()", "+"]
