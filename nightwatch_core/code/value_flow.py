"""Where the value that fails comes from: the failing statement, and those that set what it reads.

Read from a file's tree, in every language that has a grammar: a few kinds of nodes stand for
assignments, loops and blocks that are called with each element.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.limits import FLOW_DEPTH, FLOW_READS, FLOW_STEPS, SETS_OF_ONE
from nightwatch_core.code.statements import (
    MEMBERS,
    NAMES,
    Setting,
    nodes_in,
    root_of,
    rows_of,
    scopes_around,
    settings_in,
    statement_at,
    text_of,
)


class Step(NamedTuple):
    """A statement on the value's way; lines from 1, `end` included.

    `depth` is 0 for the failing one; `sets` is what the others set, as written.
    """

    line: int
    end: int
    depth: int = 0
    sets: str = ""


def value_flow(path: str, text: str, line: int, members: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """List the failing statement, then those that set what it reads, nearest first.

    Names are followed within the function, members of objects in the whole file; `members` are
    names of such that matter besides, because the message says them. Without a tree there is the
    failing line alone.

    >>> code = "def f(self, x):\\n    a = load(x)\\n    b = 1\\n    return a.tag\\n"
    >>> [(step.line, step.sets) for step in value_flow("a.py", code, 4)]
    [(4, ''), (2, 'a')]
    """
    root = root_of(path, text)
    node = statement_at(root, line - 1) if root else None
    if root is None or node is None:
        return (Step(line, line),)
    start, end = rows_of(node, line - 1)
    wanted = [Step(start + 1, end + 1)]
    steps = {step.line: step for step in wanted}
    settings = settings_in(path, text)
    for depth in range(1, FLOW_DEPTH + 1):
        found = [one for step in wanted for one in _setting(root, settings, step, line, depth)]
        if depth == 1:
            found += _setting_named(root, settings, wanted[0], members)
        wanted = [one for one in dict.fromkeys(found) if one.line not in steps]
        steps |= {one.line: one for one in wanted}
    nearest = sorted(steps.values(), key=lambda one: (one.depth, abs(one.line - line)))
    return tuple(nearest)[:FLOW_STEPS]


def expressions_on(path: str, text: str, step: Step) -> tuple[str, ...]:
    """List the members and subscripts that a statement reads, the longest first.

    >>> expressions_on("a.py", "x = self.port.host\\n", Step(1, 1))
    ('self.port.host', 'self.port')
    """
    root = root_of(path, text)
    members = _members(root, step) if root else ()
    return tuple(sorted(members, key=len, reverse=True))


def _setting(
    root: Node, settings: tuple[Setting, ...], step: Step, line: int, depth: int
) -> Iterator[Step]:
    """The statements that set what a step reads, those above the failing line before others."""
    scopes = scopes_around(root, step.line - 1)
    for name in _reads(root, step):
        is_member = not name.lstrip("$").isidentifier()
        others = [one for one in settings if not step.line <= one.start + 1 <= step.end]
        near = [one for one in others if name in one.names]
        if len(near) < sum(name in one.names for one in settings):
            continue  # the statement sets it
        if not is_member:
            inner = (_inside(near, scope) for scope in scopes[:-1])
            near = next(filter(None, inner), []) or _of_module(root, near)
        yield from _steps(near, line, step, depth, name)


def _setting_named(
    root: Node, settings: tuple[Setting, ...], failing: Step, names: tuple[str, ...]
) -> Iterator[Step]:
    """The statements of the failing function that set members of these names, of any object."""
    inside = _inside(settings, scopes_around(root, failing.line - 1)[0])
    for name in names:
        ends = re.compile(rf"\W{re.escape(name)}$")
        same = [one for one in inside if any(map(ends.search, one.names))]
        yield from _steps(same, failing.line, failing, 1, name)


def _steps(near: list[Setting], line: int, step: Step, depth: int, name: str) -> Iterator[Step]:
    near.sort(key=lambda one: (one.start >= line, abs(one.start + 1 - step.line)))
    for one in near[:SETS_OF_ONE]:
        yield Step(one.start + 1, one.end + 1, depth, name)


def _of_module(root: Node, near: list[Setting]) -> list[Setting]:
    """Those that are in no function."""
    return [one for one in near if len(scopes_around(root, one.start)) == 1]


def _inside(settings: Iterable[Setting], scope: tuple[int, int]) -> list[Setting]:
    return [one for one in settings if scope[0] <= one.start <= scope[1]]


def _reads(root: Node, step: Step) -> tuple[str, ...]:
    """Members and names on the rows of a statement, but for what it sets."""
    nodes = nodes_in(root, step.line - 1, step.end - 1)
    names = (text_of(node) for node in nodes if node.type in NAMES)
    reads = dict.fromkeys((*_members(root, step), *names))
    return tuple(one for one in reads if one and one != step.sets)[:FLOW_READS]


def _members(root: Node, step: Step) -> tuple[str, ...]:
    nodes = nodes_in(root, step.line - 1, step.end - 1)
    texts = dict.fromkeys(text_of(node) for node in nodes if node.type in MEMBERS)
    return tuple(one for one in texts if one and "(" not in one and "\n" not in one)
