"""Messages without what changes from one occurrence to the next."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from nightwatch_core.models.value import Value
from nightwatch_core.privacy.scrubber import without_numbers
from nightwatch_core.text.rule_files import Pattern, PatternText, load_rules

# Transactions without what changes from one call to the next.

TRANSACTION_LIMIT = 1_024
REMEMBERED = 2_048

_URL_LIKE = re.compile(r"(?:[A-Z]{3,8} )?(?:/|[a-z][a-z0-9+.-]{1,20}://)")
_QUERY = re.compile(r"\?[\w.%\[\]-]{1,200}=|;jsessionid=", re.IGNORECASE)
_LAST_SLASHES = re.compile(r"(?<=[^\s/])/+$")  # but not the root's
_STEP = re.compile(r"[^/\s]+")
_VERSION = re.compile(r"v\d{1,3}(?:\.\d{1,3})?|[A-Za-z]+\d{1,2}")  # v2, s3, oauth2: names


def transaction_template(transaction: str) -> str:
    """Return the transaction without ids in its path and without a query string."""
    return _transaction_template(transaction[:TRANSACTION_LIMIT])


@lru_cache(maxsize=REMEMBERED)
def _transaction_template(transaction: str) -> str:
    text = " ".join(transaction.split())
    is_url = bool(_URL_LIKE.match(text))
    query = _QUERY.search(text)
    text = text.partition("?")[0] if is_url else text
    text = text[: query.start()] if query else text
    text = _STEP.sub(_step, text)
    return _LAST_SLASHES.sub("", text) if is_url else text


def _step(match: re.Match[str]) -> str:
    step = match[0]
    if _VERSION.fullmatch(step) or (not any(map(str.isdigit, step)) and "%" not in step):
        return "<email>" if "@" in step[1:] and "." in step else step
    if "%" in step:
        return "<id>"
    return _word_template(step)


# The patterns of rules/message_templates.toml.


class Row(Value):
    """A pattern, and the placeholder (`kind`) or replacement for what it matches."""

    kind: str = ""
    pattern: PatternText
    replacement: str = ""


class TemplateRules(Value):
    """The file; its comments explain the fields."""

    quotes_need: Pattern
    times_need: Pattern
    user: Pattern
    value_leads: tuple[str, ...]
    value_tails: tuple[str, ...]
    telling_keys: tuple[str, ...]
    quotes: tuple[Row, ...]
    times: tuple[Row, ...]
    variables: tuple[Row, ...]
    folds: tuple[Row, ...]
    host: Pattern


MESSAGE_LIMIT = 8_192  # characters looked at, before any pattern
TEMPLATE_LIMIT = 300  # characters kept: sources cut long messages at different places
REMEMBERED_TEMPLATES = 2_048  # templates kept in memory: errors come in swarms
REMEMBERED_WORDS = 16_384


def _one_of(rows: Iterable[Row]) -> re.Pattern[str]:
    named = (f"(?P<{row.kind}_{index}>{row.pattern})" for index, row in enumerate(rows))
    return re.compile("|".join(named))


RULES = load_rules("message_templates", TemplateRules, "text")
_SPANS = ((RULES.quotes_need, _one_of(RULES.quotes)), (RULES.times_need, _one_of(RULES.times)))
_VARIABLES = _one_of(RULES.variables)
_IN_VALUES = _one_of(row for row in RULES.variables if row.kind != "pair")
_FOLDS = tuple((re.compile(row.pattern), row.replacement) for row in RULES.folds)
# Nothing of the above without one of these.
_TRIGGER = re.compile(r"[\d\"'`“‘«/\\@=]|#<| \(\)|\S{8}|[uU]ser ")

_LEAD = re.compile(rf"(?:{'|'.join(RULES.value_leads)})\s?\(?$", re.IGNORECASE)
_TAIL = re.compile("|".join(RULES.value_tails), re.IGNORECASE)
_TELLING = re.compile(rf"(?:{'|'.join(RULES.telling_keys)})['\"]?$", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[@$:]{0,2}[^\W\d]+(?:(?:\.|::|\\|#|\$)[^\W\d]+)*[?!=]?(?:\(\))?")

_DIGITS = re.compile(r"(?:(?<=_)-)?\d+(?:\.\d+)*")
_HEX = re.compile(r"(?=\d*[a-fA-F])(?=(?:[a-zA-Z]*\d){2})(?:[0-9a-f]{4,}|[0-9A-F]{4,})")
_LONG_HEX = re.compile(r"[0-9a-f]{7,}|[0-9A-F]{7,}")
_TOKEN_WORD = re.compile(r"(?:(?<=_)-(?=\d))?[^\W_]+")
_PREFIX = re.compile(r"(?:[a-z]{2,12}[_-]){1,3}(?=[A-Za-z0-9]{8})")  # req-…, sk_live_…
_COMPOUND = re.compile(r"(?:[\w.~:+@$%\\*-]|<[a-z]{1,10}>)*(?:\w|<[a-z]{1,10}>)")
_VALUE, _FIXED = re.compile(r"'[^']*'|<[a-z]{1,10}>"), re.compile(r"[^\W\d_]{2,}")
_LINE_WITH_A_WORD = re.compile(r"[^\W\d_]")


def message_template(message: str) -> str:
    """Return the message with readable placeholders for everything that names one occurrence.

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


@lru_cache(maxsize=REMEMBERED_TEMPLATES)
def _message_template(message: str) -> str:
    text = _meaningful(message)
    if _TRIGGER.search(text):
        for need, spans in _SPANS:
            text = spans.sub(_placeholder, text) if need.search(text) else text
        text = _folded(" ".join(map(_word_template, text.split())))
    return " ".join(text.split())[:TEMPLATE_LIMIT].rstrip()


def says_another_thing(message: str, other: str) -> bool:
    """Tell whether two messages share at most half of their fixed words; values are no words.

    Messages of one or two words are mostly values themselves, and say nothing.

    >>> says_another_thing("no such column: total", "database is locked")
    True
    >>> says_another_thing("no such column: total", "no such column: price")
    False
    >>> says_another_thing("EUR", "USD")
    False
    """
    own, others = fixed_words(message), fixed_words(other)
    longer = max(len(own), len(others))
    return bool(own and others) and longer > 2 and 2 * len(own & others) <= longer


def fixed_words(message: str) -> frozenset[str]:
    """Return the words of a message that stand there whatever the values are."""
    return frozenset(_FIXED.findall(_VALUE.sub(" ", message_template(message)).lower()))


def _folded(text: str) -> str:
    text = RULES.user.sub(r"\1<n>", text)
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
    return "<n>" if match[0].count("<") > 1 else match[0]


def _placeholder(match: re.Match[str]) -> str:
    name = (match.lastgroup or "").partition("_")[0]
    return _SPELLED[name](match) if name in _SPELLED else f"<{name}>"


def _object(match: re.Match[str]) -> str:
    return re.split(r"[ >]|:(?!:)(?<!::)", match[0], maxsplit=1)[0] + ">"


def _quoted(match: re.Match[str]) -> str:
    inner = match[0][1:-1]
    before = match.string[max(0, match.start() - 48) : match.start()]
    is_name = len(inner) <= 120 and _IDENTIFIER.fullmatch(inner) and not RULES.host.fullmatch(inner)
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
    """Return a word whose digits are `<n>`, or `<n>` for the whole where it is opaque."""
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
