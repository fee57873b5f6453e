from datetime import UTC, datetime, timedelta

import pytest
from git_repositories import git
from github_world import client
from services.github import GitHub
from twins.reading import MemoryRecords

from nightwatch_core.adapters.github.code_host import ApiHost
from nightwatch_core.errors import StopTheNight

AT = datetime(2026, 11, 20, tzinfo=UTC)


def host(server: GitHub, branch: str = "") -> ApiHost:
    return ApiHost(client(server), server.repository, MemoryRecords(), branch)


def test_releases_are_found_by_tag_and_by_commit(server: GitHub) -> None:
    first, head = (git(server.git.folder, "rev-parse", name) for name in ("main~1", "main"))
    code = host(server)
    releases = ("", "1.0", "shop@1.0", first[:10], "gone", "../../x", "a?b#c", "f" * 40)
    commits = [code.head(release) for release in releases]

    assert [one.sha for one in commits] == [head, first, first, first, head, head, head, head]
    assert {one.branch for one in commits} == {"main"}
    assert commits[1].because == "release v1.0 (tag)"
    assert "gone is no tag" in commits[4].because
    assert code.reader(commits[1]).read_file("old.rb") == "1\n"
    assert [(one.version, one.sha) for one in code.releases()] == [("v1.0", first)]
    assert not [one for one in server.requests if one.path.endswith("/repos/x")]


def test_a_branch_that_is_not_there_stops_the_night(server: GitHub) -> None:
    with pytest.raises(StopTheNight, match="NIGHTWATCH_BASE_BRANCH"):
        host(server, "gone").head()


def test_merged_pulls_are_read_until_they_are_too_old(server: GitHub) -> None:
    def stamp(hours: int) -> str:
        return (AT + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")

    for number in range(120):
        server.add_item(
            f"Pull {number}", "", head=f"b{number}", head_sha="a" * 40, base="main", base_sha="",
            state="closed", merged_at=stamp(number), updated_at=stamp(number), files=["app/x.rb"],
        )  # fmt: skip
    server.items[1]["updated_at"] = stamp(500)  # merged long ago, commented on today
    pulls = host(server).pulls_merged_since(AT + timedelta(hours=60))

    assert [pull.number for pull in pulls] == list(range(120, 60, -1))
    assert (pulls[0].title, pulls[0].author, pulls[0].files) == ("Pull 119", "ann", ("app/x.rb",))
    assert len([one for one in server.requests if one.path == "/graphql"]) == 3
