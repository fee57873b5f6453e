"""Requests through githubkit's typed methods and pages, under the guards of the connection."""

import re
from functools import partial
from pathlib import Path

import pytest
from github_world import bare_shop, client, comment, issue, outbox, pull, tracker
from services.github import GitHub
from twins.reading import MemoryClock

from nightwatch_core.adapters import github
from nightwatch_core.adapters.github.client import PAGES, Repository
from nightwatch_core.adapters.github.rows import IssueRow, NamedCommitRow, TagRow
from nightwatch_core.adapters.hosts.writes import AnswerLost
from nightwatch_core.errors import GiveUp

AT = ("acme", "shop")
SHA = "0" * 40

WRITES = {
    "issue": lambda rest: rest.issues.create(*AT, title="x"),
    "comment": lambda rest: rest.issues.create_comment(*AT, 1, body="x"),
    "state": lambda rest: rest.issues.update(*AT, 1, state="closed"),
    "labels of an issue": lambda rest: rest.issues.add_labels(*AT, 1, labels=["x"]),
    "label": lambda rest: rest.issues.create_label(*AT, name="x", color="ffffff"),
    "pull request": lambda rest: rest.pulls.create(*AT, title="x", head="y", base="main"),
    "tree": lambda rest: rest.git.create_tree(*AT, tree=[], base_tree=SHA),
    "commit": lambda rest: rest.git.create_commit(*AT, message="x", tree=SHA, parents=[]),
    "branch": lambda rest: rest.git.create_ref(*AT, ref="refs/heads/x", sha=SHA),
    "moved branch": lambda rest: rest.git.update_ref(*AT, "heads/x", sha=SHA),
    "deleted branch": lambda rest: rest.git.delete_ref(*AT, "heads/x"),
}


@pytest.mark.parametrize("how", ["answer", "cut", "truncated"])
@pytest.mark.parametrize("name", list(WRITES))
def test_no_write_is_repeated_by_githubkit_or_by_the_connection(server, name, how):
    for method in ("POST", "PATCH", "DELETE"):
        server.fail(method, "acme/shop", how=how, times=5)
    asking = client(server)
    with pytest.raises(AnswerLost, match="may have been done"):
        WRITES[name](asking.rest)
    assert len(server.requests) == 1


def test_no_path_is_put_together_outside_of_githubkit():
    """But that of a log, whose address is looked at before it is followed."""
    texts = {file.name: file.read_text("utf-8") for file in Path(github.__path__[0]).glob("*.py")}
    path = re.compile(r"""["']/?(?:repos|issues|pulls|git|commits|actions|labels|user|app)/""")
    assert {name: path.findall(text) for name, text in texts.items() if path.search(text)} == {
        "checks.py": ['"/repos/'],
        "connection.py": ['"/repos/'],  # of the rights that a sign-in may lack
    }


@pytest.mark.parametrize("how", ["answer", "cut", "truncated"])
@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_lost_page_is_asked_for_again_and_none_is_left_out(server, lost, how):
    for number in range(230):
        server.add_item(f"issue {number}", "")
    shop = Repository.of(client(server), "acme/shop")
    ask = partial(shop.rest.issues.list_for_repo, *shop.at, state="all", direction="asc")
    rows = shop.rows(IssueRow, ask)
    seen = [next(rows).number for _ in range(100 * (lost - 1))]
    server.fail("GET", "/issues$", how=how)
    seen += [row.number for row in rows]

    assert seen == list(range(1, 231))
    assert [asked.query.get("page", "1") for asked in server.requests] == sorted(
        ["1", "2", "3", str(lost)]
    )
    assert {asked.query["per_page"] for asked in server.requests} == {"100"}


@pytest.mark.parametrize("body", [b"{}", b"null", b'"text"', b"7"])
def test_a_page_that_is_no_list_ends_the_list_with_an_error(server, body):
    shop = Repository.of(client(server), "acme/shop")
    server.fail("GET", "/tags$", status=200, body=body)
    with pytest.raises(GiveUp, match="no list"):
        list(shop.rows(TagRow, partial(shop.rest.repos.list_tags, *shop.at)))


