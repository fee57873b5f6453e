"""Rules over a message come before rules over a class, and hold what never varies."""

import pytest
from core.lesson_shapes import group
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.intake.ignore_rules import matches
from nightwatch_core.patterns.ignore_suggestions import SHORTEST, candidates

TABLES = tables_of(__file__)


def tried(*messages: str, error_class: str = "Rates::Reset") -> list[tuple[str, str, str]]:
    seen = [group(message=message, error_class=error_class) for message in messages]
    return told(candidates(seen))


def told(rules):
    return [(rule.field, rule.match, rule.pattern) for rule in rules]


def at(*transactions: str, **fields):
    """Sightings whose messages are too short for a rule."""
    alike = {"message": "short", "error_class": "Rates::Reset", **fields}
    return [group(transaction=transaction, **alike) for transaction in transactions]


CLASS = ("error_class", "exact", "Rates::Reset")


@pytest.mark.parametrize(("messages", "first"), TABLES["the_narrowest_comes_first"])
def test_the_narrowest_comes_first(messages, first):
    assert tried(*messages)[0] == tuple(first)


@pytest.mark.parametrize(
    "name",
    [
        *("RuntimeError", "java.lang.RuntimeException", "StandardError", "Error", " "),
        *("HTTPException", "werkzeug.exceptions.HTTPException", "HTTPError", "httpexception"),
    ],
)
def test_a_class_that_anything_is_raised_as_is_no_rule(name):
    assert candidates(at("", error_class=name)) == ()


@pytest.mark.parametrize(
    ("transactions", "rules"),
    [*TABLES["transactions_are_the_last_resort"], (("jobs/" + "x" * 10_000,), [CLASS])],
)
def test_transactions_are_the_last_resort(transactions, rules):
    assert told(candidates(at(*transactions))) == list(map(tuple, rules))


def test_a_class_seen_with_other_messages_elsewhere_is_no_rule():
    own = at("/")
    assert told(candidates(own, at("/", "jobs/other"))) == [CLASS]  # one message
    assert told(candidates(own, at("/", message="else"))) == [CLASS]  # one transaction
    assert candidates(own, at("jobs/other", message="else")) == ()
    assert candidates(at(""), at("", message="else")) == ()  # where is not known


def test_nothing_seen_is_no_rule():
    assert candidates(()) == ()


PATHS = st.text(max_size=20) | st.from_regex(r"(GET )?(/?[a-z]{1,9}[/#.]){1,3}[a-z]{0,5}")


@given(st.lists(st.tuples(st.text(max_size=200), PATHS), min_size=1, max_size=4))
def test_every_candidate_covers_every_sighting(sightings):
    seen = [group(message=message, transaction=place) for message, place in sightings]
    for rule in candidates(seen):
        assert len(rule.pattern) >= (SHORTEST if rule.field == "message" else 3)
        assert all(matches(rule, each) for each in seen)
