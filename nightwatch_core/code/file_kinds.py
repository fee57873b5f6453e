"""What a file is for, as far as its path tells: code, tests, texts, libraries, or bulk."""

import re
from typing import Literal

from nightwatch_core.code.grammars import ending_of, has_grammar
from nightwatch_core.code.languages import LANGUAGES
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.traces.path_index import is_vendored

Kind = Literal["code", "test", "text", "library", "locale", "lock", "generated", "minified"]

# Files whose lines are many and tell little, the first that fits.
_BULK: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "locale",
        re.compile(
            r"\.(?:po|pot|xliff|xlf|arb|ftl)$"
            r"|(?:^|/)(?:locales?|i18n|translations|lang|langs)/.*\.(?:json|ya?ml|properties|php|resx)$"
            r"|[._][a-z]{2}(?:[-_][A-Z]{2})?\.(?:resx|properties)$"
        ),
    ),
    (
        "lock",
        re.compile(
            r"(?:^|/)(?:[\w.-]+\.lock|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml"
            r"|go\.sum|Pipfile\.lock|packages\.lock\.json)$"
        ),
    ),
    ("minified", re.compile(r"[.-](?:min|bundle|chunk)\.\w+$|\.(?:map|svg)$")),
    (
        "generated",
        re.compile(
            r"(?:^|/)(?:generated|__generated__|__snapshots__|dist|htmlcov)/"
            r"|\.(?:snap|pb\.go|g\.dart|designer\.cs|g\.cs)$|_pb2(?:_grpc)?\.pyi?$|\.generated\.\w+$"
        ),
    ),
)
BULK: frozenset[Kind] = frozenset(kind for kind, _ in _BULK)
_ORDER: tuple[Kind, ...] = ("code", "test", "text", "library")
_SUFFIXES = tuple(end for language in LANGUAGES for end in language.suffixes)
# Code that no grammar of ours parses.
_OTHER_CODE = (
    *(".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".swift", ".m", ".ex", ".exs", ".erl", ".clj"),
    *(".sql", ".sh", ".html", ".svelte", ".twig", ".ejs", ".hbs", ".jinja", ".j2", ".graphql"),
    *(".proto", ".css", ".scss", ".vb", ".fs", ".lua", ".pl", ".pm", ".dart"),
)


def kind_of(path: str) -> Kind:
    """Tell what a file is for.

    >>> [kind_of(path) for path in ("app/a.py", "tests/test_a.py", "locale/de.po", "README.md")]
    ['code', 'test', 'locale', 'text']
    >>> [kind_of(path) for path in ("yarn.lock", "web/app.min.js", "vendor/a/b.rb", "dist/a.js")]
    ['lock', 'minified', 'library', 'generated']
    """
    if is_vendored(path):
        return "library"
    bulk = next((kind for kind, pattern in _BULK if pattern.search(path)), None)
    if bulk:
        return bulk
    if TEST.search(path):
        return "test"
    return "code" if is_code(path) else "text"


def is_code(path: str) -> bool:
    """Tell whether a file's ending is that of a language or a template."""
    lower = path.lower()
    return has_grammar(path) or lower.endswith(_SUFFIXES) or ending_of(path) in _OTHER_CODE


def rank_of(path: str, first: tuple[str, ...] = ()) -> tuple[int, int]:
    """Rank a file by what it is for, smaller first; those of `first` come before all others.

    >>> sorted(("tests/test_a.py", "a.md", "b.py", "c.py"), key=lambda p: rank_of(p, ("c.py",)))
    ['c.py', 'b.py', 'tests/test_a.py', 'a.md']
    """
    if path in first:
        return -1, first.index(path)
    kind = kind_of(path)
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER)), 0
