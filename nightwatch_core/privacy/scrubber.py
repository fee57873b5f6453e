"""The scrubber: secrets and personal data become masks, the rest of a text stays.

A mask like `<email-482913>` stands for one value wherever it occurs, and tells nothing else of it.
"""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from urllib.parse import quote

from nightwatch_core.privacy.rules import ADDRESSES, MASK, RULES, Rule, is_secret

Scrub = Callable[[str], str]
SHORTEST = 6  # characters of a key of our own: less stands in every text


def holds_mask(text: str) -> bool:
    """Return whether a text holds a mask.

    >>> holds_mask("to <email-482913>"), holds_mask("Map<string-1>")
    (True, False)
    """
    return "<" in text and MASK.search(text) is not None


def without_numbers(text: str) -> str:
    """Replace masks by the placeholders that message templates use.

    >>> without_numbers("no mandate for <iban-000017>")
    'no mandate for <iban>'
    """
    return MASK.sub(r"<\g<kind>>", text)


class Masks:
    """Names values by a key that only this installation has: nobody can try values out on a mask.

    The same value has the same number in every thread, process and night. Safe for threads.
    """

    def __init__(self, key: bytes | Callable[[], bytes] = b"") -> None:
        """Take the key, or what makes it at the first value; without one a kind shares one mask."""
        self._given = key

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
        return f"<{kind}-{int.from_bytes(digest[:8], 'big') % 1_000_000:06d}>"


# Our own secrets by their exact value, however they are written.


def own_pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Return what matches any of the secrets in any of their forms; None where there are none.

    >>> found = own_pattern(("s3cr3t/key",))
    >>> [bool(found.search(text)) for text in ("s3cr3t%2Fkey", "yek/t3rc3s", "secret")]
    [True, True, False]
    """
    long_enough = [secret for secret in secrets if len(secret.strip()) >= SHORTEST]
    forms = {form for item in long_enough for form in _forms(item.strip()) if len(form) >= SHORTEST}
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(re.escape, longest_first))) if forms else None


def _forms(secret: str) -> Iterator[str]:
    """Plain, reversed, escaped for JSON and URLs, hexadecimal, base64 at any place of a text."""
    raw = secret.encode("utf-8", "replace")
    lines = tuple(line for line in secret.splitlines() if len(line) >= 40)
    plain = (secret, secret.replace("\n", "\\n"), *lines)
    for item in plain:
        yield from (item, item[::-1], quote(item, safe=""), quote(item), json.dumps(item)[1:-1])
    for digits in (raw.hex(), raw.hex(" "), raw.hex(":")):
        yield from (digits, digits.upper())
    for before in range(3):
        written = base64.b64encode(b"\0" * before + raw).decode()
        start = (0, 2, 3)[before]
        inner = written[start : len(b"\0" * before + raw) * 8 // 6]
        if len(inner) >= SHORTEST:
            yield from (inner, inner.replace("+", "-").replace("/", "_"))


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


_SHORTEST = 6  # characters that can be anything secret
_REMEMBERED = 20_000  # texts: the same files, names and turns come again and again
_LONGEST_MASK = 24  # characters of the longest mask, and some


class Scrubber:
    """Replaces secrets and people's data by masks; what is masked stays as it is.

    Safe for threads; the time grows with the length of a text alone.
    """

    def __init__(self, masks: Masks, own: Iterable[str] = (), *, addresses: bool = False) -> None:
        """Know `own` secrets by their value; `addresses` of networks go only where that is asked."""
        self.masks = masks
        self._own = own_pattern(own)
        self._rules = (*RULES, *ADDRESSES) if addresses else RULES
        self._remembered: dict[bytes, str | None] = {}  # by digest; None: nothing was masked

    def scrub(self, text: str) -> str:
        """Return the text with masks in it.

        >>> scrubber = Scrubber(Masks(b"key"))
        >>> scrubber.scrub("login of mia@acme.io failed, password=hunter2")
        'login of <email-975123> failed, password=<secret-203036>'
        >>> scrubber.scrub("token: str, total = sum(prices), sha 8f2c1d9e4b7a6c5d3e2f")
        'token: str, total = sum(prices), sha 8f2c1d9e4b7a6c5d3e2f'
        """
        if len(text) < _SHORTEST:
            return text
        key = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
        if key in (remembered := self._remembered):
            return remembered[key] or text
        new = self._scrubbed(text)
        if len(remembered) >= _REMEMBERED:
            remembered = self._remembered = {}
        remembered[key] = None if new == text else new
        return new

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
            names = (name for name in ("v", "v2", "v3") if name in match.re.groupindex)
            spans = (match.span(name) for name in names if match[name] is not None)
            start, end = next(spans, match.span())
            touching = MASK.finditer(text, max(0, start - _LONGEST_MASK), start + _LONGEST_MASK)
            behind = MASK.finditer(text, max(start, end - _LONGEST_MASK), end + _LONGEST_MASK)
            masks = (mask.span() for mask in (*touching, *behind))
            if any(first <= start < last or first < end < last for first, last in masks):
                return match[0]
            mask = self.masks.mask(rule.kind, text[start:end], _same(rule.kind, text[start:end]))
            lines = "\n" * text.count("\n", start, end)  # line numbers stay what they were
            return f"{text[match.start() : start]}{mask}{lines}{text[end : match.end()]}"

        return rule.pattern.sub(masked, text)


REMOVAL = Scrubber(Masks())
"""Takes out without telling values apart: for what is shown before a night has a key."""


def _same(kind: str, value: str) -> str:
    if kind == "email":
        return value.lower().replace("%40", "@")
    if kind in ("phone", "card", "iban"):
        return re.sub(r"[^0-9A-Za-z]", "", value).upper()
    return ""
