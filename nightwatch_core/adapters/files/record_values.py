"""Values of records, whatever a source wrote: texts and counts."""

import json
import math
import re
from functools import lru_cache

from nightwatch_core.adapters.files.limits import MESSAGE_LIMIT, NAME_LIMIT

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_CLASS_REPR = re.compile(r"<class '([^']{1,300})'>")


def text_of(value: object, limit: int = MESSAGE_LIMIT) -> str:
    r"""A text without control characters, cut in its middle where it is longer than `limit`.

    >>> text_of("a\x00b\r\n\x1b[31mc\x1b[0m"), text_of(7.0), text_of(None), text_of({"a": 1})
    ('ab\nc', '7', '', '{"a": 1}')
    """
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, float):
        value = int(value) if value.is_integer() else value
    is_plain = isinstance(value, str | int)
    text = str(value) if is_plain else _json(value)
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
    if not text.isprintable():
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = _CONTROLS.sub("", _COLOUR.sub("", text))
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()  # halves of surrogate pairs become "?"
    return text.strip("\n")


def name_of(value: object) -> str:
    """A text on one line: a class, a transaction, a host.

    >>> name_of("  Orders \\n Controller"), name_of("<class 'shop.Empty'>"), name_of(["a"])
    ('Orders Controller', 'shop.Empty', '')
    """
    if isinstance(value, str):
        return _name_of(value[: 4 * NAME_LIMIT])
    return "" if isinstance(value, list | dict) else _name_of(text_of(value))


@lru_cache(maxsize=4_096)
def _name_of(value: str) -> str:
    text = " ".join(text_of(value).split())[:NAME_LIMIT]
    printed = _CLASS_REPR.fullmatch(text)
    return printed[1] if printed else text


def number_of(value: object) -> int | None:
    """A whole number that is not negative, from a number or its text; None for anything else.

    >>> number_of(3.0), number_of("1,204"), number_of("many"), number_of(True), number_of(-1)
    (3, 1204, None, None, None)
    """
    number = float_of(value.replace(",", "") if isinstance(value, str) else value)
    return int(number) if number is not None and 0 <= number < 1e15 else None


def float_of(value: object) -> float | None:
    """A number from a number or its text; None for anything else.

    >>> float_of("1.5"), float_of(True), float_of("1 day")
    (1.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and (len(value) > 40 or not value.strip()[:1].isdigit()):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def has_lines(text: str) -> bool:
    r"""Tell a text that has line ends, be they escaped.

    >>> has_lines("a\nb\n"), has_lines(r"a\nb"), has_lines("a\n")
    (True, True, False)
    """
    bare = text.rstrip()
    return "\n" in bare or "\r" in bare or "\\n" in bare
