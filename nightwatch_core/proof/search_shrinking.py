"""Makes what raises a crash shorter: what it can do without is left out."""

import ast
from collections.abc import Collection, Iterator

from nightwatch_core.proof.search_mutations import Candidate

_SHORTER = 60


def shorter(candidate: Candidate) -> tuple[Candidate, ...]:
    """Give parts of a candidate that may raise the same, itself among them, the shortest first.

    >>> whole = Candidate(("    a = 1", "    log()", "    b = f(a)", "    run(b)", "    end()"))
    >>> ("    a = 1", "    b = f(a)", "    run(b)") in [one.body for one in shorter(whole)]
    True
    """
    parts = {part: None for part in _parts(candidate.body)}
    ranked = sorted(parts, key=lambda part: (len(part), sum(map(len, part))))
    chosen = [part for part in ranked if part][:_SHORTER]
    return tuple(candidate._replace(body=part) for part in dict.fromkeys((*chosen, candidate.body)))


def emptiness(candidate: Candidate) -> int:
    """Count the empty values in it: a fix that only guards against those is no fix for others.

    >>> [emptiness(Candidate((text,))) for text in ("    load('', limit=None)", "    load('a')")]
    [2, 0]
    """
    try:
        nodes = tuple(ast.walk(ast.parse("def _():\n" + "\n".join(candidate.body))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    return sum(_is_empty(node) for node in nodes)


def _is_empty(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None or node.value in ("", b"")
    kept = getattr(node, "elts", getattr(node, "keys", None))
    return isinstance(node, ast.List | ast.Set | ast.Tuple | ast.Dict) and not kept


def _parts(body: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield body
    for end in range(len(body), 0, -1):
        yield body[:end]
        yield _needed(body[:end])
    for left_out in range(len(body) - 1):
        yield body[:left_out] + body[left_out + 1 :]
        yield _needed(body, (left_out,))


def _needed(body: tuple[str, ...], besides: Collection[int] = ()) -> tuple[str, ...]:
    """The last statement, and those before it that it has its values from."""
    kept = {len(body) - 1, *besides}
    wanted: set[str] = set()
    for at in reversed(range(len(body))):
        try:
            nodes = list(ast.walk(ast.parse(f"def _():\n{body[at]}")))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return body
        names = [one for one in nodes if isinstance(one, ast.Name)]
        stored = {one.id for one in names if isinstance(one.ctx, ast.Store)}
        if at in kept or stored & wanted:
            kept.add(at)
            wanted |= {one.id for one in names}
    return tuple(body[at] for at in sorted(kept))
