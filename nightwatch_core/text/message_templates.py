"""Messages without what changes from one occurrence to the next."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from nightwatch_core.privacy.masks import without_numbers
from nightwatch_core.text.variables import (
    FOLDS,
    HOST,
    QUOTES,
    QUOTES_NEED,
    TELLING_KEYS,
    TIMES,
    TIMES_NEED,
    USER,
    VALUE_LEADS,
    VALUE_TAILS,
    VARIABLES,
)

MESSAGE_LIMIT = 8_192  # characters looked at, before any pattern
TEMPLATE_LIMIT = 300  # characters kept: sources cut long messages at different places
REMEMBERED = 2_048  # templates kept in memory: errors come in swarms
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


@lru_cache(maxsize=REMEMBERED)
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
    return sum(differ(one, other) for one, other in zip(text, text[1:], strict=False))


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
