"""Whether a changed file still parses: a real parser per language, never keyword counting."""

import ast
import json
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

GRAMMARS: dict[str, Callable[[], object]] = {
    ".rb": tree_sitter_ruby.language,
    ".rake": tree_sitter_ruby.language,
    ".ru": tree_sitter_ruby.language,
    ".js": tree_sitter_javascript.language,
    ".jsx": tree_sitter_javascript.language,
    ".mjs": tree_sitter_javascript.language,
    ".cjs": tree_sitter_javascript.language,
    ".ts": tree_sitter_typescript.language_typescript,
    ".tsx": tree_sitter_typescript.language_tsx,
    ".java": tree_sitter_java.language,
    ".go": tree_sitter_go.language,
    ".php": tree_sitter_php.language_php,
    ".cs": tree_sitter_c_sharp.language,
}


def complaint(path: str, text: str, before: str | None = None) -> str:
    """Why the text does not parse; empty where it does, or where no parser knows the language.

    A file that did not parse `before` either is not held against the change.

    >>> complaint("a.py", "x = (")
    "a.py does not parse: line 1: '(' was never closed"
    >>> complaint("a.rb", "def a; end"), complaint("notes.txt", "((")
    ('', '')
    """
    check = _check_for(path)
    if check is None:
        return ""
    why = check(text)
    if why and before is not None and check(before):
        return ""
    return f"{path} does not parse: {why}" if why else ""


def _check_for(path: str) -> Callable[[str], str] | None:
    ending = "." + path.rsplit(".", 1)[-1].lower() if "." in path else ""
    if ending in GRAMMARS:
        return lambda text: _tree_sitter(ending, text)
    return {".py": _python, ".json": _json, ".yml": _yaml, ".yaml": _yaml}.get(ending)


def _python(text: str) -> str:
    try:
        with warnings.catch_warnings():
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


def _yaml(text: str) -> str:
    try:
        for _ in yaml.parse(text, Loader=yaml.SafeLoader):
            pass
    except (yaml.YAMLError, RecursionError) as wrong:
        return " ".join(str(wrong).split())[:200]
    return ""


def _tree_sitter(ending: str, text: str) -> str:
    root = _parser(ending).parse(text.encode()).root_node
    if not root.has_error:
        return ""
    node = _first_error(root)
    return f"line {node.start_point[0] + 1}"


@cache
def _parser(ending: str) -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(GRAMMARS[ending]()))


def _first_error(root: tree_sitter.Node) -> tree_sitter.Node:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            return node
        waiting.extend(reversed([child for child in node.children if child.has_error]))
    return root
