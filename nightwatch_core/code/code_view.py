"""Shows code and paths as text in which nothing is hidden, and looks up quotes from it.

Characters that nobody sees but that change what a line means (direction overrides, zero-width
spaces, controls) are shown as escapes; `as_written` puts them back.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from textwrap import dedent

from nightwatch_core.models.answer import Edit, Evidence
from nightwatch_core.text.escaping import HIDDEN

SHOWN_LINE = 1_000  # characters of a line among others that a tool shows, or that a rule reads
QUOTE, QUOTED_LINES = 4_000, 40  # characters; lines
QUOTE_NEAR = 10  # lines by which the line of a quote that stands once in its file may be off
QUOTE_SCRAP = 5  # characters a part of a line needs to be told from chance

MARK = "[... "  # begins a row that tells what is left out
CUT = "…"  # stands where a line was cut in two
_BOM = "\ufeff"
_HALVES = re.compile("[\ud800-\udfff]")
_HIDDEN = re.compile(
    "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in (*HIDDEN, (0x2028, 0x2029))) + "]"
)
_ESCAPE = re.compile(r"\\(?:r|x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5})")


def visible(text: str) -> str:
    """Return the text with hidden characters as escapes; tabs stay."""
    return _HIDDEN.sub(lambda found: ascii(found[0])[1:-1], _HALVES.sub("\ufffd", text))


def name(path: str) -> str:
    r"""Show a path on one line, whatever it is made of.

    >>> name("app/a\nb.py"), name("app/a.py")
    ('app/a\\nb.py', 'app/a.py')
    """
    return visible(path).replace("\n", "\\n").replace("\t", "\\t")


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines as compilers count them: separators inside strings do not end a line."""
    lines = [line.removesuffix("\r") for line in text.removeprefix(_BOM).split("\n")]
    return tuple(lines if lines[-1] else lines[:-1])


def numbered(lines: Iterable[str], start: int = 1, most: int = SHOWN_LINE) -> Iterator[str]:
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
    """Return the edit in the file's own characters, where it was given in those it was shown."""
    if text is None or not edit.old or edit.old in text or not _ESCAPE.search(edit.old):
        return edit
    old = _ESCAPE.sub(_meant, edit.old)
    if old.replace("\r\n", "\n") not in text.replace("\r\n", "\n"):
        return edit
    return edit.model_copy(update={"old": old, "new": _ESCAPE.sub(_meant, edit.new)})


def _meant(match: re.Match[str]) -> str:
    escape = match.group()
    character = "\r" if escape == "\\r" else chr(int(escape[2:], 16))
    return character if _HIDDEN.fullmatch(character) else escape


def halves(text: str, limit: int, ask: str = "narrow the question to see them") -> str:
    """Shorten a text in its middle to about `limit` characters, if possible between lines."""
    if len(text) <= limit:
        return text
    half, size = limit // 2, len(text)
    end = text.rfind("\n", half // 2, half) + 1 or half
    start = text.find("\n", size - half, size - half // 2) + 1 or size - half
    head = text[:end] if text[end - 1] == "\n" else f"{text[:end]}{CUT}\n"
    tail = text[start:] if text[start - 1] == "\n" else f"{CUT}{text[start:]}"
    return f"{head}{MARK}{start - end} characters left out; {ask} ...]\n{tail}"


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
    if not path.isprintable():
        return "must not contain characters that cannot be seen: type it like app/models/order.rb"
    return next((why for pattern, why in _OUTSIDE if re.search(pattern, path)), "")


_FROM_ROOT = "paths start at the root of the repository"
_OUTSIDE = (
    (r"\\", "must have / between folders, not a backslash"),
    ("^/", f"must not begin with /: {_FROM_ROOT}"),
    (r"(?:^|/)\.\.(?:/|$)", f"must not contain ..: {_FROM_ROOT}"),
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
    quote = _flat_quote(evidence.quote)
    lines = _lines_with(quote, text) if path and quote and text is not None else []
    line = evidence.line
    if len(lines) == 1 and abs(lines[0] - line) <= QUOTE_NEAR:
        line = lines[0]
    if text is None or line not in lines:
        return evidence.model_copy(update={"verified": False})
    rows = [row.rstrip("\r") for row in text.split("\n")[line - 1 :]]
    filled = [number for number, row in enumerate(rows, 1) if row.strip()]
    last = filled[min(quote.count("\n"), len(filled) - 1)]
    update = {"path": path, "line": line, "quote": dedent("\n".join(rows[:last]))}
    return evidence.model_copy(update={**update, "verified": True})


def has_quote(quote: str, text: str | None) -> bool:
    """Tell whether a quote stands anywhere in a text; False for a quote that says too little.

    >>> has_quote("total = rate * hours", "x = 1\\n  total = rate  * hours\\n"), has_quote("}", "}")
    (True, False)
    """
    flat = _flat_quote(quote)
    return bool(flat and text is not None and _lines_with(flat, text))


def _flat_quote(quote: str) -> str:
    """Return the quote in the form that is compared; empty where it says too little."""
    rows = quote[:QUOTE].split("\n")[:QUOTED_LINES]
    flat = (_flat(_CUT.sub("", _NUMBERED.sub("", row))) for row in rows)
    whole = "\n".join(filter(None, flat))
    return whole if re.search(r"\w", whole) else ""


def _lines_with(quote: str, text: str) -> list[int]:
    """Number the lines in which a quote begins; a short one has to be the whole line."""
    filled = [(n, flat) for n, row in enumerate(text.split("\n"), 1) if (flat := _flat(row))]
    whole = "\n".join(flat for _, flat in filled)
    starts = [0, *(found.end() for found in re.finditer("\n", whole))]
    pattern = re.escape(quote)
    if len(quote) < QUOTE_SCRAP:
        pattern = f"(?m)^{pattern}$"
    found = (bisect_right(starts, match.start()) - 1 for match in re.finditer(pattern, whole))
    return [filled[index][0] for index in dict.fromkeys(found)]


def _flat(line: str) -> str:
    return " ".join(visible(line.strip()).split())
