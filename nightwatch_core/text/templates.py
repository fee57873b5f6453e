"""Messages without what changes from one occurrence to the next."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from nightwatch_core.privacy.masks import without_numbers

# Transactions without what changes from one call to the next.

TRANSACTION_LIMIT = 1_024
REMEMBERED = 2_048

_URL_LIKE = re.compile(r"(?:[A-Z]{3,8} )?(?:/|[a-z][a-z0-9+.-]{1,20}://)")
_QUERY = re.compile(r"\?[\w.%\[\]-]{1,200}=|;jsessionid=", re.IGNORECASE)
_STEP = re.compile(r"[^/\s]+")
_VERSION = re.compile(r"v\d{1,3}(?:\.\d{1,3})?|[A-Za-z]+\d{1,2}")  # v2, s3, oauth2: names


def transaction_template(transaction: str) -> str:
    """The transaction without ids in its path and without a query string.

    >>> transaction_template("GET /api/v1/orders/4711/lines/9f8e7d6c5b?page=2")
    'GET /api/v1/orders/<n>/lines/<n>'
    >>> transaction_template("Controller/orders/update"), transaction_template("Order#paid?")
    ('Controller/orders/update', 'Order#paid?')
    """
    return _transaction_template(transaction[:TRANSACTION_LIMIT])


@lru_cache(maxsize=REMEMBERED)
def _transaction_template(transaction: str) -> str:
    text = " ".join(transaction.split())
    is_url = bool(_URL_LIKE.match(text))
    query = _QUERY.search(text)
    text = text.partition("?")[0] if is_url else text
    text = text[: query.start()] if query else text
    text = _STEP.sub(_step, text)
    return text.rstrip("/") or "/" if is_url else text


def _step(match: re.Match[str]) -> str:
    step = match[0]
    if _VERSION.fullmatch(step) or (not any(map(str.isdigit, step)) and "%" not in step):
        return "<email>" if "@" in step[1:] and "." in step else step
    if "%" in step:
        return "<id>"
    return _word_template(step)


# What changes from one occurrence of an error to the next, as patterns.
#
# Of the patterns of a table the first that matches at a place wins there. Every repetition is
# bounded or starts at a boundary, so that the time grows only with the length.

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
    ("host", r"(?i:(?<![\w:.])(?=[a-f:]{0,38}\d)(?:[0-9a-f]{0,4}:){2,15}[0-9a-f]{0,4}(?![\w:]))"),
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

MESSAGE_LIMIT = 8_192  # characters looked at, before any pattern
TEMPLATE_LIMIT = 300  # characters kept: sources cut long messages at different places
REMEMBERED_MESSAGE_TEMPLATES = 2_048  # templates kept in memory: errors come in swarms
REMEMBERED_WORDS = 16_384

Table = Iterable[tuple[str, str]]


def _one_of(table: Table) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}_{at}>{p})" for at, (name, p) in enumerate(table)))


_SPANS = tuple(
    (re.compile(need), _one_of(table))
    for need, table in ((QUOTES_NEED, QUOTES), (TIMES_NEED, TIMES))
)
_VARIABLES = _one_of(VARIABLES)
_IN_VALUES = _one_of((name, pattern) for name, pattern in VARIABLES if name != "pair")
_USER, _HOST = re.compile(USER), re.compile(HOST)
_FOLDS = tuple((re.compile(pattern), replacement) for pattern, replacement in FOLDS)
# Nothing of the above without one of these.
_TRIGGER = re.compile(r"[\d\"'`“‘«/\\@=]|#<| \(\)|\S{8}|[uU]ser ")

_LEAD = re.compile(rf"(?:{'|'.join(VALUE_LEADS)})\s?\(?$", re.IGNORECASE)
_TAIL = re.compile("|".join(VALUE_TAILS), re.IGNORECASE)
_TELLING = re.compile(rf"(?:{'|'.join(TELLING_KEYS)})['\"]?$", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[@$:]{0,2}[^\W\d]+(?:(?:\.|::|\\|#|\$)[^\W\d]+)*[?!=]?(?:\(\))?")

_DIGITS = re.compile(r"(?:(?<=_)-)?\d+(?:\.\d+)*")
_HEX = re.compile(r"(?=\d*[a-fA-F])(?=(?:[a-zA-Z]*\d){2})(?:[0-9a-f]{4,}|[0-9A-F]{4,})")
_LONG_HEX = re.compile(r"[0-9a-f]{7,}|[0-9A-F]{7,}")
_TOKEN_WORD = re.compile(r"(?:(?<=_)-(?=\d))?[^\W_]+")
_PREFIX = re.compile(r"(?:[a-z]{2,12}[_-]){1,3}(?=[A-Za-z0-9]{8})")  # req-…, sk_live_…
_COMPOUND = re.compile(r"(?:[\w.~:+@$%\\*-]|<[a-z]{1,10}>)*(?:\w|<[a-z]{1,10}>)")
_LINE_WITH_A_WORD = re.compile(r"[^\W\d_]")


def message_template(message: str) -> str:
    """The message with readable placeholders for everything that names one occurrence.

    Numbers, in any base, and opaque names are `<n>`. Quoted identifiers (methods, attributes,
    columns) stay; other quoted text is a value and goes. Of several lines the first with a word
    counts, and what follows its colon at the end of a line.

    >>> message_template("Couldn't find Order with 'id'=4711 for bob@example.org")
    "Couldn't find Order with 'id'=<n> for <email>"
    >>> message_template("undefined method `total' for #<Order:0x00007f3a id: 5>")
    "undefined method 'total' for #<Order>"
    >>> message_template('invalid input syntax for type integer: "abc"')
    'invalid input syntax for type integer: <quoted>'
    """
    return _message_template(without_numbers(message[:MESSAGE_LIMIT]))


@lru_cache(maxsize=REMEMBERED_MESSAGE_TEMPLATES)
def _message_template(message: str) -> str:
    text = _meaningful(message)
    if _TRIGGER.search(text):
        for need, spans in _SPANS:
            text = spans.sub(_placeholder, text) if need.search(text) else text
        text = _folded(" ".join(map(_word_template, text.split())))
    return " ".join(text.split())[:TEMPLATE_LIMIT].rstrip()


def _folded(text: str) -> str:
    text = _USER.sub(r"\1<n>", text)
    if "<" in text or "()" in text:
        for pattern, replacement in _FOLDS:
            text = pattern.sub(replacement, text)
    return text


def _meaningful(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if _LINE_WITH_A_WORD.search(line)]
    if not lines:
        return message
    if lines[0].startswith("Traceback (most recent call last)"):
        return lines[-1]
    more = next((at for at, line in enumerate(lines) if not line.endswith(":")), len(lines) - 1)
    return " ".join(lines[: min(more, 3) + 1])


@lru_cache(maxsize=REMEMBERED_WORDS)
def _word_template(word: str) -> str:
    if word.isalpha() and len(word) < 8:
        return word
    text = _VARIABLES.sub(_placeholder, word)
    return _COMPOUND.sub(_compound, text) if text.count("<") > 1 else text


def _compound(match: re.Match[str]) -> str:
    """A name of several parts keeps what is said beside one variable part, not beside more."""
    return "<n>" if match[0].count("<") > 1 else match[0]


def _placeholder(match: re.Match[str]) -> str:
    name = (match.lastgroup or "").partition("_")[0]
    return _SPELLED[name](match) if name in _SPELLED else f"<{name}>"


def _object(match: re.Match[str]) -> str:
    return re.split(r"[ >]|:(?!:)(?<!::)", match[0], maxsplit=1)[0] + ">"


def _quoted(match: re.Match[str]) -> str:
    inner = match[0][1:-1]
    before = match.string[max(0, match.start() - 48) : match.start()]
    is_name = len(inner) <= 120 and _IDENTIFIER.fullmatch(inner) and not _HOST.fullmatch(inner)
    if is_name and not _LEAD.search(before) and not _TAIL.match(match.string, match.end()):
        return f"'{inner}'"  # one kind of quotes: Ruby 3.4 changed `name' to 'name'
    return "<quoted>"


def _member(match: re.Match[str]) -> str:
    key = match["symbol"] or f"'{match['double'] or match['single']}'"
    value = match["member"].strip("\"'")
    is_told = _TELLING.search(key) and _IDENTIFIER.fullmatch(value)
    return f"{key}{match['arrow']}{value if is_told else '<n>'}"


def _pair(match: re.Match[str]) -> str:
    key, value = match["key"], match["value"]
    if _TELLING.search(key):
        return f"{key}={_IN_VALUES.sub(_placeholder, value)}"
    return f"{key}=<n>"


def _word(match: re.Match[str]) -> str:
    return _without_digits(match[0].removeprefix("-"))


def _without_digits(word: str) -> str:
    """A word whose digits are a number, or a placeholder for the whole where it is opaque.

    >>> _without_digits("order_4711"), _without_digits("5f3a9c21"), _without_digits("x7Kp2Lq9")
    ('order_<n>', '<n>', '<n>')
    """
    if _HEX.fullmatch(word) or _LONG_HEX.fullmatch(word):
        return "<n>"
    if _switches(word, lambda a, b: a.isdigit() != b.isdigit() and a.isalnum() and b.isalnum()) > 2:
        return "<n>"
    return _DIGITS.sub("<n>", word)


def _token(match: re.Match[str]) -> str:
    """Long runs: random text changes its kind of letter far more often than words do."""
    text = match[0]
    if not any(map(str.isdigit, text)):
        return text
    kind = _PREFIX.match(text)
    rest = text[kind.end() :] if kind else text
    changes = _switches(rest, lambda a, b: a.isdigit() != b.isdigit() or a.isupper() != b.isupper())
    if changes * 5 >= len(rest) * 2 or text.endswith("="):
        return f"{kind[0] if kind else ''}<n>"
    return _TOKEN_WORD.sub(_word, text)


def _switches(text: str, differ: Callable[[str, str], bool]) -> int:
    return sum(differ(json, other) for json, other in zip(text, text[1:], strict=False))


def _as_it_is(match: re.Match[str]) -> str:
    return match[0]


_SPELLED: dict[str, Callable[[re.Match[str]], str]] = {
    "plain": _as_it_is,
    "kept": _as_it_is,
    "object": _object,
    "member": _member,
    "request": lambda match: f"'{match['method']} <path>'",
    "quoted": _quoted,
    "pair": _pair,
    "token": _token,
    "word": _word,
}

# Fingerprints as people type them: whole, without their version ("v1:"), or as a beginning.

SHORTEST = 4  # characters of a beginning, without the version


def is_name(typed: str, names: Iterable[str]) -> bool:
    """Tell whether one of the names was typed, with or without its version.

    >>> is_name("v1:ab12", ["v1:ab12"]), is_name(" AB12", ["v1:ab12"]), is_name("ab", ["v1:ab12"])
    (True, True, False)
    """
    return any(typed.strip().lower() in (name.lower(), bare(name.lower())) for name in names)


def is_beginning(typed: str, names: Iterable[str], shortest: int = SHORTEST) -> bool:
    """Tell whether one of the names begins as typed; less than `shortest` characters mean nothing.

    >>> is_beginning("v1:ab12", ["v1:ab12cd"]), is_beginning("ab12", ["v1:ab12cd"])
    (True, True)
    >>> is_beginning("v1:ab1", ["v1:ab12cd"]), is_beginning("", ["v1:ab12cd"])
    (False, False)
    """
    start = typed.strip().lower()
    lowered = [name.lower() for name in names]
    begins = any(name.startswith(start) or bare(name).startswith(start) for name in lowered)
    return begins and len(bare(start)) >= shortest


def bare(name: str) -> str:
    """Cut off the version.

    >>> bare("v1:ab12"), bare("ab12")
    ('ab12', 'ab12')
    """
    return name.partition(":")[2] or name
