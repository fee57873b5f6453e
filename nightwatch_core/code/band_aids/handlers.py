"""Exceptions that a change swallows, or catches more of than before."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from nightwatch_core.code.band_aids.bodies import answers, body_of, looks_away, statements_of
from nightwatch_core.code.band_aids.values import BandAid, Change
from nightwatch_core.code.band_aids.vocabulary import ABSENCE, BROAD, LITERAL
from nightwatch_core.code.statements import text_of

_HANDLERS = frozenset(("except_clause", "except_group_clause", "rescue", "catch_clause"))
_HEAD = re.compile(r"^(?:except\*?|rescue|\}?\s*catch)\b\s*")
_CAUGHT_AS = re.compile(
    r"\s+as\s+\w+|\s*=>\s*@?\w+|\bfinal\b|(?<=\w)\s+\$?\w+\s*(?=\)\s*$)|\bwhen\b.*$"
)
# Mistakes of the code itself: whoever catches one hides it.
_OWN_MISTAKE = re.compile(
    r"^(?:KeyError|IndexError|LookupError|AttributeError|TypeError|NameError|UnboundLocalError"
    r"|AssertionError|RecursionError|NoMethodError|ArgumentError|NullPointerException"
    r"|NullReferenceException|IndexOutOfBounds\w*|ArrayIndexOutOfBounds\w*|ClassCastException"
    r"|InvalidCastException|IllegalStateException|ReferenceError|ArgumentNullException)$"
)
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue")
# Endings of files, and what cannot fail any more there.
_QUIET_CALLS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    ((".py",), re.compile(r"\b(?:contextlib\.)?suppress\((?P<caught>[^()]*)\)")),
    (
        (".py",),
        re.compile(
            r"return_exceptions=True|fail_silently=True|errors\s*=\s*['\"]ignore['\"]"
            r"|raise_(?:on_)?(?:error|exception)s?=False"
            r"|ignore_errors=True|on_bad_lines=['\"](?:skip|warn)|errors=['\"]coerce"
        ),
    ),
    (
        (".rb", ".rake"),
        re.compile(
            rf"\S\s+rescue\s+(?:\w+;\s*)?(?:{LITERAL.pattern}|return|next)\s*(?:\)|;?\s*end)?\s*$"
        ),
    ),
    ((".rb", ".rake"), re.compile(r"\bexception:\s*false\b")),
    (
        _SCRIPTS,
        re.compile(
            r"\.catch\(\s*(?:(?:async\s*)?(?:\(\s*\w*\s*\)|\w+)\s*=>\s*(?:\{\s*(?:return;?\s*)?\}"
            rf"|\(?(?:{LITERAL.pattern})\)?|console\.\w+\([^()]*\)|void 0)"
            r"|function\s*\w*\(\w*\)\s*\{\s*\}|noop|_\.noop|console\.\w+)\s*\)"
        ),
    ),
    ((".php",), re.compile(r"(?:^|[=(,!]|\breturn)\s*@(?:\$?\w+(?:->|::)?)+\s*\(")),
    ((".go",), re.compile(r"^(?:_\s*,\s*){0,3}_\s*=\s*\w[\w.]*\(|(?:^|\W)recover\(\)")),
    ((".rs",), re.compile(r"\.(?:unwrap_or_default\(\)|ok\(\)\s*;)|^let\s+_\s*=")),
    ((".yml", ".yaml"), re.compile(r"(?i)continue[-_]on[-_]error:\s*true")),
)
_UNCHECKED = re.compile(r"^(?P<names>[\w\s,]+?),\s*_\s*(?P<set>:?=)(?P<call>.*)$")
_IS_CHECKED = re.compile(r"^[\w\s,]*\berr\w*\s*:?=")


class Handler(NamedTuple):
    """One `except`, `rescue` or `catch`: what it catches, its statements, its row."""

    caught: tuple[str, ...]
    statements: tuple[str, ...]
    row: int
    node: Node

    @property
    def is_broad(self) -> bool:
        """Whether it catches whatever is raised."""
        return not self.caught or any(BROAD.match(one) for one in self.caught)


def handlers_of(nodes: tuple[Node, ...]) -> tuple[Handler, ...]:
    """List the handlers of a tree."""
    return tuple(_handler(node) for node in nodes if node.is_named and node.type in _HANDLERS)


def _handler(node: Node) -> Handler:
    body = body_of(node)
    whole = (node.text or b"").decode("utf-8", "replace")
    head = whole[: body.start_byte - node.start_byte] if body else whole.split("\n")[0]
    return Handler(_classes(head), statements_of(body), node.start_point[0], node)


def _classes(head: str) -> tuple[str, ...]:
    """Name what a handler's head says that it catches; JavaScript's says nothing."""
    plain = head.strip().rstrip("{:").strip()
    text = _CAUGHT_AS.sub("", _HEAD.sub("", plain)).strip().strip("()").strip()
    names = (one.strip().lstrip("*\\") for one in re.split(r"[,|]", text))
    return tuple(one for one in names if one and (one[0].isupper() or "." in one or "::" in one))


def swallowed(change: Change) -> Iterator[BandAid]:
    """Find handlers that are new, or do nothing any more, and calls that never fail now."""
    before = {one.caught: one for one in handlers_of(change.old_nodes)}
    for handler in handlers_of(change.new_nodes):
        known = before.get(handler.caught)
        is_changed = any(row in change.added for row in _rows(handler.node))
        if is_changed and _hides(handler) and not (known and _same(known, handler)):
            yield change.band_aid("swallowed_exception", handler.row)
    yield from _quiet_calls(change)
    yield from _unchecked(change)


def _same(one: Handler, other: Handler) -> bool:
    return one.statements == other.statements


def _rows(node: Node) -> range:
    return range(node.start_point[0], node.end_point[0] + 1)


def _hides(handler: Handler) -> bool:
    """Whether nobody hears of what a handler caught, though it should not happen."""
    if answers(handler.statements) or not looks_away(handler.statements):
        return False
    names = (one.rpartition(".")[2].rpartition("::")[2] for one in handler.caught)
    return handler.is_broad or not all(ABSENCE.search(one) for one in names)


def _quiet_calls(change: Change) -> Iterator[BandAid]:
    for row, line in change.added.items():
        for endings, shape in _QUIET_CALLS:
            match = shape.search(line) if change.ending in endings else None
            if not match or any(shape.search(old) for old in change.removed.values()):
                continue
            caught = (match.groupdict().get("caught") or "").split(",")
            if not (caught != [""] and all(ABSENCE.search(one) for one in caught)):
                yield change.band_aid("swallowed_exception", row)


def _unchecked(change: Change) -> Iterator[BandAid]:
    """Find Go's errors that were looked at and are thrown away now."""
    if change.ending != ".go":
        return
    for pair in change.pairs:
        new = _UNCHECKED.match(pair.new)
        is_call = new and new["call"].strip().endswith(")") and ".(" not in new["call"]
        if (
            new
            and is_call
            and _IS_CHECKED.match(pair.old)
            and pair.old.endswith(new["call"].strip())
        ):
            yield change.band_aid("swallowed_exception", pair.row)
    quiet = sum(1 for node in change.old_nodes if _is_quiet(node))
    rows = [node.start_point[0] for node in change.new_nodes if _is_quiet(node)]
    if len(rows) > quiet:
        yield change.band_aid("swallowed_exception", rows[0])


def _is_quiet(node: Node) -> bool:
    """Whether a node asks for an error and does nothing about it."""
    condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
    if condition is None or not re.fullmatch(r"err\w* != nil", text_of(condition)):
        return False
    statements = statements_of(body_of(node))
    return looks_away(statements) and not answers(statements)


def widened(change: Change) -> Iterator[BandAid]:
    """Find handlers that catch everything, or the code's own mistakes, and did not before."""
    for pair in change.pairs:
        if not (_HEAD.match(pair.old) and _HEAD.match(pair.new)):
            continue
        old, new = _classes(pair.old), _classes(pair.new)
        was_broad = not old or any(BROAD.match(one) for one in old)
        is_broad = not new or any(BROAD.match(one) for one in new)
        mistakes = (one for one in set(new) - set(old) if _OWN_MISTAKE.match(one))
        if not was_broad and (is_broad or any(mistakes)):
            yield change.band_aid("widened_exception", pair.row)
