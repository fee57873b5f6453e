"""The stand-in's answers against the schemas that githubkit was generated from."""

import pytest
from git_repositories import git
from github_world import bare_shop, comment, issue, outbox, pull
from githubkit import GitHub as GitHubKit
from githubkit.auth import AppAuthStrategy
from services.github import GitHub
from services.github_app import pem

AT = ("acme", "shop")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with GitHub(bare_shop(tmp_path_factory.mktemp("github"))) as server:
        out = outbox(server)
        for proposal in (issue(), comment(1), pull(server)):
            assert out.publish(proposal).status == "done"
        server.add_review(2, "Good", state="APPROVED")
        yield server


SIGNED = {
    "installation of a repository": lambda rest: rest.apps.get_repo_installation(*AT),
    "installation": lambda rest: rest.apps.get_installation(678),
    "token": lambda rest: rest.apps.create_installation_access_token(678, repositories=["shop"]),
}


@pytest.mark.parametrize("name", list(SIGNED))
def test_answers_to_apps_have_the_documented_shape(server, name):
    app = AppAuthStrategy("12345", pem())
    kit = GitHubKit(app, base_url=server.url, http_cache=False, auto_retry=False)
    assert SIGNED[name](kit.rest).parsed_data


READS = {
    "repository": lambda rest, _: rest.repos.get(*AT),
    "issues": lambda rest, _: rest.issues.list_for_repo(*AT, state="all"),
    "issue": lambda rest, _: rest.issues.get(*AT, 1),
    "comments": lambda rest, _: rest.issues.list_comments(*AT, 1),
    "labels": lambda rest, _: rest.issues.list_labels_for_repo(*AT),
    "pulls": lambda rest, _: rest.pulls.list(*AT, state="all"),
    "reviews": lambda rest, _: rest.pulls.list_reviews(*AT, 2),
    "ref": lambda rest, _: rest.git.get_ref(*AT, "heads/main"),
    "tree": lambda rest, sha: rest.git.get_tree(*AT, sha, recursive="1"),
    "commit": lambda rest, sha: rest.git.get_commit(*AT, sha),
    "listed commit": lambda rest, sha: rest.repos.get_commit(*AT, sha),
    "commits": lambda rest, sha: rest.repos.list_commits(*AT, sha=sha, path="old.rb"),
    "compared": lambda rest, sha: rest.repos.compare_commits(*AT, f"{sha}...main"),
    "tags": lambda rest, _: rest.repos.list_tags(*AT),
}


@pytest.mark.parametrize("name", list(READS))
def test_answers_have_the_documented_shape(server, name):
    sha = git(server.git.folder, "rev-parse", "main")
    kit = GitHubKit(server.token, base_url=server.url, http_cache=False, auto_retry=False)
    response = READS[name](kit.rest, sha)
    assert response.parsed_data
    assert response.status_code == 200


def test_answers_to_writes_have_the_documented_shape(server):
    sha = git(server.git.folder, "rev-parse", "main")
    tree = git(server.git.folder, "rev-parse", "main^{tree}")
    kit = GitHubKit(server.token, base_url=server.url, http_cache=False, auto_retry=False)
    entry = {"path": "a", "mode": "100644", "type": "blob", "content": "x"}
    made = kit.rest.git.create_tree(*AT, tree=[entry], base_tree=tree)
    commit = kit.rest.git.create_commit(*AT, message="x", tree=made.parsed_data.sha, parents=[sha])
    ref = kit.rest.git.create_ref(*AT, ref="refs/heads/nightwatch/x", sha=commit.parsed_data.sha)
    draft = kit.rest.pulls.create(*AT, title="x", head="nightwatch/x", base="main", draft=True)
    assert ref.parsed_data.ref == "refs/heads/nightwatch/x"
    assert draft.parsed_data.draft is True
    assert kit.rest.issues.create(*AT, title="x").parsed_data.number == 4
    assert kit.rest.issues.create_comment(*AT, 4, body="x").parsed_data.body == "x"
