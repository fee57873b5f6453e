"""Which frames a tracker calls the application's own, said in a text for its frames.

Records whose frames come as objects carry it; the lines that say it are not shown to people.
"""

import re
from collections.abc import Sequence

from nightwatch_core.models.trace import Frame

_ROW = re.compile(r" {4}in app\| (?P<path>.{1,1500}):(?P<line>\d{1,9})$")
_SCHEME = re.compile(r"(?:file://|webpack:///)?(?:\./)?")

Place = tuple[str, int]  # path as printed, without a scheme; line, 0 where none is known


def own_row(path: str, line: int) -> str:
    """Write a place so that `own_places_in` knows it again.

    >>> own_row("/srv/cart.rb", 7)
    '    in app| /srv/cart.rb:7'
    """
    return f"    in app| {path}:{line}"


def own_places_in(lines: Sequence[str]) -> tuple[tuple[str, ...], frozenset[Place]]:
    """Split a text into what is no such row, and the places that the rows name.

    >>> own_places_in(("E: no", own_row("./a.rb", 7)))
    (('E: no',), frozenset({('a.rb', 7)}))
    """
    kept: list[str] = []
    places: set[Place] = set()
    for text in lines:
        row = _ROW.match(text)
        if row:
            places.add((_bare(row["path"]), int(row["line"])))
        else:
            kept.append(text)
    return tuple(kept), frozenset(places)


def without_own_rows(raw: str) -> str:
    """Leave out of a text the rows that `own_row` wrote."""
    if "    in app| " not in raw:
        return raw
    return "\n".join(one for one in raw.split("\n") if not _ROW.match(one))


def is_at(frame: Frame, places: frozenset[Place]) -> bool:
    """Tell whether a frame stands at one of the places."""
    return (_bare(frame.path), frame.line or 0) in places


def _bare(path: str) -> str:
    return path[_SCHEME.match(path).end() :]  # type: ignore[union-attr]  # matches every text
