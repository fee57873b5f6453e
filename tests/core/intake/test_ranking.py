from datetime import UTC, datetime, timedelta

import pytest

from nightwatch_core.intake.ranking import WEIGHTS, rank, recency
from nightwatch_core.models.error import ErrorGroup, Window

END = datetime(2026, 11, 3, 2, tzinfo=UTC)
DAY = Window(since=END - timedelta(hours=24), until=END)


def group(**values: object) -> ErrorGroup:
    known = {"fingerprint": "v1:1", "source": "file", "error_class": "NoMethodError"}
    return ErrorGroup.model_validate(known | values)


def test_the_score_is_the_weighted_sum_of_its_terms() -> None:
    found = rank(
        group(occurrences=50, transaction="Controller/a/b", last_seen=END - timedelta(hours=6)), DAY
    )
    values = {term.name: term.value for term in found.terms}
    assert values == {"occurrences": 0.5, "severity": 0.7, "recency": 0.75, "user-facing": 1.0}
    assert found.score == pytest.approx(0.4 * 0.5 + 0.3 * 0.7 + 0.2 * 0.75 + 0.1 * 1.0)


def test_weights_that_stay() -> None:
    assert list(WEIGHTS.values()) == [0.4, 0.3, 0.2, 0.1]


def test_recency_falls_from_one_to_zero_over_the_window() -> None:
    hours = [recency(END - timedelta(hours=h), DAY) for h in (0, 12, 24, 48)]
    assert hours == [1.0, 0.5, 0.0, 0.0]
    assert recency(END + timedelta(hours=5), DAY) == 1.0


def test_recency_is_a_half_where_unknown() -> None:
    assert recency(None, DAY) == 0.5
    assert recency(END.replace(tzinfo=None), DAY) == 0.5


def test_a_window_without_length_does_not_divide_by_zero() -> None:
    assert recency(END, Window(since=END, until=END)) == 1.0


def test_more_than_a_hundred_occurrences_count_as_a_hundred() -> None:
    assert rank(group(occurrences=100), DAY) == rank(group(occurrences=10**9), DAY)
