"""Which tests execute the lines that a fix changes, and whether a runner tells the truth.

A suite that stays green says nothing about lines that it never runs. And code under test could
replace what judges it: beside the tests runs a canary, tests of our own that have to fail.
"""

import ast
import re
from difflib import SequenceMatcher
from typing import NamedTuple

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.proposals import FileChange
from nightwatch_core.proof.crash import written_rows
from nightwatch_core.proof.kits import Read, Reading, Runner, kits
from nightwatch_core.text.plain_text import text_lines


def printed_and_executing(output: str, mark: str) -> tuple[str, frozenset[str]]:
    """Part what a run printed from the names of the tests that ran watched lines.

    An empty name stands for lines that ran and are told apart by no test: as a module is loaded,
    or all of them where a language's recorder does not know which test runs.
    """
    printed, rows = written_rows(output, mark)
    return printed, frozenset(str(row.get("test") or "")[:300] for row in rows if "ran" in row)


def counted_lines(changes: tuple[FileChange, ...], before: Read) -> dict[str, frozenset[int]]:
    """Number the lines of the application whose execution shows that a test is about a change."""
    code = (item for item in changes if item.text and not TEST.search(item.path))
    lines = {
        item.path: _counted(item, changed_lines(before(item.path) or "", item.text or ""))
        for item in code
    }
    return {path: numbers for path, numbers in lines.items() if numbers}


def changed_lines(before: str, after: str) -> tuple[int, ...]:
    """Number the lines of `after` that are new; where lines are gone, those around the gap.

    >>> changed_lines("a\\nb\\nc\\n", "a\\nB\\nc\\n"), changed_lines("a\\nb\\nc\\n", "a\\nc\\n")
    ((2,), (1, 2))
    """
    old, new = text_lines(before), text_lines(after)
    changed: set[int] = set()
    for tag, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "delete":
            changed |= {start, start + 1}
        elif tag != "equal":
            changed |= set(range(start + 1, end + 1))
    return tuple(sorted(item for item in changed if 0 < item <= len(new)))


def _counted(change: FileChange, lines: tuple[int, ...]) -> frozenset[int]:
    """Give the lines whose execution counts: of Python, all of a statement that was changed.

    The head of a function runs when its module is loaded: of it, the body counts.
    """
    counted, heads = set(lines), set[int]()
    try:
        tree = ast.parse(change.text or "" if change.path.endswith(".py") else "")
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(counted)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or isinstance(node, ast.ClassDef):
            continue
        last, body = node.end_lineno or node.lineno, getattr(node, "body", None)
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        first = min(
            node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ())), last
        )
        head = set(range(first, body[0].lineno if body else last + 1))
        heads |= head if is_function else set()
        if head & set(lines):
            counted |= set(range(body[0].lineno, last + 1)) if is_function and body else head
    return frozenset(counted - heads)


class Canary(NamedTuple):
    """A file of tests in the form of a runner, of which some must fail and one must pass."""

    change: FileChange
    mark: str  # in the names of all its tests
    failing: int

    def is_told(self, failed: frozenset[str]) -> bool:
        """Tell whether every test that must fail is among the failed ones."""
        return sum(self.mark in name for name in failed) >= self.failing

    def left_out(self, reading: Reading) -> Reading:
        """Return a run that told of it as if it had not been there."""
        failed = frozenset(name for name in reading.failed if self.mark not in name)
        ran = None if reading.ran is None else max(0, reading.ran - self.failing - 1)
        code = reading.run.code if failed or reading.run.code != 1 else 0
        return Reading(failed, ran, reading.run.model_copy(update={"code": code}))


def canary_for(runner: Runner, nearest: str, root: str, mark: str, read: Read) -> Canary | None:
    """Lay a canary beside the nearest file of tests; None where the runner has none."""
    if not runner.canary or not nearest:
        return None
    folder = nearest.rpartition("/")[0]
    script, path = (item.replace("{mark}", mark) for item in runner.canary)
    package = re.search(r"(?m)^package (\w+)", read(root + nearest) or "package main")
    text = kits().scripts[script].replace("{mark}", mark)
    text = text.replace("{package}", package[1] if package else "main")
    change = FileChange(path=f"{root}{folder}/{path}" if folder else f"{root}{path}", text=text)
    return Canary(change, mark, text.count("must_fail"))
