"""The project's own tests as places to stand in: what they arrange, and what they do."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from nightwatch_core.code.called_names import files_testing
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.errors import Frame, Trace
from nightwatch_core.ports import CodeReader
from nightwatch_core.privacy.key_values import holds_mask
from nightwatch_core.text.templates import message_template

# Values that may bring a crash about: those of its message, and texts that hold one of them.

_QUOTED = re.compile(r"'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,9}(?![\w.])")
_TOKENS = (re.compile(r"[^\s;,|\"'<>=&/()\[\]{}]+"), re.compile(r"\w+"))
_MESSAGE_VALUES = 4
_SPLICES = 3  # of one text with one value


def message_values(message: str) -> tuple[str | int, ...]:
    """List what a message quotes, then its numbers, without what was masked.

    >>> message_values("no time zone is called 'Mars/North'")
    ('Mars/North',)
    >>> message_values("seat 14 is taken")
    (14,)
    """
    quoted: list[str | int] = ["".join(groups) for groups in _QUOTED.findall(message[:2_000])]
    numbers = (int(digits) for digits in _NUMBER.findall(_QUOTED.sub("", message[:2_000])))
    shown = (one for one in (*quoted, *numbers) if not holds_mask(str(one)))
    return tuple(dict.fromkeys(shown))[:_MESSAGE_VALUES]


def spliced(text: str, values: tuple[str | int, ...]) -> Iterator[tuple[str, str]]:
    """Give pieces of a text and what to put in their places, the likest pieces first.

    >>> list(spliced("seat;width\\nA-1;0.45", ("7:30",)))[0]
    ('0.45', '7:30')
    >>> list(spliced("mail/ada/inbox", ("ada+lists",)))[0]
    ('ada', 'ada+lists')
    """
    for value in values:
        wanted = str(value)
        pieces = dict.fromkeys(
            piece for tokens in _TOKENS for piece in tokens.findall(text[:2_000])[:40]
        )
        likely = sorted(pieces, key=lambda piece: _unlikeness(piece, wanted))
        yield from ((piece, wanted) for piece in likely[:_SPLICES] if piece != wanted)


def _unlikeness(piece: str, wanted: str) -> tuple[bool, bool, bool]:
    return (
        piece.isdigit() or not wanted.startswith(piece),
        piece[:1].isdigit() != wanted[:1].isdigit(),
        piece.isalnum() != wanted.isalnum(),
    )


def compared_in(function: ast.AST) -> tuple[str, ...]:
    """List the texts and numbers that a function compares with or looks up, as code.

    >>> compared_in(ast.parse("if kind == 'gift': price = row['cents']"))
    ("'gift'", "'cents'")
    """
    sites: list[ast.expr] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            sites += [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            sites.append(node.slice)
    constants = (one for one in sites if isinstance(one, ast.Constant))
    return tuple(dict.fromkeys(repr(one.value) for one in constants if one.value is not None))[:6]


# What a test has to raise: production's class and message, through production's own frames.

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_NAMES_CODE = re.compile(r"\b(Attribute|Type|Name|Import|ModuleNotFound|UnboundLocal)Error$")


class Place(NamedTuple):
    """A line of a function of the application, as a traceback names it."""

    path: str
    function: str
    line: int


class Entry(NamedTuple):
    """A function on production's way to the crash, which a test may call."""

    place: Place
    node: FUNCTION
    owner: ast.ClassDef | None
    module: ast.Module


class Link(NamedTuple):
    """An exception that a test raised, with the lines of production's files it came through."""

    error_class: str
    message: str
    places: tuple[Place, ...]  # innermost first


class Goal(NamedTuple):
    """What production raised."""

    error_class: str
    message: str
    places: tuple[Place, ...]  # of the application, innermost first
    outer: tuple[Place, ...]  # of what was raised instead, further out

    def reached(self, link: Link) -> int:
        """Count production's frames that were gone through, from the innermost on.

        That one has production's line; whatever calls it may do so from another.

        >>> goal = Goal("KeyError", "'a'", (Place("a.py", "f", 3), Place("b.py", "g", 9)), ())
        >>> goal.reached(Link("KeyError", "'a'", (Place("a.py", "f", 3), Place("b.py", "h", 1))))
        1
        >>> goal.reached(Link("KeyError", "'a'", (Place("a.py", "f", 4),)))
        0
        """
        same = link.error_class.rpartition(".")[2] == self.error_class.rpartition(".")[2]
        if not same or self.places[:1] != link.places[:1]:
            return 0
        if message_template(self.message) != message_template(link.message):
            return 0
        pairs = list(zip(self.places, link.places, strict=False))
        other = (at for at, (one, came) in enumerate(pairs) if one[:2] != came[:2])
        return next(other, len(pairs))

    @property
    def values(self) -> tuple[str | int, ...]:
        """The values that its message gives, where it is not code that it names."""
        return () if _NAMES_CODE.search(self.error_class) else message_values(self.message)


