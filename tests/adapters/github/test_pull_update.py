"""One more commit on a draft's branch, over HTTP: once, and only where nobody else has pushed."""

import pytest
from git_repositories import git
from github_world import NIGHT, comment, outbox, pull

from nightwatch_core.models.proposals import FileChange, PullUpdate
from nightwatch_core.text.markers import marker

ANOTHER = "def total\n  nil.to_i\nend\n"


@pytest.fixture
def drafted(server):
    return outbox(server).publish(
        pull(server, FileChange(path="app/total.rb", text="def total\n  0\nend\n"))
    )


def update(drafted, **more):
    fields = {
        "key": "update-key-1",
        "fingerprint": "v1:aa",
        "number": drafted.number,
        "branch": "nightwatch/0123456789ab",
        "head": drafted.sha,
        "body": f"{marker('v1:aa', 'update-key-1', NIGHT)}\n\nAnother attempt.\n",
        "commit_message": "Correct the fix\n",
        "changes": (FileChange(path="app/total.rb", text=ANOTHER),),
        "commit": "c" * 40,
    }
    return PullUpdate.model_validate(fields | more)


def tip(server):
    return git(server.git.folder, "rev-parse", "nightwatch/0123456789ab")


def test_a_commit_is_put_on_ours_and_a_word_says_what_it_is(server, drafted):
    assert drafted.sha == tip(server)
    receipt = outbox(server).publish(update(drafted))
    assert (receipt.status, receipt.number, receipt.sha) == ("done", 1, tip(server))
    assert git(server.git.folder, "rev-parse", f"{receipt.sha}^") == drafted.sha
    shown = git(server.git.folder, "show", f"{receipt.sha}:app/total.rb")
    assert f"{shown}\n" == ANOTHER
    assert git(server.git.folder, "diff", "--name-only", drafted.sha, receipt.sha) == "app/total.rb"
    assert [one["body"].split("\n")[2] for one in server.comments] == ["Another attempt."]


def test_publishing_it_twice_is_once(server, drafted):
    first = outbox(server).publish(update(drafted))
    again = outbox(server).publish(update(drafted))
    assert (again.status, again.sha) == ("already there", first.sha)
    assert len(server.comments) == 1


@pytest.mark.parametrize("lost", ["/git/refs/heads", "/issues/1/comments"])
def test_what_was_done_though_the_answer_was_lost_is_found(server, drafted, lost):
    method = "PATCH" if "refs" in lost else "POST"
    server.fail(method, lost, stored=True)
    receipt = outbox(server).publish(update(drafted))
    assert receipt.sha == tip(server) != drafted.sha
    assert len(server.comments) == 1


def push(server, parent):
    root = server.git.run("rev-parse", f"{parent}^{{tree}}")
    blob = server.git.run("hash-object", "-w", "--stdin", stdin=b"x\n")
    entry = {"path": "theirs.rb", "mode": "100644", "type": "blob", "sha": blob}
    sha = server.git.write_commit("Theirs", server.git.write_tree(root, [entry]), [parent])
    server.git.run("update-ref", "refs/heads/nightwatch/0123456789ab", sha)
    return sha


def test_a_branch_that_somebody_else_has_pushed_to_is_left_alone(server, drafted):
    theirs = push(server, drafted.sha)
    receipt = outbox(server).publish(update(drafted))
    assert receipt.status == "refused"
    assert "somebody pushed to nightwatch/0123456789ab since" in receipt.reason
    assert tip(server) == theirs
    assert not server.comments


def test_who_pushes_at_the_same_moment_wins(server, drafted):
    server.before("PATCH", "/git/refs", lambda: push(server, drafted.sha))
    receipt = outbox(server).publish(update(drafted))
    assert receipt.status == "refused"
    assert "fast forward" in receipt.reason
    assert git(server.git.folder, "show", "-s", "--format=%s", tip(server)) == "Theirs"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"branch": "main"}, "there is no branch 'main' of ours"),
        ({"branch": "nightwatch/../main"}, "there is no branch"),
        ({"changes": (FileChange(path="../x", text="1"),)}, "leaves the repository"),
        ({"changes": (FileChange(path="app/total.rb", text="def total\n  0\nend\n"),)}, "nothing"),
        ({"body": "no marker"}, "marker"),
    ],
)
def test_what_is_no_change_of_ours_is_refused(server, drafted, more, why):
    before = server.git.refs()
    receipt = outbox(server).publish(update(drafted, **more))
    assert (receipt.status, why in receipt.reason) == ("refused", True)
    assert server.git.refs() == before


def test_a_word_may_bring_a_label(server, drafted):
    word = comment(1).model_copy(update={"on": "pull", "label": "ci-failed"})
    for _ in range(2):
        outbox(server).publish(word)
    assert server.items[1]["labels"] == ["nightwatch", "ci-failed"]
    assert len(server.comments) == 1
