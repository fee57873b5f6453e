from datetime import UTC, datetime, timedelta

import pytest

from nightwatch_core.correlation import ago, suspects
from nightwatch_core.models.code import MergedPull, Release
from nightwatch_core.models.error import Case, ErrorGroup, Frame, Link, Trace
from nightwatch_core.models.research import LikelyFile

NOW = datetime(2026, 11, 3, 2, tzinfo=UTC)
FIRST = NOW - timedelta(hours=5)


def pull(number: int, *files: str, hours: float = 2) -> MergedPull:
    """Merged that many hours before the error was first seen."""
    return MergedPull(
        number=number,
        title="",
        sha=f"{number:040}",
        merged_at=FIRST - timedelta(hours=hours),
        files=files,
    )


def case(*files: str, first: datetime | None = FIRST, last: datetime | None = NOW) -> Case:
    group = ErrorGroup(
        fingerprint="v1:1", source="file", error_class="E", first_seen=first, last_seen=last
    )
    frames = tuple(Frame(path=f"/srv/{f}", repo_path=f, in_app=True) for f in files)
    return Case(leader=group, trace=Trace(links=(Link(frames=frames),)))


def order(found: Case, *pulls: MergedPull) -> list[int]:
    return [suspect.pull.number for suspect in suspects(found, (), pulls)]


def test_the_change_of_the_top_frame_is_suspected_first() -> None:
    found = suspects(
        case("app/a.rb", "app/b.rb"),
        (),
        (pull(1, "lib/x.rb"), pull(2, "app/b.rb"), pull(3, "app/a.rb")),
    )
    assert [suspect.pull.number for suspect in found] == [3, 2]
    assert found[0].because == (
        "changes app/a.rb, the top frame",
        "changes a file beside app/b.rb, frame 2",
        "merged 2 h before first seen",
    )
    assert 0 < found[1].score < found[0].score <= 1


def test_what_touches_nothing_near_is_no_suspect() -> None:
    assert order(case("app/a.rb"), pull(1, "lib/x.rb"), pull(2)) == []
    assert order(case(), pull(1, "lib/x.rb")) == []


def test_merged_after_the_last_occurrence_is_out() -> None:
    assert order(case("a.rb"), pull(1, "a.rb", hours=-6), pull(2, "a.rb", hours=-4)) == [2]


def test_merged_after_the_first_occurrence_counts_half() -> None:
    before, after = suspects(
        case("a.rb"), (), (pull(1, "a.rb", hours=-1), pull(2, "a.rb", hours=1))
    )
    assert (before.pull.number, after.pull.number) == (2, 1)
    assert after.score == pytest.approx(before.score / 2, abs=0.001)
    assert after.because[-1] == "merged after it was first seen"


def test_the_fresher_of_two_equal_changes_comes_first() -> None:
    month = 30 * 24
    assert order(case("a.rb"), pull(1, "a.rb", hours=month), pull(2, "a.rb")) == [2, 1]


def test_large_pulls_are_damped() -> None:
    many = tuple(f"lib/{n}.rb" for n in range(200))
    assert order(case("a.rb"), pull(1, "a.rb", *many), pull(2, "a.rb", hours=20)) == [2, 1]


def test_a_file_that_everybody_changes_says_less() -> None:
    crowd = tuple(pull(n, "routes.rb", hours=3) for n in range(10, 40))
    both = case("routes.rb", "rare.rb")
    found = suspects(both, (), (*crowd, pull(1, "rare.rb", hours=3)), limit=40)
    scores = {suspect.pull.number: suspect.score for suspect in found}
    alone = suspects(both, (), crowd[:1])[0].score
    assert scores[10] < alone


def test_the_test_of_a_file_is_a_hint() -> None:
    (found,) = suspects(case("app/models/order.rb"), (), (pull(1, "test/models/order_test.rb"),))
    assert found.because[0] == "changes the test of app/models/order.rb, the top frame"


def test_likely_files_count_without_a_trace_and_less_beside_one() -> None:
    likely = (LikelyFile(path="app/l.rb", score=0.7),)
    bare = case().model_copy(update={"trace": None})
    (alone,) = suspects(bare, likely, (pull(1, "app/l.rb"),))
    assert alone.because[0] == "changes app/l.rb, a likely file"
    (beside,) = suspects(case("lib/a.rb"), likely, (pull(1, "app/l.rb"),))
    assert beside.score < alone.score


def test_pulls_of_the_first_failing_release_are_fresh() -> None:
    releases = (
        Release(version="2", sha="b", at=FIRST - timedelta(hours=1)),
        Release(version="1", sha="a", at=FIRST - timedelta(days=40)),
    )
    old = pull(1, "a.rb", hours=39 * 24)
    (without,) = suspects(case("a.rb"), (), (old,))
    (within,) = suspects(case("a.rb"), (), (old,), releases)
    assert within.because[-1] == "part of release 2, the first one failing"
    assert within.score > without.score
    older = pull(2, "a.rb", hours=41 * 24)
    (before,) = suspects(case("a.rb"), (), (older,), releases)
    assert before.because[-1] == "merged 41 days before first seen"


def test_times_may_be_unknown() -> None:
    (found,) = suspects(case("a.rb", first=None, last=None), (), (pull(1, "a.rb"),))
    assert found.because == ("changes a.rb, the top frame",)
    (found,) = suspects(case("a.rb", first=None), (), (pull(1, "a.rb"),))
    assert found.because[-1] == "merged 7 h before last seen"


def test_scores_and_number_are_bounded() -> None:
    files = tuple(f"f{n}.rb" for n in range(50))
    found = suspects(case(*files), (), tuple(pull(n, *files) for n in range(20)))
    assert len(found) == 5
    assert all(0 < suspect.score <= 1 for suspect in found)
    assert suspects(case("a.rb"), (), (pull(1, "a.rb"),), limit=0) == ()


def test_ties_do_not_depend_on_the_order_of_pulls() -> None:
    pulls = tuple(pull(n, "a.rb") for n in range(4))
    assert order(case("a.rb"), *pulls) == order(case("a.rb"), *reversed(pulls))


def test_times_for_people() -> None:
    assert [ago(timedelta(hours=h)) for h in (0, 1, 47, 48)] == ["0 min", "1 h", "47 h", "2 days"]
