"""What the statements of a handler or a guard do: nothing about it, or something."""

import re

from tree_sitter import Node

from nightwatch_core.code.band_aids.vocabulary import ANSWERS, LOGS, LOOKS_AWAY
from nightwatch_core.code.limits import HANDLER_STATEMENTS
from nightwatch_core.code.statements import BODIES

_BODY = BODIES | {"body_statement", "then", "expression_statement"}
_STATEMENTS = frozenset(("statement_list", "then", "block", "do"))


def body_of(node: Node) -> Node | None:
    """Find the statements of a handler or an `if`; None where it has none."""
    for name in ("consequence", "body"):
        if child := node.child_by_field_name(name):
            return child
    return next((one for one in node.named_children if one.type in BODIES), None)


def statements_of(body: Node | None) -> tuple[str, ...]:
    """Give the texts of a body's statements, each on one line, without comments."""
    if body is None:
        return ()
    children = body.named_children if body.type in BODIES else [body]
    inner = [one for one in children if not one.type.endswith("comment")]
    if len(inner) == 1 and inner[0].type in _STATEMENTS:
        return statements_of(inner[0])
    return tuple(" ".join((one.text or b"").decode("utf-8", "replace").split()) for one in inner)


def looks_away(statements: tuple[str, ...]) -> bool:
    """Whether statements do nothing about what happened but, at most, write a line of log.

    >>> looks_away(("logger.warning('no price')", "return None"))
    True
    >>> looks_away(("return render(status=404)",)), looks_away(("return self.fallback()",))
    (False, False)
    """
    if len(statements) > HANDLER_STATEMENTS:
        return False
    return all(
        LOOKS_AWAY.match(one) or (LOGS.match(one) and not _raises(one)) for one in statements
    )


def answers(statements: tuple[str, ...]) -> bool:
    """Whether statements tell the caller, a client or a form that it did not work."""
    return any(ANSWERS.search(one) and not LOGS.match(one) or _raises(one) for one in statements)


def _raises(statement: str) -> bool:
    return bool(re.search(r"(?i)\.(?:fatal|panic)\w*\(|\braise\b|\bthrow\b", statement))
