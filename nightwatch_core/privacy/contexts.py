"""Secrets known by where they stand: addresses, headers, cookies, commands, sentences."""

import base64
import re

from nightwatch_core.privacy.key_values import FILLED_IN, is_secret
from nightwatch_core.privacy.masks import MASK
from nightwatch_core.privacy.rule import Rule

_SCHEME = re.compile(r"\b(?:basic|bearer|token|digest|genie-?key|apikey|key|bot)\b", re.I)


def _value(match: re.Match[str]) -> bool:
    """Not what was masked, nor what stands for a value."""
    return is_secret(match["v"])


def _some(match: re.Match[str]) -> bool:
    """Whatever it is, unless nothing but masks and names."""
    return len(re.sub(r"[\w-]{1,60}=(?=[;\s]|$)|[\s;,]", "", MASK.sub("", match["v"]))) >= 4


def _given(match: re.Match[str]) -> bool:
    """A password in an address: not one that code fills in, nor the word for it."""
    left = FILLED_IN.sub("", match["v"])
    return left.lower() not in ("", "pass", "passwd", "password", "pwd") and _some(match)


def _is_pair(match: re.Match[str]) -> bool:
    """Whether base64 holds a name and a password."""
    try:
        return bool(re.fullmatch(rb"[ -~]+:[ -~]*", base64.b64decode(match["v"] + "==")))
    except ValueError:
        return False


def _mixed(match: re.Match[str]) -> bool:
    """Digits and letters, or a sign no word has."""
    value = match["v"]
    has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return is_secret(value) and has_digit and has_letter


def _is_no_name(value: str) -> bool:
    """Whether it may be a key itself: names of keys, which are quoted, too, are short words."""
    return any(map(str.isdigit, value)) or len(value) >= 16


_TELLING = (
    r"(?:pass(?:word|phrase|code)|passwd|secret|(?:api|access|auth|licen[sc]e|secret|private|account|session)[ _-]?(?:key|token)"
    r"|token|credentials?)"
)
_ONE_TIME = (
    r"(?:verification|one[- ]time|otp|2fa|mfa|totp|two[- ]factor|security|log-?in|sign-?in|confirmation"
    r"|auth(?:entication|orization)?|sms|access|reset|recovery|backup|activation)"
)

