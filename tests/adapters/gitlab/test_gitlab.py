"""GitLab over HTTP, against a stand-in that is strict about its documented API."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from deliveries import FIXED, STEPPED
from deliveries import pull as proposed_pull
from git_repositories import git
from github_world import NIGHT, bare_shop, comment, issue, reopen
from services.gitlab import GitLab
from tables import tables_of
from twins.reading import MemoryClock

from nightwatch_core.adapters.gitlab.client import Place, Project
from nightwatch_core.adapters.gitlab.code_host import GitLabHost
from nightwatch_core.adapters.gitlab.outbox import GitLabOutbox
from nightwatch_core.adapters.gitlab.rows import CommitRow, ItemRow
from nightwatch_core.adapters.gitlab.tracker import GitLabTracker
from nightwatch_core.adapters.hosts.writes import LONGEST_WAIT, Forbidden
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.proposals import Answer, Close, FileChange, PullUpdate
from nightwatch_core.text.markers import marker

TABLES = tables_of(__file__)

BRANCH = "nightwatch/0123456789ab"


@pytest.fixture
def server(tmp_path):
    """A GitLab with a shop, for one test."""
    with GitLab(bare_shop(tmp_path)) as server:
        yield server


def project(server, clock=None, **more):
    pause = (clock or MemoryClock()).pass_by
    return Project(server.project, server.token, pause=pause, **more)


def outbox(server, clock=None, **more):
    clock = clock or MemoryClock()
    return GitLabOutbox(project(server, clock), clock, clock.pass_by, **more)


def tracker(server):
    return GitLabTracker(project(server, read_only=True))


def pull(server, *changes, **more):
    body = f"{marker('v1:aa', 'pull-key-1', NIGHT)}\n\nBecause.\n"
    return proposed_pull(server.git.folder, *changes, **{"body": body, **more})


def test_an_issue_a_draft_and_notes_are_published_once_and_found_again(server):
    for status in ("done", "already there"):
        receipts = [outbox(server).publish(one) for one in (issue(), pull(server), comment(1))]
        assert [(one.status, one.number) for one in receipts] == [(status, 1)] * 3
    draft = server.items["merge_requests", 1]

    assert (draft["title"], draft["draft"]) == ("Draft: Count an empty basket as 0", True)
    assert receipts[1].url == f"{server.project}/-/merge_requests/1"
    assert git(server.git.folder, "show", f"{BRANCH}:app/total.rb") == FIXED.strip()
    assert git(server.git.folder, "rev-list", "--count", f"main..{BRANCH}") == "1"
    assert [
        (item.kind, item.number, item.state, item.branch) for item in tracker(server).own_items()
    ] == [("issue", 1, "open", ""), ("pull", 1, "open", BRANCH)]
    assert [item.name for item in tracker(server).own_items()] == ["#1", "!1"]
    assert [receipt.name for receipt in receipts] == ["#1", "!1", "#1"]
    assert [*server.labels] == ["nightwatch:useful", "nightwatch:wrong"]
    assert [one for one in server.writes() if one != "POST /labels"] == [
        "POST /issues", "POST /repository/commits", "POST /merge_requests", "POST /issues/1/notes",
    ]  # fmt: skip


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize(
    "path", ["/issues$", "/repository/commits$", "/merge_requests$", "/notes$"]
)
def test_what_was_cut_off_is_looked_for_and_not_doubled(server, path, stored):
    server.fail("POST", path, status=502, stored=stored)
    receipts = [outbox(server).publish(one) for one in (issue(), pull(server), comment(1))]

    assert [one.status for one in receipts] == ["done"] * 3
    assert (len(server.items), len(server.said["issues", 1])) == (2, 1)
    assert git(server.git.folder, "rev-list", "--count", f"main..{BRANCH}") == "1"


MADE = {
    "issue": ("POST", "/issues$"),
    "note": ("POST", "/notes$"),
    "branch and commit": ("POST", "/repository/commits$"),
    "merge request": ("POST", "/merge_requests$"),
    "label": ("POST", "/labels$"),
}
ODD = TABLES["odd answers"]


def everything(out, server):
    return [out.publish(one).status for one in (issue(), pull(server), comment(1))]


@pytest.mark.parametrize("body", ODD)
@pytest.mark.parametrize("what", list(MADE))
def test_a_write_answered_in_no_known_form_is_looked_for_and_not_made_again(server, what, body):
    server.fail(*MADE[what], status=201, stored=True, body=body.encode())
    statuses = everything(outbox(server), server)
    again = everything(outbox(server), server)

    assert (statuses, again) == (["done"] * 3, ["already there"] * 3)
    assert (len(server.items), len(server.said["issues", 1])) == (2, 1)
    assert git(server.git.folder, "rev-list", "--count", f"main..{BRANCH}") == "1"
    assert sorted(server.writes()) == [
        "POST /issues", "POST /issues/1/notes", "POST /labels", "POST /labels",
        "POST /merge_requests", "POST /repository/commits",
    ]  # fmt: skip


@pytest.mark.parametrize("body", ODD)
@pytest.mark.parametrize("what", list(MADE))
def test_where_it_cannot_be_seen_either_it_is_unknown_and_made_another_night(server, what, body):
    server.fail(*MADE[what], status=201, stored=False, body=body.encode())
    statuses = everything(outbox(server), server)

    for path in ("/issues", "/merge_requests", "/issues/1/notes", "/repository/commits"):
        assert server.writes().count(f"POST {path}") <= 1
    again = everything(outbox(server), server)
    assert {"unknown"} >= {*statuses} - {"done", "refused"}
    assert {*again} <= {"done", "already there"}
    assert (len(server.items), len(server.said["issues", 1])) == (2, 1)


@pytest.mark.parametrize("body", ODD)
def test_a_change_that_gitlab_made_needs_no_answer(server, body):
    outbox(server).publish(issue())
    server.close("issues", 1)
    server.fail("PUT", "/issues/1$", status=200, stored=True, body=body.encode())
    assert outbox(server).publish(reopen(1)).status == "done"
    assert server.items["issues", 1]["state"] == "opened"
    assert server.writes().count("PUT /issues/1") == 1


LISTED = {
    "issues": "/issues$",
    "merge requests": "/merge_requests$",
    "notes": "/notes$",
    "branch": "/repository/branches/main$",
    "commit": "/repository/commits/[0-9a-f]+$",
    "folder": "/repository/tree$",
}


@pytest.mark.parametrize("body", TABLES["odd lists"])
@pytest.mark.parametrize("what", list(LISTED))
def test_what_is_read_in_no_known_form_is_an_error_of_ours_and_makes_nothing_twice(
    server, what, body
):
    everything(outbox(server), server)
    writes = server.writes()
    for _ in range(3):
        server.fail("GET", LISTED[what], status=200, body=body.encode())
    for proposal in (issue(), pull(server), comment(1)):
        with suppress(TryLater, GiveUp):
            outbox(server).publish(proposal)
    assert [one for one in server.writes() if one not in writes] == []
    assert (len(server.items), len(server.said["issues", 1])) == (2, 1)


def test_a_draft_of_several_commits_is_gone_on_with_where_it_was_cut_off(server):
    draft = pull(server, **STEPPED)
    outbox(server).publish(draft)
    git(server.git.folder, "update-ref", f"refs/heads/{BRANCH}", f"{BRANCH}~1")
    server.items.clear()
    receipt = outbox(server).publish(draft)

    assert receipt.status == "done"
    assert git(server.git.folder, "rev-list", "--count", f"main..{BRANCH}") == "2"
    git(server.git.folder, "update-ref", f"refs/heads/{BRANCH}", "main")
    server.items.clear()
    assert "exists with other content" in outbox(server).publish(draft).reason


def test_one_more_commit_goes_onto_our_branch_unless_somebody_pushed(server):
    made = outbox(server).publish(pull(server))
    update = PullUpdate(
        key="more-1", fingerprint="v1:aa", number=1, branch=BRANCH, head=made.sha,
        body=f"{marker('v1:aa', 'more-1', NIGHT)}\n\nAgain.\n", commit_message="Again\n",
        changes=(FileChange(path="app/total.rb", text="def total\n  1\nend\n"),),
        commit=pull(server).commit,
    )  # fmt: skip
    first, again = (outbox(server).publish(update) for _ in range(2))
    assert (first.status, again.status) == ("done", "already there")
    other = update.model_copy(
        update={"commit_message": "Else", "changes": (FileChange(path="app/n.rb", text="1\n"),)}
    )
    assert "somebody pushed" in outbox(server).publish(other).reason


def test_no_line_of_ours_is_a_quick_action(server):
    hostile = issue().model_copy(update={"body": f"{issue().body}\n/close\r\n/label ~x\n"})
    outbox(server).publish(hostile)
    outbox(server).publish(comment(1).model_copy(update={"body": f"{comment(1).body}/reopen\n"}))
    assert server.commands == []
    assert server.items["issues", 1]["state"] == "opened"


def test_what_people_did_comes_back(server):
    outbox(server).publish(issue())
    outbox(server).publish(pull(server))
    server.say("merge_requests", 1, "Wrong place.", by="ann")
    server.say("merge_requests", 1, "approved", by="ann", system=True)
    server.say("merge_requests", 1, "Buy now", by="stranger")
    server.say("merge_requests", 1, "beep", by="project_7_bot_x")
    server.close("merge_requests", 1)
    by = {"username": "ann"}
    server.close("issues", 1, labels=["nightwatch", "resolution::wontfix"], closed_by=by)
    first, draft = tracker(server).own_items()

    assert (first.state, first.state_reason, first.closed_by) == ("closed", "not_planned", "ann")
    assert (draft.state, draft.words) == ("closed", ("Wrong place.",))
    assert draft.speakers == ("ann",)
    assert "closed as not planned" in outbox(server).publish(reopen(1)).reason
    server.items["issues", 1]["labels"] = ["nightwatch"]
    assert outbox(server).publish(reopen(1)).status == "done"
    assert server.items["issues", 1]["state"] == "opened"


def test_who_closed_a_draft_is_answered_there_once(server):
    outbox(server).publish(pull(server))
    server.close("merge_requests", 1)
    said = comment(1, "answer-key")
    answer = Answer(key=said.key, fingerprint="v1:aa", number=1, body=said.body)
    receipts = [outbox(server).publish(answer) for _ in range(2)]
    assert [receipt.status for receipt in receipts] == ["done", "already there"]
    assert "POST /merge_requests/1/notes" in server.writes()


def test_an_issue_is_closed_once_its_fix_is_verified(server):
    outbox(server).publish(issue())
    note = comment(1)
    done = Close(
        key=note.key, fingerprint="v1:aa", number=1, title="closed", body=note.body, closes=True
    )
    assert outbox(server).publish(done).status == "done"
    assert server.items["issues", 1]["state"] == "closed"
    assert tracker(server).own_items()[0].state_reason == "completed"


def test_a_merged_draft_tells_whether_it_was_edited(server):
    outbox(server).publish(pull(server))
    server.merge(1)
    assert [(one.state, one.edited) for one in tracker(server).own_items()] == [("merged", False)]
    more = project(server)
    more.make(CommitRow, "/repository/commits", branch=BRANCH, commit_message="Mine",
              actions=[{"action": "create", "file_path": "x", "content": "1"}])  # fmt: skip
    assert [one.edited for one in tracker(server).own_items()] == [True]


@pytest.mark.parametrize(("status", "state"), TABLES["test_the_state_of_a_pipeline_is_read"])
def test_the_state_of_a_pipeline_is_read(server, status, state):
    sha = outbox(server).publish(pull(server)).sha
    failed = ("rspec", "lint") if status == "failed" else ()
    if status:
        server.run_pipeline(sha, status, *failed)
    (run,) = tracker(server).ci((1,))

    assert (run.state, run.sha, run.failed) == (state, sha, failed[:1])
    assert run.log == ("FAILED tests/test_total.py" if failed else "")
    (item,) = tracker(server).own_items()
    assert item.checks == (state if state in ("passed", "failed") else "")
    if failed:
        server.run_pipeline(server.git.commit_of("main"), "failed", "rspec")
        assert tracker(server).ci((1,))[0].before


def test_everybodys_merge_requests_on_a_file_are_found(server):
    outbox(server).publish(pull(server))
    then = datetime(2026, 11, 1, tzinfo=UTC)
    (other,) = tracker(server).pulls_changing(("app/total.rb",), then)
    assert (other.number, other.state, other.files[0].added) == (1, "open", 1)
    assert tracker(server).pulls_changing(("old.rb",), then) == ()


def test_lists_are_read_to_their_end(server):
    for number in range(230):
        server.add("issues", "x", issue(f"key-{number}").body, "nightwatch", labels=["nightwatch"])
    assert len(tracker(server).own_items()) == 230


def test_a_patch_goes_onto_the_issue_and_is_known_once_it_is_applied(server):
    outbox(server).publish(issue())
    patch = pull(server, as_patch=True, issue=1, branch="", fix="0a1b")
    assert outbox(server).publish(patch).status == "done"
    assert [one.as_patch for one in tracker(server).own_items()] == [False, True]
    assert "app/total.rb" in server.said["issues", 1][0]["body"]


def test_the_code_is_a_clone(server, tmp_path):
    host = GitLabHost(project(server, read_only=True), tmp_path / "clones")
    head = host.head()
    assert (head.repository, head.address) == ("acme/web/shop", f"{server.project}/-")
    assert host.reader(head).read_file("app/total.rb")
    assert host.commit_of("v1.0") is not None
    assert "acme/web/shop" in host.probe()
    server.scopes.remove("read_repository")
    with pytest.raises(GiveUp, match="refused to be cloned"):
        GitLabHost(project(server), tmp_path / "other").head()


def test_a_limit_is_waited_for_once_and_a_long_one_is_not(server):
    clock = MemoryClock()
    server.fail("GET", "^$", status=429, Retry_After="7")
    began = clock.monotonic()
    assert project(server, clock).ask()["default_branch"] == "main"
    assert clock.monotonic() - began == 7
    server.fail("GET", "^$", status=429, Retry_After=str(int(LONGEST_WAIT) + 1))
    with pytest.raises(TryLater):
        project(server, clock).ask()
    server.fail("GET", "^$", status=429)  # RateLimit-Reset says when
    project(server, clock).ask()
    assert 8 <= clock.monotonic() - began <= 40


def test_what_is_missing_is_named(server):
    assert outbox(server).probe() == "acme/web/shop: issues and merge requests can be written"
    server.level = 20
    with pytest.raises(Forbidden, match="Developer"):
        outbox(server).probe()
    assert outbox(server, pulls=False).probe().endswith("issues can be written")
    server.scopes = ["read_api"]
    with pytest.raises(Forbidden, match="lacks the scope api"):
        outbox(server).probe()
    refused = outbox(server).publish(issue())
    assert (refused.status, refused.barred) == ("refused", True)
    assert "insufficient_scope" in refused.reason
    server.scopes = ["read_user"]
    with pytest.raises(Forbidden, match="read_api"):
        tracker(server).own_items()
    server.token = "another"
    with pytest.raises(StopTheNight, match="GITLAB_TOKEN"):
        Project(server.project, "glpat-old").account()
    with pytest.raises(GiveUp, match="reading only"):
        tracker(server)._project.make(ItemRow, "/issues", title="x")


def test_what_the_documentation_does_not_know_is_refused_by_the_stand_in(server):
    with pytest.raises(GiveUp, match="colour is unknown"):
        list(project(server).rows(ItemRow, "/issues", colour="red"))
    with pytest.raises(GiveUp, match="title is missing"):
        project(server).make(ItemRow, "/issues", description="x")
    with pytest.raises(GiveUp, match="GITLAB_PROJECT"):
        Project(f"{server.root}/acme/other", server.token).ask()


@pytest.mark.parametrize("text", TABLES["test_an_address_that_is_none_is_refused"])
def test_an_address_that_is_none_is_refused(text):
    with pytest.raises(StopTheNight, match="GITLAB_PROJECT"):
        Place.of(text)


def test_addresses_of_all_forms_say_which_server_is_meant():
    wanted = Place("https://git.example:8443", "a/b/shop")
    assert {Place.of(f"https://git.example:8443/a/b/shop{end}") for end in ("", "/", ".git")} == {
        wanted
    }
    assert Place.of("git@git.example:a/shop.git") == Place("https://git.example", "a/shop")
    assert Place.of("gitlab:a/shop") == Place.of("a/shop") == Place("https://gitlab.com", "a/shop")
