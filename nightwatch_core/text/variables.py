"""What changes from one occurrence of an error to the next, as patterns.

Of the patterns of a table the first that matches at a place wins there. Every repetition is
bounded or starts at a boundary, so that the time grows only with the length.
"""

_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_HOUR = rf"(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d{{1,9}})?)?{_ZONE})?"
_NUMERIC_DAY = r"\d{1,2}(?:/\d{1,2}/|\.\d{1,2}\.|-\d{1,2}-)\d{4}"
_QUOTED = (
    r"\"[^\"\n]{0,400}\"|[`'][^`'\n]{0,400}'|`[^`\n]{0,400}`"
    r"|“[^”\n]{0,400}”|‘[^’\n]{0,400}’|«[^»\n]{0,400}»"
)

# Over several words, in this order: each table with what a text needs to hold any of it. `plain`
# are words that need no look, passed over in one go.
QUOTES_NEED = r"[\"'`“‘«]|#<|=>"
QUOTES: tuple[tuple[str, str], ...] = (
    ("plain", r"(?:[A-Z]?[a-z]{1,40}(?:[ ,']|: )){1,99}"),
    ("object", r"#<[A-Z]\w{0,80}(?:::\w{1,80}){0,8}[ :][^>\n]{1,1000}>"),
    (
        "member",
        r"(?:(?<=[{,])|(?<=[{,] ))(?:\"(?P<double>\w{1,80})\"|'(?P<single>\w{1,80})'"
        r"|(?P<symbol>:\w{1,80}(?= ?=>)))(?P<arrow> ?(?::|=>) ?)"
        r"(?P<member>\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'|[\w.+-]{1,80})(?= ?[,}])",
    ),
    ("request", r"\"(?P<method>GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) [^\"\n]{1,2000}\""),
    ("quoted", rf"(?<![\w\\])(?:{_QUOTED})(?!\w)"),
)
TIMES_NEED = (
    r"\d:\d\d:\d|\d{4}[-/]\d\d|\d[/ -][A-Z][a-z]{2}|\d[./-]\d{1,2}[./-]\d{4}"
    r"|\b(?:[0-9A-Fa-f]{2} ){3}"
)
TIMES: tuple[tuple[str, str], ...] = (
    ("plain", rf"(?:(?!{_DAY}\b)[A-Z]?[a-z]{{3,40}}(?:[ ,']|: )){{1,99}}"),
    ("date", rf"\b{_DAY},? \d{{1,2}}[ -]{_MONTH}[ -]\d{{2,4}} {_CLOCK}{_ZONE}"),
    ("date", rf"\b{_DAY} {_MONTH} {{1,2}}\d{{1,2}} {_CLOCK}{_ZONE}(?: \d{{4}}\b)?"),
    ("date", rf"\b\d{{4}}[-/]\d{{2}}[-/]\d{{2}}{_HOUR}(?!\d)"),
    ("date", rf"\b(?:{_NUMERIC_DAY}|\d{{1,2}}[/ -]{_MONTH}[/ -]\d{{4}})(?:[ :]{_CLOCK}{_ZONE})?"),
    ("time", rf"(?<![\w:.]){_CLOCK}{_ZONE}(?![\w:])"),
    ("n", r"(?i:(?<!\S)(?:[0-9a-f]{2} ){3,400}[0-9a-f]{2}(?!\S))"),  # a dump of bytes
)

_OCTETS = r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
# Endings of names of hosts; none is an ending of source files.
_FIRST_DOMAINS = "com|org|edu|gov|internal|localdomain|corp|lan"
_DOMAINS = (
    f"{_FIRST_DOMAINS}|net|io|dev|app|cloud|local|svc|info|biz|mil|int|uk|de|fr|jp|cn|hk|tw|kr|in"
    "|au|ca|us|eu|nl|it|es|se|no|fi|dk|ch|at|be|br|mx|ru|nz|za|ie|sg|cz|pt|gr|tr|il|ua|ar|cl"
    "|asia|ai|co|me|tv|xyz|site|online|tech|store|shop"
)
_PORT = r":\d{1,5}(?!\w)"
HOST = (  # packages begin with what hosts end with
    rf"(?<![\w.$/@-])(?:localhost(?:{_PORT})?|(?!(?:com|org|net|io|javax?|edu|gov|de)\.)"
    rf"(?:(?:{_LABEL}\.){{2,8}}(?:{_DOMAINS})(?:{_PORT})?"
    rf"|{_LABEL}\.(?:(?:{_DOMAINS}){_PORT}|(?:{_FIRST_DOMAINS}))))(?![\w(/-]|\.\w)"
)
_SEGMENT = r"(?:[\w.@+~%:=,-]|<[a-z]{1,10}>){1,255}"
_UNITS = (
    r"(?:ns|us|µs|ms|msecs?|milliseconds?|microseconds?|nanoseconds?|s|secs?|seconds?"
    r"|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b"
)
_SIZES = r"(?:[kKMGTP]i?[bB]|B)\b"

