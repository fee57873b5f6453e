"""Keeps which messages of a night were sent to a Slack channel, in the database."""

from typing import Any

from nightwatch_core.adapters.stores.database import Place, ask
from nightwatch_core.models.value import Value


class SentMessage(Value):
    """A message that was sent; without `ts` nobody knows whether it arrived."""

    part: str
    ts: str
    digest: str
    sent: float  # seconds since 1970, before the first attempt


class SentMessages:
    """The messages of one night in one channel, in the database."""

    def __init__(self, database: Place, night: str, channel: str) -> None:
        self._database, self.night, self.channel = database, night, channel
        self._at = (night, channel)

    def find(self, part: str) -> SentMessage | None:
        """Return the message called `part`; None where it was never sent."""
        rows = self._run(
            "SELECT part, ts, digest, sent FROM slack_messages"
            " WHERE night = ? AND channel = ? AND part = ?",
            (*self._at, part),
        )
        return SentMessage(**dict(rows[0])) if rows else None

    def intend(self, part: str, digest: str, now: float) -> None:
        """Record a message before it is sent; the first attempt's time stays."""
        self._run(
            "INSERT INTO slack_messages (night, channel, part, digest, sent) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (night, channel, part) DO UPDATE SET ts = '', digest = excluded.digest",
            (*self._at, part, digest, now),
        )

    def keep(self, part: str, ts: str, digest: str) -> None:
        self._run(
            "UPDATE slack_messages SET ts = ?, digest = ?"
            " WHERE night = ? AND channel = ? AND part = ?",
            (ts, digest, *self._at, part),
        )

    def forget(self, part: str) -> None:
        self._run(
            "DELETE FROM slack_messages WHERE night = ? AND channel = ? AND part = ?",
            (*self._at, part),
        )

    def forget_all(self) -> None:
        """Delete the whole thread."""
        self._run("DELETE FROM slack_messages WHERE night = ? AND channel = ?", self._at)

    def _run(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        return ask(self._database, statement, values)
