"""The ledger: what was meant, tried and published, so that one key is one effect for ever.

A row goes intent → act → done, refused or unknown. After a crash the row says how far it came: with
`act` or `unknown` nobody knows what the outbox did, so the outbox is asked again, which is safe
because outboxes look for the key before they create. `done` is answered from the row alone.

A refusal is an answer to one payload in one night: that payload is not tried again that night.
Another payload, or the same one another night, is, because what stood in its way may be gone.
"""

import hashlib
import json
import sqlite3
from datetime import UTC
from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import ValidationError

from nightwatch_core.adapters.stores import database
from nightwatch_core.adapters.stores.limits import PUBLISHING_PATIENCE, REASON_CHARACTERS
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.proposal import Proposal, Receipt, receipt_for
from nightwatch_core.ports import Clock, Outbox

_UPSERT = """
    INSERT INTO ledger (key, kind, fingerprint, payload_digest, state, receipt, night, updated)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET payload_digest = excluded.payload_digest,
        state = excluded.state, receipt = excluded.receipt, night = excluded.night,
        updated = excluded.updated
"""


class LedgerOutbox:
    """An `Outbox` around another one; safe against kill -9 and against a second process."""

    def __init__(
        self,
        outbox: Outbox,
        path: Path,
        night: str,
        clock: Clock,
        patience: float = PUBLISHING_PATIENCE,
    ) -> None:
        """`path` is the database of the state folder, `night` the id rows are signed with.

        `patience` is how long another publisher is waited for, in seconds.
        """
        self._outbox = outbox
        self._path = path
        self._night = night
        self._clock = clock
        self._patience = patience

    def publish(self, proposal: Proposal) -> Receipt:
        """Publish once per key; an outbox that fails leaves an `unknown` receipt with the reason.

        Raises `StopTheNight` where the ledger cannot be written (then nothing is published) or the
        outbox says so, `TryLater` where another process keeps publishing.
        """
        lock = self._path.with_name(f"{self._path.name}.publish.lock")
        # Outboxes look, then create: two processes must not look at the same time. The system
        # frees the lock of a process that died.
        with database.translated(self._path):
            lock.parent.mkdir(parents=True, exist_ok=True)
            held = FileLock(lock, timeout=self._patience).acquire()
        with held:
            return self._answered(proposal) or self._asked(proposal)

    def probe(self) -> str:
        """What the outbox says, once the ledger can be read."""
        with database.transaction(self._path) as connection:
            connection.execute("SELECT count(*) FROM ledger")
        return self._outbox.probe()

    def _answered(self, proposal: Proposal) -> Receipt | None:
        """The receipt of a key that is settled; else the intent is written, and there is none."""
        with database.transaction(self._path) as connection:
            row = connection.execute(
                "SELECT state, payload_digest, night, receipt FROM ledger WHERE key = ?",
                (proposal.key,),
            ).fetchone()
            if row is None:
                _write(connection, proposal, "intent", self._night, self._now())
            elif row["state"] == "done":
                return _kept(proposal, row["receipt"], "already there")
            elif row["state"] == "refused":
                same = (digest(proposal), self._night)
                if (row["payload_digest"], row["night"]) == same:
                    return _kept(proposal, row["receipt"], "refused")
        return None

    def _asked(self, proposal: Proposal) -> Receipt:
        self._note(proposal, "act")
        try:
            receipt = self._outbox.publish(proposal)
        except (TryLater, GiveUp) as error:
            receipt = _unknown(proposal, error)
        except StopTheNight as error:
            self._note(
                proposal,
                "unknown",
                _unknown(proposal, error),
            )
            raise
        try:
            self._note(proposal, STATES[receipt.status], receipt)
        except NightWatchError as error:
            raise StopTheNight(
                f"{proposal.kind} {receipt.number or ''} {receipt.url} is {receipt.status}, "
                f"but the ledger cannot say so: {error}"
            ) from error
        return receipt

    def _note(self, proposal: Proposal, state: str, receipt: Receipt | None = None) -> None:
        with database.transaction(self._path) as connection:
            _write(connection, proposal, state, self._night, self._now(), receipt)

    def _now(self) -> str:
        return self._clock.now().astimezone(UTC).isoformat(timespec="seconds")


STATES = {
    "done": "done",
    "already there": "done",
    "refused": "refused",
    "unknown": "unknown",
    "held back": "intent",
}


def published(path: Path) -> frozenset[str]:
    """Return the addresses of everything the ledger at `path` says was published.

    Raises as `LedgerOutbox.publish`.
    """
    if not path.exists():
        return frozenset()
    with database.transaction(path) as connection:
        rows = connection.execute("SELECT receipt FROM ledger WHERE state = 'done'").fetchall()
    return frozenset(filter(None, (_address(row["receipt"]) for row in rows)))


def _address(kept: str) -> str:
    try:
        return Receipt.model_validate_json(kept).url
    except ValidationError:
        return ""


_LATER: dict[str, object] = {
    **{"also": [], "fix": "", "on": "issue", "as_patch": False},
    **{"issue": None, "label": "", "commits": []},
}


def digest(proposal: Proposal) -> str:
    """What tells one payload from another.

    >>> from nightwatch_core.models.proposal import Comment
    >>> digest(Comment(key="k", fingerprint="f", number=1, body="b"))[:12]
    'bd2199ca1a47'
    """
    content = proposal.model_dump(mode="json")
    for later, empty in _LATER.items():  # left out, as before they were thought of
        if later in content and content[later] == empty:
            del content[later]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _write(
    connection: sqlite3.Connection,
    proposal: Proposal,
    state: str,
    night: str,
    now: str,
    receipt: Receipt | None = None,
) -> None:
    row = (proposal.key, proposal.kind, proposal.fingerprint, digest(proposal), state)
    kept = receipt.model_dump_json() if receipt else ""
    connection.execute(_UPSERT, (*row, kept, night, now))


def _kept(proposal: Proposal, kept: str, status: Literal["already there", "refused"]) -> Receipt:
    """The receipt of the row, which may be unreadable: the row's state still counts."""
    try:
        receipt = Receipt.model_validate_json(kept)
    except ValidationError:
        receipt = receipt_for(proposal, "unknown")
    return receipt.model_copy(update={"key": proposal.key, "also": proposal.also, "status": status})


def _unknown(proposal: Proposal, error: NightWatchError) -> Receipt:
    return receipt_for(proposal, "unknown", reason=str(error)[:REASON_CHARACTERS])
