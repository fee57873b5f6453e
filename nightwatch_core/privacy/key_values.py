"""Values of keys that say they hold a secret: in code, JSON, YAML, SQL, DSNs, queries, XML.

A name of a secret is not one (`password_field`, `max_tokens`), nor is what code has in its place:
a variable, a call, a type, a placeholder.
"""

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from nightwatch_core.errors import NightWatchError

# The shape of a rule.

START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"  # where a word may begin, after an escape too


class Rule(NamedTuple):
    """What is taken out: group `v` of the pattern, or all of it, where `accept` agrees.

    The pattern must be linear: what it repeats is bounded, or read once. It is tried only on texts
    that hold one of `needs`, written small; without them on all.
    """

    kind: str  # of the mask, small letters
    pattern: re.Pattern[str]
    needs: tuple[str, ...] = ()
    accept: Callable[[re.Match[str]], bool] = bool
    by_line: bool = False  # it never matches over lines: only lines that hold one of `needs` count


def rule(kind: str, pattern: str, *needs: str, flags: int = 0) -> Rule:
    """Make a rule that accepts whatever its pattern matches."""
    return Rule(kind, re.compile(pattern, flags), needs)


# Masks: `<email-482913>` stands for one address wherever it is met, and says no more of it.

MASK = re.compile(r"<(?P<kind>[a-z]{2,12})-(?P<number>\d{6})>")
_REMEMBERED = 20_000  # values that can be told from their masks


def holds_mask(text: str) -> bool:
    """Tell whether a text holds a mask.

    >>> holds_mask("to <email-482913>"), holds_mask("Map<string-1>")
    (True, False)
    """
    return "<" in text and MASK.search(text) is not None


def without_numbers(text: str) -> str:
    """Give masks the form in which templates of messages have what changes.

    >>> without_numbers("no mandate for <iban-000017>")
    'no mandate for <iban>'
    """
    return MASK.sub(r"<\g<kind>>", text)


class Masks:
    """Names values by a key that only this installation has: nobody can try values out on a mask.

    The same value has the same number in every thread, process and night. Safe for threads.
    """

    def __init__(self, key: bytes | Callable[[], bytes] = b"") -> None:
        """Know no value yet; without a key all values of a kind share one mask.

        A key that has to be fetched is asked for when the first value is masked.
        """
        self._given = key
        self._values: dict[str, str] = {}
        self._guard = Lock()

    @cached_property
    def _key(self) -> bytes:
        return self._given if isinstance(self._given, bytes) else self._given()

    def mask(self, kind: str, value: str, same: str = "") -> str:
        """Return the mask of a value; values with the same `same` share it.

        >>> masks = Masks(b"key")
        >>> masks.mask("email", "a@b.de") == masks.mask("email", "A@b.de", same="a@b.de")
        True
        """
        if not self._given:
            return f"<{kind}-000000>"
        digest = hmac.digest(self._key, (same or value).encode("utf-8", "replace"), hashlib.sha256)
        mask = f"<{kind}-{int.from_bytes(digest[:8], 'big') % 1_000_000:06d}>"
        with self._guard:
            if self._values.setdefault(mask, value) != value and not same:
                self._values[mask] = ""  # two values: it stands for neither
            if len(self._values) > _REMEMBERED:
                self._values.pop(next(iter(self._values)))
        return mask

    def unmask(self, text: str) -> str:
        """Put back what this process has masked: to look it up, never to show it.

        >>> masks = Masks(b"key")
        >>> masks.unmask(f"for {masks.mask('email', 'a@b.de')}, <email-1>")
        'for a@b.de, <email-1>'
        """
        return MASK.sub(lambda mask: self._values.get(mask[0]) or mask[0], text)


