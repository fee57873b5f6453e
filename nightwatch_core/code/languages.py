"""Programming languages: their data in `rules/languages.toml`, their parsers and tag queries."""

from collections.abc import Callable
from functools import cache
from typing import Literal

import tree_sitter
import tree_sitter_c_sharp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_php
import tree_sitter_python
import tree_sitter_ruby
import tree_sitter_typescript

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.value import Value
from nightwatch_core.text.rule_files import Pattern, PatternText, load_rules
from nightwatch_core.traces.placing import is_vendored

PARSED_FILE = 500_000  # characters
QUERY_DEPTH, QUERY_WIDTH = 200, 2_000  # levels of a tree; children of a text that is no program
NAMED_FILE, NAMED_LINE = 150_000, 2_000  # characters in which names are looked for
LONGEST_NAME = 200  # bytes
CACHED_FILES = 32  # files whose names are kept: the same few are asked for again and again

Kind = Literal["code", "test", "text", "library", "locale", "lock", "generated", "minified"]


class Language(Value):
    """One language and how it defines names; see `rules/languages.toml`."""

    name: str
    none: str  # what nothing is called
    suffixes: tuple[str, ...]
    aliases: tuple[str, ...] = ()  # as traces and agent files may call it
    comment: str = "//"
    definitions: tuple[PatternText, ...]
    functions: PatternText  # the first line of a function; group `name`
    heads: tuple[str, ...]  # literal texts before a defined name, to search for
    member: tuple[str, ...] = (".",)  # between receiver and member


class BulkFiles(Value):
    """Files whose lines are many and tell little."""

    kind: Kind
    pattern: Pattern


class Asks(Value):
    """A node that asks a value for a member, or for an element where `member` is empty."""

    node: str
    value: tuple[str, ...]
    member: str = ""


class LanguageRules(Value):
    """`rules/languages.toml`."""

    other_code: tuple[str, ...]
    common_names: frozenset[str]
    languages: tuple[Language, ...]
    queries: dict[str, str]
    bulk: tuple[BulkFiles, ...]
    nodes: dict[str, frozenset[str]]
    node_patterns: dict[str, Pattern]
    asks: tuple[Asks, ...]


RULES = load_rules("languages", LanguageRules)
LANGUAGES = RULES.languages
COMMON = RULES.common_names
PYTHON, RUBY, JAVASCRIPT, JAVA, CSHARP, GO, PHP = LANGUAGES


def language_of(path: str, trace_language: str = "") -> Language:
    """Return the language of a file by its suffix, else by the trace; Python if nobody knows.

    >>> language_of("app/a.tsx").name, language_of("x", "golang").name, language_of("x").name
    ('javascript', 'go', 'python')
    """
    name = path.rsplit("/", 1)[-1].lower()
    by_suffix = (language for language in LANGUAGES if name.endswith(language.suffixes))
    printed = trace_language.lower()
    by_name = (item for item in LANGUAGES if printed in (item.name, *item.aliases))
    return next(by_suffix, None) or next(by_name, PYTHON)


# Endings of files, the grammar that parses them, its tag query.
GRAMMARS: tuple[tuple[tuple[str, ...], Callable[[], object], str], ...] = (
    ((".py", ".pyi"), tree_sitter_python.language, "python"),
    ((".rb", ".rake", ".ru", ".jbuilder"), tree_sitter_ruby.language, "ruby"),
    ((".js", ".jsx", ".mjs", ".cjs"), tree_sitter_javascript.language, "javascript"),
    ((".ts", ".mts", ".cts"), tree_sitter_typescript.language_typescript, "typescript"),
    ((".tsx",), tree_sitter_typescript.language_tsx, "typescript"),
    ((".java",), tree_sitter_java.language, "java"),
    ((".go",), tree_sitter_go.language, "go"),
    ((".php",), tree_sitter_php.language_php, "php"),
    ((".cs",), tree_sitter_c_sharp.language, "csharp"),
)
_BY_ENDING = {end: (make, query) for ends, make, query in GRAMMARS for end in ends}


def ending_of(path: str) -> str:
    """Return a file's last ending in small letters, with its dot; empty where it has none."""
    return "." + path.rsplit(".", 1)[-1].lower() if "." in path else ""


def has_grammar(path: str) -> bool:
    """Return whether a grammar parses files of this name."""
    return ending_of(path) in _BY_ENDING


def parsed(path: str, text: str) -> tree_sitter.Node | None:
    """Parse a file and give its root; None where no grammar knows its ending, or it is too long.

    A parser of its own for every text: they are cheap, and not made for several threads.
    """
    if not has_grammar(path) or len(text) > PARSED_FILE:
        return None
    parser = tree_sitter.Parser(_language(ending_of(path)))
    return parser.parse(text.encode("utf-8", "replace")).root_node


def is_readable(root: tree_sitter.Node) -> bool:
    """Return whether a tree is worth a query: a file with errors is, a text without code is not."""
    return root.type != "ERROR" or root.child_count <= QUERY_WIDTH


def captured(path: str, root: tree_sitter.Node) -> dict[str, list[tree_sitter.Node]]:
    """Find the names that the tag query of the file's language captures, by capture."""
    cursor = tree_sitter.QueryCursor(_query(ending_of(path)))
    cursor.set_max_start_depth(QUERY_DEPTH)
    return cursor.captures(root)


@cache
def _language(ending: str) -> tree_sitter.Language:
    return tree_sitter.Language(_BY_ENDING[ending][0]())


@cache
def _query(ending: str) -> tree_sitter.Query:
    name = _BY_ENDING[ending][1]
    query = RULES.queries[name]
    if name == "typescript":
        query = RULES.queries["javascript"] + query
    return tree_sitter.Query(_language(ending), query)


BULK: frozenset[Kind] = frozenset(files.kind for files in RULES.bulk)
_ORDER: tuple[Kind, ...] = ("code", "test", "text", "library")
_SUFFIXES = tuple(end for language in LANGUAGES for end in language.suffixes)


def kind_of(path: str) -> Kind:
    """Return the kind of a file."""
    if is_vendored(path):
        return "library"
    bulk = next((files.kind for files in RULES.bulk if files.pattern.search(path)), None)
    if bulk:
        return bulk
    if TEST.search(path):
        return "test"
    return "code" if is_code(path) else "text"


def is_code(path: str) -> bool:
    """Return whether a file's ending is that of a language or a template."""
    lower = path.lower()
    return has_grammar(path) or lower.endswith(_SUFFIXES) or ending_of(path) in RULES.other_code


def rank_of(path: str, first: tuple[str, ...] = ()) -> tuple[int, int]:
    """Rank a file by what it is for, smaller first; those of `first` come before all others.

    >>> sorted(("tests/test_a.py", "a.md", "b.py", "c.py"), key=lambda p: rank_of(p, ("c.py",)))
    ['c.py', 'b.py', 'tests/test_a.py', 'a.md']
    """
    if path in first:
        return -1, first.index(path)
    kind = kind_of(path)
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER)), 0
