from datetime import UTC, datetime, timedelta

import pytest
from twins.reading import MemoryCode, MemoryHost

from nightwatch_core.code.failed_commit import Sighting, deployments, failed_commit, merged_before
from nightwatch_core.models.code import Commit, MergedPull, Release

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def commit(letter: str, day: int) -> Commit:
    at = DAY + timedelta(days=day)
    return Commit(repository="shop", sha=letter * 40, branch="main", at=at, because="head of main")


def tree(letter: str, day: int) -> MemoryCode:
    return MemoryCode(at=commit(letter, day))


def deployed(version: str, sha: str, day: int) -> Release:
    return Release(version=version, sha=sha, at=DAY + timedelta(days=day))


HOST = MemoryHost(tree("d", 9), older={"v1": tree("a", 1), "v2": tree("b", 2), "v3": tree("c", 3)})
RAN = (deployed("blue", "b" * 10, 4), deployed("green", "c" * 40, 5))


@pytest.mark.parametrize(
    ("sighting", "sha", "because"),
    [
        (Sighting(release="v1", seen=DAY + timedelta(days=8)), "a", "release v1"),
        (Sighting(release="b" * 12), "b", "release bbbbbbbbbbbb"),
        (Sighting(release="1.0", commit="b" * 9), "b", "1.0, commit bbbbbbbbbb by its record"),
        (Sighting(release="v1", commit="e" * 9), "a", "release v1"),
        (Sighting(release="blue", deployed=RAN), "b", "release blue, deployed as bbbbbbbbbb"),
        (
            Sighting(seen=DAY + timedelta(days=4.5), deployed=RAN),
            "b",
            "blue, deployed on 2026-11-24 00:00 UTC, ran when it was last seen",
        ),
        (Sighting(seen=DAY + timedelta(days=5), deployed=RAN), "c", "green, deployed on "),
        (Sighting(seen=DAY + timedelta(days=3), deployed=RAN), "c", "when it was last seen"),
        (Sighting(seen=DAY + timedelta(days=2.5)), "b", "when it was last seen"),
        (Sighting(), "d", "head of main: neither a release nor a time of the error is known"),
    ],
)  # fmt: skip
def test_the_first_way_that_knows_the_commit_says_why(
    sighting: Sighting, sha: str, because: str
) -> None:
    known = failed_commit(sighting, HOST)

    assert known.sha == sha * 40
    assert because in known.because


def test_a_release_that_is_not_there_is_said_before_the_next_way_answers() -> None:
    seen = DAY + timedelta(days=4.5)
    missing = "release 7\u2028.1 is no tag or commit here".replace("\u2028", "?")
    ran = failed_commit(Sighting(release="7\u2028.1", seen=seen, deployed=RAN), HOST)
    then = failed_commit(Sighting(release="7\u2028.1", seen=DAY + timedelta(days=1.5)), HOST)
    head = failed_commit(Sighting(release="7\u2028.1"), HOST)

    assert [one.sha[0] for one in (ran, then, head)] == ["b", "a", "d"]
    assert all(one.because.endswith(missing) for one in (ran, then, head))
    assert all(one.because != missing for one in (ran, then, head))


def test_a_deployment_of_another_repository_is_said_and_passed_over() -> None:
    strange = (deployed("elsewhere", "e" * 40, 3),)
    known = failed_commit(Sighting(seen=DAY + timedelta(days=3.5), deployed=strange), HOST)

    assert known.sha == "c" * 40
    assert "elsewhere, which was deployed then, is no tag or commit here" in known.because


def test_tags_ran_where_errors_name_them_as_their_releases() -> None:
    tags = (deployed("v1.2", "a" * 40, 1),)

    assert deployments(tags, RAN, frozenset({"1.2"})) == RAN
    assert deployments(tags, (), frozenset({"shop@1.2", "x"})) == tags
    assert deployments(tags, (), frozenset({"1.3"})) == ()
    assert deployments(tags, (), frozenset()) == ()


def test_what_was_merged_later_cannot_have_broken_it() -> None:
    def pull(number: int, day: float, sha: str = "") -> MergedPull:
        at = DAY + timedelta(days=day)
        return MergedPull(number=number, title="", sha=sha or str(number) * 40, merged_at=at)

    failing = commit("a", 2)
    pulls = (pull(1, 1), pull(2, 2), pull(3, 2.1, "a" * 40), pull(4, 2.1))

    assert [one.number for one in merged_before(pulls, failing)] == [1, 2, 3]
    undated = failing.model_copy(update={"at": None})
    assert merged_before(pulls, undated) == pulls
