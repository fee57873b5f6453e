"""One error's life over ten nights: found, fixed, verified, back again, and its fix rejected."""

from pathlib import Path
from typing import Any

import pytest
from connected.life import Life

pytestmark = pytest.mark.slow


@pytest.fixture
def life(tmp_path: Path, server: str) -> Life:
    return Life(tmp_path, prefect=server)


def cart(report: dict[str, Any]) -> dict[str, Any]:
    """Tonight's analysis of the error in the cart."""
    found: dict[str, Any]
    (found,) = (
        one
        for one in report["analyses"]
        if one["case"]["leader"]["error_class"] == "AttributeError"
    )
    return found


def fates(report: dict[str, Any]) -> list[str]:
    """What became of our proposals, as tonight noticed."""
    return [fate["kind"] for one in report["followed"] for fate in one["fates"]]


def made(report: dict[str, Any], kind: str) -> int:
    """The number of the one item of a kind that was published tonight."""
    (number,) = (one["number"] for one in report["receipts"] if one["kind"] == kind)
    assert isinstance(number, int)
    return number


def found_and_known(life: Life) -> int:
    """Nights 1 and 2; returns the draft's number."""
    found = life.night(1, failing=80)
    assert cart(found)["ending"]["kind"] == "answered"
    assert found["learned"]["new"] == 1  # the other cause is not known
    known = life.night(2, failing=90)
    assert cart(known)["ending"]["kind"] == "reused"
    assert known["learned"]["reused"] == 1
    assert not known["receipts"]
    assert not fates(known)
    return made(found, "pull")


def merged_and_verified(life: Life) -> None:
    """Nights 3 to 6; then a person closes the issue."""
    (branch,) = life.branches()
    life.merge(3, branch)
    merged = life.night(3, failing=40)  # it failed until noon, when the fix was deployed
    assert fates(merged) == ["merged"]
    assert "merged" in cart(merged)["waiting"]
    assert not merged["receipts"]
    quiet = [life.night(day, failing=0) for day in (4, 5, 6)]
    assert [kind for report in quiet for kind in fates(report)] == ["verified"]
    assert "1 fix verified" in "".join(report["terminal"] for report in quiet)
    life.close(1, 6)


def back_again(life: Life) -> int:
    """Night 7; returns the second draft's number."""
    life.rename(7, "unit_price", "net_price")  # the same mistake, made again
    life.asked = "unit_price"
    back = life.night(7, failing=85)
    assert "regressed" in fates(back)
    assert cart(back)["ending"]["kind"] == "answered"
    assert "#" in cart(back)["news"]
    assert [one["kind"] for one in back["receipts"]] == ["reopen", "pull"]
    return made(back, "pull")


def turned_down(life: Life, draft: int) -> None:
    """Nights 8 to 10."""
    life.reject(draft, "changes requested: rename it back instead, the API promises price")
    rejected = life.night(8, failing=85)
    assert fates(rejected) == ["closed unmerged"]
    assert cart(rejected)["ending"]["kind"] == "answered"
    assert "rename it back" in cart(rejected)["news"]
    assert not rejected["receipts"]
    assert any("turned down" in skip["reason"] for skip in rejected["skips"])
    for day in (9, 10):
        still = life.night(day, failing=85)
        assert cart(still)["ending"]["kind"] == "reused"
        assert not still["receipts"]
        assert not fates(still)


def test_ten_nights(life: Life) -> None:
    first = found_and_known(life)
    merged_and_verified(life)
    second = back_again(life)
    assert second != first
    turned_down(life, second)
    assert len(life.documents("issue")) == 1
    assert len(life.documents("pull")) == 2
    assert len(life.documents("comment")) == 1  # with the reopening
