"""Rules over a message come before rules over a class, and hold what never varies."""

import pytest
from core.lesson_shapes import group
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.ignoring import matches
from nightwatch_core.suggesting.narrowing import SHORTEST, candidates


def tried(*messages: str, error_class: str = "Rates::Reset") -> list[tuple[str, str, str]]:
    seen = [group(message=message, error_class=error_class) for message in messages]
    return [(rule.field, rule.match, rule.pattern) for rule in candidates(seen)]


CLASS = ("error_class", "exact", "Rates::Reset")


@pytest.mark.parametrize(
    ("messages", "first"),
    [
        (("the printer ran out of paper",), ("message", "exact", "the printer ran out of paper")),
        (
            ("the printer ran out of paper 7",),
            ("message", "prefix", "the printer ran out of paper"),
        ),
        (
            ("the printer ran out of paper", "the printer ran out of patience"),
            ("message", "prefix", "the printer ran out of"),
        ),
        (("short",), CLASS),
        (("reset by 10.0.0.1",), CLASS),
        (("one message of its own", "another message of its own"), CLASS),
        (("",), CLASS),
        (("hidden \u202e text that is long enough",), CLASS),
    ],
)
def test_the_narrowest_comes_first(messages, first):
    assert tried(*messages)[0] == first


@pytest.mark.parametrize(
    "name", ["RuntimeError", "java.lang.RuntimeException", "StandardError", "Error", " "]
)
def test_a_class_that_anything_is_raised_as_is_no_rule(name):
    assert tried("short", error_class=name) == []


def test_nothing_seen_is_no_rule():
    assert candidates(()) == ()


@given(st.lists(st.text(max_size=200), min_size=1, max_size=4))
def test_every_candidate_covers_every_sighting(messages):
    seen = [group(message=message) for message in messages]
    for rule in candidates(seen):
        assert len(rule.pattern) >= SHORTEST
        assert all(matches(rule, each) for each in seen)
