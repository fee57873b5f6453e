from contextlib import closing
from datetime import UTC, datetime

import pytest
from git_repositories import Change, git, repository
from threads import at_once
from twins.writing import MemoryOutbox

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.local.delivery import LocalDelivery
from nightwatch_core.adapters.stores import database
from nightwatch_core.adapters.stores.database import LedgerOutbox
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.proposals import DraftPull, FileChange, OpenIssue, Receipt

ISSUE = OpenIssue(key="k1", fingerprint="v1:aa", title="Total of nil", body="Why.")


class Killed(BaseException):
    """Stands for kill -9: nothing after it runs."""


class Clock:
    """A clock that kills the process at its nth look, from 1."""

    def __init__(self, last=0):
        self.last = last
        self.looks = 0

    def now(self):
        self.looks += 1
        if self.looks == self.last:
            raise Killed
        return datetime(2026, 11, 21, 3, 0, tzinfo=UTC)

    def monotonic(self):
        return 0.0


class Outbox:
    """An outbox that does what it is told, after storing, and counts its calls."""

    def __init__(self, then=""):
        self.then = then
        self.stored = MemoryOutbox()
        self.calls = 0

    def publish(self, proposal):
        self.calls += 1
        if self.then in ("refused", "unknown"):
            told = {"key": proposal.key, "kind": proposal.kind, "reason": f"no {self.calls}"}
            return Receipt.model_validate({**told, "fingerprint": "f", "status": self.then})
        receipt = self.stored.publish(proposal)
        if isinstance(self.then, BaseException):
            raise self.then
        return receipt


def ledger(outbox, path, night="n1", last=0, **more):
    return LedgerOutbox(outbox, path / "state" / "nightwatch.db", night, Clock(last), **more)


def state(path):
    with closing(database.connect(path / "state" / "nightwatch.db")) as connection:
        found = connection.execute("SELECT state FROM ledger WHERE key = 'k1'").fetchone()
    return found["state"] if found else ""


def test_what_is_done_is_answered_without_asking(tmp_path):
    outbox = Outbox()
    first = ledger(outbox, tmp_path).publish(ISSUE)
    again = ledger(outbox, tmp_path, "n2").publish(ISSUE.model_copy(update={"body": "Other."}))

    assert (first.status, first.number) == ("done", 1)
    assert (again.status, again.number, again.title) == ("already there", 1, "Total of nil")
    assert outbox.calls == 1


def test_a_refusal_holds_for_the_same_payload_of_the_same_night(tmp_path):
    outbox = Outbox("refused")
    other = ISSUE.model_copy(update={"body": "Other."})
    reasons = [
        ledger(outbox, tmp_path, night).publish(proposal).reason
        for night, proposal in (("n1", ISSUE), ("n1", ISSUE), ("n1", other), ("n2", other))
    ]

    assert reasons == ["no 1", "no 1", "no 2", "no 3"]
    outbox.then = ""
    assert ledger(outbox, tmp_path, "n3").publish(ISSUE).status == "done"


@pytest.mark.parametrize("error", [TryLater("504 from the service"), GiveUp("gone")])
def test_an_outbox_that_fails_leaves_it_unknown_and_is_asked_again(tmp_path, error):
    outbox = Outbox(error)
    receipt = ledger(outbox, tmp_path).publish(ISSUE)

    assert (receipt.status, receipt.reason, state(tmp_path)) == ("unknown", str(error), "unknown")
    outbox.then = ""
    assert ledger(outbox, tmp_path).publish(ISSUE).status == "already there"
    assert (len(outbox.stored.published), state(tmp_path)) == (1, "done")


def test_an_outbox_that_stops_the_night_stops_it_and_leaves_it_unknown(tmp_path):
    with pytest.raises(StopTheNight, match="bad token"):
        ledger(Outbox(StopTheNight("bad token")), tmp_path).publish(ISSUE)

    assert state(tmp_path) == "unknown"


@pytest.mark.parametrize(("look", "left"), [(1, ""), (2, "intent"), (3, "act")])
def test_a_kill_between_any_two_effects_publishes_once(tmp_path, look, left):
    outbox = Outbox()
    with pytest.raises(Killed):
        ledger(outbox, tmp_path, last=look).publish(ISSUE)

    assert state(tmp_path) == left
    assert ledger(outbox, tmp_path).publish(ISSUE).number == 1
    assert (len(outbox.stored.published), state(tmp_path)) == (1, "done")


def test_a_kill_in_the_real_delivery_makes_one_branch_and_one_file(tmp_path):
    shop = repository(tmp_path / "shop", Change("Shop", {"a.rb": "1\n"}))
    pull = DraftPull(
        key="k1", fingerprint="v1:aa", branch="nightwatch/k1", base="main", title="Two", body="",
        commit_message="Two", changes=(FileChange(path="a.rb", text="2\n"),),
        commit=git(shop, "rev-parse", "main"),
    )  # fmt: skip
    for look in (1, 2, 3, 0):
        delivery = LocalDelivery(tmp_path / "nights", f"n{look}", Checkout(shop), Clock())
        try:
            receipt = ledger(delivery, tmp_path, last=look).publish(pull)
        except Killed:
            continue

    assert (receipt.status, receipt.number) == ("already there", 1)
    assert len(list((tmp_path / "nights").glob("*/outbox/*.md"))) == 1
    assert git(shop, "rev-list", "--count", "main..nightwatch/k1") == "1"


def test_threads_that_publish_the_same_key_ask_once(tmp_path):
    outbox = Outbox()
    receipts = []
    at_once(*[lambda: receipts.append(ledger(outbox, tmp_path).publish(ISSUE))] * 6)

    assert outbox.calls == 1
    assert sorted(receipt.status for receipt in receipts) == ["already there"] * 5 + ["done"]


def test_while_one_publisher_is_at_it_no_other_is(tmp_path):
    """Else a second one asks for what the first one has just asked for, and finds nothing yet."""
    other, told = Outbox(), []

    def meanwhile():
        with pytest.raises(TryLater, match="another process") as raised:
            ledger(other, tmp_path, "n2", patience=0).publish(ISSUE)
        told.append(str(raised.value))

    class Slow(Outbox):
        def publish(self, proposal):
            at_once(meanwhile)
            return super().publish(proposal)

    assert ledger(Slow(), tmp_path).publish(ISSUE).status == "done"
    assert (len(told), other.calls) == (1, 0)


def test_nothing_is_published_without_a_ledger(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "nightwatch.db").write_bytes(b"this is no database" * 100)
    outbox = Outbox()

    with pytest.raises(StopTheNight, match="move it away"):
        ledger(outbox, tmp_path).publish(ISSUE)
    assert outbox.calls == 0


def test_a_ledger_lost_after_publishing_says_what_was_published(tmp_path):
    outbox = Outbox()

    class Breaking:
        def publish(self, proposal):
            receipt = outbox.publish(proposal)
            with database.transaction(tmp_path / "state" / "nightwatch.db") as connection:
                connection.execute("DROP TABLE ledger")
            return receipt

    with pytest.raises(StopTheNight, match="issue 1 .* is done, but the ledger"):
        LedgerOutbox(Breaking(), tmp_path / "state" / "nightwatch.db", "n1", Clock()).publish(ISSUE)
