"""Whose an item is, decided over HTTP: a marker that was copied makes nothing ours."""

from functools import partial

import pytest
from github_world import NIGHT, as_app, client, comment, issue, outbox_of, pull, reopen
from twins.reading import MemoryClock

from nightwatch_core.adapters.github.client import GitHubClient, account
from nightwatch_core.adapters.github.tracker import GitHubTracker
from nightwatch_core.adapters.hosts.ownership import Ours
from nightwatch_core.adapters.stores.database import LedgerOutbox, published
from nightwatch_core.errors import GiveUp

LABELLED = ["nightwatch", "confidence-high"]


class Installation:
    """One of ours: a sign-in and a state folder, which may be lost or taken along."""

    def __init__(self, server, state, *former, app=False):
        self.clock, self.ledger = MemoryClock(), state / "nightwatch.db"
        signed = GitHubClient(
            as_app(), server.url, repository="acme/shop", pause=self.clock.pass_by
        )
        self.client = signed if app else client(server, self.clock)
        self.ours = Ours(partial(account, self.client), lambda: published(self.ledger), former)

    def publish(self, proposal):
        outbox = outbox_of(self.client, self.clock, ours=self.ours)
        return LedgerOutbox(outbox, self.ledger, NIGHT, self.clock).publish(proposal)

    def tracker(self):
        return GitHubTracker(self.client, "acme/shop", self.ours)

    def own(self):
        return self.tracker().own_items()


def numbers(items):
    return [one.number for one in items]


def test_a_copied_marker_makes_nothing_ours_whatever_its_labels_and_state(server, tmp_path):
    ours = Installation(server, tmp_path)
    ours.publish(issue())
    closed = {"state": "closed", "state_reason": "not_planned"}
    server.add_item("Copied", issue("other").body, labels=LABELLED, by="eve", **closed)
    server.add_item("Mine, now", issue().body, labels=LABELLED, by="eve", **closed)

    assert numbers(ours.own()) == [1]
    assert ours.own()[0].state == "open"
    assert ours.publish(issue("other")).status == "done"  # hers did not count as published
    assert numbers(ours.own()) == [1, 4]


@pytest.mark.parametrize("proposal", [comment(2), reopen(2)])
def test_somebody_elses_issue_is_neither_spoken_on_nor_reopened(server, tmp_path, proposal):
    ours = Installation(server, tmp_path)
    ours.publish(issue())
    server.add_item("Copied", issue("other").body, labels=LABELLED, by="eve", state="closed")
    before = len(server.writes())
    receipt = ours.publish(proposal)

    assert (receipt.status, receipt.reason) == ("refused", "issue 2 was not made by NightWatch")
    assert (len(server.writes()), server.items[2]["state"]) == (before, "closed")


def test_somebody_elses_comment_with_our_marker_says_nothing_was_said(server, tmp_path):
    ours = Installation(server, tmp_path)
    ours.publish(issue())
    server.add_comment(1, comment(1).body, by="eve", association="NONE")

    assert ours.publish(comment(1)).status == "done"
    assert [one["by"] for one in server.comments] == ["eve", "the-token"]
    assert ours.own()[0].words == ()


def test_a_pull_request_that_somebody_opened_from_our_branch_is_not_adopted(server, tmp_path):
    ours, draft = Installation(server, tmp_path), pull(server)
    sides = {"head": draft.branch, "head_sha": "0" * 40, "base": "main", "base_sha": "0" * 40}
    server.add_item("Mine", draft.body, labels=["nightwatch"], by="eve", **sides)

    assert "which NightWatch did not make" in ours.publish(draft).reason
    assert len(server.pulls()) == 1


def test_a_token_that_became_an_app_finds_what_it_made(server, tmp_path):
    before = Installation(server, tmp_path)
    before.publish(issue())
    before.publish(pull(server))
    server.add_item("From before this ledger", issue("old").body, labels=LABELLED, by="the-token")
    after = Installation(server, tmp_path, app=True)

    assert numbers(after.own()) == [1, 2, 3]  # 3: its author is one of the ledger's
    assert after.publish(issue("old")).status == "already there"
    assert after.publish(comment(1)).status == "done"
    assert server.comments[0]["by"] == "nightwatch[bot]"


def test_a_renamed_bot_and_an_account_that_is_gone_double_nothing(server, tmp_path):
    Installation(server, tmp_path).publish(issue())
    server.account = server.items[1]["by"] = "nightwatch-of-acme"  # GitHub renames everywhere
    assert numbers(Installation(server, tmp_path).own()) == [1]

    server.items[1]["by"], server.account = "ghost", "newcomer"
    server.add_item("Gone, too", issue("other").body, labels=LABELLED, by="ghost")
    later = Installation(server, tmp_path)
    assert numbers(later.own()) == [1]  # one ghost is not every ghost
    assert later.publish(issue()).status == "already there"


def test_with_the_state_lost_and_another_account_nothing_is_published_twice(server, tmp_path):
    Installation(server, tmp_path / "lost").publish(issue())
    server.account = "newcomer"
    with pytest.raises(GiveUp, match=r"made by @the-token.*NIGHTWATCH_FORMER_ACCOUNTS"):
        Installation(server, tmp_path / "new").own()
    with pytest.raises(GiveUp, match=r"issues/1 carries our marker"):
        Installation(server, tmp_path / "new").tracker().probe()

    named = Installation(server, tmp_path / "new", " The-Token")
    assert numbers(named.own()) == [1]
    assert named.publish(issue()).status == "already there"


def test_who_publishes_is_asked_of_every_kind_of_sign_in(server):
    app = GitHubClient(as_app(), server.url, repository="acme/shop", read_only=True)
    assert (account(client(server)), account(app)) == ("the-token", "nightwatch[bot]")

    server.account = ""  # a token of GitHub Actions is no user's
    assert account(client(server)) == "github-actions[bot]"
    server.fail("POST", "/graphql$", status=403, body=b'{"message": "no"}', times=9)
    assert account(client(server)) == ""
