"""Masks: `<email-482913>` stands for one value wherever it occurs, and tells nothing else of it."""

import hashlib
import hmac
import re
from collections.abc import Callable
from functools import cached_property
from threading import Lock

Scrub = Callable[[str], str]
MASK = re.compile(r"<(?P<kind>[a-z]{2,12})-(?P<number>\d{6})>")
_REMEMBERED = 20_000  # values that masks can be turned back into


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
        """Take the key, or a function that gets it when the first value is masked.

        Without a key all values of a kind share one mask.
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
                self._values[mask] = ""  # two values share this mask: unmask neither
            if len(self._values) > _REMEMBERED:
                self._values.pop(next(iter(self._values)))
        return mask

    def unmask(self, text: str) -> str:
        """Put back values that this process has masked: to search for them, never to show them.

        >>> masks = Masks(b"key")
        >>> masks.unmask(f"for {masks.mask('email', 'a@b.de')}, <email-1>")
        'for a@b.de, <email-1>'
        """
        return MASK.sub(lambda mask: self._values.get(mask[0]) or mask[0], text)