CONTEXTS: tuple[Rule, ...] = (
    Rule(  # Sentry's key; the secret of old addresses behind it
        "key",
        re.compile(r"(?<=://)(?P<v>[0-9a-f]{32}(?::[0-9a-f]{32})?)(?=@)"),
        ("://",),
        _some,
    ),
    Rule(
        "password",
        re.compile(r"://[^\s/:@\"'<>]{0,100}:(?P<v>[^\s/\"'<>]{1,200})(?=@[\w.\[{$-])"),
        ("://",),
        _given,
    ),
    Rule(
        "key",
        re.compile(r"(?<=://)(?P<v>[\w.~%+-]{20,200})(?=@[\w.-]{1,200}\.)"),
        ("://",),
        _mixed,
    ),
    Rule(
        "token",
        re.compile(
            r"authorization\\{0,3}[\"']?\]?\s{0,5}(?P<sep>:=?|=>?|,)\s{0,5}\\{0,3}[\"']?"
            r"(?:(?:basic|bearer|token|digest|negotiate|apikey|key|aws4-hmac-sha256|hawk|ntlm|bot)\s{1,3})?"
            r"(?P<v>[^\r\n\"'\\\s][^\r\n\"'\\]{3,4000})",
            re.I,
        ),
        ("authorization",),
        lambda match: _some(match) and not _is_code(match["v"]) and not _is_listed(match),
    ),
    Rule(
        "token",
        re.compile(r"\bbearer\s{1,5}(?P<v>[\w.~+/=-]{12,4000})", re.I),
        ("bearer",),
        _mixed,
    ),
    Rule("token", re.compile(r"\bBasic\s{1,3}(?P<v>[A-Za-z0-9+/]{8,400}={0,2})(?![\w ])"), ("basic",), lambda match: _mixed(match) or _is_pair(match)),
    Rule(
        "cookie",
        re.compile(
            r"(?:\bset-cookie2?|\bsetcookie)\\{0,3}[\"']?\]?\s{0,5}(?::|=>?|,)\s{0,5}\\{0,3}[\"'\[(]{0,3}"
            r"[\w.%-]{1,80}=(?P<v>[^\s;,\"'\\]{4,4000})",
            re.I,
        ),
        ("cookie",),
        _some,
    ),
    Rule(
        "cookie",
        re.compile(
            r"(?:\b|_)cookies?\\{0,3}[\"']?\]?\s{0,5}(?::|=>?|,)\s{0,5}\\{0,3}[\"'\[(]{0,3}"
            r"(?P<v>[\w.%-]{1,80}=[^\r\n\"'\\]{4,4000})",
            re.I,
        ),
        ("cookie",),
        lambda match: _some(match) and not _is_code(match["v"].partition("=")[2]),
    ),
    Rule(
        "token",
        re.compile(
            r"\b(?:x-[\w-]{0,40}(?:token|key|secret|signature|auth|session)|api-key)\\{0,3}[\"']?\]?\s{0,4}"
            r"(?::|=>?|,|\s)\s{0,4}\\{0,3}[\"']?(?P<v>[\w.~+/=:-]{8,2000})(?![\w(])",
            re.I,
        ),
        ("x-", "api-key"),
        _mixed,
    ),
    Rule(  # PDO->__construct('mysql:host=…', 'user', '…'), DriverManager.getConnection(url, "user", "…")
        "password",
        re.compile(
            r"(?:\bPDO(?:->__construct|::connect)?|getConnection|mysqli?(?:_connect|->__construct)?|pg_connect"
            r"|ldap_bind|OCILogon|oci_connect)\(\s?[^()\n,]{1,300},\s?(?P<q>[\"'])[^\"'\n]{0,100}(?P=q),\s?"
            r"(?P<q2>[\"'])(?P<v>[^\"'\n]{1,200})(?P=q2)"
        ),
        ("pdo", "getconnection", "mysql", "ldap_bind", "oci"),
        _some,
    ),
    Rule(
        "password",
        re.compile(
            r"(?<![\w-])(?:--?(?:password|passwd|pass|pwd|token|api-?key|secret|auth-?token)(?:=|\s{1,3})"
            r"|(?:sshpass|plink)\s-p\s?|docker\slogin\s[^\n]{0,80}?-p\s)[\"']?(?P<v>[^\s\"'<>|;]{3,400})",
            re.I,
        ),
        ("-p", "--t", "--a", "--s", "-secret", "-token", "-api", "-auth"),
        _value,
    ),
    Rule(
        "password",
        re.compile(r"(?<![\w-])(?:-u|--user)\s{0,2}[\"']?[\w.@-]{1,80}:(?P<v>[^\s\"'@/]{3,200})"),
        ("-u", "--user"),
        _value,
    ),
    Rule(
        "password",
        re.compile(r"(?:^|\s)(?:login|machine)\s+\S{1,80}\s+(?:login\s+\S{1,80}\s+)?password\s+(?P<v>\S{3,200})", re.I),
        ("password",),
        _value,
    ),
    Rule(
        "password",
        re.compile(r"\bauth\s?=\s?\(\s?(?P<q>[\"'])[^\"'\n]{0,100}(?P=q),\s?(?P<q2>[\"'])(?P<v>[^\"'\n]{1,200})(?P=q2)"),
        ("auth",),
        _value,
    ),
    Rule("password", re.compile(r"\bIDENTIFIED\s+(?:WITH\s+\w{1,40}\s+)?(?:BY|AS)\s+'(?P<v>[^'\n]{1,200})'", re.I), ("identified",), _some),
    Rule(  # password 'x' was refused; the license key A1B2-… is not valid
        "secret",
        re.compile(rf"\b{_TELLING}\s{{1,2}}(?:is\s|was\s|of\s|for\s\S{{1,60}}\s)?(?P<q>[\"'`])(?P<v>[^\"'`\n]{{3,300}})(?P=q)", re.I),
        ("pass", "secret", "key", "token", "credential"),
        lambda match: _value(match) and (match[0][:4].lower() == "pass" or _is_no_name(match["v"])),
    ),
    Rule(  # ADMIN_KEY 6be0576f… may not, writeKey Vb9Qx7… is off
        "secret",
        re.compile(r"(?<![\w.])[A-Za-z]\w{0,60}(?:KEY|TOKEN|SECRET|(?<=[a-z])(?:Key|Token|Secret))\s{1,2}(?P<v>[A-Za-z0-9+/_-]{16,200}={0,2})(?![\w(.])"),
        ("key", "token", "secret"),
        lambda match: _mixed(match) and _is_random(match["v"]),
    ),
    Rule(  # mysqldump -uroot -pVALUE, smbclient -U svc%VALUE, what FTP and IMAP call it
        "password",
        re.compile(
            r"(?:\bmysql\w{0,10}\s[^\n]{0,120}?\s-p|\s-U\s?[\w.@/\\-]{1,60}%|\bPASS\s|\bLOGIN\s\S{2,80}\s)"
            r"(?P<v>(?=\S{0,40}[\d!#$%*?])[A-Za-z]\S{4,80})"
        ),
        ("mysql", "-u", "pass ", "login "),
        _value,
    ),
    Rule(
        "secret",
        re.compile(rf"\b{_TELLING}\s{{1,2}}(?:is:?\s|was:?\s|provided:?\s|of\s)?(?P<v>[A-Za-z0-9][\w.~+/=!?#$%@*-]{{7,300}})", re.I),
        ("pass", "secret", "key", "token", "credential"),
        lambda match: is_secret(match["v"]) and _is_random(match["v"]),
    ),
    Rule(
        "otp",
        re.compile(rf"\b{_ONE_TIME}[ _-]?(?:pass)?(?:code|pin|password|token|otp)\D{{0,24}}?(?P<v>(?<!\d)\d{{4,8}})(?!\d)", re.I),
        ("code", "pin", "password", "token", "otp"),
    ),
    Rule(
        "otp",
        re.compile(rf"(?<![\d.])(?P<v>\d{{4,8}}|\d{{3}}[ -]\d{{3}}) (?:is|as) (?:your|the) (?:[\w-]{{1,20}} ){{0,2}}{_ONE_TIME}?[ _-]?(?:code|otp|pin)\b", re.I),
        ("code", "otp", "pin"),
    ),
    Rule("otp", re.compile(r"\b[tT]?(?:otp|OTP)\b\D{0,16}?(?P<v>\d{4,8})(?!\d)"), ("otp",)),
)  # fmt: skip


