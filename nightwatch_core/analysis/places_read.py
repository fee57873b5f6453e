"""What a conversation was shown of the code, as places that can be shown again."""

import re
from collections.abc import Callable, Container, Iterable, Iterator

from nightwatch_core.analysis import limits
from nightwatch_core.code.limits import LINE
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import LineRange
from nightwatch_core.models.research import Preview
from nightwatch_core.text.plain_text import text_lines

_PLACE = re.compile(r"(?P<path>[^\n]{1,1000}):(?P<line>\d{1,8})")


def line_ranges(shown: Iterable[str], paths: Container[str]) -> tuple[LineRange, ...]:
    """Join `path:line` into ranges, by path and line; what is no place in `paths` is passed over.

    >>> line_ranges(["b.py:9", "a.py:2", "a.py:1", "a.py:7", "at 10:30"], {"a.py"})[0]
    LineRange(path='a.py', start=1, end=2)
    """
    ranges: list[LineRange] = []
    for path, line in sorted(_places(shown, paths)):
        last = ranges[-1] if ranges else None
        if last and last.path == path and line <= last.end + 1 + limits.GAP:
            ranges[-1] = last.model_copy(update={"end": max(line, last.end)})
        else:
            ranges.append(LineRange(path=path, start=line, end=line))
    return tuple(ranges[: limits.RANGES])


def shown_again(
    first: Analysis, read: Callable[[str], str | None], shown: tuple[Preview, ...]
) -> tuple[Preview, ...]:
    """Cut out again what a first look read, quoted lines first, but for what is `shown` already.

    All of them have `READ_AGAIN` characters at most; what does not fit is left out whole.
    """
    previews: list[Preview] = []
    left = limits.READ_AGAIN
    for one in sorted(first.lines_read, key=lambda one: not _is_quoted(one, first)):
        if any(p.path == one.path and p.start <= one.start <= one.end <= p.end for p in shown):
            continue
        preview = _cut(one, read(one.path))
        if preview and len(preview.text) <= left:
            previews.append(preview)
            left -= len(preview.text)
    return tuple(previews)


def _places(shown: Iterable[str], paths: Container[str]) -> Iterator[tuple[str, int]]:
    for one in shown:
        if (place := _PLACE.fullmatch(one)) and place["path"] in paths:
            yield place["path"], int(place["line"])


def _is_quoted(one: LineRange, first: Analysis) -> bool:
    return any(e.path == one.path and one.start <= e.line <= one.end for e in first.evidence)


def _cut(one: LineRange, text: str | None) -> Preview | None:
    every = text_lines(text or "")
    if one.start > len(every):
        return None
    end = min(one.end, len(every))
    rows = (" ".join(row.splitlines())[:LINE] for row in every[one.start - 1 : end])
    shown = "\n".join(rows)
    return Preview(
        path=one.path, start=one.start, end=end, text=shown, lines=len(every), kind="again"
    )
