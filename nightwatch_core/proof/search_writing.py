"""Writes a test that a search has come upon: a new file beside the one it was made from."""

import ast
import re
from collections.abc import Iterator

from nightwatch_core.models.answer import Edit
from nightwatch_core.proof.search_goal import Goal
from nightwatch_core.proof.search_mutations import Candidate
from nightwatch_core.proof.search_suites import Scene, Suite

_SETS_UP = re.compile(r"(setUp|tearDown|setup|teardown|asyncSetUp|asyncTearDown)")
_ALWAYS = ("pytestmark", "__future__")


def written(
    suite: Suite, scene: Scene, candidate: Candidate, goal: Goal, called: str
) -> tuple[Edit, str]:
    """The edit that adds the test, and the test's name as its runner prints it."""
    error = re.sub(r"\W", "", goal.error_class.rpartition(".")[2]) or "Error"
    snake, called = _snake(error), _snake(called)
    name = f"test_{called}_raises_no_{snake}"
    outer = scene.indent[:-4] if scene.owner else ""
    decorators = [f"{outer}@{ast.unparse(one)}" for one in scene.node.decorator_list]
    returned = " -> None" if scene.node.returns else ""
    head = f"{outer}def {name}({ast.unparse(scene.node.args)}){returned}:"
    doc = f'{scene.indent}"""Raised {error} in production."""'
    body = [one if one in scene.body else _quoted(one, suite.text) for one in candidate.body]
    test = "\n".join((*decorators, head, doc, *body[:-1], _unnamed(body[-1])))
    module = ast.parse(f"if 1:\n{test}" if outer else test)
    needed = _names(module)
    text = "\n".join(_kept(suite, scene, needed, candidate.imports, test)).strip("\n") + "\n"
    folder, _, file = suite.path.rpartition("/")
    stem = f"{called}_{snake}"
    file = f"{stem}_test.py" if file.endswith("_test.py") else f"test_{stem}.py"
    path = f"{folder}/{file}" if folder else file
    shown = f"a test that raises {error} as production did"
    return Edit(path=path, action="create", new=text, description=shown), name


def _quoted(statement: str, text: str) -> str:
    """What we wrote, with the quotes that a file prefers.

    >>> _quoted("a['b']", 'c = "d"')
    'a["b"]'
    """
    if '"' in statement or "\\" in statement or text.count('"') < text.count("'"):
        return statement
    return re.sub(r"'([^'\n]*)'", r'"\1"', statement)


def _unnamed(statement: str) -> str:
    """The last statement, without a name for what nobody looks at.

    >>> _unnamed("    total = cart.total([])")
    '    cart.total([])'
    """
    return re.sub(r"^(\s*)\w+ = (?=[\w.]+\()", r"\1", statement)


