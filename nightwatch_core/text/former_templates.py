"""Templates of messages as version 0.1.0 made them: errors are known by their names.

Frozen: lessons, issues and nights of those versions are found by what this says, and transactions
are spelt so to this day. How messages are read now is in message_templates.py.
"""

import re
from collections.abc import Callable
from functools import lru_cache

MESSAGE_LIMIT = 8_192  # characters looked at, before any pattern
TEMPLATE_LIMIT = 300  # characters kept: sources cut long messages at different places
REMEMBERED = 2_048  # templates kept in memory

_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_HOUR = rf"(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d{{1,9}})?)?{_ZONE})?"
_NUMERIC_DAY = r"\d{1,2}(?:/\d{1,2}/|\.\d{1,2}\.|-\d{1,2}-)\d{4}"
_OCTETS = r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"
_SEGMENT = r"[\w.@+~%:=,-]{1,255}"
_UNITS = (
    r"(?:ns|us|µs|ms|msecs?|milliseconds?|microseconds?|nanoseconds?|s|secs?|seconds?"
    r"|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b"
)

# What changes, as (name, pattern): the first that matches at a place of the text wins there. Every
# repetition is bounded or starts at a boundary, so that the time grows only with the length.
_TABLE: tuple[tuple[str, str], ...] = (
    ("plain", rf"(?:(?!{_DAY}\b)[A-Z]?[a-z]{{1,40}}(?:[ ,']|: )){{1,99}}"),  # words, in one go
    ("object", r"#<[A-Z]\w{0,80}(?:::\w{1,80}){0,8}[ :][^>\n]{1,1000}>"),
    (
        "quoted",
        r"(?<![\w\\])(?:\"[^\"\n]{0,400}\"|[`'][^`'\n]{0,400}'|`[^`\n]{0,400}`"
        r"|“[^”\n]{0,400}”|‘[^’\n]{0,400}’|«[^»\n]{0,400}»)(?!\w)",
    ),
    ("url", r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>]{1,2000}"),
    ("email", r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"),
    ("uuid", r"(?i:(?<![0-9a-f])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-f]))"),
    ("date", rf"\b{_DAY},? \d{{1,2}}[ -]{_MONTH}[ -]\d{{2,4}} {_CLOCK}{_ZONE}"),
    ("date", rf"\b{_DAY} {_MONTH} {{1,2}}\d{{1,2}} {_CLOCK}{_ZONE}(?: \d{{4}}\b)?"),
    ("date", rf"\b\d{{4}}[-/]\d{{2}}[-/]\d{{2}}{_HOUR}(?!\d)"),
    ("date", rf"\b(?:{_NUMERIC_DAY}|\d{{1,2}}[/ -]{_MONTH}[/ -]\d{{4}})(?:[ :]{_CLOCK}{_ZONE})?"),
    ("time", rf"(?<![\w:.]){_CLOCK}{_ZONE}(?![\w:])"),
    ("ip", rf"(?<![\w.])(?:[\w.-]{{0,64}}/)?{_OCTETS}(?::\d{{1,5}}|/\d{{1,2}})?(?!\.?\w)"),
    (
        "ip",
        r"(?i:(?<![\w:.])(?=[a-f:]{0,38}\d)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:]))",
    ),
    ("path", r"(?<![\w\\])[A-Za-z]:\\[^\s\"'<>|,;]{1,400}"),
    ("path", rf"(?<![\w<>)\]./])(?:~|\.{{1,2}})?/(?:{_SEGMENT}/){{0,60}}{_SEGMENT}/?"),
    ("hex", r"(?i:(?<![0-9a-z])0x[0-9a-f]{1,64}(?![0-9a-z]))"),
    ("hex", r"(?i:(?<=@)[0-9a-f]{5,16}\b)"),
    ("duration", rf"(?<![\w.])[-+]?\d{{1,15}}(?:[.,]\d{{1,9}})? ?{_UNITS}"),
    ("duration", r"(?<![\w.])(?:\d{1,9}(?:\.\d{1,9})?(?:ms|h|m|s)){2,4}\b"),
    ("n", r"(?<![^\W_])(?<![)\]])[-+]?\d{1,400}(?:[.,:]\d{1,400}){0,9}(?:[eE][-+]?\d{1,4})?(?!\w)"),
    ("token", r"(?<![\w+/=-])[A-Za-z0-9+/_-]{16,4000}={0,2}(?![\w+/=])"),
    ("word", r"\b[^\W\d]{0,80}\d\w*"),
)
_VARIABLES = re.compile("|".join(f"(?P<{name}_{at}>{p})" for at, (name, p) in enumerate(_TABLE)))
_TRIGGER = re.compile(r"[\d\"'`“‘«/\\@]|#<|\S{16}")  # nothing of the above without one of these

# A quoted name is a value, not an identifier, right after or right before one of these.
_LEADS = (
    r"=", r"input string:", r"with base \d+:", r"string to (?:float|int):",
    r"for type [\w ]{1,40}:", r"\bentry", r"\bvalue(?: for [\w ()]{1,40})?:?", r"\bgot:?",
    r"\b(?:date|token|number|enum|url|uri):?", r"at or near", r"\bfor (?:Integer|Float)\(\):",
)  # fmt: skip
_TAILS = (r" is not (?:a )?valid\b", r" value must be\b", r" is invalid\b")
_LEAD = re.compile(rf"(?:{'|'.join(_LEADS)})\s?\(?$", re.IGNORECASE)
_TAIL = re.compile("|".join(_TAILS), re.IGNORECASE)
_IDENTIFIER = re.compile(r"[@$:]{0,2}[^\W\d]+(?:(?:\.|::|\\|#|\$)[^\W\d]+)*[?!=]?(?:\(\))?")

_DIGITS = re.compile(r"(?:(?<=_)-)?\d+")
_HEX = re.compile(r"(?=\d*[a-fA-F])(?:[0-9a-f]{7,}|[0-9A-F]{7,})")
_TOKEN_WORD = re.compile(r"(?:(?<=_)-(?=\d))?[^\W_]+")
_REPEATED = re.compile(r"(<[a-z]+>)(?:[,;| ]{1,3}\1)+")
_LINE_WITH_A_WORD = re.compile(r"[^\W\d_]")


def former_message_template(message: str) -> str:
    """The template that version 0.1.0 gave a message.

    >>> former_message_template("commit 9f8e7d6c for order_17 of bob@example.org")
    'commit <hex> for order_<n> of <email>'
    """
    return _message_template(message[:MESSAGE_LIMIT])


def placed(step: str) -> str:
    """A text with placeholders for all that changes in it.

    >>> placed("order-17"), placed("9f8e7d6c5b")
    ('order-<n>', '<hex>')
    """
    return _VARIABLES.sub(_placeholder, step)


@lru_cache(maxsize=REMEMBERED)
def _message_template(message: str) -> str:
    text = _meaningful(message)
    if _TRIGGER.search(text):
        text = _REPEATED.sub(r"\1", _VARIABLES.sub(_placeholder, text))
    return " ".join(text.split())[:TEMPLATE_LIMIT].rstrip()


def _meaningful(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if _LINE_WITH_A_WORD.search(line)]
    if not lines:
        return message
    if lines[0].startswith("Traceback (most recent call last)"):
        return lines[-1]
    more = next((at for at, line in enumerate(lines) if not line.endswith(":")), len(lines) - 1)
    return " ".join(lines[: min(more, 3) + 1])


def _placeholder(match: re.Match[str]) -> str:
    return _BY_GROUP[match.lastgroup or ""](match)


def _object(match: re.Match[str]) -> str:
    return re.split(r"[ >]|:(?!:)(?<!::)", match[0], maxsplit=1)[0] + ">"


def _quoted(match: re.Match[str]) -> str:
    inner = match[0][1:-1]
    before = match.string[max(0, match.start() - 48) : match.start()]
    is_name = len(inner) <= 120 and _IDENTIFIER.fullmatch(inner)
    if is_name and not _LEAD.search(before) and not _TAIL.match(match.string, match.end()):
        return f"'{inner}'"  # one kind of quotes: Ruby 3.4 changed `name' to 'name'
    return "<quoted>"


def _word(match: re.Match[str]) -> str:
    return _without_digits(match[0].removeprefix("-"))


def _without_digits(word: str) -> str:
    """A word whose digits are a number, or a placeholder for the whole where it is opaque.

    >>> _without_digits("order_4711"), _without_digits("5f3a9c21"), _without_digits("x7Kp2Lq9")
    ('order_<n>', '<hex>', '<id>')
    """
    if _HEX.fullmatch(word):
        return "<hex>"
    if _switches(word, lambda a, b: a.isdigit() != b.isdigit() and a.isalnum() and b.isalnum()) > 2:
        return "<id>"
    return _DIGITS.sub("<n>", word)


def _token(match: re.Match[str]) -> str:
    """Long runs: random text changes its kind of letter far more often than words do."""
    text = match[0]
    changes = _switches(text, lambda a, b: a.isdigit() != b.isdigit() or a.isupper() != b.isupper())
    if any(map(str.isdigit, text)) and changes * 5 >= len(text) * 2:
        return "<token>"
    return _TOKEN_WORD.sub(_word, text) if any(map(str.isdigit, text)) else text


def _switches(text: str, differ: Callable[[str, str], bool]) -> int:
    return sum(differ(one, other) for one, other in zip(text, text[1:], strict=False))


_SPELLED: dict[str, Callable[[re.Match[str]], str]] = {
    "plain": lambda match: match[0],
    "object": _object,
    "quoted": _quoted,
    "token": _token,
    "word": _word,
}


def _spelled(name: str) -> Callable[[re.Match[str]], str]:
    return _SPELLED.get(name, lambda _: f"<{name}>")


_BY_GROUP = {f"{name}_{at}": _spelled(name) for at, (name, _) in enumerate(_TABLE)}
