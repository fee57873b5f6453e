"""The scrubber: what is secret or a person's becomes a mask, the rest of a text stays."""

import base64
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from nightwatch_core.privacy.key_values import (
    ANY_VENDOR,
    FILLED_IN,
    HASHES,
    KEY_VALUES,
    MASK,
    PREFIXED,
    SHAPES,
    Masks,
    Rule,
    is_secret,
)
from nightwatch_core.privacy.second_check import own_pattern

# Secrets known by where they stand: addresses, headers, cookies, commands, sentences.

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
    if not re.search(r"\w{4}", _SCHEME.sub("", FILLED_IN.sub("", value))):
        return True
    head = value.strip().split(",")[0]
    return bool(
        re.fullmatch(
            r"[$@&:]?[A-Za-z_][\w.:]*(?:\(.{0,200}|\[.{0,200}|\s[=!&|?+].{0,400}|[;)]{0,3})", head
        )
    ) and not (any(map(str.isdigit, head.split("(")[0])) and len(head) > 12 and "(" not in head)


def _is_listed(match: re.Match[str]) -> bool:
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


# People's data: addresses, numbers of phones, cards and accounts.

_RESERVED = re.compile(  # nobody has such an address, or everybody may know it
    r"(?:.{0,80}\.)?(?:example\.(?:com|org|net)|example|invalid|localhost|local|localdomain)"
    r"|users\.noreply\.github\.com|(?:.{0,80}\.)?ingest\.sentry\.io",
    re.I,
)
_NOBODY = re.compile(
    r"(?:no-?reply|do-?not-?reply|git|hg|svn|root|user(?:name)?|name|you|me|foo|bar|test)$", re.I
)
_FILES = frozenset(
    [
        "py",
        "js",
        "ts",
        "rb",
        "go",
        "rs",
        "php",
        "java",
        "cs",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "css",
        "scss",
        "html",
        "json",
        "yml",
        "yaml",
        "md",
        "txt",
        "so",
        "jar",
        "gem",
        "lock",
        "min",
        "map",
        "vue",
        "tsx",
        "jsx",
        "ex",
        "exs",
        "kt",
        "swift",
        "c",
        "h",
        "cpp",
        "sh",
        "sql",
        "xml",
        "conf",
        "toml",
        "log",
        "service",
        "timer",
    ]
)


def is_card(number: str) -> bool:
    """Tell whether a number is one that card networks give out, by its first and its check digit.

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112"), is_card("1700000000000000")
    (True, False, False)
    """
    digits = re.sub(r"\D", "", number)
    lengths = next((sizes for start, sizes in _NETWORKS if re.match(start, digits)), ())
    if len(digits) not in lengths or len(set(digits)) < 2:
        return False
    doubled = [int(c) * (1 + at % 2) for at, c in enumerate(reversed(digits))]
    return sum(d - 9 * (d > 9) for d in doubled) % 10 == 0


_NETWORKS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"4", (13, 16)),
    (r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720", (16,)),
    (r"3[47]", (15,)),
    (r"6011|65|64[4-9]|35(?:2[89]|[3-8])", (16,)),
    (r"30[0-5]|3[689]", (14,)),
    (r"50|5[6-9]|6[0-9]", (16, 18)),
)


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
    if ending in _FILES or _RESERVED.fullmatch(host):
        return False
    return not _NOBODY.match(name)


def _is_international(match: re.Match[str]) -> bool:
    digits = re.sub(r"\D", "", match["v"])
    return 9 <= len(digits) <= 15 and len(set(digits)) > 2 and digits[0] != "0"


def _is_national(match: re.Match[str]) -> bool:
    digits = re.sub(r"\D", "", match["v"])
    return 7 <= len(digits) <= 15 and len(set(digits)) > 2


def _checked(check: Callable[[str], bool]) -> Callable[[re.Match[str]], bool]:
    return lambda match: check(match["v"])


def _is_address(match: re.Match[str]) -> bool:
    """No loopback, no wildcard, no mask of a network."""
    parts = [int(part) for part in match["v"].split(".")]
    return max(parts) < 256 and parts[0] not in (0, 127, 255)


_NAMED = r"(?:(?:user|login|first|last|given|family|sur|full|nick|middle|display)_?name|login)"
_IS_NAMED = re.compile(_NAMED, re.I)


def _is_of_names(match: re.Match[str]) -> bool:
    return any(_IS_NAMED.fullmatch(item.strip(' "')) for item in match["keys"].split(","))


