"""Source that stands in a text around a failing line, numbered, and the frame it belongs to.

Rails prints it above the frames, test runners below the place; records whose frames come as objects
are written with it in a form of our own (`row`), which is not shown to people.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nightwatch_core.models.errors import ExceptionLink, Frame
from nightwatch_core.traces import limits

OURS = re.compile(r" {4}(?P<mark>[> ]) {0,7}(?P<line>\d{1,7})\|(?: (?P<code>.*))?$")
# How others print a numbered line; the mark stands before the failing one.
_RAILS = re.compile(  # and its consoles, which mark a line
    r"\s{1,12}(?P<mark>(?:=>)?)\s{0,8}(?P<line>\d{1,7}):(?: (?P<code>(?!from ).*)|\s*)$"
)
_SHAPES = (
    OURS,
    re.compile(  # test runners, bundlers and Laravel's console
        r"\s{0,12}(?P<mark>[>➜→]?)\s{0,8}(?P<line>\d{1,7}) ?[|▕│] ?(?P<code>.*)$"
    ),
    _RAILS,
)
# Rails prints the lines of a template, though a helper that it calls stands above it in the trace.
_TEMPLATE = re.compile(r"\bviews[\\/]|\.(?:erb|haml|slim|[jx]?builder|rabl|ruby|arb):\d")
PLACE = re.compile(r'(?<![\w.$@+-])([\w.$@+-]{1,200})(?:", line |:line |:|\()(\d{1,8})\b')
_CARETS = re.compile(r"\s*\^+\s*$")
_NODE_PLACE = re.compile(r"(?:file://)?\S{1,1000}\.[cm]?[jt]sx?:\d{1,8}$")


class Excerpt(NamedTuple):
    """Lines of source by number, and the file and line that failed."""

    file: str  # its name without folders
    line: int
    lines: Mapping[int, str]


Rows = list[tuple[int, str, bool]]  # number, text, whether it is marked


def row(number: int, text: str, failing: bool = False) -> str:
    """Write a line of source so that `taken_out` knows it again.

    >>> row(7, "total += 1", failing=True)
    '    >    7| total += 1'
    """
    return f"    {'>' if failing else ' '}{number:>5}| {text}".rstrip()


def taken_out(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[Excerpt, ...]]:
    """Split a text into what is no excerpt, and its excerpts, where the failing line is known."""
    kept: list[str] = []
    waiting: list[tuple[int, Rows, list[str]]] = []  # where it stood, its lines, as printed
    for rows, printed in _blocks(lines):
        if rows and len(waiting) < limits.EXCERPTS:
            waiting.append((len(kept), rows, printed))
        else:
            kept += printed
    excerpts, back = [], []
    for at, rows, printed in waiting:
        excerpt = _placed(rows, printed[0], kept, at)
        if excerpt:
            excerpts.append(excerpt)
        else:
            back.append((at, printed))
    for at, printed in reversed(back):
        kept[at:at] = printed
    return tuple(kept), (*excerpts, *_of_node(lines))


def _blocks(lines: Sequence[str]) -> Iterator[tuple[Rows, list[str]]]:
    """Runs of lines numbered upwards without a gap, carets between them left out; other lines."""
    rows: Rows = []
    printed: list[str] = []
    for text in lines:
        row = _numbered(text, rows[-1][0] + 1 if rows else 0)
        carets = rows and not row and _CARETS.match(text.replace("|", " "))
        if not row and not carets and rows:
            yield (rows if _is_excerpt(rows, printed) else []), printed
            rows, printed = [], []
            row = _numbered(text, 0)
        printed.append(text)
        if row:
            rows.append(row)
        elif not carets:
            yield [], printed
            printed = []
    if printed:
        yield (rows if _is_excerpt(rows, printed) else []), printed


def _numbered(text: str, expected: int) -> tuple[int, str, bool] | None:
    for shape in _SHAPES:
        match = shape.match(text[: limits.LINE_CHARACTERS])
        if match and expected in (0, int(match["line"])):
            return int(match["line"]), match["code"] or "", bool(match["mark"].strip())
    return None


def _is_excerpt(rows: Rows, printed: list[str]) -> bool:
    is_ours = bool(printed) and bool(OURS.match(printed[0]))
    return 1 < len(rows) <= limits.EXCERPT_LINES or (is_ours and len(rows) == 1)


def _placed(rows: Rows, printed: str, lines: list[str], at: int) -> Excerpt | None:
    """The place whose line the excerpt holds: the nearest one above it, else the first below."""
    numbers = {number for number, _, _ in rows}
    marked = {number for number, _, is_marked in rows if is_marked}
    near = (
        *lines[max(0, at - limits.EXCERPT_GAP) : at][::-1],
        *lines[at : at + limits.EXCERPT_GAP],
    )
    if not marked and _RAILS.match(printed):
        near = tuple(filter(_TEMPLATE.search, lines[at : at + limits.HEADER_LINES]))
    for text in near:
        for file, line in PLACE.findall(text[: limits.ROW_CHARACTERS]):
            if int(line) in (marked or numbers):
                return Excerpt(file, int(line), {number: code for number, code, _ in rows})
    return None


def _of_node(lines: Sequence[str]) -> Iterator[Excerpt]:
    for place, text, below in zip(lines, lines[1:], lines[2:], strict=False):
        if _CARETS.match(below) and "^" in below and _NODE_PLACE.match(place.strip()):
            path, _, line = place.strip().rpartition(":")
            yield Excerpt(path.rpartition("/")[2], int(line), {int(line): text})


def with_source(
    chain: tuple[ExceptionLink, ...], excerpts: Sequence[Excerpt]
) -> tuple[ExceptionLink, ...]:
    """Return frames the source of the excerpts that stand for their file and line."""
    by_place = {(excerpt.file, excerpt.line): excerpt for excerpt in reversed(excerpts)}
    if not by_place:
        return chain
    return tuple(link.with_frames(_with(f, by_place) for f in link.frames) for link in chain)


def _with(frame: Frame, by_place: Mapping[tuple[str, int], Excerpt]) -> Frame:
    file = frame.path.replace("\\", "/").rpartition("/")[2]
    excerpt = by_place.get((file, frame.line or 0))
    if excerpt is None:
        return frame
    above = tuple(text for number, text in sorted(excerpt.lines.items()) if number < excerpt.line)
    below = tuple(text for number, text in sorted(excerpt.lines.items()) if number > excerpt.line)
    code = excerpt.lines.get(excerpt.line, "").strip() or frame.code
    return frame.model_copy(update={"code": code, "before": above, "after": below})
