"""What is known of programming languages beside their grammars: data."""

import re
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
from nightwatch_core.code.limits import PARSED_FILE, QUERY_DEPTH, QUERY_WIDTH
from nightwatch_core.models.value import Value
from nightwatch_core.traces.placing import is_vendored


class Language(Value):
    """How one language defines, assigns, imports and gives back nothing.

    Patterns are regular expressions over one line of code with strings and comments blanked out;
    in `definitions` the name is the group `name`.
    """

    name: str
    none: str  # what nothing is called
    suffixes: tuple[str, ...]
    aliases: tuple[str, ...] = ()  # as traces and agent files may call it
    comment: str = "//"
    definitions: tuple[str, ...]
    functions: str  # the first line of a function; group `name`
    heads: tuple[str, ...]  # literal texts before a defined name, to search for
    receiver: str = "this"
    nothing: str  # an exit of a function that gives nothing
    lookups: str  # an expression that gives nothing when nothing is found
    member: tuple[str, ...] = (".",)  # between receiver and member
    standard: dict[str, str] = {}  # names of the standard library and the line that imports them


_C_LIKE = (
    r"^\s*(?:export\s+)?(?:(?:public|private|protected|internal|static|final|abstract|sealed"
    r"|partial|readonly|data|open)\s+)*(?:class|interface|enum|record|struct|trait)\s+(?P<name>\w+)"
)
_C_METHOD = (
    r"^\s*(?:(?:public|private|protected|internal|static|final|abstract|async|override|virtual"
    r"|synchronized)\s+)+(?:[\w<>\[\],.?]+\s+)?(?P<name>\w+)\s*\("
)

PYTHON = Language(
    name="python",
    none="None",
    suffixes=(".py", ".pyi"),
    comment="#",
    definitions=(
        r"^\s*(?:async\s+)?def\s+(?P<name>\w+)",
        r"^\s*class\s+(?P<name>\w+)",
        r"^\s*(?:self|cls)\.(?P<name>\w+)\s*(?::[^=]+)?=(?!=)",
        r"^(?:    )?(?P<name>\w+)\s*(?::[^=]+)?=(?!=)",
        r"^    (?P<name>\w+)\s*:\s*[\w\"'\[]",
    ),
    functions=r"^\s*(?:async\s+)?def\s+(?P<name>\w+)",
    heads=("def ", "class "),
    receiver="self",
    nothing=r"^\s*return(?:\s+None)?\s*$|\belse\s+None\b|\breturn\s+None\b",
    lookups=(
        r"\.get\([^,()]*(?:\([^()]*\))?\)|\.first\(\)|\.one_or_none\(|\.scalar_one_or_none\("
        r"|\bre\.(?:match|search|fullmatch)\(|\bgetenv\(|\bnext\([^()]*(?:\([^()]*\))?[^()]*,"
        r"\s*None\)|\.find_one\(|\.fetchone\(|,\s*None\)"
    ),
    standard={
        **{
            name: f"import {name}"
            for name in (
                *("abc", "argparse", "asyncio", "base64", "collections", "contextlib", "copy"),
                *("csv", "dataclasses", "decimal", "enum", "functools", "glob", "gzip", "hashlib"),
                *("hmac", "html", "inspect", "io", "itertools", "json", "logging", "math"),
                *("mimetypes", "operator", "os", "pathlib", "pickle", "random", "re", "secrets"),
                *("shutil", "signal", "socket", "sqlite3", "statistics", "string", "subprocess"),
                *("sys", "tempfile", "textwrap", "threading", "traceback", "typing", "unicodedata"),
                *("urllib", "uuid", "warnings", "zlib", "zoneinfo"),
            )
        },
        **{
            name: f"from {module} import {name}"
            for module, names in (
                ("collections", ("Counter", "OrderedDict", "defaultdict", "deque", "namedtuple")),
                ("contextlib", ("contextmanager", "suppress")),
                ("dataclasses", ("dataclass",)),
                ("datetime", ("timedelta", "timezone")),
                ("decimal", ("Decimal",)),
                ("enum", ("Enum",)),
                ("functools", ("lru_cache", "partial", "wraps")),
                ("pathlib", ("Path",)),
                ("typing", ("Any", "Optional")),
                ("uuid", ("uuid4",)),
            )
            for name in names
        },
    },
)

