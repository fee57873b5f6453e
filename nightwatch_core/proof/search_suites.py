"""The project's own tests as places to stand in: what they arrange, and what they do."""

import ast
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.tested_by import files_testing
from nightwatch_core.ports import CodeReader
from nightwatch_core.proof.search_goal import Entry, parsed_text

_SUITES = 6  # files of tests that are looked into
_VALUED = 40  # files of tests whose values are used
_BASES = 6  # classes that a test is made of
_MENTIONING = 400  # that are searched for the function's name
_TEST_NAME = re.compile(r"test")
_ASSERTED = re.compile(r"(assert|fail)[A-Z_]\w*$|subTest$")


class Scene(NamedTuple):
    """A test of the project: `body` is what it does, without what it asserts, as it is written."""

    owner: str  # its class; empty: a function
    name: str
    node: ast.FunctionDef
    body: tuple[str, ...]  # statements, indented as in the file
    indent: str

    @property
    def about(self) -> str:
        """What a test is given before it begins: scenes of one class that say the same are one."""
        given = (ast.unparse(one) for one in (*self.node.decorator_list, self.node.args))
        return "\n".join(given)


class Suite(NamedTuple):
    """A file of tests."""

    path: str
    text: str
    module: ast.Module
    scenes: tuple[Scene, ...]


def nearest_suites(entries: tuple[Entry, ...], tree: CodeReader, root: str) -> tuple[Suite, ...]:
    """Read the tests nearest to these functions: by their files' names, then by what they name."""
    paths = tuple(path for path in tree.paths() if path.startswith(root) and path.endswith(".py"))
    near = [one for entry in entries for one in files_testing(entry.place.path, paths)]
    near += [one for entry in entries for one in _mentioning(entry, tree, paths)]
    suites = []
    for path in dict.fromkeys(near):
        text = tree.read_file(path)
        module = parsed_text(text)
        if module is None or text is None or "\r" in text:
            continue
        scenes = tuple(_scenes(module, text))
        if scenes:
            suites.append(Suite(path, text, module, scenes))
        if len(suites) == _SUITES:
            break
    return tuple(suites)


def all_tests(tree: CodeReader, root: str) -> Iterator[ast.Module]:
    """The project's files of tests, as far as values are taken from them."""
    paths = (path for path in tree.paths() if path.startswith(root) and path.endswith(".py"))
    for path in islice(filter(TEST.search, paths), _VALUED):
        if module := parsed_text(tree.read_file(path)):
            yield module


def _mentioning(entry: Entry, tree: CodeReader, paths: tuple[str, ...]) -> Iterator[str]:
    """Files of tests that name the function, then those that name its module."""
    module = entry.place.path.rpartition("/")[2].removesuffix(".py")
    tests = [path for path in paths if TEST.search(path)][:_MENTIONING]
    for name in (entry.place.function, module):
        if not name.startswith("__"):
            word = re.compile(rf"\b{re.escape(name)}\b")
            yield from (path for path in tests if word.search(tree.read_file(path) or ""))


def _scenes(module: ast.Module, text: str) -> Iterator[Scene]:
    lines = text.split("\n")
    for node in module.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inner:
            if isinstance(one, ast.FunctionDef) and _TEST_NAME.match(one.name):
                owner = node.name if isinstance(node, ast.ClassDef) else ""
                indent = " " * one.body[0].col_offset
                statements = (part for part in one.body if not _is_text(part))
                body = tuple(part for each in statements for part in _acting(each, lines, indent))
                yield Scene(owner, one.name, one, body, indent)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _acting(statement: ast.stmt, lines: list[str], indent: str) -> Iterator[str]:
    """A statement as it is written; of an assertion only what it calls."""
    asserted = _asserted(statement)
    if asserted is None:
        if not isinstance(statement, ast.With) or not _raises(statement):
            yield "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        return
    for value in asserted:
        calls = [one for one in ast.walk(value) if isinstance(one, ast.Call)]
        if calls:
            yield indent + ast.unparse(value)


def _asserted(statement: ast.stmt) -> list[ast.expr] | None:
    """The values that an assertion looks at; None where it is none."""
    if isinstance(statement, ast.Assert):
        test = statement.test
        return [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        if _ASSERTED.match(call.func.attr):
            return call.args
        if call.func.attr.startswith("assert_"):
            return []
    return None


def _raises(statement: ast.With) -> bool:
    """Whether it waits for an exception."""
    calls = (one.context_expr for one in statement.items)
    names = (one.func for one in calls if isinstance(one, ast.Call))
    return any(isinstance(one, ast.Attribute) and "aises" in one.attr for one in names)


def imported_names(module: ast.Module) -> dict[str, str]:
    """Map the names that a file imports to what they stand for, dotted.

    >>> imported_names(ast.parse("from shop.cart import total as sum_of"))
    {'sum_of': 'shop.cart.total'}
    """
    names: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            names |= {one.asname or one.name: one.name for one in node.names}
    return names


def dotted(path: str, root: str) -> str:
    """What a file of the project is imported as.

    >>> dotted("src/shop/cart.py", ""), dotted("web/app/__init__.py", "web/")
    ('shop.cart', 'app')
    """
    inner = path.removeprefix(root).removeprefix("src/").removesuffix(".py")
    return inner.removesuffix("/__init__").replace("/", ".")


def class_and_bases(
    suite: Suite, owner: str, tree: CodeReader, root: str
) -> tuple[tuple[ast.ClassDef, ast.Module], ...]:
    """The class of a test and those of its bases that are files of the project, nearest first."""
    seen: list[tuple[ast.ClassDef, ast.Module]] = []
    waiting = [(owner, suite.module)]
    while waiting and len(seen) < _BASES:
        name, module = waiting.pop(0)
        classes = {one.name: one for one in module.body if isinstance(one, ast.ClassDef)}
        if name in classes:
            seen.append((classes[name], module))
            waiting += [(ast.unparse(base), module) for base in classes[name].bases]
        elif other := module_of(imported_names(module).get(name, ""), tree, root):
            waiting.append((imported_names(module)[name].rpartition(".")[2], other))
    return tuple(seen)


def module_of(name: str, tree: CodeReader, root: str) -> ast.Module | None:
    """The file of the project that defines a dotted name; None where it is somebody else's."""
    folder = name.rpartition(".")[0].replace(".", "/")
    if not folder:
        return None
    ends = (f"{folder}.py", f"{folder}/__init__.py")
    paths = (f"{root}{source}{end}" for source in ("", "src/") for end in ends)
    return next((one for path in paths if (one := parsed_text(tree.read_file(path)))), None)
