"""Rules of the scrubber: `rules.toml` says what is masked, the checks here decide on matches.

The name of a secret is not one (`password_field`, `max_tokens`), nor is what code has in its place:
a variable, a call, a type, a placeholder.
"""

import base64
import re
import tomllib
import unicodedata
from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

MASK = re.compile(r"<(?P<kind>[a-z]{2,12})-(?P<number>\d{6})>")


class Rule(NamedTuple):
    """A pattern whose group `v`, or whole match, is masked if `accept` agrees."""

    kind: str  # of the mask, lower case
    pattern: re.Pattern[str]
    needs: tuple[str, ...] = ()  # lower case; the pattern is tried only on texts with one of these
    accept: Callable[[re.Match[str]], bool] = bool
    by_line: bool = False  # matches lie within one line: only lines with one of `needs` are tried


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    pattern: str | tuple[str, ...]
    needs: tuple[str, ...] | str = ()  # a text: the table of that name
    accept: str = ""
    ignore_case: bool = False
    by_line: bool = False


class _Tables(BaseModel):
    """`rules.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    no_secrets: frozenset[str]
    file_endings: frozenset[str]
    key_needs: tuple[str, ...]
    networks: tuple[tuple[str, tuple[int, ...]], ...]
    prefixes: tuple[tuple[str, str], ...]
    fragments: dict[str, str | tuple[str, ...]]
    patterns: dict[str, str | tuple[str, ...]]
    hashes: tuple[_Row, ...]
    shapes: tuple[_Row, ...]
    contexts: tuple[_Row, ...]
    key_values: tuple[_Row, ...]
    personal: tuple[_Row, ...]
    addresses: tuple[_Row, ...]


def _expanded(pattern: str | tuple[str, ...], fragments: dict[str, str]) -> str:
    return re.sub(r"<<(\w+)>>", lambda match: fragments[match[1]], "".join(pattern))


def _load() -> tuple[_Tables, dict[str, str]]:
    text = (files(__package__) / "rules.toml").read_text(encoding="utf-8")
    tables = _Tables.model_validate(tomllib.loads(text))
    plain = {name: "".join(pattern) for name, pattern in tables.fragments.items()}
    return tables, {name: _expanded(pattern, plain) for name, pattern in plain.items()}


_TABLES, _FRAGMENTS = _load()
_PATTERNS = {name: re.compile("".join(parts)) for name, parts in _TABLES.patterns.items()}

# Values of keys that say they hold a secret.

_HARMLESS_REST = _PATTERNS["harmless_rest"]
_PLACEHOLDER = _PATTERNS["placeholder"]
_REFERENCE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z_]{3,}")
_IDENTIFIER = re.compile(r"[$@&*!]?[A-Za-z_][A-Za-z_]*(?:(?:\.|->|::|\?\.)[A-Za-z_$]\w*)*[!?]?")
_DOTTED = re.compile(r"[$@&*!]?[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_$]\w*)+[!?]?")
_SENTENCE = re.compile(r"[^\W\d_](?:[^\W\d_A-Z]|['’])*(?:[ ,] ?(?:[^\W\d_]|['’])+[.,:!?؟]?){1,40}")
_KEYWORD = re.compile(_FRAGMENTS["key_words"], re.I)
FILLED_IN = _PATTERNS["filled_in"]
_ROUTE = re.compile(r"/:\w{0,40}$")  # get "/reset/:token" => "passwords#edit"
_SETTING = _PATTERNS["setting"]
_SHORT_KEYS = _PATTERNS["short_key"]
# Keys whose value may be a name: session_key = "bulk_intermediate", PWD=/app
_NAMES_THINGS = (
    (re.compile(r"session[\s_.-]?key", re.I), re.compile(r"[a-z]+(?:[_-][a-z]+)*")),
    (re.compile(r"PWD"), re.compile(r"/.*")),
)
_PLACE = re.compile(r"\d{1,6}:\d{1,6}:?")  # token-service.js:42:17
_CALL = re.compile(r"(?:new |await )?[\w.:>-]{1,80}\([^\n]{0,400}\).{0,80}")
_VERSION = re.compile(r"[\^~><=v ]{0,4}\d{1,5}(?:\.[\dx*]{1,5}){1,4}(?:[-+][\w.]{1,30})?")
_NUMBER_KEYS = re.compile(r"(?:otp|totp|mfa|cvv|cvc|pin|ssn)", re.I)


def is_secret(value: str) -> bool:
    """Tell whether what stands where a secret would is one.

    >>> [is_secret(v) for v in ("hunter2", "${PASSWORD}", "API_TOKEN", "[FILTERED]", "can't be blank")]
    [True, False, False, False, False]
    """
    value = value.strip()
    if len(value) < 3 or MASK.search(value) or value.lower().rstrip(".!:") in _TABLES.no_secrets:
        return False
    if _PLACEHOLDER.fullmatch(value) or _REFERENCE.fullmatch(value) or _SENTENCE.fullmatch(value):
        return False
    left = _KEYWORD.sub("", FILLED_IN.sub("", value))
    least = 6 if FILLED_IN.search(value) else 3  # url=%s
    return len(left.strip("_-. :=")) >= least or any(c.isdigit() for c in left)


def _is_name(match: re.Match[str]) -> bool:
    key = match.groupdict().get("key") or ""
    return any(kind.fullmatch(key) and name.fullmatch(match["v"]) for kind, name in _NAMES_THINGS)


def _quoted(match: re.Match[str]) -> bool:
    if _HARMLESS_REST.fullmatch(match["rest"]) or _is_name(match):
        return False
    value = match["v"]
    if match.groupdict().get("comma") and _SETTING.fullmatch(value):
        return False
    if _ROUTE.search(match.string, max(0, match.start() - 48), match.start()):
        return False
    if _VERSION.fullmatch(value) or _CALL.fullmatch(value) or value.count(" ") > 3:
        return False
    return is_secret(value) and not (_DOTTED.fullmatch(value) and not any(map(str.isdigit, value)))


def _bare(match: re.Match[str]) -> bool:
    value, after, tight = match["v"], match["after"], match["sep"] in ("=", "=>")
    if _HARMLESS_REST.fullmatch(match["rest"]) or _is_name(match) or not is_secret(value):
        return False
    if value.endswith(":") or _PLACE.fullmatch(value):
        return False
    if value.isdigit():
        return len(value) >= (4 if _SHORT_KEYS.search(match["key"]) else 12)
    if (
        _NUMBER_KEYS.fullmatch(match["key"])
        or value.replace(".", "").isdigit()
        or after.strip() in ("(", "[")
    ):
        return False
    if _DOTTED.fullmatch(value):
        return False
    if not _IDENTIFIER.fullmatch(value):
        return any(c.isdigit() for c in value) or not value.isidentifier()
    is_password = match["key"].lower().startswith(("pass", "pwd")) and len(value) >= 5
    return tight and after not in (".", ",", ")") and value.islower() and is_password


def _marked_up(match: re.Match[str]) -> bool:
    rest = match["rest"] or match["rest2"] or ""
    value = match["v"] or match["v2"] or match["v3"] or ""
    return not _HARMLESS_REST.fullmatch(rest) and is_secret(value)


# Secrets known by where they stand, and people's data.

_SCHEME = re.compile(r"\b(?:basic|bearer|token|digest|genie-?key|apikey|key|bot)\b", re.I)


def _some(match: re.Match[str]) -> bool:
    """Whatever it is, unless nothing but masks and names."""
    return len(re.sub(r"[\w-]{1,60}=(?=[;\s]|$)|[\s;,]", "", MASK.sub("", match["v"]))) >= 4


def _given(match: re.Match[str]) -> bool:
    left = FILLED_IN.sub("", match["v"])
    return left.lower() not in ("", "pass", "passwd", "password", "pwd") and _some(match)


def _is_pair(match: re.Match[str]) -> bool:
    try:
        return bool(re.fullmatch(rb"[ -~]+:[ -~]*", base64.b64decode(match["v"] + "==")))
    except ValueError:
        return False


def _mixed(match: re.Match[str]) -> bool:
    value = match["v"]
    has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return is_secret(value) and has_digit and has_letter


def _is_code(value: str) -> bool:
    """Tell whether a header's value is code: a variable, a call, an interpolation."""
    if not re.search(r"\w{4}", _SCHEME.sub("", FILLED_IN.sub("", value))):
        return True
    head = value.strip().split(",")[0]
    return bool(
        re.fullmatch(
            r"[$@&:]?[A-Za-z_][\w.:]*(?:\(.{0,200}|\[.{0,200}|\s[=!&|?+].{0,400}|[;)]{0,3})", head
        )
    ) and not (any(map(str.isdigit, head.split("(")[0])) and len(head) > 12 and "(" not in head)


