"""What is known of programming languages beside their grammars: data."""

from nightwatch_core.models.value import Value


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