RUBY = Language(
    name="ruby",
    none="nil",
    suffixes=(".rb", ".rake", ".erb", ".haml", ".slim", ".builder", ".jbuilder"),
    comment="#",
    definitions=(
        r"^\s*(?:private\s+|protected\s+)?def\s+(?:self\.)?(?P<name>\w+[?!=]?)",
        r"^\s*(?:class|module)\s+(?:\w+::)*(?P<name>\w+)",
        r"^\s*(?P<name>[A-Z]\w*)\s*=(?!=)",
        r"^\s*(?:attr_\w+|scope|belongs_to|has_\w+|delegate|enum|alias_method|define_method"
        r"|attribute|store_accessor)[ (]+:(?P<name>\w+[?!]?)",
        r"^\s*attr_\w+\s+(?::\w+,\s*)+:(?P<name>\w+)",
    ),
    functions=r"^\s*(?:private\s+|protected\s+)?def\s+(?:self\.)?(?P<name>\w+[?!=]?)",
    heads=("def ", "def self.", "class ", "module "),
    receiver="self",
    nothing=r"^\s*return\s*(?:nil)?\s*(?:$|if\b|unless\b)|^\s*nil\s*$|:\s*nil\s*$|\bthen nil\b",
    lookups=(
        r"\.find_by\b|\.first\b|\.last\b|\.detect\b|\.find\s*(?:\{|do\b)|\.dig\b|&\.|\.match\b"
        r"|\bENV\[|\.presence\b|\.try\b|\[[^\]]*\]\s*$|\.take\b|\.try_convert\b"
    ),
    member=("&.", "."),
    standard={
        "BigDecimal": 'require "bigdecimal"',
        "CSV": 'require "csv"',
        "Digest": 'require "digest"',
        "ERB": 'require "erb"',
        "FileUtils": 'require "fileutils"',
        "JSON": 'require "json"',
        "OpenSSL": 'require "openssl"',
        "OpenStruct": 'require "ostruct"',
        "Pathname": 'require "pathname"',
        "SecureRandom": 'require "securerandom"',
        "Set": 'require "set"',
        "StringIO": 'require "stringio"',
        "Tempfile": 'require "tempfile"',
        "Timeout": 'require "timeout"',
        "URI": 'require "uri"',
        "YAML": 'require "yaml"',
    },
)

JAVASCRIPT = Language(
    name="javascript",
    none="undefined",
    suffixes=(".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue"),
    aliases=("js", "typescript", "ts", "node"),
    definitions=(
        r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(?P<name>[\w$]+)",
        _C_LIKE,
        r"^\s*(?:export\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)\s*(?::[^=]+)?=(?!=)",
        r"^\s*(?:module\.)?exports\.(?P<name>[\w$]+)\s*=(?!=)",
        r"^\s*(?:(?:static|async|get|set|public|private|protected|readonly)\s+)*(?P<name>[\w$]+)"
        r"\s*(?:<[^<>]*>)?\([^()]*\)\s*(?::[^{]+)?\{\s*$",
        r"^\s*(?P<name>[\w$]+)\s*:\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*=>)",
        r"^\s*this\.(?P<name>[\w$]+)\s*=(?!=)",
    ),
    functions=(
        r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(?P<name>[\w$]+)"
        r"|^\s*(?:export\s+)?(?:const|let|var)\s+(?P<arrow>[\w$]+)\s*=\s*(?:async\s*)?\(?[^()]*\)?"
        r"\s*=>|^\s*(?:(?:static|async|get|set|public|private|protected)\s+)*(?P<method>(?!if\b|for\b|while\b|switch\b"
        r"|catch\b)[\w$]+)\s*(?:<[^<>]*>)?\([^()]*\)\s*(?::[^{]+)?\{\s*$"
    ),
    heads=("function ", "class ", "const "),
    nothing=r"\breturn(?:\s+(?:null|undefined))?\s*;?\s*(?:\}|$)|:\s*(?:null|undefined)\s*;?\s*$",
    lookups=(
        r"\.find\(|\.match\(|\.get\(|\.pop\(\)|\.shift\(\)|querySelector\(|getElementById\("
        r"|\.exec\(|\.findOne\(|\.findUnique\(|\.findFirst\(|\.getItem\(|\?\.|process\.env\."
    ),
    member=("?.", "."),
    standard={
        name: name
        for name in (
            *("crypto", "events", "fs", "http", "https", "os", "path", "querystring", "stream"),
            *("url", "util", "zlib"),
        )
    },
)

JAVA = Language(
    name="java",
    none="null",
    suffixes=(".java", ".kt", ".scala", ".groovy"),
    aliases=("kotlin", "scala"),
    definitions=(
        _C_LIKE,
        _C_METHOD,
        r"^\s*(?:\w+\s+){0,3}fun\s+(?P<name>\w+)",
        r"^\s*(?:\w+\s+)+(?P<name>\w+)\s*(?:=(?!=)|;\s*$)",
    ),
    functions=_C_METHOD,
    heads=("class ", "interface ", "enum "),
    nothing=r"\breturn\s+null\b|:\s*null\s*;",
    lookups=r"\.get\(|\.poll\(|\.peek\(|\.getProperty\(|\.getenv\(|\.getParameter\(|\.orElse\(null",
)

