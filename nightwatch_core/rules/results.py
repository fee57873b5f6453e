"""Reads the tools' answers back into values; whatever does not look like an answer is left out."""

import re

from nightwatch_core.code.truncation import CUT, MARK
from nightwatch_core.models.value import Value

_SIZE = re.compile(r".* has (\d+) lines; ask for ")
_HEAD = re.compile(r".* \(lines (\d+)-(\d+) of (\d+)\)$")
_ROW = re.compile(r" {0,4}(\d{1,9})\| (.*)", re.DOTALL)
_HIT = re.compile(r"([^:]{1,1000}):(\d{1,9}): (.*)", re.DOTALL)
_BLAME = re.compile(r".+:\d+ ([0-9a-f]{6,40}) (\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])) (.*)")
_SHOWN = 50  # hits of a full answer
_NEAR = "Near matches: "


class Excerpt(Value):
    """Lines of a file by number, and how many the file has (0: not said)."""

    lines: dict[int, str] = {}
    total: int = 0


class Place(Value):
    """A line of code and what stands there."""

    path: str
    line: int
    text: str


class Found(Value):
    """What a search gave; `complete` where nothing was left out."""

    hits: tuple[Place, ...] = ()
    complete: bool = False


class Blamed(Value):
    """The commit that last wrote a line; `day` as YYYY-MM-DD."""

    sha: str
    day: str
    author: str = ""
    subject: str = ""


def read_excerpt(text: str) -> Excerpt:
    """The whole lines of a read_file answer.

    >>> read_excerpt("a.py (lines 2-3 of 9)\\n    2| x = 1\\n    3|   y")
    Excerpt(lines={2: 'x = 1', 3: '  y'}, total=9)
    """
    head, *rows = text.split("\n")
    said, size = _HEAD.fullmatch(head), _SIZE.match(head)
    if not said:
        return Excerpt(total=int(size[1]) if size else 0)
    start, end, total = map(int, said.groups())
    whole = (
        row
        for row, following in zip(rows, [*rows, ""][1:], strict=True)
        if not (row.endswith(CUT) and following.startswith(MARK))
    )
    pairs = {int(row[1]): row[2] for row in map(_ROW.fullmatch, whole) if row}
    return Excerpt(lines={n: t for n, t in pairs.items() if start <= n <= end}, total=total)


def read_hits(text: str) -> Found:
    """The lines of a search_code answer.

    >>> found = read_hits("a.py:3: x = 1\\nb.py:4: y")
    >>> found.complete, [(hit.path, hit.line, hit.text) for hit in found.hits]
    (True, [('a.py', 3, 'x = 1'), ('b.py', 4, 'y')])
    >>> read_hits("No line holds 'a:1: b'.")
    Found(hits=(), complete=True)
    """
    if text.startswith("No line holds "):
        return Found(complete=True)
    rows = text.split("\n")
    matches = (_HIT.fullmatch(row) for row in rows if not row.startswith((CUT, MARK)))
    hits = tuple(Place(path=m[1], line=int(m[2]), text=m[3]) for m in matches if m)
    cut = any(row.startswith(MARK) for row in rows)
    return Found(hits=hits, complete=not cut and len(hits) < _SHOWN)


def read_blame(text: str) -> Blamed | None:
    """The commit of a blame answer.

    >>> read_blame("a.py:3 0123456789 2026-02-03 Ann: Add totals\\nx = 1").subject
    'Add totals'
    """
    said = _BLAME.fullmatch(text.split("\n", 1)[0])
    if not said:
        return None
    author, _, subject = said[3].partition(": ")
    return Blamed(sha=said[1], day=said[2], author=author, subject=subject)


def suggestions(text: str) -> tuple[str, ...]:
    """Paths that a refusal offers instead.

    >>> suggestions("There is no file x. Near matches: a/x.py, b/x.py.")
    ('a/x.py', 'b/x.py')
    """
    _, said, names = text.partition(_NEAR)
    return tuple(names.removesuffix(".").split(", ")) if said else ()
