"""Whether a changed file still parses: a real parser per language, never keyword counting."""

import ast
import json
import threading
import tomllib
import warnings
from collections.abc import Callable
from functools import cache

import tree_sitter
import tree_sitter_c_sharp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_php
import tree_sitter_ruby
import tree_sitter_typescript
import yaml

LONGEST = 500_000  # characters; parsers take a second or two for it
LONGEST_YAML = 100_000  # its parser is slow
GRAMMARS: dict[str, Callable[[], object]] = {
    ".rb": tree_sitter_ruby.language,
    ".rake": tree_sitter_ruby.language,
    ".ru": tree_sitter_ruby.language,
    ".jbuilder": tree_sitter_ruby.language,
    ".js": tree_sitter_javascript.language,
    ".jsx": tree_sitter_javascript.language,
    ".mjs": tree_sitter_javascript.language,
    ".cjs": tree_sitter_javascript.language,
    ".ts": tree_sitter_typescript.language_typescript,
    ".mts": tree_sitter_typescript.language_typescript,
    ".cts": tree_sitter_typescript.language_typescript,
    ".tsx": tree_sitter_typescript.language_tsx,
    ".java": tree_sitter_java.language,
    ".go": tree_sitter_go.language,
    ".php": tree_sitter_php.language_php,
    ".cs": tree_sitter_c_sharp.language,
}
_DEEPEST_YAML = 200  # levels; its parser takes minutes for brackets a hundred thousand deep
_WARNINGS = threading.Lock()  # catching warnings changes a list that all threads share


def complaint(path: str, text: str, before: str | None = None) -> str:
    """Why the text does not parse; empty where it does, or where no parser knows the language.

    A file that did not parse `before` either is not held against the change; one that is too large
    to be checked is.

    >>> complaint("a.py", "x = (")
    "a.py does not parse: line 1: '(' was never closed"
    >>> complaint("a.rb", "def a; end"), complaint("notes.txt", "((")
    ('', '')
    """
    ending = "." + path.rsplit(".", 1)[-1].lower() if "." in path else ""
    check = _check_for(ending)
    if check is None:
        return ""
    longest = LONGEST_YAML if check is _yaml else LONGEST
    if len(text) > longest:
        return f"{path} is too large to be checked: more than {longest:,} characters"
    why = check(text)
    if why and before is not None and (len(before) > longest or check(before)):
        return ""
    return f"{path} does not parse: {why}" if why else ""


def _check_for(ending: str) -> Callable[[str], str] | None:
    if ending in GRAMMARS:
        return lambda text: _tree_sitter(ending, text)
    return _OTHERS.get(ending)


def _python(text: str) -> str:
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
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
            if depth > _DEEPEST_YAML:
                return f"nested deeper than {_DEEPEST_YAML} levels"
    except (yaml.YAMLError, RecursionError) as wrong:
        return " ".join(str(wrong).split())[:200]
    return ""


_OTHERS: dict[str, Callable[[str], str]] = {
    ".py": _python,
    ".pyi": _python,
    ".json": _json,
    ".toml": _toml,
    ".yml": _yaml,
    ".yaml": _yaml,
}


def _tree_sitter(ending: str, text: str) -> str:
    """A parser of its own for every text: they are cheap, and not made for several threads."""
    parser = tree_sitter.Parser(_language(ending))
    root = parser.parse(text.encode("utf-8", "replace")).root_node
    if not root.has_error:
        return ""
    return f"line {_first_error(root).start_point[0] + 1}"


@cache
def _language(ending: str) -> tree_sitter.Language:
    return tree_sitter.Language(GRAMMARS[ending]())


def _first_error(root: tree_sitter.Node) -> tree_sitter.Node:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            return node
        waiting.extend(reversed([child for child in node.children if child.has_error]))
    return root
