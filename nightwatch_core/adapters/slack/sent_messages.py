"""Messages of each night in Slack, so that a rerun edits them and posts none twice."""

from contextlib import closing
from pathlib import Path

from nightwatch_core.adapters.stores.database import connect, translated
from nightwatch_core.models.value import Value


class SentMessage(Value):
    """A message that was sent; without `ts` nobody knows whether it arrived."""

    part: str
    ts: str
    digest: str
    sent: float  # seconds since 1970, before the first attempt


class SentMessages:
    """The messages of one night in one channel, in the state's SQLite file."""

    def __init__(self, database: Path, night: str, channel: str) -> None:
        """Take the file; it is opened for every question."""
        self._database = database
        self._at = (night, channel)

    def find(self, part: str) -> SentMessage | None:
        """Return the message called `part`; None where it was never sent."""
        return next((item for item in self.all() if item.part == part), None)

    def all(self) -> tuple[SentMessage, ...]:
        """Return every message."""
        query = "SELECT part, ts, digest, sent FROM slack_messages WHERE night = ? AND channel = ?"
        with translated(self._database), closing(connect(self._database)) as database:
            return tuple(SentMessage(**dict(row)) for row in database.execute(query, self._at))

    def intend(self, part: str, digest: str, now: float) -> None:
        """Record a message before it is sent; the first attempt's time stays."""
        self._run(
            "INSERT INTO slack_messages (night, channel, part, digest, sent) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET ts = '', digest = excluded.digest",
            (*self._at, part, digest, now),
        )

    def keep(self, part: str, ts: str, digest: str) -> None:
        self._run(
            "UPDATE slack_messages SET ts = ?, digest = ?"
            " WHERE night = ? AND channel = ? AND part = ?",
            (ts, digest, *self._at, part),
        )

    def forget(self, part: str) -> None:
        """Delete one message."""
        self._run(
            "DELETE FROM slack_messages WHERE night = ? AND channel = ? AND part = ?",
            (*self._at, part),
        )

    def forget_all(self) -> None:
        """Delete the whole thread."""
        self._run("DELETE FROM slack_messages WHERE night = ? AND channel = ?", self._at)

    def _run(self, statement: str, values: tuple[object, ...]) -> None:
        with translated(self._database), closing(connect(self._database)) as database:
            database.execute(statement, values)
