"""Reads trees and lines of code; checks that a changed file still parses, by a real parser."""

import json
import re
import threading
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

import tree_sitter
import yaml
from tree_sitter import Node

from nightwatch_core.code import languages
from nightwatch_core.code.code_view import SHOWN_LINE

PARSED_YAML = 100_000  # YAML's parser is slow
YAML_DEPTH = 200  # levels: its parser takes minutes for brackets a hundred thousand deep
FLOW_NODES = 200_000  # nodes of a file
STATEMENT_LINES = 12  # of a statement that are looked at

_WARNINGS = threading.Lock()  # catching warnings changes a list that all threads share


def complaint(path: str, text: str, before: str | None = None) -> str:
    """Say why the text does not parse; empty where it does, or where no parser knows the language.

    A file that did not parse `before` either is not held against the change; one that is too large
    to be checked is.
    """
    by_grammar = partial(_by_grammar, path) if languages.has_grammar(path) else None
    check = _OWN_PARSERS.get(languages.ending_of(path), by_grammar)
    if check is None:
        return ""
    longest = PARSED_YAML if check is _yaml else languages.PARSED_FILE
    if len(text) > longest:
        return f"{path} is too large to be checked: more than {longest:,} characters"
    why = check(text)
    if why and before is not None and (len(before) > longest or check(before)):
        return ""
    return f"{path} does not parse: {why}" if why else ""


def _python(text: str) -> str:
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # not ast.parse, which lets a `return` outside a function pass; nothing is executed
            compile(text, "", "exec", dont_inherit=True)
    except SyntaxError as wrong:
        return f"line {wrong.lineno}: {wrong.msg}"
    except (ValueError, RecursionError, MemoryError) as wrong:
        return str(wrong) or "too deeply nested"
    return ""


def _loaded(load: Callable[[str], object], text: str) -> str:
    try:
        load(text)
    except (ValueError, RecursionError) as wrong:
        return str(wrong)[:200]
    return ""


def _yaml(text: str) -> str:
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > YAML_DEPTH:
                return f"nested deeper than {YAML_DEPTH} levels"
    except (yaml.YAMLError, RecursionError) as wrong:
        return " ".join(str(wrong).split())[:200]
    return ""


_OWN_PARSERS: dict[str, Callable[[str], str]] = {
    ".py": _python,
    ".pyi": _python,
    ".json": partial(_loaded, json.loads),
    ".toml": partial(_loaded, tomllib.loads),
    ".yml": _yaml,
    ".yaml": _yaml,
}


def _by_grammar(path: str, text: str) -> str:
    root = languages.parsed(path, text)
    if root is None or not root.has_error:
        return ""
    return f"line {_first_error(root).start_point[0] + 1}"


def _first_error(root: tree_sitter.Node) -> tree_sitter.Node:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            return node
        waiting.extend(reversed([child for child in node.children if child.has_error]))
    return root


# Statements of a file's tree: their rows, what they set, the functions around them.
#
# A few kinds of nodes stand for assignments, loops and blocks that are called with each element, in
# every language that has a grammar. Rows count from 0.

BODIES, NAMES, MEMBERS = (languages.RULES.nodes[kind] for kind in ("bodies", "names", "members"))
FUNCTIONS = re.compile(r"function|method|constructor|accessor|func_literal")
_CALLED = frozenset(("block", "do_block", "arrow_function", "function_expression", "lambda"))
_WRAPS = frozenset(("arguments", "argument_list", "argument"))
_CALL = re.compile(r"call|invocation")


class Setting(NamedTuple):
    """Rows, from 0, of a statement that gives names a value."""

    start: int
    end: int
    names: tuple[str, ...]


def root_of(path: str, text: str) -> Node | None:
    """Parse a file; None where no grammar reads it."""
    rows = text[: languages.NAMED_FILE].split("\n")
    read = (row if len(row) <= languages.NAMED_LINE else "" for row in rows)
    root = languages.parsed(path, "\n".join(read))
    return root if root is not None and languages.is_readable(root) else None