@pytest.mark.parametrize("body", [b"[]", b'[{"name": "v"}]'])
def test_a_list_without_an_end_is_given_up(server, body):
    shop = Repository.of(client(server), "acme/shop")
    link = {"link": f'<{server.url}/repos/acme/shop/tags?page=2>; rel="next"'}
    server.fail("GET", "/tags$", status=200, headers=link, body=body, times=PAGES + 50)
    with pytest.raises(GiveUp, match=f"more than {PAGES} pages"):
        list(shop.rows(TagRow, partial(shop.rest.repos.list_tags, *shop.at)))
    assert len(server.requests) == PAGES + 1


def test_nothing_of_a_list_is_asked_for_before_its_first_row(server):
    shop = Repository.of(client(server), "acme/shop")
    rows = shop.rows(NamedCommitRow, partial(shop.rest.repos.list_commits, *shop.at))
    assert not server.requests
    assert next(rows).sha


def test_a_repository_may_be_called_graphql(tmp_path):
    with GitHub(bare_shop(tmp_path), repository="acme/graphql") as server:
        shop = Repository.of(client(server, read_only=True), "acme/graphql")
        assert shop.describe().full_name == "acme/graphql"


def test_every_request_names_the_version_that_the_server_knows(server):
    server.versions = ("2022-11-28",)
    shop = Repository.of(client(server, api_version="2022-11-28"), "acme/shop")
    for number in range(101):
        server.add_item(f"issue {number}", "")
    ask = partial(shop.rest.issues.list_for_repo, *shop.at)
    assert len(list(shop.rows(IssueRow, ask))) == 101
    versions = [asked.headers["x-github-api-version"] for asked in server.requests]
    assert versions == ["2022-11-28"] * 2


ODD = [b"{}", b"[]", b"null", b'"made"', b'{"number": "one", "html_url": 1}', b""]


@pytest.mark.parametrize("body", ODD)
@pytest.mark.parametrize("stored", [True, False])
def test_a_write_answered_in_no_known_form_is_looked_for_and_not_made_again(server, body, stored):
    out = outbox(server)
    server.fail("POST", "/issues$", status=201, body=body, stored=stored)
    receipt = out.publish(issue())

    assert receipt.status == ("done" if stored else "unknown")
    assert server.writes().count("POST /issues") == 1
    assert len(server.issues()) == int(stored)
    if not stored:
        assert "not as documented" in receipt.reason
        assert outbox(server).publish(issue()).status == "done", "the next night makes it"


@pytest.mark.parametrize(
    "path", ["/issues/1/comments$", "/git/trees$", "/git/commits$", "/git/refs$", "/pulls$"]
)
def test_of_drafts_and_comments_nothing_is_made_twice_either(server, path):
    out = outbox(server)
    out.publish(issue())
    server.fail("POST", path, status=201, body=b'{"odd": 1}', stored=True)
    for proposal in (pull(server), comment(1)):
        out.publish(proposal)
    out = outbox(server)
    for proposal in (pull(server), comment(1)):
        assert out.publish(proposal).status in ("done", "already there")
    assert (len(server.pulls()), len(server.comments)) == (1, 1)


def test_checks_that_may_not_be_read_are_no_trouble_and_other_refusals_are(server):
    from nightwatch_core.adapters.stores.traffic import METER

    sha = outbox(server).publish(pull(server)).sha
    METER.reset()
    tracker(server).ci((1,))
    assert server.requests[-1].status in (200, 403)
    assert METER.calls()["GitHub"].refused == 0
    server.permissions["contents"] = ""
    shop = Repository.of(client(server, MemoryClock()), "acme/shop")
    with pytest.raises(GiveUp, match="contents=read"):
        shop.rest.git.get_commit(*shop.at, sha)
    assert METER.calls()["GitHub"].refused == 1
    METER.reset()


def test_a_list_in_no_known_form_is_not_taken_for_one_without_our_issue(server):
    outbox(server).publish(issue())
    server.fail("GET", "/issues$", status=200, body=b'[{"number": 1}]')
    with pytest.raises(GiveUp, match="not as documented: body"):
        outbox(server).publish(issue())
    assert server.writes().count("POST /issues") == 1
