"""A derived index without documents, for figures."""

import sqlite3
from pathlib import Path

from nightwatch_core.adapters.stores import search_store as search_shelf
from nightwatch_core.adapters.stores.search_store import SearchShelf


def new_shelf(folder: Path) -> SearchShelf:
    """An empty index in a folder."""
    connection = sqlite3.connect(folder / "recall.sqlite3", isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_mode = WAL")
    search_shelf.make(connection)
    return SearchShelf(connection)