def statement_at(root: Node, row: int) -> Node | None:
    """Find the statement that a row is part of: the largest node below the body around it."""
    leaves = (item for item in nodes_in(root, row, row) if item.child_count == 0)
    code = (item for item in leaves if item.type != "comment" and item.start_point[0] == row)
    node = next(code, None)
    while node and node.parent and node.parent.type not in BODIES:
        is_function = FUNCTIONS.search(node.parent.type) and node.parent.start_point[0] < row
        if is_function and node.parent.child_by_field_name("body"):
            break
        node = node.parent
    return node


def rows_of(node: Node, row: int) -> tuple[int, int]:
    """Return the rows of a statement without the bodies below it, at most a few around `row`."""
    start, end = node.start_point[0], node.end_point[0]
    inner = [item for child in node.named_children for item in (child, *child.named_children)]
    below = [i.start_point[0] for i in inner if i.type in BODIES and i.start_point[0] > row]
    end = max(row, min([end, *(first - 1 for first in below)]))
    if end - start >= STATEMENT_LINES:
        start = max(start, row - STATEMENT_LINES // 2)
        end = min(end, start + STATEMENT_LINES - 1)
    return start, end


def scopes_around(root: Node, row: int) -> tuple[tuple[int, int], ...]:
    """Return the rows of the functions around a row, innermost first; the file's at last."""
    enclosing = (node for node in nodes_in(root, row, row) if FUNCTIONS.search(node.type))
    nodes = (root, *(item for item in enclosing if item.child_by_field_name("body")))
    return tuple((node.start_point[0], node.end_point[0]) for node in reversed(nodes))


@lru_cache(maxsize=languages.CACHED_FILES)
def settings_in(path: str, text: str) -> tuple[Setting, ...]:
    """List every statement of a file that gives names a value."""
    root, found = root_of(path, text), []
    for node in nodes_in(root) if root else ():
        names = tuple(name for target in targets_of(node) for name in names_of(target))
        if names:
            start, end = rows_of(node, node.start_point[0])
            found.append(Setting(start, end, names))
    return tuple(found)


def nodes_in(root: Node, first: int = 0, last: int = 1 << 30) -> Iterator[Node]:
    """Walk the nodes that touch some rows, from the outside to the inside, in their order."""
    waiting, left = [(root, 0)], FLOW_NODES
    while waiting and left:
        node, depth = waiting.pop()
        left -= 1
        yield node
        touching = [
            (child, depth + 1)
            for child in (node.children if depth < languages.QUERY_DEPTH else ())
            if child.end_point[0] >= first and child.start_point[0] <= last
        ]
        waiting += touching[::-1]


def text_of(node: Node) -> str:
    """Return a node's text; empty where it is long."""
    if node.end_byte - node.start_byte > languages.LONGEST_NAME:
        return ""
    return (node.text or b"").decode("utf-8", "replace")


def targets_of(node: Node) -> tuple[Node, ...]:
    """Return the nodes that hold what a node sets; none where it sets nothing."""
    if node.type in _CALLED:  # the parameters of a block are set by the call that it is given to
        caller = node.parent
        while caller and caller.type in _WRAPS:
            caller = caller.parent
        parameters = node.child_by_field_name("parameters")
        return (parameters,) if parameters and caller and _CALL.search(caller.type) else ()
    if not languages.RULES.node_patterns["setting"].search(node.type):
        return ()
    fields = (node.child_by_field_name(name) for name in ("left", "name", "alias"))
    target = next((field for field in fields if field), None)
    if target is None and node.type == "foreach_statement":  # PHP's has no fields
        return tuple(child for child in node.named_children[1:] if child.type not in BODIES)
    return (target,) if target else ()


def names_of(target: Node) -> Iterator[str]:
    """Walk the names and members in a pattern."""
    if target.end_byte - target.start_byte > languages.NAMED_LINE:
        return
    if target.type in NAMES or target.type in MEMBERS:
        yield text_of(target)
    elif target.type not in BODIES:
        for child in target.named_children:
            yield from names_of(child)


# Reads single lines of code, of any language, as far as rules need: no parser, bounded work.

_WORD = re.compile(r"[\w$@?!]")

Lines = Mapping[int, str]


def masked(text: str, language: languages.Language) -> str:
    """Return the line with the insides of strings and comments blanked, as long as before."""
    out, quote, at, text = [], "", 0, text[:SHOWN_LINE]
    while at < len(text):
        char = text[at]
        if quote:
            escaped = char == "\\" and at + 1 < len(text)
            out.append("  " if escaped else char if char == quote else " ")
            quote = "" if char == quote else quote
            at += 2 if escaped else 1
            continue
        if text.startswith(language.comment, at):
            return "".join(out) + " " * (len(text) - at)
        quote = char if char in "\"'`" else ""
        out.append(char)
        at += 1
    return "".join(out)


def uses(name: str, text: str) -> tuple[int, ...]:
    """Find where the whole name stands in the text.

    >>> uses("total", "subtotal + total(total_net)")
    (11,)
    """
    pattern = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    return tuple(found.start() for found in re.finditer(pattern, text[:SHOWN_LINE]))


def receiver_before(text: str, at: int) -> str:
    """Return the expression that ends before `at`: names, members, calls and subscripts.

    >>> receiver_before("x = shop.basket(1)['a'].total", 23)
    "shop.basket(1)['a']"
    """
    start, depth = at, 0
    while start > 0:
        char = text[start - 1]
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(char, 0)
        if depth < 0 or (depth == 0 and not _belongs(text, start - 1)):
            break
        start -= 1
    return text[start:at].strip().lstrip(".:>-")


def _belongs(text: str, at: int) -> bool:
    if text[at] in ":>-":
        return text[at - 1 : at + 1] in ("::", "->") or text[at : at + 2] in ("::", "->")
    return bool(_WORD.match(text[at])) or text[at] in ".\\(["


def receivers_of(name: str, text: str, language: languages.Language) -> tuple[str, ...]:
    """Return the expressions whose member `name` the line uses, in order.

    >>> from nightwatch_core.code.languages import RUBY
    >>> receivers_of("total", "puts order.lines.total + cart&.total", RUBY)
    ('order.lines', 'cart')
    """
    receivers = []
    for at in uses(name, text):
        joint = next((j for j in language.member if text[:at].endswith(j)), "")
        if joint:
            receivers.append(receiver_before(text, at - len(joint)))
    return tuple(dict.fromkeys(receiver for receiver in receivers if receiver))


def indent(text: str) -> int:
    """Count the columns before the first character; a tab counts as four."""
    plain = text.expandtabs(4)
    return len(plain) - len(plain.lstrip())


def body_of(lines: Lines, start: int) -> tuple[int, ...]:
    """Number the lines of the block that starts at `start`, by indentation."""
    depth, numbers = indent(lines.get(start, "")), [start]
    number = start + 1
    while number in lines:
        text = lines[number]
        shallow = bool(text.strip()) and indent(text) <= depth
        if shallow and not text.strip().startswith((")", "]", "{")):
            break
        numbers.append(number)
        number += 1
    return tuple(numbers)


def parameters(lines: Lines, start: int) -> tuple[str, ...]:
    """Return the parameters of the function that starts at the line, as written, without self.

    >>> parameters({1: "def f(self, a, *, b: int = g(1, 2),", 2: "      c=None):"}, 1)
    ('a', '*', 'b: int = g(1, 2)', 'c=None')
    """
    return tuple(part for part in arguments(lines, start) if part not in ("self", "cls"))


def arguments(lines: Lines, start: int, opening: int = 0) -> tuple[str, ...]:
    """Say what stands between the parentheses that open on this line, split at its own commas.

    `opening` is the column from which the first parenthesis is taken; up to 30 lines are read.
    """
    rows = [lines.get(start, "")[opening:SHOWN_LINE]]
    rows += [lines[n][:SHOWN_LINE] for n in range(start + 1, start + 30) if n in lines]
    parts, depth, current, quote = [], 0, "", ""
    for char in " ".join(rows):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
            if depth == 1:
                continue
        elif char in ")]}":
            depth -= 1
            if depth <= 0:
                break
        if depth == 1 and char == "," and not quote:
            parts.append(current)
            current = ""
        elif depth:
            current += char
    return tuple(part.strip() for part in (*parts, current) if part.strip())
