"""Values of keys that say they hold a secret: in code, JSON, YAML, SQL, DSNs, queries, XML.

A name of a secret is not one (`password_field`, `max_tokens`), nor is what code has in its place:
a variable, a call, a type, a placeholder.
"""

import re

from nightwatch_core.privacy.masks import MASK
from nightwatch_core.privacy.rule import Rule

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
    """Whether the key is of a password, which may be a plain word."""
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
