"""A server of one's own: an older API, below /api/v3, GraphQL and git beside it."""

import pytest
from github_world import as_app, bare_shop, client, issue, outbox_of, pull
from services.github import GitHub
from twins.reading import MemoryClock

from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.code_host import ApiHost, GitHubClone
from nightwatch_core.adapters.github.sign_in import checked_address
from nightwatch_core.errors import StopTheNight

OLDER = "2022-11-28"


@pytest.fixture
def server(tmp_path):
    with GitHub(bare_shop(tmp_path), prefix="/api/v3") as server:
        server.versions = (OLDER,)
        yield server


def test_everything_works_below_a_prefix_and_names_the_version(server, tmp_path):
    assert server.url.endswith("/api/v3")
    asking = client(server, api_version=OLDER)
    out = outbox_of(asking)
    assert [out.publish(one).status for one in (issue(), pull(server))] == ["done", "done"]
    code = GitHubClone(asking, server.repository, tmp_path / "clones")
    assert code.reader(code.head()).read_file("old.rb") == "1\n"
    api = ApiHost(asking, server.repository)
    found = api.reader(api.head()).search("def total")
    assert [hit.path for hit in found] == ["app/total.rb"]

    paths = {one.path for one in server.requests}
    assert {"/repos/acme/shop/issues", "/graphql", "/acme/shop.git/git-upload-pack"} <= paths
    named = {
        one.headers.get("x-github-api-version")
        for one in server.requests
        if ".git/" not in one.path
    }
    assert named == {OLDER}


def test_an_address_without_its_prefix_is_told(server):
    root = server.url.removesuffix("/api/v3")
    asking = GitHubClient(as_app(), root, repository="acme/shop", pause=MemoryClock().pass_by)
    with pytest.raises(StopTheNight, match="not installed on acme/shop"):
        Repository.of(asking, "acme/shop").describe()
    with pytest.raises(StopTheNight, match="web site's"):
        checked_address("https://github.com")