def _is_listed(match: re.Match[str]) -> bool:
    """Tell whether the name stands in a list of names: of headers, or of a call's arguments."""
    words = r"(?:[A-Za-z]+(?:-[A-Za-z]+)*|[:*&]\w+|\S{0,20}\{[^{}]*\})"
    names = rf"(?:got )?{words}(?:, ?{words})*"
    return match["sep"] == "," and bool(re.fullmatch(names, match["v"]))


def _is_random(value: str) -> bool:
    if re.fullmatch(
        r"[\w.-]+(?:/[\w.-]+)+|v?\d+(?:\.\d+)+\S*|[A-Za-z_.-]+\d{0,4}|\d[\d.,:-]*\w{0,3}|#\S*",
        value,
    ):
        return False
    # letters of both kinds without an order, as no name has them
    disorder = re.findall(r"[a-z][A-Z]{2}|[A-Z]{2}[a-z][A-Z]", value)
    return len(re.findall(r"\d", value)) >= 2 or (len(value) >= 20 and len(disorder) >= 2)


_RESERVED = _PATTERNS["reserved_host"]
_NOBODY = _PATTERNS["nobody"]


def is_card(number: str) -> bool:
    """Tell whether a number is one that card networks give out, by its first and its check digit.

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112"), is_card("1700000000000000")
    (True, False, False)
    """
    digits = re.sub(r"\D", "", number)
    lengths = next((sizes for start, sizes in _TABLES.networks if re.match(start, digits)), ())
    if len(digits) not in lengths or len(set(digits)) < 2:
        return False
    doubled = [int(c) * (1 + at % 2) for at, c in enumerate(reversed(digits))]
    return sum(d - 9 * (d > 9) for d in doubled) % 10 == 0