def _snake(name: str) -> str:
    """Write a name in small letters.

    >>> _snake("CartTotal___init__"), _snake("VATError")
    ('cart_total_init', 'vat_error')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"_+", "_", words).strip("_").lower()


def _kept(
    suite: Suite, scene: Scene, needed: set[str], imports: tuple[str, ...], test: str
) -> Iterator[str]:
    """What the test needs of its file, in the order of the file, and the test."""
    lines = suite.text.split("\n")
    statements, left = [], dict.fromkeys(suite.module.body)
    owner = next((one for one in suite.module.body
                  if isinstance(one, ast.ClassDef) and one.name == scene.owner), None)  # fmt: skip
    members = _members(owner, needed) if owner else []
    if owner:
        left.pop(owner)
        needed |= {name for one in (*owner.bases, *owner.decorator_list) for name in _names(one)}
        needed |= {name for one in members for name in _names(one)}
    grown = True
    while grown:
        grown = False
        for one in tuple(left):
            if _defines(one) & (needed | set(_ALWAYS)) or _is_automatic(one):
                statements.append(one)
                left.pop(one)
                needed |= set() if _is_import(one) else _names(one)
                grown = True
    statements.sort(key=lambda one: one.lineno)
    brought = list(_grouped([one for one in statements if _is_import(one)], needed, lines))
    yield from sorted_imports(brought, imports)
    for one in statements:
        if not _is_import(one):
            gap = 2 if isinstance(one, ast.FunctionDef | ast.ClassDef) else 1
            yield "\n" * gap + _text_of(one, lines)
    yield "\n"
    if owner:
        first = min((owner.lineno, *(one.lineno for one in owner.decorator_list)))
        end = owner.body[0].lineno
        head = lines[first - 1 : end - 1]
        cut = next((at for at, line in enumerate(head) if line.rstrip().endswith(":")), 0)
        yield "\n".join(head[: cut + 1])
        for one in members:
            yield _text_of(one, lines) + "\n"
    yield test


def _grouped(brought: list[ast.stmt], needed: set[str], lines: list[str]) -> Iterator[str]:
    """Imports, with an empty line where the file has one between them."""
    for before, one in zip((None, *brought), brought, strict=False):
        between = lines[before.end_lineno or 0 : one.lineno - 1] if before else ["-"]
        if "" in between:
            yield ""
        yield _pruned(one, needed, lines)


def sorted_imports(brought: list[str], added: tuple[str, ...]) -> list[str]:
    """Put new imports among those of a file, before the first of the same package that follows it.

    >>> sorted_imports(["import re", "from app.web import b"], ("from app.a import c",))
    ['import re', 'from app.a import c', 'from app.web import b']
    """
    result = list(brought)
    for line in added:
        module = line.split()[1]
        alike = [
            at
            for at, one in enumerate(result)
            if one.startswith("from ") and one.split()[1].split(".")[0] == module.split(".")[0]
        ]
        later = next((at for at in alike if result[at].split()[1] > module), None)
        same = next((at for at in alike if result[at].split()[1] == module
                     and "(" not in result[at]), None)  # fmt: skip
        if same is not None:
            names = {one.strip() for one in result[same].split(" import ")[1].split(",")}
            names |= {line.split(" import ")[1]}
            result[same] = f"from {module} import {', '.join(sorted(names, key=_as_isort))}"
        else:
            result.insert(
                later if later is not None else alike[-1] + 1 if alike else len(result), line
            )
    return result


def _as_isort(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


def _pruned(node: ast.stmt, needed: set[str], lines: list[str]) -> str:
    """An import of what is needed alone."""
    if isinstance(node, ast.ImportFrom) and node.module != "__future__":
        left = [one for one in node.names if (one.asname or one.name) in needed or one.name == "*"]
        if len(left) < len(node.names) and left:
            return ast.unparse(ast.ImportFrom(module=node.module, names=left, level=node.level))
    return _text_of(node, lines)


def _text_of(node: ast.stmt, lines: list[str]) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min((node.lineno, *(one.lineno for one in decorators)))
    return "\n".join(lines[first - 1 : node.end_lineno])


def _members(owner: ast.ClassDef, needed: set[str]) -> list[ast.stmt]:
    """What a class has besides its tests, as far as the test needs it."""
    left = [one for one in owner.body if not _is_test_or_text(one)]
    kept: list[ast.stmt] = []
    grown = True
    while grown:
        grown = False
        for one in tuple(left):
            names = _defines(one)
            if names & needed or any(_SETS_UP.match(name) for name in names) or _is_automatic(one):
                kept.append(one)
                left.remove(one)
                needed |= _names(one)
                grown = True
    return sorted(kept, key=lambda one: one.lineno)


def _is_test_or_text(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name.startswith("test")
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_automatic(node: ast.stmt) -> bool:
    """Whether it is a fixture that no test has to name."""
    decorators = getattr(node, "decorator_list", [])
    return any("autouse=True" in ast.unparse(one) for one in decorators)


def _names(node: ast.AST) -> set[str]:
    """Names and members that a piece of code uses."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    names |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return names | {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        special = {"__future__"} if getattr(node, "module", "") == "__future__" else set()
        return special | {(one.asname or one.name).split(".")[0] for one in node.names}
    inner = (one for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node)
    names = {one.id for one in ast.walk(node)
             if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}  # fmt: skip
    return names | {name for one in inner for name in _defines(one)}
