"""The ledger and the nights of several workers, in a real PostgreSQL."""

import logging
from datetime import UTC, datetime

import pytest
from postgres_cluster import PASSWORD, cluster
from pydantic import SecretStr
from threads import at_once
from twins.writing import MemoryOutbox

from nightwatch_core.adapters.slack.sent_messages import SentMessages
from nightwatch_core.adapters.stores import database
from nightwatch_core.adapters.stores.database import LedgerOutbox, NightStore
from nightwatch_core.errors import NotTonight, StopTheNight, TryLater
from nightwatch_core.models.errors import Window
from nightwatch_core.models.proposals import OpenIssue
from nightwatch_core.models.report import Night

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


class Clock:
    def now(self):
        return NOW


@pytest.fixture(scope="module")
def server():
    with cluster() as address:
        yield address


@pytest.fixture
def address(server, request):
    """A schema of the server of one's own."""
    name = f"t{abs(hash(request.node.nodeid))}"
    database.ask(server, f"CREATE SCHEMA {name}")
    return SecretStr(f"{server.get_secret_value()}&options=-csearch_path%3D{name}")


def issue(key):
    return OpenIssue(key=key, fingerprint="v1:aa", title="Total of nil", body="Why. 100 %?")


def test_of_workers_that_publish_the_same_causes_one_does(address):
    outbox, receipts = MemoryOutbox(), []

    def worker(night):
        ledger = LedgerOutbox(outbox, address, night, Clock())
        receipts.extend(ledger.publish(issue(f"k{n}")) for n in range(5))

    at_once(*[lambda n=n: worker(f"n{n}") for n in range(6)])

    assert len(outbox.published) == 5
    assert sorted(item.status for item in receipts) == ["already there"] * 25 + ["done"] * 5
    assert database.published(address) == {item.url for item in receipts if item.url}


def test_a_publisher_that_lost_its_connection_leaves_what_the_next_one_asks_for(address):
    """As after a kill: the row says `act`, and the lock is free."""
    outbox = MemoryOutbox()

    class Cut:
        def publish(self, proposal):
            outbox.publish(proposal)
            others = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
            database.ask(
                address, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
            )
            raise SystemExit

    with pytest.raises(SystemExit):
        LedgerOutbox(Cut(), address, "n1", Clock()).publish(issue("k1"))
    rows = database.ask(address, "SELECT state FROM ledger")
    assert [row["state"] for row in rows] == ["act"]

    receipt = LedgerOutbox(outbox, address, "n1", Clock(), patience=1).publish(issue("k1"))
    assert (receipt.status, len(outbox.published)) == ("already there", 1)


def test_while_one_publisher_is_at_it_no_other_is(address):
    with database.alone(address, "publish", 1), pytest.raises(TryLater, match="keeps the database"):
        LedgerOutbox(MemoryOutbox(), address, "n", Clock(), patience=0).publish(issue("k"))


def test_a_night_that_one_worker_runs_no_other_one_begins_until_that_is_gone(address, tmp_path):
    def begin(state):
        store = NightStore(tmp_path / state, Clock(), address)
        window = Window(since=NOW, until=NOW)
        made = lambda id, resumed: Night(id=id, window=window, now=NOW, resumed=resumed)  # noqa: E731
        return store, store.begin("2026-11-20-ab12cd", made)

    store, night = begin("one")
    assert not night.resumed
    with pytest.raises(NotTonight, match="another process"):
        begin("other")
    store._release(night.id)  # as the system does when a process ends
    _, again = begin("other")
    assert (again.id, again.resumed) == (night.id, True)
    assert [record.id for record in store.history()] == [night.id]


def test_slack_messages_keep_their_time(address):
    sent = SentMessages(address, "n1", "C1")
    sent.intend("parent", "d1", 1_795_230_000.25)
    sent.keep("parent", "12.3", "d1")
    sent.intend("parent", "d2", 1_795_239_999.0)
    found = sent.find("parent")
    assert found
    assert (found.ts, found.digest, found.sent) == ("", "d2", 1_795_230_000.25)


def test_tables_are_made_by_the_first_of_many_and_a_newer_one_is_left_alone(address):
    counts = []
    at_once(*[lambda: counts.append(database.ask(address, "SELECT count(*) AS n FROM nights"))] * 4)
    rows = database.ask(address, "SELECT number FROM migrations ORDER BY number")
    assert [row["number"] for row in rows] == [1, 2, 3]
    assert [rows[0]["n"] for rows in counts] == [0] * 4

    database.ask(address, "INSERT INTO migrations VALUES (99)")
    anew = SecretStr(address.get_secret_value() + "&application_name=other")
    with pytest.raises(StopTheNight, match="newer NightWatch"):
        database.connect(anew)


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (("p%40ss", "p%40sz"), TryLater, "authentication failed"),
        (("/postgres?", "/nothing?"), TryLater, "does not exist"),
        (("host=", "nonsense=hidden-40&host="), StopTheNight, "cannot be used"),
    ],
)
def test_what_is_wrong_is_said_without_the_password(server, change, error, told, caplog):
    caplog.set_level(logging.DEBUG)
    wrong = SecretStr(server.get_secret_value().replace(*change))
    with pytest.raises(error, match=told) as raised:
        database.ask(wrong, "SELECT 1")
    shown = f"{raised.getrepr(style='native')}{caplog.text}"
    for secret in (PASSWORD, "p%40s", "p@sz", "hidden"):
        assert secret not in shown
