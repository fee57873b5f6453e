import sqlite3
from contextlib import closing

import pytest

from nightwatch_core.adapters.stores import database
from nightwatch_core.errors import StopTheNight


class Killed(BaseException):
    """Stands for kill -9: nothing after it runs."""


def test_a_new_database_is_durable_and_up_to_date(tmp_path):
    with closing(database.connect(tmp_path / "a" / "b.db")) as connection:
        pragmas = ("journal_mode", "synchronous", "user_version")
        values = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")

        assert values == ["wal", 2, len(database.MIGRATIONS)]
        assert {row["name"] for row in tables} >= {"ledger", "nights"}


def test_a_newer_database_is_left_alone(tmp_path):
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
        newer.commit()

    with pytest.raises(StopTheNight, match="newer NightWatch"):
        database.connect(path)


def test_a_transaction_that_fails_is_undone(tmp_path):
    path = tmp_path / "a.db"
    insert = "INSERT INTO nights (id, name, status, started) VALUES ('n', 'n', 'running', '')"

    def fail(error):
        with database.transaction(path) as connection:
            connection.execute(insert)
            if error:
                raise error
            connection.execute("SELECT no_such_column FROM nights")

    with pytest.raises(Killed):
        fail(Killed())
    with pytest.raises(StopTheNight, match="no_such_column"):
        fail(None)
    with closing(database.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM nights").fetchone()[0] == 0