PERSONAL: tuple[Rule, ...] = (
    Rule(  # PostgreSQL's and MySQL's words for what is there already
        "name",
        re.compile(r"\bKey \((?P<keys>[^()\n]{1,200})\)=\((?P<v>[^()\n]{2,200})\)"),
        ("key (",),
        _is_of_names,
    ),
    Rule(
        "name",
        re.compile(rf"Duplicate entry '(?P<v>[^'\n]{{2,100}})' for key '[\w.]{{0,80}}?{_NAMED}", re.I),
        ("duplicate entry",),
    ),
    Rule(  # {"firstName":"Mia"}, "last_name" => "Mueller"
        "name",
        re.compile(
            r"\b(?:first|last|given|family|sur|full|middle)_?[nN]ame\\{0,3}[\"']\s{0,3}(?::|=>)\s{0,3}\\{0,3}[\"']"
            r"(?P<v>[A-ZÀ-Þ][^\W\d_]{1,30}(?:[ '-][^\W\d_]{1,30}){0,3})(?=\\{0,3}[\"'])"
        ),
        ("name",),
        lambda match: "name" not in match["v"].lower(),
    ),
    Rule(
        "ssn",
        re.compile(r"\b(?:ssn|social security(?: number)?)\D{0,12}(?P<v>\d{3}-\d{2}-\d{4})(?![\d-])", re.I),
        ("ssn", "social security"),
    ),
    Rule(
        "email",
        re.compile(
            r"(?<![\w.+%/:$-])(?:(?<=\\[nrt])|\b)?(?P<v>[A-Za-z0-9_](?:[\w.+'-]{0,62}[\w+-])?(?:@|%40)"
            r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}[A-Za-z]{2,18})(?![\w@-])"
        ),
        ("@", "%40"),
        _is_person,
    ),
    Rule(
        "email",
        re.compile(
            r"(?:mailto:|(?:mail|user|login|account|to|from|[:/])[\"'=:/<\s]{1,4})(?P<v>[A-Za-z0-9_][\w.+-]{0,62}(?:@|%40)"
            r"(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,18})(?![\w@:-])",
            re.I,
        ),
        ("@", "%40"),
        _is_person,
    ),
    Rule(
        "iban",
        re.compile(
            r"(?<![A-Za-z0-9])(?P<v>[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?)(?![A-Za-z0-9])"
        ),
        (),
        _checked(is_iban),
    ),
    Rule(
        "card",
        re.compile(
            r"(?<![\w.+-])(?P<v>[2-6]\d{12,17}|[2-6]\d{3}([ -])\d{4}\2\d{4}\2\d{4}|3\d{3}([ -])\d{6}\3\d{4,5})(?![\w.-]?\d|[\w])"
        ),
        (),
        _checked(is_card),
    ),
    Rule(
        "phone",
        re.compile(
            r"(?<![\w+./=-])(?P<v>(?:\+|%2B)[1-9]\d{0,3}(?:[ .-]?\(0?\d{1,4}\))?(?:[ .-]?\d{2,12}){1,5})(?![\w]|[.:,]\d)"
        ),
        ("+", "%2b"),
        _is_international,
    ),
    Rule(
        "phone",
        re.compile(r"(?<![\w.])(?P<v>\([2-9]\d{2}\) ?[2-9]\d{2}[-. ]\d{4})(?!\w)"),
        ("(",),
        _is_national,
    ),
    Rule(
        "phone",
        re.compile(
            r"(?:phone|mobile|telefon|handy|msisdn|whatsapp|cell|(?<![a-z])(?:tel|fax))[\w-]{0,16}\\{0,3}[\"']?\]?\s{0,3}(?::|=>?|,|\s|is)\s{0,3}"
            r"\\{0,3}[\"']?(?P<v>\+?\(?\d[\d ()./-]{5,18}\d)(?!\w)",
            re.I,
        ),
        ("phone", "mobile", "tel", "handy", "msisdn", "whatsapp", "cell", "fax"),
        _is_national,
    ),
)  # fmt: skip
ADDRESSES: tuple[Rule, ...] = (
    Rule(
        "ip",
        re.compile(r"(?<![\w.-])(?P<v>\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})(?![\w-]|\.\d)"),
        (".",),
        _is_address,
    ),
    Rule(
        "ip",
        re.compile(r"(?<![\w:.])(?P<v>(?=[0-9a-fA-F:]{0,30}[0-9a-fA-F]{3})(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){1,6})(?![\w:.])"),
        (":",),
    ),
)  # fmt: skip

# Values of an INSERT whose columns say that they are secret: known by their place alone.

_INSERT = re.compile(
    r"\bINSERT\s+INTO\s+[^\s(]{1,200}\s{0,4}\((?P<columns>[^()]{1,2000})\)\s{0,4}VALUES\s{0,4}"
    r"\((?P<values>(?:'(?:[^'\n]|''){0,400}+'|[^'()]){1,400}+)\)",
    re.I,
)
_SECRET_COLUMN = re.compile(
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|otp|api_?key|private_?key|salt|digest|pin|cvv",
    re.I,
)
_VALUE = re.compile(r"\s{0,4}(?:'(?P<text>(?:[^'\n]|''){0,400}+)'|[^',]{0,400})\s{0,4}(?:,|$)")


