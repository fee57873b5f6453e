"""What files of a state folder or of Prefect say, unpacked."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from nightwatch_core.adapters.stores.journal_files import lines_of
from nightwatch_core.journal.writer import text_of

SQLITE = b"SQLite format 3\0"
JOURNALS = (".jsonl", ".jsonl.xz")


def kept_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file below `folder`: its name there, and all that it says."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(folder)), kept_text(path)


def kept_text(path: Path) -> str:
    """All that one file says: as it is, and what is packed in it or spread over its pages."""
    content = path.read_bytes()
    texts = [content.decode("utf-8", "replace")]
    if path.suffix == ".z":
        texts.append(zlib.decompress(content).decode("utf-8", "replace"))
    if path.name.endswith(JOURNALS):
        texts += map(_line, lines_of(path))
    if content.startswith(SQLITE):
        texts += _cells(path)
    return "\n".join(texts)


def _line(line: str) -> str:
    with suppress(ValueError):  # an event, or a header
        return text_of(line)
    return line


def _cells(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        tables = [
            name
            for (name,) in database.execute("select name from sqlite_master where type = 'table'")
        ]
        for table in tables:
            for row in database.execute(f'select * from "{table}"'):
                for cell in row:
                    yield cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
