"""Drafts without a branch, over HTTP: the issue carries the patch, whose fate is followed."""

import re

import pytest
from deliveries import STEPPED
from git_repositories import git
from github_world import FIXED, NIGHT, client, issue, outbox_of, pull, tracker
from services.github_people import move_base

from nightwatch_core.models.proposals import FileChange, OwnItem
from nightwatch_core.text.markers import read_patch_marker

PATCH = {"as_patch": True, "issue": 1, "branch": "", "fix": "f1:0a"}
MESSAGE = "Count an empty basket as 0\n\nNightWatch patch pull-key-1\n"


def patch_of(server, *changes, **more):
    return pull(server, *changes, **(PATCH | {"commit_message": MESSAGE} | more))


@pytest.fixture
def carried(server):
    """A GitHub with an issue of ours that carries a patch."""
    outbox_of(client(server)).publish(issue())
    assert outbox_of(client(server)).publish(patch_of(server)).status == "done"
    return server


def only_patch(server):
    (item,) = (one for one in tracker(server).own_items() if one.kind == "pull")
    return item


def test_nothing_is_pushed_and_the_issue_carries_the_patch(server):
    out, heads = outbox_of(client(server)), server.git.refs()
    out.publish(issue())
    receipt = out.publish(patch_of(server))
    (comment,) = server.comments

    assert (receipt.status, receipt.kind, receipt.number) == ("done", "pull", 1)
    assert receipt.url.endswith(f"issues/1#issuecomment-{comment['id']}")
    assert read_patch_marker(comment["body"]) == ("f1:0a", "main")
    assert "\n-  nil\n+  0\n" in comment["body"]
    assert (server.git.refs(), server.pulls()) == (heads, [])
    assert {w for w in server.writes() if not w.endswith(("/labels", "/issues"))} == {
        "POST /issues/1/comments"
    }


def test_it_is_carried_once_also_where_the_answer_was_lost(server):
    out = outbox_of(client(server))
    out.publish(issue())
    server.fail("POST", "/comments$", how="cut", stored=True)
    assert out.publish(patch_of(server)).status == "done"
    assert outbox_of(client(server)).publish(patch_of(server)).status == "already there"
    assert len(server.comments) == 1


def test_it_is_a_draft_with_the_number_of_its_issue(carried):
    assert only_patch(carried) == OwnItem(
        **{"kind": "pull", "number": 1, "fingerprint": "v1:aa", "also": ("v1:issue-key-1",)},
        **{"key": "pull-key-1", "title": issue().title, "night": NIGHT, "as_patch": True},
        fix="f1:0a",
        url=f"{carried.url}/acme/shop/issues/1#issuecomment-9000",
    )


def test_who_applied_it_is_seen_in_the_bases_history(carried):
    move_base(carried, {"other.rb": "1\n"})
    assert only_patch(carried).state == "open"
    folder = carried.git.folder
    tree = git(folder, "rev-parse", "main^{tree}")
    made = git(folder, "commit-tree", "-p", "main", "-m", f"Squashed (#9)\n\n* {MESSAGE}", tree)
    git(folder, "update-ref", "refs/heads/main", made)

    applied = only_patch(carried)
    assert (applied.state, applied.branch) == ("merged", "")
    assert applied.merged_at is not None


def test_an_issue_closed_as_not_planned_turns_it_down(carried):
    closed = {"state": "closed", "closed_at": "2026-11-22T05:00:00Z"}
    carried.items[1] |= {**closed, "state_reason": "completed"}
    assert only_patch(carried).state == "open"  # nobody said a word about the patch
    carried.items[1] |= {"state_reason": "not_planned"}
    assert only_patch(carried).state == "closed"


def test_a_patch_in_somebody_elses_comment_is_none(carried):
    text = carried.comments[0]["body"]
    carried.add_comment(1, text.replace("pull-key-1", "other-key"), by="eve", association="NONE")
    assert only_patch(carried).key == "pull-key-1"


def test_a_base_that_is_gone_leaves_it_open(carried):
    body = carried.comments[0]["body"]
    carried.comments[0]["body"] = body.replace("base=main", "base=gone/away")
    assert only_patch(carried).state == "open"


def test_it_needs_an_issue_of_ours_and_a_base_that_has_not_moved(server):
    out, draft = outbox_of(client(server)), patch_of(server)
    assert "no issue 1" in out.publish(draft).reason
    assert (
        "no issue to attach the patch to"
        in out.publish(draft.model_copy(update={"issue": None})).reason
    )
    out.publish(issue())
    move_base(server, {"app/total.rb": "def total\n  1\nend\n"})
    assert "base moved" in out.publish(draft).reason


def test_one_that_is_too_long_for_a_comment_is_refused(server):
    out = outbox_of(client(server))
    out.publish(issue())
    long = FileChange(path="app/total.rb", text=FIXED + "# a line of many\n" * 5_000)
    assert "longer than a comment" in out.publish(patch_of(server, long)).reason
    assert server.comments == []


def test_a_patch_in_steps_is_a_series_of_mails(server, tmp_path):
    out = outbox_of(client(server))
    out.publish(issue())
    assert out.publish(patch_of(server, **STEPPED)).status == "done"
    git(tmp_path, "clone", "--quiet", str(server.git.folder), "clone")
    (comment,) = server.comments
    mail = re.findall(r"^(`{3,})diff\n(.*?)\n\1$", comment["body"], re.M | re.S)[-1][1]
    (tmp_path / "steps.patch").write_text(mail)
    git(tmp_path / "clone", "am", "--quiet", str(tmp_path / "steps.patch"))

    log = git(tmp_path / "clone", "log", "--reverse", "--format=%s", "origin/main..")
    assert log.splitlines() == ["Name the nothing", "Count with it"]
