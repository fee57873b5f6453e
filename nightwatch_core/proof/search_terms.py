"""Expressions for one argument: what a test has at hand by name or class, and small values."""

import ast
from collections.abc import Iterator

from nightwatch_core.proof.search_goal import Entry
from nightwatch_core.proof.search_suites import dotted, imported_names, module_of
from nightwatch_core.proof.search_surroundings import Surroundings, Term, imported
from nightwatch_core.proof.search_values import compared_in

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
