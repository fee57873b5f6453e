"""People's data: addresses, numbers of phones, cards and accounts."""

import re
from collections.abc import Callable

from nightwatch_core.privacy.rule import Rule

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
    return any(_IS_NAMED.fullmatch(one.strip(' "')) for one in match["keys"].split(","))


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