WORDS = (
    r"(?:pass(?:word|wd|phrase|code)|passwort|(?<![a-z])(?:pass|pwd|pw|psw)(?![a-z])|(?<=[a-z_])[Pp]wd(?![a-z])"
    r"|requirepass|masterauth|secret|(?<![a-z])(?:api|app|access|account|auth|client|consumer|crypt|encrypt(?:ion)?"
    r"|host|hash|hmac|licen[sc]e|logged_in|master|nonce|private|secure_auth|service|session|shared|sign(?:ing)?|signature"
    r"|storage|subscription|webhook|(?:[a-z]{2,12}_)?(?:api|signing|encryption|master|secret))[\s_.-]?(?:access[_-]?)?key"
    r"|(?<=[a-z])(?:Api|Access|Account|Auth|Private|Shared|Signing|Encryption|Secret|Bus|Storage|Service|Subscription)"
    r"(?:Access)?Key|apikey|sharedaccesskey|credentials?|auth[_-]?token|authtoken|(?<!publickey)token|jwt|bearer|signature|(?<![a-z])sig(?![a-z])"
    r"|(?<![a-z])salt|nonce|(?<![a-z])(?:otp|totp|mfa|cvv|cvc|csrf|xsrf|sid|ssid|pin|ssn|psk)(?![a-z])|phpsessid|jsessionid"
    r"|session[_-]?(?:id|key)?(?=[\"']?\s?[:=])|(?<![a-z])auth(?=[\"'=])|_auth(?![a-z])|connection[_-]?string|recovery[_-]?code)"
)
# What a key may go on with and still hold the secret, and what says that it holds none.
_REST = r"(?P<rest>[\w.\[\]-]{0,30}?)"
_HARMLESS_REST = re.compile(
    r"(?:[_.-]|(?<=[a-z])(?=[A-Z]))?(?:types?|names?|ids?|ur[il]s?|endpoint|path|files?|fields?|len(?:gth)?"
    r"|min\w*|max\w*|counts?|sizes?|limit|ttl|expir\w*|expires\w*|at|age|polic(?:y|ies)|rules?|hint|label"
    r"|class|alg\w*|format|version|encoding|realm|status|method|scheme|store|manager|service|provider|generator|validat\w*|izer\w*|ize\w*|refs?"
    r"|changed|required|enabled|valid\w*|errors?|columns?|resets?|prefix|suffix|header|scopes?|params?|param"
    r"|attributes?|index|usage|budget|s_?(?:in|out|used|total|per|left)\w*|ed|less|ion|ial(?!s)|ary|arial)$",
    re.I,
)
_QUOTE = r"\\{0,3}[\"'`]"
_SEPARATOR = r"(?:[ \t]{0,4}(?:=>|:=|(?:\|\||\?\?)?==?|(?<!:):(?!:))[ \t]{0,4}|(?P<comma> ?, ?)(?=\\{0,3}[\"'`]))"

_QUOTED = (
    rf"{WORDS}{_REST}(?:{_QUOTE}\]?|\])?{_SEPARATOR}(?:[bruf]|string\(\d{{1,4}}\) )?"
    rf"(?P<q>{_QUOTE})(?P<v>(?:(?!(?P=q))[^\n]){{1,600}})(?P=q)"
)
_BARE = (
    rf"(?P<key>{WORDS}){_REST}(?P<close>{_QUOTE}\]?|\])?(?P<sep>[ \t]{{0,4}}=>?[ \t]{{0,4}}|(?<!:):(?!:)[ \t]{{0,4}})"
    r"(?P<v>[^\s\"'`(){}\[\]<>,;&|\\]{3,600})(?P<after>[(\[.,;)}]|[ \t]*[(\[]|)"
)
_XML = (
    rf"<(?P<tag>[\w:.-]{{0,40}}{WORDS}{_REST})>(?P<v>[^<\n]{{3,400}})</"
    rf"|(?:name|key|id)=[\"'][\w:.-]{{0,60}}{WORDS}{_REST.replace('rest', 'rest2')}[\"']"
    r"\s{0,4}(?:value=[\"'](?P<v2>[^\"'\n]{3,400})[\"']|>(?P<v3>[^<\n]{3,400})<)"
)
_YAML_PAIR = (  # - name: SMTP_PASSWORD, and its value in the next line
    rf"name[\"']?:\s{{0,4}}[\"']?[\w.-]{{0,40}}{WORDS}{_REST}[\"']?,?\s{{0,80}}[\"']?value[\"']?:\s{{0,4}}"
    r"(?P<quote>[\"']?)(?P<v>[^\s\"',}]{3,600})"
)

