"""What can be named where a test of the project stands: its locals, its members, its imports."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from nightwatch_core.ports import CodeReader
from nightwatch_core.proof.search_suites import Scene, Suite, class_and_bases, imported_names

_KEYWORDS = 3  # values of one name


class Term(NamedTuple):
    """An expression, and the imports it needs."""

    text: str
    imports: tuple[str, ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """What can be named where a scene stands."""

    scene: Scene
    locals: dict[str, str]  # with what they are made of
    members: dict[str, str]  # of self, likewise
    imported: dict[str, str]  # by what they stand for
    terms: tuple[ast.Call, ...]  # calls that the tests make
    keywords: dict[str, tuple[str, ...]]  # texts and numbers that tests give by that name
    tree: CodeReader
    root: str


def surroundings(
    suite: Suite,
    scene: Scene,
    keywords: dict[str, tuple[str, ...]],
    tree: CodeReader,
    root: str,
) -> Surroundings:
    """Look around in a test."""
    classes = class_and_bases(suite, scene.owner, tree, root) if scene.owner else ()
    members: dict[str, str] = {}
    for node, _ in classes:
        for one in ast.walk(node):
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Attribute):
                members.setdefault(ast.unparse(one.targets[0]), ast.unparse(one.value))
    for node, _ in classes:
        for one in node.body:
            if isinstance(one, ast.FunctionDef) and not one.name.startswith(("_", "test")):
                least = len(one.args.args) - len(one.args.defaults)
                if least == 1:
                    members.setdefault(f"self.{one.name}()", one.name)
    names = {one.arg: one.arg for one in scene.node.args.args if one.arg != "self"}
    for part in scene.body:
        for one in _walked(part):
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
                names[one.targets[0].id] = ast.unparse(one.value)
    modules = dict.fromkeys((suite.module, *(module for _, module in classes)))
    calls = [one for module in modules for one in ast.walk(module) if isinstance(one, ast.Call)]
    return Surroundings(
        scene,
        names,
        members,
        {whole: name for name, whole in imported_names(suite.module).items()},
        tuple(calls),
        keywords,
        tree,
        root,
    )


def _walked(text: str) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(f"def _():\n{text}"))


def keywords_of(modules: Iterable[ast.Module]) -> dict[str, tuple[str, ...]]:
    """What tests give by which name: texts and numbers, as they are written."""
    given: dict[str, tuple[str, ...]] = {}
    for module in modules:
        for call in (one for one in ast.walk(module) if isinstance(one, ast.Call)):
            for one in call.keywords:
                if one.arg and isinstance(one.value, ast.Constant):
                    values = (*given.get(one.arg, ()), ast.unparse(one.value))
                    given[one.arg] = tuple(dict.fromkeys(values))[:_KEYWORDS]
    return given


def imported(whole: str, around: Surroundings) -> Term:
    """A name of a module, imported as the file does it, or newly."""
    if whole in around.imported:
        return Term(around.imported[whole])
    module, _, name = whole.rpartition(".")
    if module in around.imported:
        return Term(f"{around.imported[module]}.{name}")
    return Term(name, (f"from {module} import {name}",))