CSHARP = Language(
    name="csharp",
    none="null",
    suffixes=(".cs",),
    aliases=("c#", "cs", "dotnet"),
    definitions=(_C_LIKE, _C_METHOD, r"^\s*(?:\w+\s+)+(?P<name>\w+)\s*(?:=(?!=)|;\s*$|\{ get)"),
    functions=_C_METHOD,
    heads=("class ", "interface ", "enum "),
    nothing=r"\breturn\s+(?:null|default)\b|:\s*null\s*;",
    lookups=r"OrDefault\(|\.Find\(|\bas\s+\w+|\?\.|GetService\(|\.FindAsync\(|GetEnvironmentVariable\(",
    member=("?.", "."),
)

GO = Language(
    name="go",
    none="nil",
    suffixes=(".go",),
    aliases=("golang",),
    definitions=(
        r"^func\s+(?:\([^()]*\)\s*)?(?P<name>\w+)",
        r"^\s*type\s+(?P<name>\w+)",
        r"^\s*(?:var|const)\s+(?P<name>\w+)",
    ),
    functions=r"^func\s+(?:\([^()]*\)\s*)?(?P<name>\w+)",
    heads=("func ", "type "),
    nothing=r"\breturn\s+nil\b",
    lookups=r"\[[^\]]+\]\s*$|\.Load\(|\.Value\(",
)

PHP = Language(
    name="php",
    none="null",
    suffixes=(".php", ".phtml"),
    definitions=(
        r"^\s*(?:(?:public|private|protected|static|final|abstract)\s+)*function\s+&?(?P<name>\w+)",
        r"^\s*(?:(?:final|abstract|readonly)\s+)*(?:class|interface|trait|enum)\s+(?P<name>\w+)",
        r"^\s*(?:(?:public|private|protected|static|readonly|var)\s+)+(?:[?\w\\|]+\s+)?\$"
        r"(?P<name>\w+)",
        r"^\s*(?:\w+\s+)?const\s+(?P<name>\w+)",
    ),
    functions=(
        r"^\s*(?:(?:public|private|protected|static|final|abstract)\s+)*function\s+&?(?P<name>\w+)"
    ),
    heads=("function ", "class ", "interface ", "trait "),
    receiver="$this",
    nothing=r"\breturn(?:\s+null)?\s*;|:\s*null\s*;",
    lookups=r"->first\(|->find\(|->get\(|findOne|\?->|\bgetenv\(|->input\(|array_shift\(|\?\?\s*null",
    member=("?->", "->", "::"),
)

LANGUAGES: tuple[Language, ...] = (PYTHON, RUBY, JAVASCRIPT, JAVA, CSHARP, GO, PHP)


def language_of(path: str, trace_language: str = "") -> Language:
    """Tell the language of a file by its suffix, else by the trace; Python if nobody knows.

    >>> language_of("app/a.tsx").name, language_of("x", "golang").name, language_of("x").name
    ('javascript', 'go', 'python')
    """
    name = path.rsplit("/", 1)[-1].lower()
    by_suffix = (one for one in LANGUAGES if name.endswith(one.suffixes))
    by_name = (one for one in LANGUAGES if trace_language.lower() in (one.name, *one.aliases))
    return next(by_suffix, None) or next(by_name, PYTHON)


# The parsers of programming languages, and the tag queries that find names in their trees.
#
# A tag query captures names: `@function` and `@class` where one is defined, `@value` where a
# constant, an attribute or a variable gets its value (`@variable`: surely a local one), `@use`
# where
# code uses a name that may stand for one of these. `@_name` only serves a condition.

