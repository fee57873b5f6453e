"""Frames that a mail or a terminal broke over several lines, made whole again.

A line is joined with the next ones only where it begins a frame and holds none, and where both
together are one: that is never so of text which was not broken.
"""

import re
from collections.abc import Sequence

from nightwatch_core.traces import frame_shapes
from nightwatch_core.traces.limits import LINE_CHARACTERS, WRAP_WIDTHS, WRAPPED_LINES

_MARGIN = r"\s*(?:[|>] )?"
_BEGUN = re.compile(
    rf"{_MARGIN}(?:"
    r"File(?: \"[^\"]{0,1000}(?:\"(?:,(?: line?)?)?)?)?$"
    r"|at(?: [^\n]{0,1000})?$"
    r"|from$|(?:from )?(?:/|\.{0,3}/|[A-Za-z]:[\\/]|[\w.-]{1,80}/)[^\s:]{1,1000}"
    r"(?::\d{0,9}(?::(?:in?)?(?: [`'][^'\n]{0,300})?)?)?$"
    r"|#\d{1,5}(?: \S{0,1000})?$"
    r"|\([a-z]\w{0,80}(?: [\w.+-]{1,60})?\)(?: [\w./-]{0,300})?$)"
)
_NET_CALL = r"at (?:[\w`<>+]{1,80}\.){1,20}[\w`<>+\[\],]{1,100}\([^()\n]{0,500}\)$"
_WHOLE = re.compile(
    _MARGIN
    + "(?:"
    + "|".join(
        (
            frame_shapes.PYTHON + r"(?:,? in \S.*)?$",
            *(frame_shapes.JVM, f"(?:{frame_shapes.NET})$", _NET_CALL),
            *(f"(?:{frame_shapes.V8})$", rf"(?:{frame_shapes.RUBY})(?=$|[\s:])", frame_shapes.PHP),
            *(f"(?:{frame_shapes.GO})$", f"(?:{frame_shapes.RUST})$", frame_shapes.ELIXIR),
        )
    )
    + ")"
)
_CALL = re.compile(rf"\s*{_NET_CALL}")
_PLACE_OF_CALL = re.compile(r"\s*in \S.{0,1000}:line \d{1,9}$")


def rejoined(lines: Sequence[str]) -> list[str]:
    """Return the lines, frames that were broken made whole.

    >>> rejoined(("  at org.shop.Cart.total(", "Cart.java:8)", "bye"))
    ['  at org.shop.Cart.total(Cart.java:8)', 'bye']
    """
    whole: list[str] = []
    at, width = 0, _width(lines)
    while at < len(lines):
        line, taken = _rejoined_at(lines, at, width)
        whole.append(line)
        at += taken
    return whole


def begins_frame(line: str) -> bool:
    """Tell whether a line may be the first part of a frame that was broken.

    >>> begins_frame("\tat"), begins_frame("noon")
    (True, False)
    """
    return _BEGUN.match(line) is not None


def made_whole(line: str, below: str) -> str:
    """Return the frame that a line and the one below it are together; empty where they are none.

    >>> made_whole("  at org.shop.Cart.total(", "Cart.java:8)")
    '  at org.shop.Cart.total(Cart.java:8)'
    """
    whole, taken = _rejoined_at((line, below), 0, 0)
    return whole if taken > 1 else ""


def _width(lines: Sequence[str]) -> int:
    """Where all long lines were broken; 0 where they were not."""
    longest = max(map(len, lines), default=0)
    is_broken = sum(len(line) == longest for line in lines) > 1
    return longest if is_broken and longest in WRAP_WIDTHS else 0


def _rejoined_at(lines: Sequence[str], at: int, width: int) -> tuple[str, int]:
    line, below = lines[at], lines[at + 1 : at + WRAPPED_LINES]
    if below and _CALL.match(line) and _PLACE_OF_CALL.match(below[0]):
        return f"{line.rstrip()} {below[0].strip()}", 2
    if not _BEGUN.match(line) or _WHOLE.match(line):
        return line, 1
    for taken in range(1, len(below) + 1):
        last = below[taken - 1]
        if not last.strip() or (_WHOLE.match(last) and len(line) != width):
            break
        is_between_words = line.endswith((" in", " at", ",")) or last.lstrip().startswith("<")
        for gap in (" ", "") if is_between_words else ("", " "):
            joined = gap.join((line.rstrip() if gap else line, *map(str.lstrip, below[:taken])))
            if len(joined) <= LINE_CHARACTERS and _WHOLE.match(joined):
                return joined, taken + 1
    return line, 1
