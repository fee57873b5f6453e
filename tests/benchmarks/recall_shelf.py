"""A derived index without documents, for figures."""

import sqlite3
from pathlib import Path

from nightwatch_core.adapters.stores import search_index as search_store
from nightwatch_core.adapters.stores.search_index import SearchStore


def new_shelf(folder: Path) -> SearchStore:
    """An empty index in a folder."""
    connection = sqlite3.connect(folder / "recall.sqlite3", isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_mode = WAL")
    search_store.make(connection)
    return SearchStore(connection)
