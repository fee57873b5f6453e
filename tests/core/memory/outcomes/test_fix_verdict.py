"""When the figures say that a merged fix does nothing, and when they must not."""

import pytest
from core.follow_world import Production, lesson

from nightwatch_core.memory.outcomes import open_trouble, why_no_news


def merged_after(*before: int) -> Production:
    """Found on so many nights, merged and deployed after the last of them."""
    shop = Production(lesson(*before), len(before))
    shop.merge()
    shop.deploy()
    assert "merged" in shop.nights(before[-1])  # the night of the deploy
    return shop


@pytest.mark.parametrize("nights", [1, 2])
@pytest.mark.parametrize("level", [10, 80, 5_000])
def test_a_fix_that_does_nothing_is_told_within_days(nights: int, level: int) -> None:
    shop = merged_after(*[level] * nights)
    assert shop.nights(level, level) == []  # too soon
    assert "is being measured" in why_no_news(shop.lesson)
    assert shop.nights(level, level) == ["no effect"]
    assert open_trouble(shop.lesson).startswith("its fix in #4 had no effect: ")
    assert not why_no_news(shop.lesson)


def test_it_takes_days_and_enough_of_them() -> None:
    assert merged_after(80).nights(80, 80) == []
    assert merged_after(1).nights(1, 1, 1) == []  # three where three were to be expected


def test_a_fall_is_not_as_before() -> None:
    assert merged_after(80).nights(*[60] * 4) == []
    assert "no effect" not in merged_after(80, 80).nights(*[8] * 20)
    assert "no effect" not in merged_after(80).nights(*[8] * 20)
    assert "no effect" not in merged_after(80).nights(80, 30, 10, 0, 0, 0)