def goal_of(trace: Trace) -> Goal | None:
    """Read the goal from a trace whose frames are placed; None where none of them is our own."""
    links = [(link, tuple(map(_place, filter(_is_own, link.frames)))) for link in trace.links]
    at = next((at for at in reversed(range(len(links))) if links[at][1]), None)
    if at is None:
        return None
    outer = tuple(place for _, places in reversed(links[:at]) for place in places)
    return Goal(links[at][0].error_class, links[at][0].message, links[at][1], outer)


def _is_own(frame: Frame) -> bool:
    path = frame.repo_path
    named = frame.function[:1] != "<" or frame.function == "<module>"  # no comprehension
    return named and frame.in_app and bool(path) and bool(frame.line) and not TEST.search(path)


def _place(frame: Frame) -> Place:
    return Place(frame.repo_path, re.split(r"[.:]", frame.function)[-1], frame.line or 0)


def entries(goal: Goal, tree: CodeReader) -> tuple[Entry, ...]:
    """The functions of its frames that can be named from outside, innermost first."""
    listed = []
    for place in dict.fromkeys((*goal.places, *goal.outer)):
        module = parsed_text(tree.read_file(place.path))
        entry = _enclosing(module, place) if module and place.path.endswith(".py") else None
        if entry is not None:
            listed.append(entry)
    return tuple(listed)


def least_reached(
    goal: Goal, listed: tuple[Entry, ...], changed: frozenset[tuple[str, str]]
) -> int:
    """How many of production's frames a test has to go through, to say anything of a fix.

    `changed` are the functions that the fix changes: a test has to enter by the outermost of them
    or further out. Where the failing line only refuses what it is given, by its caller at least.
    """
    outermost = max((at + 1 for at, one in enumerate(goal.places) if one[:2] in changed), default=1)
    refuses = any(
        isinstance(node, ast.Raise) and node.lineno <= goal.places[0].line <= (node.end_lineno or 0)
        for entry in listed[:1]
        if entry.place == goal.places[0]
        for node in ast.walk(entry.node)
    )
    return max(outermost, 2 if refuses else 1)


