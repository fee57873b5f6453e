"""Maps of bundles in a folder, read by Sentry's symbolic.

It is given no minified source: its JavaScript parser overflows the stack on deeply nested text.
"""

import os
import threading
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.placing import PathIndex

# The bounds of this room, each with its unit.

MAP_BYTES = 64 * 1024 * 1024  # of one source map; larger ones are not read
MAPS = 20_000  # files of the folder that are looked at
KEPT_MAPS = 8  # opened, the last ones used
CONTEXT = 3  # lines of source above and below
SCOPE = 2_000  # lines of source in which the function is looked for
SOURCE_NAME, SOURCE_LINE = 1_000, 1_000  # characters

_NEEDED = (
    'source maps need an extra: pip install "nightwatch[source-maps]", or in a checkout '
    '.venv/bin/pip install -c constraints.txt -e ".[source-maps]"'
)


class SourceMapFolder:
    """A `SourceMaps` on a folder, which may be none: then only maps of the repository are read."""

    def __init__(self, folder: Path | None = None, most: int = MAP_BYTES) -> None:
        """Look at the folder when first asked; raises `StopTheNight` where it cannot be used."""
        if folder is not None and not folder.is_dir():
            raise StopTheNight(f"no folder of source maps: {folder}")
        if folder is not None and _library() is None:
            raise StopTheNight(_NEEDED)
        self._folder, self._most = folder, most
        self._lock = threading.Lock()
        self._opened = lru_cache(maxsize=KEPT_MAPS)(_opened)

    def map_of(self, bundle: str) -> str | None:
        """Return the map whose path ends most like the bundle's, if only one does."""
        near, _ = self._index.nearest(f"{bundle}.map")
        if self._folder is None or len(near) != 1:
            return None
        file = self._folder / near[0]
        try:
            is_small = file.stat().st_size <= self._most
            return file.read_text(encoding="utf-8", errors="replace") if is_small else None
        except OSError:
            return None

    def original(self, text: str, line: int, column: int) -> Frame | None:
        if len(text) > self._most or line < 1 or column < 1:
            return None
        with self._lock:
            opened = self._opened(text)
            token = opened.lookup(line, column, SCOPE) if opened is not None else None
        if token is None or not token.src or token.line < 1:
            return None
        before, after = _lines(token.pre_context), _lines(token.post_context)
        code = "".join(_lines([token.context_line or ""]))
        path = token.src[:SOURCE_NAME]
        return Frame(
            path=path if path.isprintable() else "",
            line=token.line,
            function=_function(path, token.line, (*before, code, *after), len(before)),
            code=code.strip(),
            before=before[-CONTEXT:],
            after=after[:CONTEXT],
        )

    @cached_property
    def _index(self) -> PathIndex:
        return PathIndex(_maps_below(self._folder) if self._folder else ())


def _maps_below(folder: Path) -> Iterator[str]:
    left = MAPS
    for parent, _, names in os.walk(folder):
        for name in names:
            left -= 1
            file = Path(parent) / name
            if left >= 0 and name.endswith(".map") and not file.is_symlink():
                yield file.relative_to(folder).as_posix()
        if left < 0:
            return


def _library() -> Any:
    try:
        import symbolic
    except ImportError:
        return None
    return symbolic


def _opened(text: str) -> Any:
    library = _library()
    if library is None:
        return None
    try:
        return library.SourceMapCache.from_bytes(b"", text.encode("utf-8", "replace"))
    except library.SymbolicError:
        return None


def _lines(texts: list[str]) -> tuple[str, ...]:
    return tuple(text.rstrip("\r\n")[:SOURCE_LINE] for text in texts)


def _function(path: str, line: int, rows: tuple[str, ...], before: int) -> str:
    blank = [""] * (line - 1 - before)
    text = "\n".join((*blank, *rows))
    enclosing = [
        definition
        for definition in definitions_in(path, text)
        if definition.kind == "function" and definition.line <= line <= definition.end
    ]
    return max(enclosing, key=lambda item: item.line).name if enclosing else ""
