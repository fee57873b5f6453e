"""Quotes looked up in the code: a model's evidence counts once its words are found where it says.

White space is not compared, nor whether hidden characters are quoted as they are or as they were
shown. A quote may be cut at its ends, run over several lines, or carry the
line numbers that read_file shows; a bracket alone, or a scrap of a line, is no quote.
"""

import re
from textwrap import dedent

from nightwatch_core.code.code_view import inside, visible
from nightwatch_core.code.limits import QUOTE, QUOTE_NEAR, QUOTE_SCRAP, QUOTED_LINES
from nightwatch_core.models.answer import Evidence

_NUMBERED = re.compile(r"^\s*\d{1,7}\|\s?")
_CUT = re.compile(r"^\s*(?:\.{3}|…)|(?:\.{3}|…)\s*$")


def verified(evidence: Evidence, text: str | None) -> Evidence:
    """Verify evidence where its quote stands in its line of `text`, put right by a few lines.

    A line is put right only where the quote stands once in the file.

    >>> said = Evidence(path="a.py", line=1, quote="return  total")
    >>> found = verified(said, "def f():\\n    return total\\n")
    >>> found.line, found.quote
    (2, 'return total')
    """
    path = inside(evidence.path)
    line = _line(evidence, text) if path and text is not None else 0
    if not line or text is None:
        return evidence.model_copy(update={"verified": False})
    quote = _as_it_stands(evidence.quote, text, line)
    return evidence.model_copy(
        update={"path": path, "line": line, "quote": quote, "verified": True}
    )


def _as_it_stands(quote: str, text: str, line: int) -> str:
    """The file's own lines in the place of what was typed: as many, blank ones between them too."""
    wanted = len(_wanted(quote))
    rows = [row.rstrip("\r") for row in text.split("\n")[line - 1 : line - 1 + 2 * QUOTED_LINES]]
    filled = [at for at, row in enumerate(rows, 1) if row.strip()]
    return dedent("\n".join(rows[: filled[min(wanted, len(filled)) - 1]])) if filled else quote


def _line(evidence: Evidence, text: str) -> int:
    quote = _wanted(evidence.quote)
    if not quote:
        return 0
    lines = [_flat(line) for line in text.split("\n")]
    if 0 < evidence.line <= len(lines) and _stands_at(quote, lines, evidence.line):
        return evidence.line
    everywhere = [n for n in range(1, len(lines) + 1) if _stands_at(quote, lines, n)]
    is_near = len(everywhere) == 1 and abs(everywhere[0] - evidence.line) <= QUOTE_NEAR
    return everywhere[0] if is_near else 0


def _wanted(quote: str) -> tuple[str, ...]:
    """The lines of a quote that hold something; none where that is too little to be told apart."""
    rows = (_NUMBERED.sub("", row) for row in quote[:QUOTE].split("\n")[:QUOTED_LINES])
    lines = tuple(flat for row in rows if (flat := _flat(_CUT.sub("", row))))
    return lines if re.search(r"\w", "".join(lines)) else ()


def _stands_at(quote: tuple[str, ...], lines: list[str], number: int) -> bool:
    """Whether the quote begins in line `number`; blank lines between its lines do not count."""
    here = lines[number - 1]
    if len(quote) == 1:
        return here == quote[0] or (len(quote[0]) >= QUOTE_SCRAP and quote[0] in here)
    first, *middle, last = quote
    if not here.endswith(first):
        return False
    below = (line for line in lines[number : number + 2 * QUOTED_LINES] if line)
    follows = [line for line, _ in zip(below, (*middle, last), strict=False)]
    return (
        follows[:-1] == middle and len(follows) == len(quote) - 1 and follows[-1].startswith(last)
    )


def _flat(line: str) -> str:
    return " ".join(visible(line.strip()).split())
