"""Shows code and paths as text in which nothing is hidden, and looks up quotes from it.

Characters that nobody sees but that change what a line means (direction overrides, zero-width
spaces, controls) are shown as escapes; `as_written` puts them back.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from textwrap import dedent

from nightwatch_core.code import limits
from nightwatch_core.models.answer import Edit, Evidence
from nightwatch_core.text.escaping import HIDDEN

MARK = "[... "  # begins a row that tells what is left out
CUT = "…"  # stands where a line was cut in two
_BOM = "\ufeff"
_BREAKS = ((0x2028, 0x2029),)  # line breaks to some readers, part of a line to all compilers
_HALVES = re.compile("[\ud800-\udfff]")
_HIDDEN = re.compile(
    "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in (*HIDDEN, *_BREAKS)) + "]"
)
_ESCAPE = re.compile(r"\\(?:r|x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5})")
_SELECTOR, _JOINER = "\ufe0f", "\u200d"


def visible(text: str) -> str:
    r"""Return the text with hidden characters as escapes, of the same meaning otherwise; tabs stay.

    >>> visible("if admin\u202e:\t# \u26a0\ufe0f")
    'if admin\\u202e:\t# ⚠️'
    """
    if text.isascii() and text.isprintable():
        return text
    whole = _HALVES.sub("\ufffd", text)
    return _HIDDEN.sub(lambda hidden: _escaped(whole, hidden.start()), whole)


def name(path: str) -> str:
    r"""Show a path on one line, whatever it is made of.

    >>> name("app/a\nb.py"), name("app/a.py")
    ('app/a\\nb.py', 'app/a.py')
    """
    return visible(path).replace("\n", "\\n").replace("\t", "\\t")


def lines_of(text: str) -> tuple[str, ...]:
    r"""Return the lines as compilers count them: separators inside strings do not end a line.

    >>> lines_of("a\r\nb\n"), lines_of("")
    (('a', 'b'), ())
    """
    lines = [line.removesuffix("\r") for line in text.removeprefix(_BOM).split("\n")]
    return tuple(lines if lines[-1] else lines[:-1])


def numbered(lines: Iterable[str], start: int = 1, most: int = limits.SHOWN_LINE) -> Iterator[str]:
    """Number lines; one longer than `most` is cut, and the row after it says so."""
    for number, line in enumerate(lines, start):
        yield f"{number:>5}| {visible(line[:most])}{CUT if len(line) > most else ''}"
        if len(line) > most:
            left = f"{len(line) - most} more characters in line {number}"
            yield f"{MARK}{left}; search_code finds text in them ...]"


def around(line: str, text: str, most: int = 300) -> str:
    """Return the part of a long line that holds `text`, cut ends marked.

    >>> around("x" * 50 + "needle" + "y" * 50, "needle", most=16)
    '…xxxxxneedleyyyyy…'
    """
    if len(line) <= most:
        return visible(line)
    at = max(line.find(text), 0)
    first = max(0, min(at - max(most - len(text), 0) // 2, len(line) - most))
    last = max(first + most, min(at + len(text), first + 2 * most))
    before, after = (CUT if first else ""), (CUT if last < len(line) else "")
    return f"{before}{visible(line[first:last])}{after}"


def as_written(edit: Edit, text: str | None) -> Edit:
    r"""Return the edit in the file's own characters, where it was given in those it was shown.

    >>> as_written(Edit(path="a", old="x\\u200b=1", new="x\\u200b=2"), "x\u200b=1").new
    'x\u200b=2'
    """
    if text is None or not edit.old or edit.old in text or not _ESCAPE.search(edit.old):
        return edit
    old = _ESCAPE.sub(_meant, edit.old)
    if old.replace("\r\n", "\n") not in text.replace("\r\n", "\n"):
        return edit
    return edit.model_copy(update={"old": old, "new": _ESCAPE.sub(_meant, edit.new)})


def _escaped(text: str, at: int) -> str:
    return text[at] if _is_of_a_symbol(text, at) else ascii(text[at])[1:-1]


def _is_of_a_symbol(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if text[at] == _SELECTOR:
        return _is_symbol(before) or (before in "0123456789#*" and after == "\u20e3")
    joined = _is_symbol(before) or before == _SELECTOR
    return text[at] == _JOINER and joined and _is_symbol(after)


def _is_symbol(character: str) -> bool:
    return bool(character) and ("\u2190" <= character <= "\u2bff" or character >= "\U0001f000")


def _meant(match: re.Match[str]) -> str:
    escape = match.group()
    character = "\r" if escape == "\\r" else chr(int(escape[2:], 16))
    return character if _HIDDEN.fullmatch(character) else escape


def halves(text: str, limit: int, ask: str = "narrow the question to see them") -> str:
    """Shorten a text in its middle to about `limit` characters, if possible between lines."""
    if len(text) <= limit:
        return text
    head, tail = _head(text, limit // 2), _tail(text, limit // 2)
    left_out = len(text) - len(head) - len(tail)
    above = head if head.endswith("\n") else f"{head}{CUT}\n"
    below = tail if text[-len(tail) - 1 : -len(tail)] == "\n" else f"{CUT}{tail}"
    return f"{above}{MARK}{left_out} characters left out; {ask} ...]\n{below}"


def _head(text: str, size: int) -> str:
    end = text.rfind("\n", 0, size)
    return text[: end + 1] if end >= size // 2 else text[:size]


def _tail(text: str, size: int) -> str:
    start = text.find("\n", len(text) - size - 1, len(text) - size // 2)
    return text[start + 1 :] if start >= 0 else text[-size:]


def inside(path: str) -> str | None:
    """Return the path as the code reader knows it; None where it would leave the repository.

    >>> inside("./app//a.py"), inside("a/../../b"), inside("/etc/passwd"), inside("")
    ('app/a.py', None, None, '')
    """
    if outside(path):
        return None
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def outside(path: str) -> str:
    r"""Say why a path is none of the repository; empty where it may be one.

    >>> outside("app/a.py"), outside("../a.py")
    ('', 'must not contain ..: paths start at the root of the repository')
    """
    return next((why for why, is_so in _OUTSIDE if is_so(path)), "")


_OUTSIDE: tuple[tuple[str, Callable[[str], bool]], ...] = (
    (
        "must not contain characters that cannot be seen: type it like app/models/order.rb",
        lambda path: not path.isprintable(),
    ),
    ("must have / between folders, not a backslash", lambda path: "\\" in path),
    (
        "must not begin with /: paths start at the root of the repository",
        lambda path: path.startswith("/"),
    ),
    (
        "must not contain ..: paths start at the root of the repository",
        lambda path: ".." in path.split("/"),
    ),
)

# Quotes looked up in the code: a model's evidence counts once its words are found where it says.
#
# White space is not compared, nor whether hidden characters are quoted as they are or as they were
# shown. A quote may be cut at its ends, run over several lines, or carry the
# line numbers that read_file shows; a bracket alone, or a scrap of a line, is no quote.

_NUMBERED = re.compile(r"^\s*\d{1,7}\|\s?")
_CUT = re.compile(r"^\s*(?:\.{3}|…)|(?:\.{3}|…)\s*$")


def verified(evidence: Evidence, text: str | None) -> Evidence:
    """Verify evidence where its quote stands in its line of `text`, put right by a few lines.

    A line is put right only where the quote stands once in the file.
    """
    path = inside(evidence.path)
    line = _line(evidence, text) if path and text is not None else 0
    if not line or text is None:
        return evidence.model_copy(update={"verified": False})
    wanted = len(_wanted(evidence.quote))
    rows = [
        row.rstrip("\r") for row in text.split("\n")[line - 1 : line - 1 + 2 * limits.QUOTED_LINES]
    ]
    filled = [at for at, row in enumerate(rows, 1) if row.strip()]
    quote = (
        dedent("\n".join(rows[: filled[min(wanted, len(filled)) - 1]]))
        if filled
        else evidence.quote
    )
    return evidence.model_copy(
        update={"path": path, "line": line, "quote": quote, "verified": True}
    )


def _line(evidence: Evidence, text: str) -> int:
    quote = _wanted(evidence.quote)
    if not quote:
        return 0
    lines = [_flat(line) for line in text.split("\n")]
    if 0 < evidence.line <= len(lines) and _stands_at(quote, lines, evidence.line):
        return evidence.line
    everywhere = [n for n in range(1, len(lines) + 1) if _stands_at(quote, lines, n)]
    is_near = len(everywhere) == 1 and abs(everywhere[0] - evidence.line) <= limits.QUOTE_NEAR
    return everywhere[0] if is_near else 0


def _wanted(quote: str) -> tuple[str, ...]:
    rows = (
        _NUMBERED.sub("", row) for row in quote[: limits.QUOTE].split("\n")[: limits.QUOTED_LINES]
    )
    lines = tuple(flat for row in rows if (flat := _flat(_CUT.sub("", row))))
    return lines if re.search(r"\w", "".join(lines)) else ()


def _stands_at(quote: tuple[str, ...], lines: list[str], number: int) -> bool:
    here = lines[number - 1]
    if len(quote) == 1:
        return here == quote[0] or (len(quote[0]) >= limits.QUOTE_SCRAP and quote[0] in here)
    first, *middle, last = quote
    if not here.endswith(first):
        return False
    below = (line for line in lines[number : number + 2 * limits.QUOTED_LINES] if line)
    follows = [line for line, _ in zip(below, (*middle, last), strict=False)]
    return (
        follows[:-1] == middle and len(follows) == len(quote) - 1 and follows[-1].startswith(last)
    )


def _flat(line: str) -> str:
    return " ".join(visible(line.strip()).split())
