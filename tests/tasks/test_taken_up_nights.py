"""A night that is taken up again, whose errors are not quite those that it had before."""

from datetime import timedelta, timezone
from pathlib import Path

import pytest
from many_nights import Killed, Shop

SEES_ALL = {"api/cart": 5, "cart/show": 3}  # two errors of one case


def test_an_error_that_joins_a_case_meanwhile_is_told(tmp_path: Path) -> None:
    with Shop(tmp_path, on_github=False) as shop:
        shop.failing = {"api/cart": 5}
        shop.fuse.left = 1  # before the first issue
        with pytest.raises(Killed):
            shop.night()
        shop.failing = SEES_ALL
        report = shop.night()
    assert report.night.resumed
    told = {group.transaction for analysis in report.analyses for group in analysis.case.groups}
    assert told == set(SEES_ALL)


def test_what_was_made_before_another_choice_is_told(tmp_path: Path) -> None:
    with Shop(tmp_path, on_github=False) as shop:
        shop.failing = SEES_ALL
        shop.fuse.left = 5  # when issue and draft are there
        with pytest.raises(Killed):
            shop.night()
        report = shop.night(publish="none")
        made = {item.number for item in shop.items()}
    assert len(made) == 2
    assert not report.receipts
    assert all(any(f"#{number} " in skip.reason for skip in report.skips) for number in made)


@pytest.mark.parametrize("hours", [1, -11])
def test_a_night_is_the_same_in_another_zone(hours: int, tmp_path: Path) -> None:
    with Shop(tmp_path, on_github=False) as shop:
        shop.failing, clock = SEES_ALL, shop.clock
        clock.time = clock.time.astimezone(timezone(timedelta(hours=2)))  # of summer
        shop.fuse.left = 3
        with pytest.raises(Killed):
            shop.night()
        clock.time = clock.time.astimezone(timezone(timedelta(hours=hours)))
        assert shop.night().night.resumed
