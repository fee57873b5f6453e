"""Calls of production's functions, with arguments that the project's tests have at hand."""

import ast
from collections.abc import Iterator
from itertools import islice, product

from nightwatch_core.proof.search_goal import Entry
from nightwatch_core.proof.search_mutations import Candidate
from nightwatch_core.proof.search_suites import dotted
from nightwatch_core.proof.search_surroundings import Surroundings, Term, imported
from nightwatch_core.proof.search_terms import as_tests_make, terms

_CALLS = 40  # of one function in one scene


def calls(entry: Entry, around: Surroundings, values: tuple[str | int, ...]) -> Iterator[Candidate]:
    """Call a function after what a scene does, the likeliest arguments first."""
    module = dotted(entry.place.path, around.root)
    receivers = tuple(_receivers(entry, around, module))
    parameters = entry.node.args
    wanted = [*parameters.posonlyargs, *parameters.args]
    if entry.owner is not None and not _is_static(entry.node):
        wanted = wanted[1:]
    optional = {one.arg for one in wanted[len(wanted) - len(parameters.defaults) :]}
    optional = optional if parameters.defaults else set()
    pools = [terms(one, entry, around, values, one.arg in optional) for one in wanted]
    for one, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        pool = terms(one, entry, around, values, default is not None)
        named = (term._replace(text=f"{one.arg}={term.text}") if term.text else term
                 for term in pool)  # fmt: skip
        pools.append(tuple(named))
    combinations = _likeliest((receivers, *pools))
    for receiver, *given in islice(combinations, _CALLS):
        texts = _by_position(wanted, given)
        if texts is None:
            continue
        text = _as_called(entry, receiver.text, ", ".join(texts))
        imports = (line for term in (receiver, *given) for line in term.imports)
        yield Candidate(
            (*around.scene.body, around.scene.indent + text), tuple(dict.fromkeys(imports))
        )


def _likeliest(pools: tuple[tuple[Term, ...], ...]) -> list[tuple[Term, ...]]:
    """Choices of one term of each pool: those near the heads of all pools first."""
    sizes = [range(len(pool)) for pool in pools]
    ranks = sorted(islice(product(*sizes), 20_000), key=lambda ranks: (sum(ranks), max(ranks)))
    chosen = islice(ranks, 4 * _CALLS)
    return [tuple(pool[at] for pool, at in zip(pools, one, strict=True)) for one in chosen]


def _by_position(wanted: list[ast.arg], given: list[Term]) -> list[str] | None:
    """Arguments as they are written: what follows one that is left out goes by its name."""
    texts, left_out = [], False
    for at, term in enumerate(given):
        if not term.text:
            left_out = True
        elif at < len(wanted) and left_out:
            texts.append(f"{wanted[at].arg}={term.text}")
        else:
            texts.append(term.text)
    return texts


def _as_called(entry: Entry, receiver: str, arguments: str) -> str:
    name = entry.node.name
    if name == "__init__" or name == "__call__":
        call = f"{receiver}({arguments})"
    elif name == "__iter__":
        call = f"list({receiver})"
    elif any(ast.unparse(one).endswith("property") for one in entry.node.decorator_list):
        return f"{receiver}.{name}"
    else:
        call = f"{receiver}.{name}({arguments})" if entry.owner else f"{receiver}({arguments})"
    yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(entry.node))
    return f"list({call})" if yields and name != "__iter__" else call


def _is_static(node: ast.AST) -> bool:
    return any(ast.unparse(one) == "staticmethod" for one in getattr(node, "decorator_list", ()))


def _receivers(entry: Entry, around: Surroundings, module: str) -> Iterator[Term]:
    """How the function, or the object whose method it is, is named in a scene."""
    if entry.owner is None:
        yield imported(f"{module}.{entry.node.name}", around)
        return
    name = entry.owner.name
    whole = imported(f"{module}.{name}", around)
    of_class = any(ast.unparse(one) == "classmethod" for one in entry.node.decorator_list)
    if entry.node.name == "__init__" or _is_static(entry.node) or of_class:
        yield whole
        return
    made = f"{whole.text}("
    yield from (Term(one) for one, how in around.locals.items() if how.startswith(made))
    yield from (Term(one) for one, how in around.members.items() if how.startswith(made))
    yield from as_tests_make(name, f"{module}.{name}", around)
    yield Term(f"{whole.text}()", whole.imports)
