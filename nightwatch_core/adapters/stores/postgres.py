"""PostgreSQL for several workers, through SQLAlchemy: it takes the statements that SQLite takes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from nightwatch_core.adapters.stores.atomic_files import PATIENCE
from nightwatch_core.errors import StopTheNight, TryLater

_LACKS = {  # after which migration: what SQLite has by itself
    2: "ALTER TABLE nights ADD COLUMN rowid BIGSERIAL",
    3: "ALTER TABLE slack_messages ALTER COLUMN sent TYPE DOUBLE PRECISION",
}
_KEEPALIVES = (  # a machine without power says no goodbye: what it held is free in two minutes
    *("SET tcp_keepalives_idle = 60", "SET tcp_keepalives_interval = 20"),
    "SET tcp_keepalives_count = 3",
)


_READY: set[SecretStr] = set()  # databases of this process that are up to date


class Postgres:
    """A connection whose statements commit by themselves; close it when done.

    Raises `TryLater` where the server is away or another process is busy, else `StopTheNight`.
    """

    def __init__(self, address: SecretStr, migrations: tuple[str, ...]) -> None:
        """Connect; tables are made, or brought up to date, once a process."""
        self._address, self.in_transaction = address, False
        self._rows: list[Any] = []
        with self._told():
            self._connection = _engine(address).connect()
        if address not in _READY:
            self._migrate(migrations)
            _READY.add(address)

    def execute(self, statement: str, values: Sequence[object] = ()) -> "Postgres":
        """Execute one statement with `?` in it; a transaction is begun by one writer at a time."""
        with self._told():
            spelt = statement.replace("BEGIN IMMEDIATE", "BEGIN").replace("?", "%s")
            done = self._connection.exec_driver_sql(spelt, tuple(values))
            self._rows = list(done.mappings()) if done.returns_rows else []
        if statement.startswith("BEGIN"):
            self.in_transaction = True
            self._lock("pg_advisory_xact_lock", "write", PATIENCE)
        elif statement in ("COMMIT", "ROLLBACK"):
            self.in_transaction = False
        return self

    def fetchall(self) -> list[Any]:
        return self._rows

    def fetchone(self) -> Any:
        return next(iter(self._rows), None)

    def hold(self, what: str, patience: float) -> None:
        """Be the only one who holds it until this connection ends, with its process or before."""
        for statement in _KEEPALIVES:
            self.execute(statement)
        self._lock("pg_advisory_lock", what, patience)

    def close(self) -> None:
        """End the connection, if it has not ended: an open transaction is undone."""
        with suppress(TryLater), self._told():
            self._connection.close()

    def _migrate(self, migrations: tuple[str, ...]) -> None:
        self.execute("BEGIN")
        self.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)")
        done = self.execute("SELECT number FROM migrations").fetchall()
        if len(done) > len(migrations):
            where = located(self._address)[0]
            raise StopTheNight(f"{where} was written by a newer NightWatch: update this one")
        for number, statement in enumerate(migrations[len(done) :], len(done) + 1):
            self.execute(statement)
            if number in _LACKS:
                self.execute(_LACKS[number])
            self.execute("INSERT INTO migrations VALUES (?)", (number,))
        self.execute("COMMIT")

    def _lock(self, function: str, what: str, patience: float) -> None:
        self.execute(f"SET lock_timeout = {max(1, round(patience * 1000))}")
        name = "hashtextextended(concat(current_schema(), ' ', ?::text), 0)"
        self.execute(f"SELECT {function}({name})", (what,))

    @contextmanager
    def _told(self) -> Iterator[None]:
        from sqlalchemy.exc import OperationalError, SQLAlchemyError

        try:
            yield
        except SQLAlchemyError as error:
            where, secrets = located(self._address)
            why = str(getattr(error, "orig", None) or type(error).__name__).partition("\n")[0]
            for secret in secrets:
                why = why.replace(secret, "…")
            if "lock timeout" in why:
                raise TryLater(f"another process keeps the database {where} busy") from None
            if isinstance(error, OperationalError):
                raise TryLater(f"the database {where} does not answer: {why}") from None
            advice = "see NIGHTWATCH_DATABASE, and what its user may do there"
            raise StopTheNight(f"the database {where} cannot be used ({why}): {advice}") from None


def located(address: SecretStr) -> tuple[str, tuple[str, ...]]:
    """Return host and name of a database, which may be shown, and the secrets of its address.

    >>> located(SecretStr("postgresql://ann:p%40ss@db.example:5432/nights"))
    ('db.example/nights', ('p@ss', 'p%40ss'))
    """
    parts = urlsplit(address.get_secret_value())
    secrets = (unquote(parts.password or ""), parts.password or "", unquote(parts.query))
    where = f"{parts.hostname or 'localhost'}{parts.path}"
    return where, tuple(dict.fromkeys(filter(None, secrets)))


@lru_cache(maxsize=4)
def _engine(address: SecretStr) -> Any:
    from sqlalchemy import NullPool, create_engine, make_url

    try:
        url = make_url(address.get_secret_value()).set(drivername="postgresql+psycopg")
        return create_engine(
            url, isolation_level="AUTOCOMMIT", poolclass=NullPool, hide_parameters=True
        )
    except ImportError:
        raise StopTheNight(
            'PostgreSQL needs an extra: pip install "nightwatch[postgres]", or in a checkout '
            '.venv/bin/pip install -c constraints.txt -e ".[postgres]"'
        ) from None
