"""Whether a changed file still parses: a real parser per language, never keyword counting."""

import json
import re
import threading
import tomllib
import warnings
from collections.abc import Callable

import jinja2
import tree_sitter
import yaml

from nightwatch_core.code.grammars import ending_of, has_grammar, parsed
from nightwatch_core.code.limits import PARSED_FILE, PARSED_YAML, YAML_DEPTH

_WARNINGS = threading.Lock()  # catching warnings changes a list that all threads share


def complaint(path: str, text: str, before: str | None = None) -> str:
    """Say why the text does not parse; empty where it does, or where no parser knows the language.

    A file that did not parse `before` either is not held against the change; one that is too large
    to be checked is.

    >>> complaint("a.py", "x = (")
    "a.py does not parse: line 1: '(' was never closed"
    >>> complaint("a.rb", "def a; end"), complaint("notes.txt", "((")
    ('', '')
    """
    check = _check_for(path)
    if check is None:
        return ""
    longest = PARSED_YAML if check is _yaml else PARSED_FILE
    if len(text) > longest:
        return f"{path} is too large to be checked: more than {longest:,} characters"
    why = check(text)
    if why and before is not None and (len(before) > longest or check(before)):
        return ""
    return f"{path} does not parse: {why}" if why else ""


def _check_for(path: str) -> Callable[[str], str] | None:
    own = _OWN_PARSERS.get(ending_of(path))
    return own or ((lambda text: _by_grammar(path, text)) if has_grammar(path) else None)


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


def _json(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as wrong:
        return str(wrong)
    return ""


def _toml(text: str) -> str:
    try:
        tomllib.loads(text)
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


def _jinja(text: str) -> str:
    try:
        _JINJA.parse(text)
    except jinja2.TemplateSyntaxError as wrong:
        is_extension = re.search(r"unknown tag '(?!end|el)", wrong.message or "")
        return "" if is_extension else f"line {wrong.lineno}: {wrong.message}"
    except RecursionError as wrong:
        return str(wrong)
    return ""


_JINJA = jinja2.Environment(autoescape=True)  # only to parse: nothing is rendered
_OWN_PARSERS: dict[str, Callable[[str], str]] = {
    ".py": _python,
    ".pyi": _python,
    ".json": _json,
    ".toml": _toml,
    ".yml": _yaml,
    ".yaml": _yaml,
    ".jinja": _jinja,
    ".jinja2": _jinja,
    ".j2": _jinja,
}


def _by_grammar(path: str, text: str) -> str:
    root = parsed(path, text)
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
