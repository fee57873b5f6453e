"""Nights that publish to GitLab over HTTP, in processes of their own, and what people do then."""

from pathlib import Path

import pytest
from connected import shop
from connected.world import World
from services.gitlab import GitLab

pytestmark = pytest.mark.slow


def test_nights_publish_on_gitlab_find_their_own_and_hear_people(
    tmp_path: Path, server: str
) -> None:
    with World(tmp_path, prefect=server) as world, GitLab(world.github.git.folder) as gitlab:
        there = {"GITLAB_TOKEN": gitlab.token, "GITLAB_PROJECT": gitlab.project, "GITHUB_TOKEN": ""}
        first = world.night(**there)
        assert first.code == 0, first.output
        options = first.report["options"]
        assert (options["code"], options["delivery"]) == ("gitlab", "gitlab")
        assert first.report["commit"]["repository"] == gitlab.path
        drafts = [item for (kind, _), item in gitlab.items.items() if kind == "merge_requests"]
        assert len(gitlab.items) == len(shop.THREE) + len(drafts)
        assert drafts
        assert all(item["title"].startswith("Draft: ") for item in drafts)
        assert all("/-/blob/" in item["description"] for item in gitlab.items.values())
        assert gitlab.commands == []
        assert {ci["state"] for ci in first.report["ci"]} == {"none"}
        assert not world.github.writes()
        number, sha = drafts[0]["iid"], drafts[0]["sha"]
        gitlab.run_pipeline(sha, "failed", "rspec")
        gitlab.say("merge_requests", number, "The price must never be zero.", by="ann")
        gitlab.close("merge_requests", number)
        held, said = len(gitlab.items), len(gitlab.said["merge_requests", number])

        again = world.night(**there)
        assert again.code == 0, again.output
        assert len(gitlab.items) == held
        (answer,) = gitlab.said["merge_requests", number][said:]
        assert answer["author"]["username"] != "ann", "who closed it is told what became of it"
        (closed,) = [
            o for o in again.report["outcomes"] if o["kind"] == "pull" and o["state"] == "closed"
        ]
        assert closed["words"] == ["The price must never be zero."]
        assert closed["checks"] == "failed"
