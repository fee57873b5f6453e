"""Our own secrets by their exact value, however they are written."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

SHORTEST = 6  # characters: less stands in every text


def own_pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Return what matches any of the secrets in any of their forms; None where there are none.

    >>> found = own_pattern(("s3cr3t/key",))
    >>> [bool(found.search(text)) for text in ("s3cr3t%2Fkey", "yek/t3rc3s", "secret")]
    [True, True, False]
    """
    known = [one for one in secrets if len(one.strip()) >= SHORTEST]
    forms = {form for one in known for form in _forms(one.strip()) if len(form) >= SHORTEST}
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(re.escape, longest_first))) if forms else None


def _forms(secret: str) -> Iterator[str]:
    """Plain, reversed, escaped for JSON and URLs, hexadecimal, base64 at any place of a text."""
    raw = secret.encode("utf-8", "replace")
    plain = (secret, secret.replace("\n", "\\n"), *_lines(secret))
    for one in plain:
        yield from (one, one[::-1], quote(one, safe=""), quote(one), json.dumps(one)[1:-1])
    for digits in (raw.hex(), raw.hex(" "), raw.hex(":")):
        yield from (digits, digits.upper())
    for before in range(3):
        yield from _base64(raw, before)


def _lines(secret: str) -> tuple[str, ...]:
    """The lines of a key that are the secret, each for itself."""
    return tuple(line for line in secret.splitlines() if len(line) >= 40)


def _base64(raw: bytes, before: int) -> Iterator[str]:
    """What stays the same in base64 with `before` bytes in front and any behind."""
    written = base64.b64encode(b"\0" * before + raw).decode()
    start = (0, 2, 3)[before]
    inner = written[start : len(b"\0" * before + raw) * 8 // 6]
    if len(inner) >= SHORTEST:
        yield from (inner, inner.replace("+", "-").replace("/", "_"))
