"""Text as it is: on one line, cut, its lines as an interpreter counts them, its digest."""

import hashlib


def one_line(text: str) -> str:
    r"""Return the text with every run of white space as one space.

    >>> one_line(" a\n\tb ")
    'a b'
    """
    return " ".join(text.split())


def shortened(text: str, limit: int) -> str:
    """Cut a text after a word, to at most `limit` characters, and say so.

    A word that is long itself is cut, and code in backticks goes whole where it is short.

    >>> shortened("nothing to cut", 20), shortened("a long sentence", 12)
    ('nothing to cut', 'a long…')
    >>> shortened("abcdef", 4), shortened("the total of `order lines`", 22)
    ('abc…', 'the total of…')
    """
    if len(text) <= limit:
        return text
    head = text[: max(0, limit - 1)]
    if not text[len(head)].isspace():
        head = _cut_before(head, max(head.rfind(" "), head.rfind("\n")), limit)
    if head.count("`") % 2:
        head = _cut_before(head, head.rfind("`"), limit)
    return head.rstrip(" \n\t,;:([") + "…"


def _cut_before(head: str, at: int, limit: int) -> str:
    return head[:at] if 3 * at >= limit else head


def middle_out(text: str, limit: int) -> str:
    """Return the text, or its beginning and end, with how much was left out between them.

    >>> middle_out("abcdef", 4)
    'ab\\n[... 2 characters left out ...]\\nef'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - limit} characters left out ...]\n{text[-half:]}"


def text_lines(text: str) -> tuple[str, ...]:
    """Return lines as interpreters count them: a form feed or a line separator begins no new one.

    >>> text_lines("a\\r\\nb\\fc\\n")
    ('a', 'b\\x0cc')
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)


def digest(text: str | None) -> str:
    """Return twelve hex digits that tell whether a file changed; empty for no file.

    >>> digest("a"), digest(None)
    ('ca978112ca1b', '')
    """
    return "" if text is None else hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