_PYTHON = """
(function_definition name: (_) @function)
(class_definition name: (_) @class)
(assignment left: (identifier) @value)
(assignment left: (attribute object: (identifier) @_self) @value (#any-of? @_self "self" "cls"))
(call function: (identifier) @use)
(attribute attribute: (_) @use)
"""
_RUBY = """
(method name: (_) @function)
(singleton_method name: (_) @function)
(class name: (_) @class)
(module name: (_) @class)
(assignment left: (constant) @value)
(assignment left: (identifier) @variable)
(call method: (identifier) @_macro arguments: (argument_list (simple_symbol) @value)
  (#match? @_macro "^(attr_|has_|scope$|belongs_to$|delegate$|enum$|alias_method$|attribute$)"))
(call method: (identifier) @_macro arguments: (argument_list . (simple_symbol) @function)
  (#match? @_macro "^(define_method|store_accessor)$"))
[(identifier) (constant)] @use
"""
_JAVASCRIPT = """
(function_declaration name: (_) @function)
(generator_function_declaration name: (_) @function)
(method_definition name: (_) @function)
(class_declaration name: (_) @class)
(variable_declarator name: (identifier) @function
  value: [(arrow_function) (function_expression) (generator_function)])
(variable_declarator name: (identifier) @value)
(assignment_expression left: (member_expression) @function
  right: [(arrow_function) (function_expression) (generator_function)])
(assignment_expression left: (member_expression object: (this)) @value)
(assignment_expression left: (member_expression object: (_) @_exports) @value
  (#match? @_exports "^(module[.])?exports$"))
(pair key: (_) @function value: [(arrow_function) (function_expression) (generator_function)])
(call_expression function: (identifier) @use)
(new_expression constructor: (identifier) @use)
(member_expression property: (_) @use)
"""
_TYPESCRIPT = (
    _JAVASCRIPT
    + """
(abstract_class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(enum_declaration name: (_) @class)
(type_alias_declaration name: (_) @class)
(internal_module name: (_) @class)
(function_signature name: (_) @function)
(abstract_method_signature name: (_) @function)
(method_signature name: (_) @function)
(public_field_definition name: (_) @value)
"""
)
_JAVA = """
(class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(annotation_type_declaration name: (_) @class)
(enum_declaration name: (_) @class)
(record_declaration name: (_) @class)
(method_declaration name: (_) @function)
(constructor_declaration name: (_) @function)
(variable_declarator name: (_) @value)
(enum_constant name: (_) @value)
(method_invocation name: (_) @use)
(object_creation_expression type: (_) @use)
(field_access field: (_) @use)
"""
_GO = """
(function_declaration name: (_) @function)
(method_declaration name: (_) @function)
(type_spec name: (_) @class)
(type_alias name: (_) @class)
(const_spec name: (_) @value)
(var_spec name: (_) @value)
(call_expression function: (identifier) @use)
(selector_expression field: (_) @use)
"""
_PHP = """
(function_definition name: (_) @function)
(method_declaration name: (_) @function)
(class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(trait_declaration name: (_) @class)
(enum_declaration name: (_) @class)
(property_element name: (_) @value)
(property_promotion_parameter name: (_) @value)
(const_element (name) @value)
(function_call_expression function: (_) @use)
(member_call_expression name: (_) @use)
(nullsafe_member_call_expression name: (_) @use)
(scoped_call_expression name: (_) @use)
(object_creation_expression [(name) (qualified_name)] @use)
(member_access_expression name: (_) @use)
"""
_C_SHARP = """
(class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(struct_declaration name: (_) @class)
(record_declaration name: (_) @class)
(enum_declaration name: (_) @class)
(delegate_declaration name: (_) @class)
(method_declaration name: (_) @function)
(constructor_declaration name: (_) @function)
(local_function_statement name: (_) @function)
(property_declaration name: (_) @value)
(variable_declarator name: (_) @value)
(enum_member_declaration name: (_) @value)
(invocation_expression function: (identifier) @use)
(member_access_expression name: (_) @use)
(member_binding_expression name: (_) @use)
(object_creation_expression type: (_) @use)
"""

# Endings of files, the grammar that parses them, its tag query.
GRAMMARS: tuple[tuple[tuple[str, ...], Callable[[], object], str], ...] = (
    ((".py", ".pyi"), tree_sitter_python.language, _PYTHON),
    ((".rb", ".rake", ".ru", ".jbuilder"), tree_sitter_ruby.language, _RUBY),
    ((".js", ".jsx", ".mjs", ".cjs"), tree_sitter_javascript.language, _JAVASCRIPT),
    ((".ts", ".mts", ".cts"), tree_sitter_typescript.language_typescript, _TYPESCRIPT),
    ((".tsx",), tree_sitter_typescript.language_tsx, _TYPESCRIPT),
    ((".java",), tree_sitter_java.language, _JAVA),
    ((".go",), tree_sitter_go.language, _GO),
    ((".php",), tree_sitter_php.language_php, _PHP),
    ((".cs",), tree_sitter_c_sharp.language, _C_SHARP),
)
_BY_ENDING = {end: (make, query) for ends, make, query in GRAMMARS for end in ends}


def ending_of(path: str) -> str:
    """Give a file's last ending in small letters, with its dot; empty where it has none."""
    return "." + path.rsplit(".", 1)[-1].lower() if "." in path else ""


def has_grammar(path: str) -> bool:
    """Tell whether a grammar parses files of this name."""
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
    """Tell whether a tree is worth a query: a file with errors is, a text without any code not."""
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
    return tree_sitter.Query(_language(ending), _BY_ENDING[ending][1])


# What a file is for, as far as its path tells: code, tests, texts, libraries, or bulk.

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
