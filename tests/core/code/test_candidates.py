""""""

from datetime import UTC, datetime, timedelta

import pytest

from nightwatch_core.code.candidates import candidates, names_in_message
from nightwatch_core.code.limits import NAMED_SEARCHES
from nightwatch_core.models.code import MergedPull, Release
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
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
    return Case(leader=group, trace=Trace(links=(ExceptionLink(frames=frames),)))


def order(found: Case, *pulls: MergedPull) -> list[int]:
    return [suspect.pull.number for suspect in candidates(found, (), pulls)]


def test_the_change_of_the_top_frame_is_suspected_first() -> None:
    found = candidates(
        case("app/a.rb", "app/b.rb"),
        (),
        (pull(1, "lib/x.rb"), pull(2, "app/b.rb"), pull(3, "app/a.rb")),
    )
    assert [suspect.pull.number for suspect in found] == [3, 2]
    assert found[0].because == ("changes app/a.rb, the top frame", "merged 2 h before first seen")
    assert 0 < found[1].score < found[0].score <= 1


def test_what_touches_nothing_near_is_no_suspect() -> None:
    assert order(case("app/a.rb"), pull(1, "lib/x.rb"), pull(2)) == []
    assert order(case(), pull(1, "lib/x.rb")) == []


@pytest.mark.parametrize(("first", "last"), [(FIRST, NOW), (None, FIRST)])
def test_merged_after_the_error_was_seen_is_out(first: datetime, last: datetime) -> None:
    found = case("a.rb", first=first, last=last)
    assert order(found, pull(1, "a.rb", hours=-1), pull(2, "a.rb", hours=1)) == [2]


def test_the_first_occurrence_of_any_group_counts() -> None:
    earlier = ErrorGroup(
        fingerprint="v1:2", source="file", error_class="E", first_seen=FIRST - timedelta(hours=9)
    )
    both = case("a.rb").model_copy(update={"others": (earlier,)})
    assert order(both, pull(1, "a.rb", hours=8), pull(2, "a.rb", hours=10)) == [2]


def test_a_weak_score_is_no_suspect() -> None:
    weak = (LikelyFile(path="app/l.rb", score=0.3),)
    assert candidates(case("lib/a.rb"), weak, (pull(1, "app/l.rb"),)) == ()
    strong = (LikelyFile(path="app/l.rb", score=0.9),)
    assert len(candidates(case("lib/a.rb"), strong, (pull(1, "app/l.rb"),))) == 1


def test_the_fresher_of_two_equal_changes_comes_first() -> None:
    month = 30 * 24
    assert order(case("a.rb"), pull(1, "a.rb", hours=month), pull(2, "a.rb")) == [2, 1]


def test_large_pulls_are_damped() -> None:
    many = tuple(f"lib/{n}.rb" for n in range(200))
    assert order(case("a.rb"), pull(1, "a.rb", *many), pull(2, "a.rb", hours=20)) == [2, 1]


def test_a_file_that_everybody_changes_says_less() -> None:
    crowd = tuple(pull(n, "routes.rb", hours=3) for n in range(10, 40))
    both = case("routes.rb", "rare.rb")
    found = candidates(both, (), (*crowd, pull(1, "rare.rb", hours=3)), limit=40)
    scores = {suspect.pull.number: suspect.score for suspect in found}
    alone = candidates(both, (), crowd[:1])[0].score
    assert scores[10] < alone


def test_likely_files_count_without_a_trace_and_less_beside_one() -> None:
    likely = (LikelyFile(path="app/l.rb", score=0.7),)
    bare = case().model_copy(update={"trace": None})
    (alone,) = candidates(bare, likely, (pull(1, "app/l.rb"),))
    assert alone.because[0] == "changes app/l.rb, a likely file"
    (beside,) = candidates(case("lib/a.rb"), likely, (pull(1, "app/l.rb"),))
    assert beside.score < alone.score


def test_pulls_of_the_first_failing_release_are_fresh() -> None:
    releases = (
        Release(version="2", sha="b", at=FIRST - timedelta(hours=1)),
        Release(version="1", sha="a", at=FIRST - timedelta(days=40)),
    )
    old = pull(1, "a.rb", hours=39 * 24)
    (without,) = candidates(case("a.rb"), (), (old,))
    failing = case("a.rb")
    leader = failing.leader.model_copy(update={"releases": ("2",)})
    failing = failing.model_copy(update={"leader": leader})
    (within,) = candidates(failing, (), (old,), releases)
    assert within.because[-1] == "part of release 2, the first one failing"
    assert within.score > without.score
    older = pull(2, "a.rb", hours=41 * 24)
    (before,) = candidates(case("a.rb"), (), (older,), releases)
    assert before.because[-1] == "merged 41 days before first seen"


def test_times_may_be_unknown() -> None:
    (found,) = candidates(case("a.rb", first=None, last=None), (), (pull(1, "a.rb"),))
    assert found.because == ("changes a.rb, the top frame",)
    (found,) = candidates(case("a.rb", first=None), (), (pull(1, "a.rb"),))
    assert found.because[-1] == "merged 7 h before last seen"


def test_ties_do_not_depend_on_the_order_of_pulls() -> None:
    pulls = tuple(pull(n, "a.rb") for n in range(4))
    assert order(case("a.rb"), *pulls) == order(case("a.rb"), *reversed(pulls))


# What messages name, at its definition.


def case_saying(message: str, error_class: str = "E") -> Case:
    group = ErrorGroup(fingerprint="v1:1", source="file", error_class=error_class, message=message)
    return Case(leader=group)


@pytest.mark.parametrize(
    ("error_class", "message", "expected"),
    [
        ("IntegrityError", "NOT NULL constraint failed: shop_cart.total_net", ("total_net",)),
        ("KeyError", "'unit_price'", ("unit_price",)),
        ("AttributeError", "'Console' object has no attribute 'port'", ("port", "Console")),
        ("TypeError", "f() got an unexpected keyword argument 'dry_run'", ("dry_run",)),
        (
            "PG::UniqueViolation",
            'duplicate key value violates unique constraint "index_users_on_email"',
            ("index_users_on_email",),
        ),
        ("NoMethodError", "undefined method 'city' for nil", ()),
        ("TypeError", "Cannot read properties of undefined (reading 'captureId')", ()),
        ("ValueError", "it broke", ()),
    ],
)
def test_names_of_messages(error_class: str, message: str, expected: tuple[str, ...]) -> None:
    assert names_in_message(case_saying(message, error_class)) == expected


def test_no_more_names_than_can_be_looked_for() -> None:
    message = " ".join(f"some_name_{n}" for n in range(50))
    assert len(names_in_message(case_saying(message))) == NAMED_SEARCHES


NULL = case_saying("NOT NULL constraint failed: shop_cart.total_net", "IntegrityError")


# Templates that errors lead to.
