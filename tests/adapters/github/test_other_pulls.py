"""Everybody's pull requests on some files, over HTTP: what they change, and at what price."""

from datetime import UTC, datetime

import pytest
from git_repositories import git
from github_world import tracker

from nightwatch_core.errors import GiveUp

SINCE = datetime(2026, 9, 1, tzinfo=UTC)
PATH = "app/total.rb"
GUARD = "def total\n  nil || 0\nend\n"


def propose(server, text=GUARD, path=PATH, **more):
    """A pull request of somebody's that gives a file this text."""
    base = git(server.git.folder, "rev-parse", "main")
    parent = str(more.pop("parent", base))
    blob = server.git.run("hash-object", "-w", "--stdin", stdin=text.encode())
    entry = {"path": path, "mode": "100644", "type": "blob", "sha": blob}
    root = server.git.run("rev-parse", f"{parent}^{{tree}}")
    sha = server.git.write_commit("Change", server.git.write_tree(root, [entry]), [parent])
    number = max(server.items, default=0) + 1
    told = {"title": "Change", "body": "", "head": f"b{number}", "by": "alice", **more}
    server.add_item(head_sha=sha, base="main", base_sha=base, **told)
    return number


def read(server, *paths):
    return tracker(server).pulls_changing(paths or (PATH,), SINCE)


def test_open_closed_and_merged_ones_are_told_with_what_they_change(server):
    merged = propose(server, state="closed", merged_at="2026-11-20T10:00:00Z", merge_sha="a" * 40)
    closed = propose(server, state="closed")
    propose(server, "1\n", "old.rb")
    still = propose(server, title="Total of an empty basket", body="Fixes it")
    told = {pull.number: pull for pull in read(server)}
    assert [one.state for one in told.values()] == ["open", "closed", "merged"]
    assert told[still].name == f"#{still} by alice"
    assert told[still].body == "Fixes it"
    assert told[still].files[0].diff == "@@ -1,3 +1,3 @@\n def total\n-  nil\n+  nil || 0\n end"
    assert told[closed].state == "closed"
    assert told[merged].sha == "a" * 40


def test_only_those_that_matter_are_asked_for_their_changes(server):
    for _ in range(3):
        propose(server, "1\n", "old.rb")
    assert read(server) == ()
    assert server.calls() == ["POST /graphql"]


def test_requests_are_bounded_whatever_there_is(server):
    propose(server, state="open", updated_at="2026-11-01T00:00:00Z")
    first = server.items[1]
    for number in range(2, 232):
        server.items[number] = first | {"number": number, "state": "closed", "by": ""}
    first["updated_at"] = "2026-11-10T00:00:00Z"
    told = read(server)
    assert (len(told), told[0].number, told[0].state) == (20, 1, "open")
    assert len(server.requests) == 8 + 20


def test_what_has_not_changed_since_ends_the_list(server):
    propose(server, updated_at="2026-08-31T00:00:00Z")
    assert read(server) == ()


def test_a_file_too_large_for_github_has_no_patch(server):
    propose(server, "a\0b", "latin.rb")
    (pull,) = read(server, "latin.rb")
    assert pull.files[0].diff == ""


def test_what_is_not_as_documented_is_given_up(server):
    server.fail("POST", "/graphql", status=200, body=b'{"data": {"repository": {}}}', times=2)
    with pytest.raises(GiveUp, match="not as documented"):
        read(server)