def changed_functions(path: str, before: str | None, after: str | None) -> set[tuple[str, str]]:
    """Path and name of the functions that a change of a file leaves other than they were."""
    old, new = _functions(parsed_text(before)), _functions(parsed_text(after))
    return {(path, name) for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def _functions(module: ast.Module | None) -> dict[str, str]:
    functions: dict[str, str] = {}
    for node in ast.walk(module) if module else ():
        if isinstance(node, FUNCTION):
            functions[node.name] = functions.get(node.name, "") + ast.dump(node)
    return functions


def parsed_text(text: str | None) -> ast.Module | None:
    """Parse a file's text; None where that cannot be done."""
    try:
        return ast.parse(text) if text is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _enclosing(module: ast.Module, place: Place) -> Entry | None:
    """The function at a line, where a test can name it: of the module, or of one of its classes."""
    for node in module.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inner:
            if not isinstance(one, FUNCTION) or one.name != place.function:
                continue
            if one.lineno <= place.line <= (one.end_lineno or one.lineno):
                owner = node if isinstance(node, ast.ClassDef) else None
                return Entry(place, one, owner, module)
    return None


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


# Tests of the project with one value changed.


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


# What can be named where a test of the project stands: its locals, its members, its imports.

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


# Expressions for one argument: what a test has at hand by name or class, and small values.

_EACH = 7  # expressions for one argument
_SMALL = {
    "str": ("'a'", "''"),
    "bytes": ("b'a'", "b''"),
    "int": ("1", "0", "-1"),
    "float": ("1.5", "0.0"),
    "bool": ("True", "False"),
    "list": ("['a']", "[]"),
    "tuple": ("('a',)", "()"),
    "dict": ("{}",),
    "": ("None", "''", "0", "[]", "{}"),
}
_WIDER = {"Sequence": "list", "Iterable": "list", "Mapping": "dict", "Any": "", "object": ""}


def terms(
    parameter: ast.arg,
    entry: Entry,
    around: Surroundings,
    values: tuple[str | int, ...],
    optional: bool,
) -> tuple[Term, ...]:
    """Expressions for one argument, the likeliest first; an empty one leaves it out."""
    kind = ast.unparse(parameter.annotation) if parameter.annotation else ""
    listed = dict.fromkeys(_named(parameter.arg, around))
    listed |= dict.fromkeys(_typed(kind, entry.module, entry, around))
    short = parameter.arg.split("_")[0]
    keywords = around.keywords.get(parameter.arg) or around.keywords.get(short, ())
    simple = kind.split("|")[0].split("[")[0].strip(" '\"")
    simple = _WIDER.get(simple, simple)
    known = simple in _SMALL
    if known:
        fits = (one for one in values if not simple or type(one).__name__ == simple)
        listed |= dict.fromkeys(Term(repr(one)) for one in fits)
        listed |= dict.fromkeys(Term(one) for one in keywords)
        listed |= dict.fromkeys(Term(one) for one in _SMALL[simple])
        if not simple or simple == "str":
            listed |= dict.fromkeys(Term(one) for one in compared_in(entry.node))
    if "None" in kind:
        listed |= {Term("None"): None}
    left_out = (Term(""),) if optional else ()
    return tuple((*left_out, *listed))[:_EACH] or (Term("None"),)


def _named(name: str, around: Surroundings) -> Iterator[Term]:
    """Locals and members that are called like the argument."""
    if name in around.locals:
        yield Term(name)
    if f"self.{name}" in around.members:
        yield Term(f"self.{name}")
    for one, how in around.members.items():
        if how.endswith(f".{name}") or (one.endswith("()") and name in one):
            yield Term(one)


def _typed(
    kind: str, module: ast.Module, entry: Entry, around: Surroundings, depth: int = 0
) -> Iterator[Term]:
    """Objects of a class that has a name: as tests make them, or as its module's functions do."""
    name = kind.split("|")[0].strip(" '\"").rpartition(".")[2]
    if not name.isidentifier() or name in _SMALL or name in _WIDER:
        return
    here = f"{dotted(entry.place.path, around.root)}.{name}"
    whole = imported_names(module).get(name, here)
    yield from as_tests_make(name, whole, around)
    made = module if whole == here else module_of(whole, around.tree, around.root)
    for node in made.body if made and not depth else ():
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        if node.returns and ast.unparse(node.returns).strip("'\"") == name:
            arguments = _simple_arguments(node, around)
            if arguments is not None:
                maker = imported(f"{whole.rpartition('.')[0]}.{node.name}", around)
                yield Term(f"{maker.text}({', '.join(arguments)})", maker.imports)


def _simple_arguments(node: ast.FunctionDef, around: Surroundings) -> list[str] | None:
    """What a function that makes an object is given; None where that is not known."""
    arguments = []
    least = len(node.args.args) - len(node.args.defaults)
    for one in node.args.args[:least]:
        kind = ast.unparse(one.annotation) if one.annotation else ""
        named = next(_named(one.arg, around), None)
        if named is not None:
            arguments.append(named.text)
        elif kind in _SMALL:
            arguments.append(_SMALL[kind][0])
        else:
            return None
    return None if any(one.arg for one in node.args.kwonlyargs) else arguments


def as_tests_make(name: str, whole: str, around: Surroundings) -> Iterator[Term]:
    """Calls of a class that tests make with what can be named here."""
    seen = 0
    for call in around.terms:
        called = ast.unparse(call.func)
        if called.rpartition(".")[2] == name and _can_be_named(call, around):
            maker = imported(whole, around)
            arguments = ast.unparse(call)[len(called) :]
            yield Term(maker.text + arguments, maker.imports)
            seen += 1
        if seen == 2:
            return


def _can_be_named(call: ast.Call, around: Surroundings) -> bool:
    parts = (*call.args, *(one.value for one in call.keywords))
    names = {one.id for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)}
    members = {ast.unparse(one) for part in parts for one in ast.walk(part)
               if isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self"}  # fmt: skip
    known = {"self", *around.locals, *around.imported.values()}
    return names <= known and members <= around.members.keys()
