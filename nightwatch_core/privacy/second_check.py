"""Checks texts before publication for our own keys, and finds them by undoing encodings.

The scrubber finds them the other way round, by writing each key in every encoding. A text with a
key is withheld, not masked: it should never have come this far, and people must hear of it.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from urllib.parse import quote, unquote

SHORTEST = 6  # characters of a key: less stands in every text
MOST_ALARMS = 20  # that are remembered
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){6,}")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\([\"\\/])")
_FOUND = "one of NightWatch's own keys"


class SecondCheck:
    """Finds our own keys in texts that were already scrubbed; safe for threads."""

    def __init__(self, own: Iterable[str] = ()) -> None:
        self._own = frozenset(part for key in own for part in _parts(key.strip()))
        self._guard, self._alarms = Lock(), dict[str, None]()

    def found(self, text: str) -> bool:
        """Return True if the text holds one of our keys in any encoding.

        >>> check = SecondCheck(("s3cr3t/key",))
        >>> check.found("one\\nand s3cr3t%2Fkey"), check.found("secret/key")
        (True, False)
        """
        return any(own in view for own in self._own for view in _views(text))

    def refusal(self, texts: Mapping[str, str]) -> str:
        """Return why these texts, by the names of their places, must not be published; or ""."""
        for place, text in texts.items():
            if self.found(text):
                return self._remember(f"the second check found {_FOUND} in {place}")
        return ""

    def withhold(self, where: str, text: str) -> str:
        """Return the text, or a notice in its place if it holds a key."""
        if not self.found(text):
            return text
        return f"[{self._remember(f'withheld from {where}: it holds {_FOUND}')}]"

    def alarms(self) -> tuple[str, ...]:
        """Return the alarms since the last `reset`, each once."""
        with self._guard:
            return tuple(self._alarms)

    def reset(self) -> None:
        """Forget all alarms: a night begins."""
        with self._guard:
            self._alarms.clear()

    def _remember(self, alarm: str) -> str:
        with self._guard:
            if len(self._alarms) < MOST_ALARMS:
                self._alarms[alarm] = None
        return alarm


def _parts(secret: str) -> Iterator[str]:
    parts = (secret, "".join(secret.split()), *(x for x in secret.split("\n") if len(x) >= 40))
    yield from (part for part in parts if len(part) >= SHORTEST)


def _views(text: str) -> Iterator[str]:
    plain = _ESCAPE.sub(lambda item: item[2] or chr(int(item[1], 16)), text.replace("\\n", "\n"))
    yield from (text, text[::-1], plain, unquote(text), unquote(text.replace("+", " ")))
    dense = "".join(text.split())
    yield from (dense, dense[::-1])
    for run in _HEX.findall(text):
        digits = re.sub(r"[ :]", "", run)
        yield bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")
    for run in _BASE64.findall(dense):
        standard = run.replace("-", "+").replace("_", "/")
        for start in range(4):
            whole = standard[start : start + (len(standard) - start) // 4 * 4]
            rest = standard[start + len(whole) :]
            padded = whole + (rest + "=" * (4 - len(rest)) if len(rest) > 1 else "")
            yield base64.b64decode(padded).decode("utf-8", "replace")


# Our own secrets by their exact value, however they are written.


def own_pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Return what matches any of the secrets in any of their forms; None where there are none.

    >>> found = own_pattern(("s3cr3t/key",))
    >>> [bool(found.search(text)) for text in ("s3cr3t%2Fkey", "yek/t3rc3s", "secret")]
    [True, True, False]
    """
    known = [secret for secret in secrets if len(secret.strip()) >= SHORTEST]
    forms = {form for item in known for form in _forms(item.strip()) if len(form) >= SHORTEST}
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
