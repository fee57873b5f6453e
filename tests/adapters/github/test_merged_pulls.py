"""Merged pull requests in the three ways that GitHub merges them."""

from datetime import UTC, datetime

import pytest
from git_repositories import git
from github_world import client

from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.pulls import merged_pulls
from nightwatch_core.code.suspects import is_of
from nightwatch_core.errors import GiveUp

SINCE = datetime(2026, 11, 1, tzinfo=UTC)
MERGED = "2026-11-20T10:00:00Z"


def commit(server, message, *parents, written=1_790_000_000):
    """A commit that changes nothing; `written` is its author's date, made is now."""
    more = {
        "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "GitHub",
        "GIT_COMMITTER_EMAIL": "g@b.c", "GIT_AUTHOR_DATE": f"@{written} +0100",
    }  # fmt: skip
    tree = server.git.run("rev-parse", f"{parents[0]}^{{tree}}")
    above = [word for parent in parents for word in ("-p", parent)]
    return server.git.run("commit-tree", tree, *above, stdin=message.encode(), more=more)


def branch(server, count):
    """The base, and commits of a branch on it, oldest first."""
    base = git(server.git.folder, "rev-parse", "main")
    made = []
    for at in range(count):
        parent = made[-1] if made else base
        made.append(commit(server, f"Step {at}", parent, written=1_790_000_000 + at))
    return base, made


def merge(server, sha, commits, number=1):
    server.add_item(
        "Pull", "", number=number, head=f"b{number}", head_sha=commits[-1], base="main",
        base_sha="", state="closed", merged_at=MERGED, updated_at=MERGED, files=["app/x.rb"],
        merge_sha=sha, commits=commits,
    )  # fmt: skip


def pulls(server):
    return merged_pulls(Repository.of(client(server), server.repository), "main", SINCE)


def test_a_merge_brings_its_commits_as_they_are(server):
    base, made = branch(server, 3)
    sha = commit(server, "Merge pull request #1", base, made[-1])
    merge(server, sha, made)
    (pull,) = pulls(server)
    assert (pull.sha, pull.commits) == (sha, tuple(reversed(made)))
    assert (pull.files, pull.author, pull.number) == (("app/x.rb",), "ann", 1)
    assert is_of(pull, made[0][:10])


@pytest.mark.parametrize("count", [1, 3])
def test_of_a_squash_only_the_one_commit_is_on_the_base(server, count):
    base, made = branch(server, count)
    sha = commit(server, "Pull (#1)", base, written=1_790_009_999)
    merge(server, sha, made)
    (pull,) = pulls(server)
    assert (pull.sha, pull.commits) == (sha, ())
    assert is_of(pull, sha[:10])
    assert not is_of(pull, made[0])


@pytest.mark.parametrize(
    "told",
    [
        b'{"data": {"repository": null}}',
        b'{"data": {"repository": {"pullRequests": {"nodes": [1]}}}}',
    ],
)
def test_an_odd_answer_is_told(server, told):
    server.fail("POST", "/graphql", status=200, body=told)
    with pytest.raises(GiveUp, match="as documented"):
        pulls(server)
