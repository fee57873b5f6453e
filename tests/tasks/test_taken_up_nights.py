"""A night that is taken up again, whose errors are not quite those that it had before."""

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
    told = {group.transaction for one in report.analyses for group in one.case.groups}
    assert told == set(SEES_ALL)