def _is_code(value: str) -> bool:
    """Whether a header's value is given by code: a variable, a call, an interpolation."""
    if not re.search(r"\w{4}", _SCHEME.sub("", FILLED_IN.sub("", value))):
        return True
    head = value.strip().split(",")[0]
    return bool(
        re.fullmatch(
            r"[$@&:]?[A-Za-z_][\w.:]*(?:\(.{0,200}|\[.{0,200}|\s[=!&|?+].{0,400}|[;)]{0,3})", head
        )
    ) and not (any(map(str.isdigit, head.split("(")[0])) and len(head) > 12 and "(" not in head)


def _is_listed(match: re.Match[str]) -> bool:
    """Whether the name stands among names: of headers, or of what a call is told."""
    words = r"(?:[A-Za-z]+(?:-[A-Za-z]+)*|[:*&]\w+|\S{0,20}\{[^{}]*\})"
    return match["sep"] == "," and bool(
        re.fullmatch(rf"(?:got )?{words}(?:, ?{words})*", match["v"])
    )


def _is_random(value: str) -> bool:
    """No path, version, host, or name with a number behind it."""
    if re.fullmatch(
        r"[\w.-]+(?:/[\w.-]+)+|v?\d+(?:\.\d+)+\S*|[A-Za-z_.-]+\d{0,4}|\d[\d.,:-]*\w{0,3}|#\S*",
        value,
    ):
        return False
    return len(re.findall(r"\d", value)) >= 2 or _changes_case(value)


def _changes_case(value: str) -> bool:
    """Letters of both kinds without an order, as no name has them."""
    return len(value) >= 20 and len(re.findall(r"[a-z][A-Z]{2}|[A-Z]{2}[a-z][A-Z]", value)) >= 2
