import pytest
from github_world import as_app, client, outbox_of

from nightwatch_core.adapters.github.client import GitHubClient
from nightwatch_core.adapters.hosts.writes import Forbidden
from nightwatch_core.errors import GiveUp, StopTheNight


def probe(server, *, pulls=True):
    said = outbox_of(client(server), pulls=pulls).probe()
    assert {one.method for one in server.requests} == {"GET"}
    return said


def app_probe(server):
    return outbox_of(GitHubClient(as_app(), server.url, repository=server.repository)).probe()


def test_a_fine_grained_tokens_permissions_are_not_guessed(server):
    said = probe(server)
    assert said.startswith("acme/shop: can be read, and the token's owner may push")
    assert "Issues, Contents and Pull requests cannot be told without writing" in said
    assert "for Issues cannot be told" in probe(server, pulls=False)


@pytest.mark.parametrize("name", ["issues", "contents", "pull_requests"])
def test_what_cannot_even_be_read_is_missing_for_sure(server, name):
    server.permissions = {k: v for k, v in server.permissions.items() if k != name}
    if name != "contents":  # either of the two lets one list issues
        server.permissions.pop("issues", None)
        server.permissions.pop("pull_requests", None)
    with pytest.raises(Forbidden, match=f"lacks the permission .*{name}=read"):
        probe(server)


def test_an_apps_permissions_are_known(server):
    assert app_probe(server) == (
        "acme/shop: issues, branches and pull requests can be written (as a GitHub App)"
    )
    server.app.permissions |= {"issues": "read", "pull_requests": "read"}
    with pytest.raises(Forbidden, match="permission issues=write and pull_requests=write: grant"):
        app_probe(server)
    server.app.is_suspended = True
    with pytest.raises(StopTheNight, match="suspended"):
        app_probe(server)


def test_a_classic_tokens_scopes_are_known(server):
    server.scopes = "gist, repo"
    assert probe(server) == (
        "acme/shop: issues, branches and pull requests can be written (scope repo)"
    )
    server.scopes = "gist, public_repo"
    with pytest.raises(Forbidden, match=r"lacks the scope repo \(it has gist, public_repo\)"):
        probe(server)
    server.is_public = True
    assert "can be written (scope public_repo). Warning" in probe(server)
    server.scopes = ""
    with pytest.raises(Forbidden, match=r"repo or public_repo \(it has none\)"):
        probe(server)


@pytest.mark.parametrize("scopes", [None, "repo"])
@pytest.mark.parametrize("role", ["pull", "triage"])
def test_an_owner_who_may_not_push_is_told(server, scopes, role):
    server.scopes, server.role = scopes, role
    with pytest.raises(Forbidden, match="give that account the role Write"):
        probe(server)


def test_the_token_of_a_workflow_is_told_apart(server):
    server.token, server.role = "ghs_workflow", "pull"
    assert "token of an App or of GitHub Actions" in probe(server)


def test_a_public_repository_is_warned_of(server):
    assert "Warning" not in probe(server)
    server.is_public = True
    assert "is public, everybody will read production errors" in probe(server)


def test_a_repository_that_takes_nothing_is_told(server):
    server.has_pulls = False
    assert "can be read" in probe(server, pulls=False)
    with pytest.raises(GiveUp, match="pull requests are switched off.*PUBLISH to issues"):
        probe(server)
    server.has_issues = False
    with pytest.raises(GiveUp, match="issues are switched off in acme/shop: switch them on"):
        probe(server)
    server.is_archived = True
    with pytest.raises(GiveUp, match="acme/shop is archived"):
        probe(server)


def test_a_repository_that_is_not_there_is_told(server):
    with pytest.raises(GiveUp, match="check GITHUB_REPO"):
        outbox_of(client(server), repository="acme/gone").probe()