# Within a word, which has no white space. Numbers in any base and names without a meaning are all
# `n`: a hexadecimal id may by chance have no letter, or no digit.
VARIABLES: tuple[tuple[str, str], ...] = (
    ("kept", r"<[a-z]{1,10}>|'[^'\s]{1,120}'(?!=)"),
    ("token", r"(?<![\w+/=-])(?=[A-Za-z+/_-]{0,400}\d)[A-Za-z0-9+/_-]{16,4000}={1,2}(?![\w+/=])"),
    (
        "pair",
        r"(?<![\w=!<>?&])(?P<key>['\"]?[A-Za-z_][\w.-]{0,60}['\"]?)=(?![=>~])"
        r"(?P<value>'[^'\s]{0,120}'|(?:<[a-z]{1,10}>|[^\s,;&|\"'()\[\]{}]"
        r"|\([^()\s]{0,200}\)|\[[^\[\]\s]{0,200}\]|\{[^{}\s]{0,200}\}){0,2000})",
    ),
    ("url", r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://(?:[^\s\"'<>]|<[a-z]{1,10}>){1,2000}"),
    ("email", r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"),
    ("uuid", r"(?i:(?<![0-9a-f])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-f]))"),
    ("host", rf"(?<![\w.])(?:[\w.-]{{0,64}}/)?{_OCTETS}(?::\d{{1,5}}|/\d{{1,2}})?(?!\.?\w)"),
    (
        "host",
        r"(?i:(?<![\w:.])(?=[a-f:]{0,38}\d)(?:[0-9a-f]{0,4}:){2,15}[0-9a-f]{0,4}(?![\w:]))",
    ),
    ("host", HOST),
    ("path", r"(?<![\w\\])[A-Za-z]:\\[^\s\"'<>|,;]{1,400}"),
    (
        "path",
        rf"(?<![\w<>)\]./])(?:~|\.{{1,2}})?/{{1,3}}(?:{_SEGMENT}/{{1,3}}){{0,60}}{_SEGMENT}/?",
    ),
    ("n", r"(?i:(?<![0-9a-z])0x[0-9a-f]{1,64}(?![0-9a-z]))"),
    ("n", r"(?i:(?<=@)[0-9a-f]{5,16}\b)"),
    ("n", r"(?<![\w.-])[a-z][a-z0-9-]{1,80}-[b-z2-9]{6,10}-[b-df-hj-np-tv-xz2-9]{5}(?![\w-])"),
    ("size", rf"(?<![\w.])\d{{1,15}}(?:[.,]\d{{1,9}})?{_SIZES}"),
    ("duration", rf"(?<![\w.])[-+]?(?!0\d)\d{{1,15}}(?:[.,]\d{{1,9}})?{_UNITS}"),
    ("duration", r"(?<![\w.])(?:\d{1,9}(?:\.\d{1,9})?(?:ms|h|m|s)){2,4}\b"),
    (
        "n",
        r"(?<![\w.])(?:v\d{1,5}(?:\.\d{1,5}){1,4}|\d{1,5}(?:\.\d{1,5}){1,4}(?=[.+-]?[A-Za-z]))"
        r"(?:[.+-]?(?:RELEASE|Final|GA|SNAPSHOT|alpha|beta|pre|dev|post|rc|RC|M)[.-]?\d{0,5})?"
        r"(?![\w])",
    ),
    ("n", r"(?<![^\W_])(?<![)\]])[-+]?\d{1,400}(?:[.,:]\d{1,400}){0,9}(?:[eE][-+]?\d{1,4})?(?!\w)"),
    ("n", r"(?<!\w)(?:[a-f0-9]{8,64}|[A-F0-9]{8,64})(?!\w)"),
    ("token", r"(?<![\w+/=-])[A-Za-z0-9+/_-]{16,4000}={0,2}(?![\w+/=])"),
    ("word", r"\b[^\W\d]{0,80}\d\w*"),
)

# What only shows once the rest is replaced, as (pattern, replacement), in this order.
FOLDS: tuple[tuple[str, str], ...] = (
    (rf"<n>(?<![\w>.-]<n>) {_UNITS}", "<duration>"),
    (rf"<n>(?<![\w>.-]<n>) {_SIZES}", "<size>"),
    (r"\[<host>\](?::<n>)?", "<host>"),
    (r" \((?:<size>|<host>)?\)", ""),  # said again, or not known
    (r"[A-Za-uw-z]<n>(?<=[^\W_][_-].{4})(?![\w<])", "<n>"),  # rack_B7
    (r"(?<!\S)([^\s<]{0,40}<n>)(?:[,;|]? \1|[,;|]\1){1,999}(?![^\s,;:)\]])", r"\1"),
    (r"(<[a-z]{1,10}>)(?:[,;| ]{1,3}\1)+", r"\1"),
    (r"(\((?:<[a-z]{1,10}>|'\w{1,80}'|, ?){1,40}\))(?:, ?\1)+", r"\1"),
)
USER = (
    r"([uU]ser )(?:(?<=\b[fF]or .{5})|(?<=\bby .{5})|(?<=\b[iI]nvalid .{5})|(?<=\b[uU]nknown .{5}))"
    r"(?:'[^'\s]{1,120}'|<[a-z]{1,10}>|[^\s'\"<>,:;@]{1,120})(?:@(?:'[^'\s]{1,120}'|<[a-z]{1,10}>))?"
)

# A quoted name is a value, not an identifier, right after or right before one of these.
VALUE_LEADS = (
    r"=", r"input string:", r"with base \d+:", r"string to (?:float|int):",
    r"for type [\w ]{1,40}:", r"\bentry", r"\bvalue(?: for [\w ()]{1,40})?:?", r"\bgot:?",
    r"\b(?:date|token|number|enum|url|uri):?", r"at or near", r"\bfor (?:Integer|Float)\(\):",
)  # fmt: skip
VALUE_TAILS = (r" is not (?:a )?valid\b", r" value must be\b", r" is invalid\b")

# Endings of keys whose value says what went wrong, or with which part of the program.
TELLING_KEYS = (
    "error", "err", "errno", "code", "reason", "cause", "status", "state", "result", "type", "kind",
    "class", "exception", "message", "msg", "domain", "method", "function", "action", "event", "op",
    "operation", "step", "phase", "stage", "table", "column", "field", "attribute", "attr", "param",
    "parameter", "property", "relation", "constraint", "model", "module", "component", "feature",
    "level", "severity", "mode", "access", "format", "encoding", "charset",
)  # fmt: skip