_PLACEHOLDER = re.compile(
    r"[*x•.…?_-]{2,}|\[?(?:filtered|redacted|removed|masked|hidden|omitted|secret|sensitive)[^\]]{0,20}\]?"
    r"|<[^>]{0,80}>|\$\{?\w[^}]{0,80}\}?|\{\{.{0,80}|\{\w{0,40}\}|%[sdrv]|%\(\w{1,40}\)s|%\w{1,40}%|[:?$@]\w{0,30}"
    r"|#\{.{0,80}|\{%.{0,80}%\}|your[-_ ].{0,60}|\.\.\.|/run/secrets/\S*|(?:https?|file)://[^?&\s]{0,200}"
    r"|(?:[a-z]:)?[~.]{0,2}(?:[/\\][\w.-]{1,60}){2,20}",
    re.I,
)
_NOTHING = frozenset(
    [
        "str",
        "string",
        "bool",
        "boolean",
        "int",
        "integer",
        "float",
        "number",
        "null",
        "nil",
        "none",
        "true",
        "false",
        "any",
        "undefined",
        "yes",
        "no",
        "on",
        "off",
        "required",
        "optional",
        "invalid",
        "missing",
        "empty",
        "text",
        "varchar",
        "env",
        "process",
        "params",
        "self",
        "this",
        "settings",
        "config",
        "options",
        "request",
        "default",
        "hidden",
        "object",
        "bytes",
        "buffer",
        "void",
        "const",
        "let",
        "var",
        "new",
        "await",
        "return",
        "basic",
        "bearer",
        "digest",
        "unknown",
        "expired",
        "revoked",
        "malformed",
        "wrong",
        "incorrect",
        "denied",
        "failed",
        "blank",
        "was",
        "is",
        "has",
        "not",
        "must",
        "and",
        "the",
        "for",
        "with",
        "from",
        "error",
        "ok",
        "key",
        "value",
        "example",
        "changed",
    ]
)
_REFERENCE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z_]{3,}")
_IDENTIFIER = re.compile(r"[$@&*!]?[A-Za-z_][A-Za-z_]*(?:(?:\.|->|::|\?\.)[A-Za-z_$]\w*)*[!?]?")
_DOTTED = re.compile(r"[$@&*!]?[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_$]\w*)+[!?]?")
_SENTENCE = re.compile(r"[^\W\d_](?:[^\W\d_A-Z]|['’])*(?:[ ,] ?(?:[^\W\d_]|['’])+[.,:!?؟]?){1,40}")
_KEYWORD = re.compile(WORDS, re.I)
FILLED_IN = re.compile(
    r"\$?\{\{[^{}\n]{0,80}\}\}|[$#]?\{[^{}\n]{0,80}\}|%(?:\(\w{1,40}\))?[sdrv]"
)  # by code, later
_ROUTE = re.compile(r"/:\w{0,40}$")  # get "/reset/:token" => "passwords#edit"
_SETTING = re.compile(  # what follows a name in a call, and is no secret
    r"[A-Za-z]{1,15}|[a-z]{1,15}(?:_[a-z]{1,15})+[!?]?|[a-z]{1,15}(?:[A-Z][a-z]{2,14})+|/[A-Za-z]{1,20}"
    r"|\S+ \S+ \S.*|\s?\w+\s?=\s?\?.*|(?i:utf-?\d+|ucs-?2|latin-?1|base64|sha-?\d+|md5)"
)
_SHORT_KEYS = re.compile(
    r"(?:otp|totp|mfa|cvv|cvc|pin|ssn|pass|pw|pwd|psw|sid|passcode|password|passwd)$", re.I
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
    if len(value) < 3 or MASK.search(value) or value.lower().rstrip(".!:") in _NOTHING:
        return False
    if _PLACEHOLDER.fullmatch(value) or _REFERENCE.fullmatch(value) or _SENTENCE.fullmatch(value):
        return False
    left = _KEYWORD.sub("", FILLED_IN.sub("", value))
    least = 6 if FILLED_IN.search(value) else 3  # url=%s
    return len(left.strip("_-. :=")) >= least or any(c.isdigit() for c in left)


def _quoted(match: re.Match[str]) -> bool:
    if _HARMLESS_REST.fullmatch(match["rest"]):
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
    if _HARMLESS_REST.fullmatch(match["rest"]) or not is_secret(value):
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
    return tight and after not in (".", ",", ")") and value.islower() and _is_strong(match)


def _is_strong(match: re.Match[str]) -> bool:
    return match["key"].lower().startswith(("pass", "pwd")) and len(match["v"]) >= 5


def _marked_up(match: re.Match[str]) -> bool:
    rest = match["rest"] or match["rest2"] or ""
    value = match["v"] or match["v2"] or match["v3"] or ""
    return not _HARMLESS_REST.fullmatch(rest) and is_secret(value)


NEEDS = (
    "pass", "pwd", "pw", "psw", "secret", "key", "credential", "token", "jwt", "bearer", "sig", "salt",
    "nonce", "otp", "mfa", "cvv", "cvc", "srf", "sid", "pin", "ssn", "psk", "session", "auth",
    "connection", "recovery",
)  # fmt: skip
KEY_VALUES: tuple[Rule, ...] = (
    Rule("secret", re.compile(_YAML_PAIR, re.I), ("value",), _quoted),
    Rule("secret", re.compile(_XML, re.I), ("<", "value="), _marked_up),
    Rule("secret", re.compile(_QUOTED, re.I), NEEDS, _quoted, by_line=True),
    Rule("secret", re.compile(_BARE, re.I), NEEDS, _bare, by_line=True),
)

# Our values without secrets and people's data: every text in them goes through a scrubber.

Scrub = Callable[[str], str]
V = TypeVar("V", bound=BaseModel)

NAMES = frozenset(
    [
        "fingerprint",
        "aliases",
        "also",
        "signature",
        "key",
        "id",
        "sha",
        "commit_sha",
        "branch",
        "base",
        "path",
        "repo_path",
        "old_path",
        "file",
        "folder",
        "digest",
        "schema",
        "kind",
        "status",
        "options",
        "given",
        "opaque",
        "parameters",
    ]
)
"""Fields that name something: masked, they would name nothing. Options are ours."""


def scrubbed(value: V, scrub: Scrub) -> V:
    """Return the value with every text in it scrubbed, at any depth; the same where none changes.

    >>> from nightwatch_core.models.errors import RejectedRecord
    >>> scrubbed(RejectedRecord(place="a:1", reason="no JSON", text="pw"), str.upper).reason
    'NO JSON'
    """
    new: V = _any(value, scrub)
    return new


def _any(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, BaseModel):
        return _model(value, scrub)
    if isinstance(value, tuple | list):
        new = [_any(item, scrub) for item in value]
        same = all(item is other for item, other in zip(new, value, strict=True))
        return value if same else type(value)(new)
    if isinstance(value, dict):
        return {_any(name, scrub): _any(item, scrub) for name, item in value.items()}
    return value


def _model(value: BaseModel, scrub: Scrub) -> BaseModel:
    changed = {}
    for name in type(value).model_fields:
        old = getattr(value, name)
        if name not in NAMES and (new := _any(old, scrub)) is not old and new != old:
            changed[name] = new
    return value.model_copy(update=changed) if changed else value


@contextmanager
def told_scrubbed(scrub: Scrub) -> Iterator[None]:
    """Take out of what a neighbour raises what it must not tell anybody."""
    try:
        yield
    except NightWatchError as trouble:
        trouble.args = tuple(
            scrub(item) if isinstance(item, str) else item for item in trouble.args
        )
        raise


# Keys by the shapes that their vendors document; a shape needs no boundary behind it.

_PREFIXED: tuple[tuple[str, str], ...] = (  # what it begins with, and what follows
    ("sk-ant-", r"[\w-]{6,200}"),
    ("sk-proj-", r"[\w-]{16,220}"),
    ("sdk-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("sk-svcacct-", r"[\w-]{16,220}"),
    ("sk-or-v1-", r"[0-9a-f]{32,80}"),
    ("github_pat_", r"\w{16,255}"),
    ("glpat-", r"[\w-]{16,200}"),
    ("gldt-", r"[\w-]{16,200}"),
    ("glrt-", r"[\w-]{16,200}"),
    ("glptt-", r"[0-9a-f]{40}"),
    ("glcbt-", r"[\w-]{16,200}"),
    ("xapp-", r"[\w-]{8,300}"),
    ("whsec_", r"[\w+/=-]{16,100}"),
    ("nrak-", r"[A-Z0-9]{16,64}"),
    ("nrii-", r"[\w-]{16,64}"),
    ("nriq-", r"[\w-]{16,64}"),
    ("nrjs-", r"[0-9a-f]{16,40}"),
    ("aiza", r"[\w-]{35}"),
    ("gocspx-", r"[\w-]{20,40}"),
    ("ya29.", r"[\w-]{20,400}"),
    ("sg.", r"[\w-]{16,32}\.[\w-]{32,64}"),
    ("npm_", r"[A-Za-z0-9]{30,60}"),
    ("pypi-", r"AgE[\w-]{40,300}"),
    ("rubygems_", r"[0-9a-f]{48}"),
    ("dop_v1_", r"[0-9a-f]{40,80}"),
    ("doo_v1_", r"[0-9a-f]{40,80}"),
    ("dor_v1_", r"[0-9a-f]{40,80}"),
    ("hrku-", r"[\w-]{30,80}"),
    ("shpat_", r"[0-9a-fA-F]{32}"),
    ("shpss_", r"[0-9a-fA-F]{32}"),
    ("shpca_", r"[0-9a-fA-F]{32}"),
    ("shppa_", r"[0-9a-fA-F]{32}"),
    ("sq0atp-", r"[\w-]{22}"),
    ("sq0csp-", r"[\w-]{43}"),
    ("dapi", r"[0-9a-f]{32}(?:-\d)?"),
    ("dp.pt.", r"[A-Za-z0-9]{40,50}"),
    ("dp.st.", r"[\w.]{30,80}"),
    ("hvs.", r"[\w-]{20,200}"),
    ("hvb.", r"[\w-]{20,300}"),
    ("lin_api_", r"[A-Za-z0-9]{32,64}"),
    ("ntn_", r"[A-Za-z0-9]{40,60}"),
    ("figd_", r"[\w-]{30,60}"),
    ("pmak-", r"[\w-]{40,80}"),
    ("glc_", r"[\w+/=-]{32,400}"),
    ("glsa_", r"\w{32,60}"),
    ("sntrys_", r"[\w+/=-]{20,300}"),
    ("sntryu_", r"[0-9a-f]{64}"),
    ("sbp_", r"[0-9a-f]{40}"),
    ("nfp_", r"[A-Za-z0-9]{36,50}"),
    ("fo1_", r"[\w-]{40,60}"),
    ("hf_", r"[A-Za-z]{34}(?![A-Za-z])"),
    ("hf_", r"(?=[A-Za-z]{0,30}\d)[A-Za-z0-9]{30,44}"),
    ("r8_", r"[A-Za-z0-9]{37}"),
    ("gsk_", r"[A-Za-z0-9]{40,60}"),
    ("xai-", r"[A-Za-z0-9]{60,100}"),
    ("pplx-", r"[A-Za-z0-9]{40,60}"),
    ("atatt3x", r"[\w=-]{40,300}"),
    ("atctt3x", r"[\w=-]{40,300}"),
    ("atbb", r"[A-Za-z0-9]{28,36}"),
    ("sl.u.", r"[\w-]{60,300}"),
    ("age-secret-key-1", r"[A-Z0-9]{58}"),
    ("pul-", r"[0-9a-f]{40}"),
    ("pnu_", r"[A-Za-z0-9]{36}"),
    ("pnb_", r"[A-Za-z0-9]{36}"),
    ("bkua_", r"[0-9a-f]{40}"),
    ("ccipat_", r"\w{40,80}"),
    ("akcp", r"[A-Za-z0-9]{60,80}"),
    ("ltai", r"[A-Za-z0-9]{16,24}"),
    ("cfpat-", r"[\w-]{43}"),
    ("dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("clojars_", r"[0-9a-f]{60}"),
    ("sgp_", r"[\w]{40,90}"),
    ("aio_", r"[A-Za-z0-9]{28}"),
    ("pat-na1-", r"[0-9a-f-]{36}"),
    ("pat-eu1-", r"[0-9a-f-]{36}"),
    ("tskey-", r"[\w-]{20,80}"),
    ("xkeysib-", r"[0-9a-f]{64}-\w{16}"),
    ("rdme_", r"\w{60,80}"),
    ("pscale_", r"(?:pw|tkn|otkn|oauth)_[\w.-]{20,80}"),
    ("dckr_pat_", r"[\w-]{20,60}"),
    ("duffel_", r"(?:live|test)_[\w-]{40,60}"),
    ("eaace", r"[A-Za-z0-9]{30,300}"),
    ("oy2", r"[a-z0-9]{43}"),
    ("sk.eyj", r"[\w.-]{40,300}"),
)

_HEADS = tuple(head for head, _ in _PREFIXED)


def _any_case(head: str) -> str:
    """A head as vendors write it: `needs` are small, keys are not."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else re.escape(c) for c in head)


PREFIXED = tuple(rule("key", rf"{START}{_any_case(head)}{rest}", head) for head, rest in _PREFIXED)

# A vendor nobody has heard of: acme_live_…, corp_pat_…, xyz-secret-…
_ANY_VENDOR = (
    rf"{START}(?<![.-])[A-Za-z]{{1,12}}[_-](?:live|test|prod|secret|key|token|pat|api|sk|pk|at|rt|access)"
    r"[_-](?=[A-Za-z]{0,60}\d)(?=[\d_]{0,60}[A-Za-z])[A-Za-z0-9]{20,200}"
)

_KEY_BEGINS = re.compile(r"[A-Za-z0-9+/=]{20}")  # a field's placeholder has no key behind it

SHAPES: tuple[Rule, ...] = (
    rule("key", rf"{START}[srp]k[-_](?:live|test|proj)[-_][\w-]{{8,200}}", "live", "test"),
    rule("key", r"(?<![A-Za-z0-9-])sk-[A-Za-z0-9]{20,200}", "sk-"),
    rule("key", rf"{START}gh[pousr]_[A-Za-z0-9]{{16,255}}", "gh"),
    rule("key", rf"{START}xox[a-z]-[\w-]{{8,300}}", "xox"),
    rule("key", r"(?<=hooks\.slack\.com/)(?:services|workflows)/[\w/]{8,200}", "hooks.slack"),
    rule("key", r"(?<![0-9a-f])[0-9a-f]{36}(?:NRAL|FFFFNRAL)\b", "nral"),
    rule("key", rf"{START}A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16}}(?![a-z])", "kia", "sia", "bia", "cca"),
    rule("key", rf"{START}key-[0-9a-f]{{32}}\b", "key-"),
    rule("key", r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}\b", "-us"),
    rule("key", rf"{START}SK[0-9a-f]{{32}}\b", "sk"),
    rule("key", r"(?<=discord\.com/api/webhooks/)\d{15,22}/[\w-]{40,90}", "discord"),
    rule("key", r"(?<=discordapp\.com/api/webhooks/)\d{15,22}/[\w-]{40,90}", "discordapp"),
    rule("key", r"(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}", "."),
    rule("key", r"(?<!\d)\d{8,10}:AA[\w-]{32,36}", ":aa"),
    rule("key", r"(?<=webhook\.office\.com/)\S{40,400}", "webhook.office"),
    rule("key", r"(?<![\w/])1//0[\w-]{40,120}", "1//0"),
    rule("key", r"(?<![\w.])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}", ".atlasv1"),
    rule("key", rf"{START}pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}", "pat"),
    rule("key", r"(?<![\w~-])[\w~-]{3}8Q~[\w.~-]{31,34}", "8q~"),
    rule("key", rf"{START}access-(?:sandbox|development|production)-[0-9a-f-]{{36}}", "access-"),
    rule("key", rf"{START}EAAA[\w-]{{60}}", "eaaa"),
    rule("jwt", rf"{START}eyJ[\w-]{{8,4000}}+\.[\w-]{{8,8000}}+(?:\.[\w-]*+)?", "eyj"),
    Rule(
        "pem",
        re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<v>(?:[^-]|-(?!----)){8,20000})"),
        ("private key",),
        lambda match: _KEY_BEGINS.search(match["v"][:400]) is not None,
    ),
    rule("pem", r"PuTTY-User-Key-File-\d:(?P<v>(?:[^-]|-(?!----)){60,20000})", "putty-user-key"),
)  # fmt: skip

_CRYPT = r"[./A-Za-z0-9]"
HASHES: tuple[Rule, ...] = (
    rule("hash", rf"\$2[abxy]?\$\d\d\${_CRYPT}{{31,53}}", "$2"),
    rule("hash", r"\$argon2(?:id|i|d)\$[\w=,$+/.-]{20,300}", "$argon2"),
    rule("hash", r"\$(?:scrypt|pbkdf2(?:-sha\d{1,3})?|bcrypt-sha256)\$[\w=,$+/.-]{16,300}", "scrypt$", "pbkdf2", "bcrypt-"),
    rule("hash", r"\bpbkdf2[:_]sha\d{1,3}[$:]\d{1,9}\$[^\s$'\",]{1,100}\$[\w+/=]{20,128}", "pbkdf2"),
    rule("hash", r"\bscrypt:\d{1,9}:\d{1,3}:\d{1,3}\$[^\s$'\",]{1,100}\$[\w+/=]{20,256}", "scrypt:"),
    rule("hash", r"\b(?:scrypt|bcrypt(?:_sha256)?|argon2|sha1|md5)\$[\w=,$+/.-]{24,300}", "crypt", "argon2", "sha1$", "md5$"),
    rule("hash", rf"\$(?:[1567y]|apr1|sha1|gy|7)\$(?:rounds=\d{{1,9}}\$)?[^\s$'\",:]{{1,64}}\${_CRYPT}{{20,90}}", "$"),
    rule("hash", rf"\$[PH]\${_CRYPT}{{31}}", "$p$", "$h$"),
    rule("hash", r"\{S?(?:SHA|MD5|SHA256|SHA512|SSHA)\d{0,3}\}[\w+/=]{20,200}", "sha}", "md5}", "sha256}", "sha512}"),
    rule("hash", r"SCRAM-SHA-\d{1,3}\$\d{1,9}:[\w+/=]{8,100}\$[\w+/=]{20,100}:[\w+/=]{20,100}", "scram-sha"),
    rule("hash", r"(?<![0-9A-Za-z*])\*[0-9A-F]{40}\b", "*"),
    rule("hash", r"\bAQAAAA[EI]AA[\w+/]{50,120}={0,2}", "aqaaaa"),
)  # fmt: skip

ANY_VENDOR = rule(
    "key",
    _ANY_VENDOR,
    "live",
    "test",
    "prod",
    "secret",
    "key",
    "token",
    "pat",
    "api",
    "access",
    "_at",
    "_sk",
)

# Files that hold nothing but secrets: nobody is shown what stands in them, whoever asks.

_SAMPLE = re.compile(
    r"(?:^|[._-])(?:example|sample|template|tmpl|dist|defaults?|schema|skel)(?:[._-]|$)"
)
_NAMES = re.compile(
    r"\.env(?:rc|\..{1,80})?|.{1,80}\.env|\.?secrets?\.env.{0,80}"
    r"|\.(?:npmrc|netrc|pypirc|pgpass|my\.cnf|mylogin\.cnf|htpasswd|htdigest|dockercfg|dockerconfigjson"
    r"|git-credentials|boto|s3cfg|vault-token|yarnrc\.yml|gem_credentials|credentials|terraformrc)"
    r"|_netrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|ssh_host_\w{1,20}_key|shadow|master\.key|kubeconfig"
    r"|(?:client[_-]?secrets?|service[_-]?account|gcp[_-]?key|firebase[_-]?adminsdk).{0,80}\.json"
    r"|.{0,80}(?:service[_-]?account|credentials?|secrets?)(?:[._-][\w-]{1,40})?"
    r"\.(?:ya?ml|json|toml|ini|cfg|conf|properties|xml|plist|csv|txt|enc|gpg|age|env|sops)(?:\.enc|\.gpg|\.age)?"
    r"|credentials?|secrets?|terraform\.tfstate(?:\.backup)?|.{1,80}\.tfvars(?:\.json)?"
    r"|.{1,200}\.(?:pem|key|p12|pfx|jks|keystore|bks|ppk|kdbx?|pkcs12|p8|asc|gpg|ovpn|keytab|mobileprovision)"
)
_PLACES = re.compile(
    r"(?:^|/)(?:config/(?:secrets|credentials)(?:[./].*)?|\.(?:aws|gcloud|kube|docker)/(?:config\w*(?:\.json)?|credentials)"
    r"|\.ssh/(?!.*\.pub$)(?!known_hosts$).+|\.bundle/config|\.cargo/credentials(?:\.toml)?|\.composer/auth\.json"
    r"|\.gem/credentials|\.config/gh/hosts\.yml)$"
)


def is_secret_file(path: str) -> bool:
    """Tell whether a file is there to hold secrets, by its path as any system would read it.

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
    """Say why a secret file is not shown.

    >>> refusal(".env")
    '.env holds secrets by its name: nobody is shown it, and it is not searched'
    """
    return f"{path} holds secrets by its name: nobody is shown it, and it is not searched"
