"""Long text is shortened in its middle: errors and endings matter more than what lies between."""

MARK = "[... "
CUT = "…"  # stands where a line was cut in two


def halves(text: str, limit: int, ask: str = "narrow the question to see them") -> str:
    """Keep about `limit` characters: first and last half, cut between lines where that is possible.

    >>> halves("short", 10)
    'short'
    >>> print(halves("one\\ntwo\\nthree\\nfour\\nfive\\n" * 4, 40), end="")
    one
    two
    three
    four
    [... 57 characters left out; narrow the question to see them ...]
    two
    three
    four
    five
    """
    if len(text) <= limit:
        return text
    head, tail = _head(text, limit // 2), _tail(text, limit // 2)
    left_out = len(text) - len(head) - len(tail)
    above = head if head.endswith("\n") else f"{head}{CUT}\n"
    below = tail if text[-len(tail) - 1 : -len(tail)] == "\n" else f"{CUT}{tail}"
    return f"{above}{MARK}{left_out} characters left out; {ask} ...]\n{below}"


def _head(text: str, size: int) -> str:
    """The first `size` characters, up to a line's end unless that would lose more than half."""
    end = text.rfind("\n", 0, size)
    return text[: end + 1] if end >= size // 2 else text[:size]


def _tail(text: str, size: int) -> str:
    start = text.find("\n", len(text) - size - 1, len(text) - size // 2)
    return text[start + 1 :] if start >= 0 else text[-size:]
