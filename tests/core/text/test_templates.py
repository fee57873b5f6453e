"""Templates keep what a failure is and drop what names one occurrence."""

import pytest
from tables import tables_of

from nightwatch_core.text.templates import (
    MESSAGE_LIMIT,
    TEMPLATE_LIMIT,
    TRANSACTION_LIMIT,
    message_template,
    transaction_template,
)

TABLES = tables_of(__file__)


@pytest.mark.parametrize("message", TABLES["meaning_stays"])
def test_meaning_stays(message: str) -> None:
    assert message_template(message) == message


@pytest.mark.parametrize(("message", "template"), TABLES["what_changes_goes"])
def test_what_changes_goes(message: str, template: str) -> None:
    assert message_template(message) == template


@pytest.mark.parametrize("messages", TABLES["messages_that_differ_in_an_id_have_one_template"])
def test_messages_that_differ_in_an_id_have_one_template(messages: tuple[str, ...]) -> None:
    assert len(set(map(message_template, messages))) == 1


@pytest.mark.parametrize("messages", TABLES["different_failures_have_different_templates"])
def test_different_failures_have_different_templates(messages: tuple[str, ...]) -> None:
    assert len(set(map(message_template, messages))) == len(messages)


def test_a_template_is_its_own_template() -> None:
    for message in ("no order 7 in /srv/a/b at 10:20:30", "x a/1/b 'two words' 10.0.0.1", "12"):
        once = message_template(message)
        assert message_template(once) == once


def test_quotes_of_two_versions_of_ruby_are_one() -> None:
    assert message_template("undefined method `total' for nil") == message_template(
        "undefined method 'total' for nil"
    )


def test_only_the_lines_that_say_what_happened_count() -> None:
    assert message_template("\n\nno total\n\n    order.total\n         ^^^^^") == "no total"
    assert message_template("Import failed:\n  row 7 is empty\nmore") == (
        "Import failed: row <n> is empty"
    )
    assert message_template('Traceback (most recent call last):\n  File "a"\nKeyError: 7') == (
        "KeyError: <n>"
    )
    assert message_template("") == message_template("\n \n") == ""


def test_long_messages_are_cut_at_one_place() -> None:
    long, longer = "no room " * 200, "no room " * 5_000
    assert message_template(long) == message_template(longer)
    assert len(message_template(longer)) <= TEMPLATE_LIMIT


@pytest.mark.parametrize("piece", TABLES["hostile_messages_take_no_time"])
def test_hostile_messages_take_no_time(piece: str) -> None:
    message = piece * MESSAGE_LIMIT
    message_template(message)


@pytest.mark.parametrize(("transaction", "template"), TABLES["transactions_lose_their_ids"])
def test_transactions_lose_their_ids(transaction: str, template: str) -> None:
    assert transaction_template(transaction) == template
    assert transaction_template(template) == template


@pytest.mark.parametrize("piece", ["/a", "/1", "%", "/a-1", "?", "/@", "1.", "/x/1.1.1.", ";", "é"])
def test_hostile_transactions_take_no_time(piece: str) -> None:
    transaction_template(piece * TRANSACTION_LIMIT)
