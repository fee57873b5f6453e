import pytest
from deliveries import STEPPED
from git_repositories import git
from github_world import FIXED, bare_shop, comment, issue, outbox, pull, reopen, tracker
from services.github import GitHub
from twins.reading import MemoryClock

from nightwatch_core.adapters.hosts.writes import AnswerLost, AnswerUnread, Writes
from nightwatch_core.errors import TryLater
from nightwatch_core.models.proposals import Answer, FileChange

BRANCH = "nightwatch/0123456789ab"


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A server for tests in which nothing may be published."""
    with GitHub(bare_shop(tmp_path_factory.mktemp("github"))) as server:
        yield server


def test_an_issue_is_opened_with_its_labels(server):
    receipt = outbox(server).publish(issue())
    held = server.issues()

    assert (receipt.status, receipt.number, receipt.reason) == ("done", 1, "")
    assert receipt.url == f"{server.url}/acme/shop/issues/1"
    assert [(one["title"], one["body"], one["labels"]) for one in held] == [
        (issue().title, issue().body, ["nightwatch", "confidence-high"])
    ]


def test_the_same_key_is_one_issue_whoever_asks(server):
    first = outbox(server).publish(issue())
    server.items[1]["state"] = "closed"
    again = outbox(server).publish(issue(body=issue().body + "More.\n"))

    assert (again.status, again.number, again.url) == ("already there", 1, first.url)
    assert len(server.issues()) == 1


def test_a_key_in_the_middle_of_somebody_elses_body_does_not_count(server):
    server.add_item("Quote", f"Look:\n{issue().body}", labels=["nightwatch"])
    assert outbox(server).publish(issue()).status == "done"
    assert len(server.issues()) == 2


@pytest.mark.parametrize("how", ["answer", "cut", "truncated"])
def test_an_issue_whose_answer_was_lost_is_not_opened_twice(server, how):
    server.fail("POST", "/issues$", how=how, stored=True)
    receipt = outbox(server).publish(issue())

    assert (receipt.status, receipt.number) == ("done", 1)
    assert len(server.issues()) == 1
    assert server.writes().count("POST /issues") == 1


@pytest.mark.parametrize("how", ["answer", "cut"])
def test_an_issue_that_never_arrived_is_opened_after_looking(server, how):
    server.fail("POST", "/issues$", how=how)
    receipt = outbox(server).publish(issue())
    calls = [call for call in server.calls() if call.endswith(" /issues")]

    assert receipt.status == "done"
    assert calls == ["GET /issues", "POST /issues", "GET /issues", "POST /issues"]


def test_what_cannot_be_looked_up_is_unknown_and_settled_another_time(server):
    server.fail("POST", "/issues$", stored=True)
    out = outbox(server)
    out.publish(issue("other"))
    server.fail("POST", "/issues$", stored=True)
    calls = len(server.requests)
    server.fail("GET", "/issues$", status=200, body=b"[]")  # before: there is none
    server.fail("GET", "/issues$", status=503, times=6)
    receipt = out.publish(issue())

    assert receipt.status == "unknown"
    assert "may have been done" in receipt.reason
    assert len(server.requests) == calls + 8  # looked for three times, each read twice
    assert out.publish(issue()).status == "already there"
    assert len(server.issues()) == 2


def test_a_write_that_keeps_failing_is_tried_twice_only(server):
    server.fail("POST", "/issues$", times=9)
    assert outbox(server).publish(issue()).status == "unknown"
    assert server.writes().count("POST /issues") == 2


def test_a_limit_on_a_write_is_waited_for_once(server):
    clock = MemoryClock()
    start = clock.monotonic()
    server.fail("POST", "/issues$", status=429, headers={"retry-after": "30"})
    assert outbox(server, clock).publish(issue()).status == "done"
    assert 30 <= clock.monotonic() - start <= 40

    server.fail("POST", "/issues$", status=403, headers={"retry-after": "3600"})
    with pytest.raises(TryLater, match="3600 s"):
        outbox(server, clock).publish(issue("second"))
    assert len(server.issues()) == 1


def test_writes_are_a_second_apart_and_not_too_many(server):
    clock = MemoryClock()
    start, out = clock.monotonic(), outbox(server, clock)
    receipts = [out.publish(issue(f"key-{number}")) for number in range(5)]
    writes = len(server.writes())
    assert [receipt.status for receipt in receipts] == ["done"] * 5
    assert (writes, clock.monotonic() - start) == (7, 6.0)  # with two labels for feedback


def test_news_are_told_once(server):
    out = outbox(server)
    out.publish(issue())
    receipts = [out.publish(comment(1)), outbox(server).publish(comment(1))]

    assert [receipt.status for receipt in receipts] == ["done", "already there"]
    assert receipts[0].url == receipts[1].url
    assert [said["body"] for said in server.comments] == [comment(1).body]


def test_a_comment_whose_answer_was_lost_is_not_told_twice(server):
    out = outbox(server)
    out.publish(issue())
    server.fail("POST", "/comments$", stored=True)
    assert out.publish(comment(1)).status == "done"
    assert len(server.comments) == 1


def test_another_error_with_the_cause_of_an_issue_is_entered_in_it(server):
    out = outbox(server)
    out.publish(issue())
    server.items[1]["body"] += "A person's line.\n"
    joins = comment(1).model_copy(update={"also": ("v1:bb",)})
    server.fail("PATCH", "/issues/1$", stored=True)
    receipts = [out.publish(joins), out.publish(joins)]

    assert [receipt.status for receipt in receipts] == ["done", "already there"]
    assert receipts[0].also == ("v1:bb",)
    (item,) = tracker(server).own_items()
    assert item.names == {"v1:issue-key-1", "v1:aa", "v1:bb"}
    assert server.items[1]["body"].endswith("Why.\nA person's line.\n")
    assert (len(server.comments), item.key) == (1, "issue-key-1")


def test_a_closed_issue_is_opened_again(server):
    out = outbox(server)
    out.publish(issue())
    server.items[1] |= {
        "state": "closed",
        "state_reason": "completed",
        "closed_at": "2026-11-20T00:00:00Z",
    }
    server.fail("PATCH", "/issues/1$", stored=True)
    receipts = [out.publish(reopen(1)), out.publish(reopen(1))]

    assert [receipt.status for receipt in receipts] == ["done", "already there"]
    assert (server.items[1]["state"], server.items[1]["state_reason"]) == ("open", "reopened")
    assert len(server.comments) == 1


def test_what_people_closed_again_or_do_not_plan_stays_closed(server):
    out = outbox(server)
    out.publish(issue())
    server.items[1]["state"] = "closed"
    out.publish(reopen(1))
    server.items[1]["state"] = "closed"
    assert out.publish(reopen(1)).status == "already there"
    server.items[1]["state_reason"] = "not_planned"
    assert "not planned" in out.publish(reopen(1, "other")).reason
    assert server.items[1]["state"] == "closed"


def test_a_draft_is_one_commit_on_a_branch(server):
    changes = (
        FileChange(path="app/total.rb", text=FIXED),
        FileChange(path="bin/run", text="#!/bin/sh\nset -e\nrun\n"),
        FileChange(path="spec/models/total spec.rb", text="expect ü\n"),
        FileChange(path="app/b c.rb", text=None),
    )
    receipt = outbox(server).publish(pull(server, *changes))
    shop, held = server.git.folder, server.pulls()[0]

    assert (receipt.status, receipt.reason, receipt.number) == ("done", "", 1)
    assert (held["draft"], held["base"], held["labels"]) == (True, "main", ["nightwatch"])
    assert git(shop, "rev-parse", f"{BRANCH}~1") == git(shop, "rev-parse", "main")
    assert git(shop, "log", "-1", "--format=%B", BRANCH) == "Count an empty basket as 0\n\nRefs #1"
    assert git(shop, "show", f"{BRANCH}:app/total.rb") + "\n" == FIXED
    assert git(shop, "diff-tree", "-r", "--no-renames", "--name-status", "main", BRANCH) == (
        "D\tapp/b c.rb\nM\tapp/total.rb\nM\tbin/run\nA\tspec/models/total spec.rb"
    )
    modes = git(shop, "ls-tree", BRANCH, "bin/run", "spec/models/total spec.rb")
    assert [line[:6] for line in modes.splitlines()] == ["100755", "100644"]
    git(shop, "fsck", "--strict", "--no-dangling")


LOST = ["/git/trees$", "/git/commits$", "/git/refs$", "/pulls$", "/labels$"]


@pytest.mark.parametrize("path", LOST)
@pytest.mark.parametrize("stored", [True, False])
def test_a_draft_is_made_once_whichever_answer_is_lost(server, path, stored):
    server.fail("POST", path, stored=stored)
    receipt = outbox(server).publish(pull(server))

    assert (receipt.status, receipt.number, receipt.reason) == ("done", 1, "")
    assert len(server.pulls()) == 1
    assert server.pulls()[0]["labels"] == ["nightwatch"]
    assert list(server.git.refs("refs/heads/")) == ["refs/heads/main", f"refs/heads/{BRANCH}"]


def test_a_draft_that_was_killed_halfway_is_taken_up(server):
    outbox(server).publish(pull(server))
    tip = server.git.refs()[f"refs/heads/{BRANCH}"]
    server.pulls()[0]["labels"].clear()
    labelled = outbox(server).publish(pull(server))
    server.items.clear()
    made = outbox(server).publish(pull(server))

    assert (labelled.status, made.status) == ("already there", "done")
    assert server.git.refs()[f"refs/heads/{BRANCH}"] == tip
    assert [one["labels"] for one in server.pulls()] == [["nightwatch"]]


def test_a_draft_in_steps_is_a_commit_for_each_made_once(server):
    server.fail("POST", "/git/commits$", how="cut", stored=True)
    first = outbox(server).publish(pull(server, **STEPPED))
    server.items.clear()  # killed before its pull request
    again = outbox(server).publish(pull(server, **STEPPED))
    folder = server.git.folder
    log = git(folder, "log", "--reverse", "--format=%s", f"main..{BRANCH}").splitlines()

    assert (first.status, again.status) == ("done", "done")
    assert log == ["Name the nothing", "Count with it"]
    assert git(folder, "diff", "--name-only", "main", BRANCH).splitlines() == [
        "app/nothing.rb",
        "app/total.rb",
    ]
    server.items.clear()
    assert outbox(server).publish(pull(server)).status == "refused"  # in one commit


def test_a_draft_that_people_closed_is_not_proposed_again(server):
    outbox(server).publish(pull(server))
    server.pulls()[0]["state"] = "closed"
    assert outbox(server).publish(pull(server)).status == "already there"
    assert len(server.pulls()) == 1


def test_who_closed_a_draft_is_answered_there_once(server):
    outbox(server).publish(pull(server))
    server.pulls()[0]["state"] = "closed"
    said = comment(1, "answer-key")
    answer = Answer(key=said.key, fingerprint="v1:aa", number=1, body=said.body)
    receipts = [outbox(server).publish(answer) for _ in range(2)]
    assert [receipt.status for receipt in receipts] == ["done", "already there"]
    assert [receipt.on for receipt in receipts] == ["pull"] * 2
    assert [one["number"] for one in server.comments] == [1]
    gone = outbox(server).publish(answer.model_copy(update={"number": 9}))
    assert (gone.status, gone.number, gone.on) == ("refused", 9, "pull")


def test_where_there_are_no_drafts_a_label_says_so(server):
    server.has_drafts = False
    receipt = outbox(server).publish(pull(server))

    assert receipt.status == "done"
    assert server.pulls()[0]["draft"] is False
    assert server.pulls()[0]["labels"] == ["nightwatch", "nightwatch-draft"]


def test_no_branch_is_left_where_the_pull_request_is_refused(server):
    server.permissions["pull_requests"] = "read"
    receipt = outbox(server).publish(pull(server))

    assert receipt.status == "refused"
    assert "pull_requests=write" in receipt.reason
    assert list(server.git.refs("refs/heads/")) == ["refs/heads/main"]


def test_no_branch_of_anyone_is_moved(server):
    main = git(server.git.folder, "rev-parse", "main~1")
    server.git.run("update-ref", f"refs/heads/{BRANCH}", main)
    before = server.git.refs()
    names = (BRANCH, "main", "nightwatch", "nightwatch/../main", "nightwatch/x y", "nightwatch/-x")
    receipts = [outbox(server).publish(pull(server, branch=branch)) for branch in names]

    assert [receipt.status for receipt in receipts] == ["refused"] * 6
    assert "exists with other content" in receipts[0].reason
    assert server.git.refs() == before
    assert server.pulls() == []


def test_the_base_may_move_but_not_under_the_change(server):
    proposal, shop = pull(server), server.git
    tree = shop.write_tree("main", [{"path": "other.rb", "mode": "100644", "content": "x"}])
    shop.run("update-ref", "refs/heads/main", shop.write_commit("Other", tree, [proposal.commit]))
    assert outbox(server).publish(proposal).status == "done"

    tree = shop.write_tree("main", [{"path": "app/total.rb", "mode": "100644", "content": "x"}])
    head = shop.refs()["refs/heads/main"]
    shop.run("update-ref", "refs/heads/main", shop.write_commit("Under", tree, [head]))
    other = {"key": "other", "body": issue("other").body, "branch": "nightwatch/other"}
    moved = outbox(server).publish(pull(server, commit=proposal.commit, **other))
    assert (moved.status, moved.reason) == ("refused", "base moved: 'app/total.rb' changed")


def test_a_base_or_commit_that_is_not_there_is_refused(still):
    reasons = [
        outbox(still).publish(pull(still, base="gone")).reason,
        outbox(still).publish(pull(still, base="../../x")).reason,
        outbox(still).publish(pull(still, commit="f" * 40)).reason,
    ]
    assert reasons == [
        "there is no base branch 'gone'",
        "there is no base branch '../../x'",
        f"commit '{'f' * 40}' is not in the repository",
    ]


@pytest.mark.parametrize(("lost", "times"), [(AnswerLost, 2), (AnswerUnread, 1)])
def test_a_write_whose_answer_came_in_no_known_form_is_not_made_again(lost, times):
    made = []

    def make():
        made.append("issue")
        raise lost("its number is missing")

    with pytest.raises(AnswerLost, match="number is missing"):
        Writes("GitHub", MemoryClock(), lambda _seconds: None).make(make)
    assert len(made) == times
