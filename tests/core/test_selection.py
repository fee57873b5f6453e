from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.models.error import ErrorGroup, Window
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules
from nightwatch_core.selection import is_ignored, select

END = datetime(2026, 11, 3, 2, tzinfo=UTC)
DAY = Window(since=END - timedelta(hours=24), until=END)
BOTS = IgnoreRules(rules=(IgnoreRule(pattern="wp-login", line=4, reason="bots"),))


def group(number: int, occurrences: int = 1, message: str = "") -> ErrorGroup:
    return ErrorGroup(
        fingerprint=f"v1:{number:02}",
        source="file",
        error_class="KeyError",
        message=message,
        occurrences=occurrences,
    )


def test_the_best_are_kept_best_first() -> None:
    found = select([group(n, occurrences=n * 10) for n in range(1, 6)], IgnoreRules(), 2, DAY)
    assert [g.occurrences for g in found.kept] == [50, 40]


def test_every_drop_has_its_reason() -> None:
    groups = (group(1, 90), group(2, 99, "GET /wp-login.php"), group(3, 10))
    found = select(groups, BOTS, 1, DAY)
    assert found.kept == (groups[0],)
    assert [(one.group, one.reason) for one in found.dropped] == [
        (groups[1], "ignored: contains 'wp-login' (ignore.yml line 4: bots)"),
        (groups[2], "rank 2 of 2 (score 0.35): 1 is traced a night"),
    ]
    assert [is_ignored(one) for one in found.dropped] == [True, False]


@given(st.permutations([group(n, occurrences=n % 3) for n in range(9)]), st.integers(-1, 12))
def test_nothing_is_lost_and_order_of_input_does_not_matter(
    groups: list[ErrorGroup], limit: int
) -> None:
    found = select(groups, BOTS, limit, DAY)
    assert found == select(sorted(groups, key=lambda g: g.fingerprint), BOTS, limit, DAY)
    assert len(found.kept) == min(9, max(0, limit))
    told = [*found.kept, *(one.group for one in found.dropped)]
    assert sorted(g.fingerprint for g in told) == sorted(g.fingerprint for g in groups)


def test_no_groups() -> None:
    assert select((), BOTS, 5, DAY).kept == ()
