"""Tests of the project with one value changed."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from nightwatch_core.proof.search_suites import Scene
from nightwatch_core.proof.search_values import spliced


class Candidate(NamedTuple):
    """Statements that may raise what production raised, in the place of a test's own."""

    body: tuple[str, ...]
    imports: tuple[str, ...] = ()


def mutations(
    scene: Scene, constants: dict[str, str], values: tuple[str | int, ...]
) -> Iterator[Candidate]:
    """Change one value of a test at a time, beginning with its last statement.

    `constants` are the texts that the file names, `values` those of production's message.
    """
    for at in reversed(range(len(scene.body))):
        for changed in _changed(scene.body[at], constants, values):
            yield Candidate((*scene.body[:at], changed, *scene.body[at + 1 :]))


def _changed(
    statement: str, constants: dict[str, str], values: tuple[str | int, ...]
) -> Iterator[str]:
    """Give a statement with one value changed, for every value and change.

    >>> list(_changed("    pay(card, None)", {}, ()))
    ['    pay(None, None)', '    pay(card)']
    """
    prefix = "def _():\n"
    try:
        module = ast.parse(prefix + statement)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node, instead in _sites(module, constants, values):
        changed = _replaced(prefix + statement, node, instead)
        yield changed.removeprefix(prefix)


def _replaced(text: str, node: ast.expr, instead: str) -> str:
    """Put other code in the place of a node; columns count bytes."""
    lines = text.encode("utf-8").split(b"\n")
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
    before = b"\n".join((*lines[: node.lineno - 1], lines[node.lineno - 1][: node.col_offset]))
    after = b"\n".join((lines[end_line - 1][end:], *lines[end_line:]))
    return before.decode() + instead + after.decode()


def _sites(
    module: ast.Module, constants: dict[str, str], values: tuple[str | int, ...]
) -> Iterator[tuple[ast.expr, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and node.value is not None:
            yield from ((node, one) for one in _instead_of(node.value, values))
        elif isinstance(node, ast.Name) and node.id in constants:
            parts = spliced(constants[node.id], values)
            yield from ((node, f"{node.id}.replace({a!r}, {b!r})") for a, b in parts)
        elif isinstance(node, ast.Dict):
            yield from ((node, one) for one in _smaller(node))
        elif isinstance(node, ast.List) and node.elts:
            yield node, "[]"
        elif isinstance(node, ast.Call):
            yield from _fewer_arguments(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            yield node.value, "None"


def _instead_of(value: object, values: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(value, str):
        whole = (repr(one) for one in values if isinstance(one, str))
        yield from (repr(value.replace(a, b, 1)) for a, b in spliced(value, values))
        yield from whole
        yield from ("''", "None") if value else ("None",)
    elif isinstance(value, bytes):
        texts = spliced(value.decode("latin-1"), values)
        yield from (repr(value.replace(a.encode(), b.encode(), 1)) for a, b in texts if a.isascii())
        yield "b''"
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from (repr(one) for one in values if isinstance(one, int) and one != value)
        yield from (one for one in ("0", "-1") if one != repr(value))


def _smaller(node: ast.Dict) -> Iterator[str]:
    """A dictionary without one of its keys, then with one of them None."""
    pairs = list(zip(node.keys, node.values, strict=True))
    for at in range(len(pairs)):
        left = pairs[:at] + pairs[at + 1 :]
        keys, given = [key for key, _ in left], [value for _, value in left]
        yield ast.unparse(ast.Dict(keys=keys, values=given))
    for at, (key, _) in enumerate(pairs):
        none = [(key, ast.Constant(None))]
        changed = pairs[:at] + none + pairs[at + 1 :]
        keys, given = [one for one, _ in changed], [value for _, value in changed]
        yield ast.unparse(ast.Dict(keys=keys, values=given))


def _fewer_arguments(node: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    """Names in the place of arguments None, then a call without one of its arguments."""
    for argument in (*node.args, *(one.value for one in node.keywords)):
        if isinstance(argument, ast.Name | ast.Attribute | ast.Call):
            yield argument, "None"
    if node.args and not node.keywords:
        yield node, ast.unparse(ast.Call(func=node.func, args=node.args[:-1], keywords=[]))
    for at in range(len(node.keywords)):
        keywords = node.keywords[:at] + node.keywords[at + 1 :]
        yield node, ast.unparse(ast.Call(func=node.func, args=node.args, keywords=keywords))