def without_inserted(text: str, mask: Callable[[str, str], str]) -> str:
    """Return the text with `mask(kind, value)` where a secret would be inserted.

    >>> sql = "INSERT INTO users (name, password) VALUES ('ana', 'hunter2')"
    >>> without_inserted(sql, lambda kind, value: f"<{kind}>")
    "INSERT INTO users (name, password) VALUES ('ana', '<secret>')"
    """
    return _INSERT.sub(lambda insert: _masked(insert, mask), text)


def _masked(insert: re.Match[str], mask: Callable[[str, str], str]) -> str:
    columns, values = insert["columns"].split(","), insert["values"]
    parts = list(_VALUE.finditer(values))[: len(columns)]
    for column, value in reversed(list(zip(columns, parts, strict=False))):
        hidden = value["text"]
        if hidden and _SECRET_COLUMN.search(column) and is_secret(hidden):
            start, end = value.span("text")
            values = f"{values[:start]}{mask('secret', hidden)}{values[end:]}"
    start, end = insert.start("values") - insert.start(), insert.end("values") - insert.start()
    return f"{insert[0][:start]}{values}{insert[0][end:]}"


RULES: tuple[Rule, ...] = (
    *(*HASHES, *SHAPES, *PREFIXED, ANY_VENDOR),
    *(*CONTEXTS, *KEY_VALUES, *PERSONAL),
)
"""In this order: the more a shape says, the earlier it is looked for."""

_SHORTEST = 6  # characters that can be anything secret
_REMEMBERED = 256  # texts: the same files and turns come again and again
_MASK = 24  # characters of the longest mask, and some


class Scrubber:
    """Replaces secrets and people's data by masks; what is masked stays as it is.

    Safe for threads; the time grows with the length of a text alone.
    """

    def __init__(self, masks: Masks, own: Iterable[str] = (), *, addresses: bool = False) -> None:
        """Know `own` secrets by their value; `addresses` of networks go only where that is asked."""
        self.masks = masks
        self._own = own_pattern(own)
        self._rules = (*RULES, *ADDRESSES) if addresses else RULES
        self._remembered = lru_cache(_REMEMBERED)(self._scrubbed)

    def scrub(self, text: str) -> str:
        """Return the text with masks in it.

        >>> scrubber = Scrubber(Masks(b"key"))
        >>> scrubber.scrub("login of mia@acme.io failed, password=hunter2")
        'login of <email-975123> failed, password=<secret-203036>'
        >>> scrubber.scrub("token: str, total = sum(prices), sha 8f2c1d9e4b7a6c5d3e2f")
        'token: str, total = sum(prices), sha 8f2c1d9e4b7a6c5d3e2f'
        """
        return text if len(text) < _SHORTEST else self._remembered(text)

    def _scrubbed(self, text: str) -> str:
        if self._own:
            text = self._own.sub(lambda match: self.masks.mask("own", match[0]), text)
        small = text.lower()
        if "insert" in small:
            text = without_inserted(text, self.masks.mask)
        for rule in self._rules:
            if not rule.needs or any(need in small for need in rule.needs):
                text = self._by_line(rule, text) if rule.by_line else self._without(rule, text)
        return text

    def _by_line(self, rule: Rule, text: str) -> str:
        lines = text.split("\n")
        for at, line in enumerate(lines):
            small = line.lower()
            if any(need in small for need in rule.needs):
                lines[at] = self._without(rule, line)
        return "\n".join(lines)

    def _without(self, rule: Rule, text: str) -> str:
        def masked(match: re.Match[str]) -> str:
            if not rule.accept(match):
                return match[0]
            start, end = _span(match)
            if _cuts_mask(text, start, end):
                return match[0]
            mask = self.masks.mask(rule.kind, text[start:end], _same(rule.kind, text[start:end]))
            lines = "\n" * text.count("\n", start, end)  # line numbers stay what they were
            return f"{text[match.start() : start]}{mask}{lines}{text[end : match.end()]}"

        return rule.pattern.sub(masked, text)


REMOVAL = Scrubber(Masks())
"""Takes out without telling values apart: for what is shown before a night has a key."""


def _span(match: re.Match[str]) -> tuple[int, int]:
    names = (name for name in ("v", "v2", "v3") if name in match.re.groupindex)
    return next((match.span(name) for name in names if match[name] is not None), match.span())


def _cuts_mask(text: str, start: int, end: int) -> bool:
    around = MASK.finditer(text, max(0, start - _MASK), min(len(text), start + _MASK))
    behind = MASK.finditer(text, max(start, end - _MASK), min(len(text), end + _MASK))
    return any(
        mask.start() <= start < mask.end() or mask.start() < end < mask.end()
        for mask in (*around, *behind)
    )


def _same(kind: str, value: str) -> str:
    if kind == "email":
        return value.lower().replace("%40", "@")
    if kind in ("phone", "card", "iban"):
        return re.sub(r"[^0-9A-Za-z]", "", value).upper()
    return ""