def is_iban(number: str) -> bool:
    """Tell whether a number's check digits fit.

    >>> is_iban("DE89 3704 0044 0532 0130 00"), is_iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    plain = re.sub(r"[\s-]", "", number).upper()
    if not 15 <= len(plain) <= 34 or not plain.isalnum() or not plain.isascii():
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _is_person(match: re.Match[str]) -> bool:
    name, _, host = match["v"].replace("%40", "@").rpartition("@")
    ending = host.rpartition(".")[2].lower()
    if ending in _TABLES.file_endings or _RESERVED.fullmatch(host):
        return False
    return not _NOBODY.match(name)


def _is_international(match: re.Match[str]) -> bool:
    digits = re.sub(r"\D", "", match["v"])
    return 9 <= len(digits) <= 15 and len(set(digits)) > 2 and digits[0] != "0"


def _is_national(match: re.Match[str]) -> bool:
    digits = re.sub(r"\D", "", match["v"])
    return 7 <= len(digits) <= 15 and len(set(digits)) > 2


def _is_address(match: re.Match[str]) -> bool:
    parts = [int(part) for part in match["v"].split(".")]
    return max(parts) < 256 and parts[0] not in (0, 127, 255)


_IS_NAMED = re.compile(_FRAGMENTS["name_field"], re.I)


def _is_of_names(match: re.Match[str]) -> bool:
    return any(_IS_NAMED.fullmatch(item.strip(' "')) for item in match["keys"].split(","))


# Which check a rule names in `accept`.


def _key_body(match: re.Match[str]) -> bool:
    """Return whether a key follows: behind the placeholder of a form field there is none."""
    return re.search(r"[A-Za-z0-9+/=]{20}", match["v"][:400]) is not None


def _header_value(match: re.Match[str]) -> bool:
    return _some(match) and not _is_code(match["v"]) and not _is_listed(match)


def _cookie_value(match: re.Match[str]) -> bool:
    return _some(match) and not _is_code(match["v"].partition("=")[2])


def _quoted_secret(match: re.Match[str]) -> bool:
    """Accept quoted passwords; quoted names of keys are short words."""
    value = match["v"]
    is_no_name = any(map(str.isdigit, value)) or len(value) >= 16
    return is_secret(value) and (match[0][:4].lower() == "pass" or is_no_name)


_CHECKS: dict[str, Callable[[re.Match[str]], bool]] = {
    "": bool,
    "address_password": _given,
    "bare_value": _bare,
    "basic_credentials": lambda match: _mixed(match) or _is_pair(match),
    "card": lambda match: is_card(match["v"]),
    "cookie_value": _cookie_value,
    "header_value": _header_value,
    "iban": lambda match: is_iban(match["v"]),
    "international_number": _is_international,
    "key_body": _key_body,
    "letters_and_digits": _mixed,
    "markup_value": _marked_up,
    "name_column": _is_of_names,
    "national_number": _is_national,
    "network_address": _is_address,
    "not_a_field_name": lambda match: "name" not in match["v"].lower(),
    "not_empty": _some,
    "person_address": _is_person,
    "quoted_secret": _quoted_secret,
    "quoted_value": _quoted,
    "random_named_value": lambda match: _mixed(match) and _is_random(match["v"]),
    "random_value": lambda match: is_secret(match["v"]) and _is_random(match["v"]),
    "secret": lambda match: is_secret(match["v"]),
}


def _rule(row: _Row) -> Rule:
    pattern = re.compile(_expanded(row.pattern, _FRAGMENTS), re.I if row.ignore_case else 0)
    needs = _TABLES.key_needs if row.needs == "key_needs" else tuple(row.needs)
    return Rule(row.kind, pattern, needs, _CHECKS[row.accept], row.by_line)


def _prefixed(head: str, rest: str) -> Rule:
    any_case = (f"[{c}{c.upper()}]" if c.isalpha() else re.escape(c) for c in head)
    return Rule("key", re.compile(f"{_FRAGMENTS['start']}{''.join(any_case)}{rest}"), (head,))


RULES: tuple[Rule, ...] = (
    *map(_rule, (*_TABLES.hashes, *_TABLES.shapes)),
    *(_prefixed(head, rest) for head, rest in _TABLES.prefixes),
    *map(_rule, (*_TABLES.contexts, *_TABLES.key_values, *_TABLES.personal)),
)
"""In this order: the more a shape says, the earlier it is tried."""

ADDRESSES: tuple[Rule, ...] = tuple(map(_rule, _TABLES.addresses))

# Files that hold nothing but secrets: they are named, and their content is never shown.

_SAMPLE = _PATTERNS["sample_file"]
_NAMES = _PATTERNS["secret_file"]
_PLACES = _PATTERNS["secret_place"]


def is_secret_file(path: str) -> bool:
    """Return whether a file holds secrets, judged by its path on any operating system.

    >>> [is_secret_file(path) for path in (".env", "web/.ENV.local", "config/secrets.yml", "a/b.pem")]
    [True, True, True, True]
    >>> [is_secret_file(path) for path in (".env.example", "app/secrets.py", "src/key.go", "id_rsa.pub")]
    [False, False, False, False]
    """
    plain = unicodedata.normalize("NFKC", path[:4_096]).replace("\\", "/").casefold()
    parts = [part.strip(" ") for part in plain.split("/")]
    kept = [part for part in parts if part not in ("", ".")]
    if not kept:
        return False
    name = kept[-1].rstrip(".")
    if _PLACES.search("/".join(kept)):
        return True
    return _NAMES.fullmatch(name) is not None and not _SAMPLE.search(name.removeprefix(".env"))


def refusal(path: str) -> str:
    """Return why a secret file is not shown.

    >>> refusal(".env")
    '.env holds secrets, judging by its name: it is neither shown nor searched'
    """
    return f"{path} holds secrets, judging by its name: it is neither shown nor searched"
