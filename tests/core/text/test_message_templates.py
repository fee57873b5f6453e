"""Templates keep what a failure is and drop what names one occurrence."""

import pytest

from nightwatch_core.text.message_templates import (
    MESSAGE_LIMIT,
    TEMPLATE_LIMIT,
    VALUE_LEADS,
    VARIABLES,
    message_template,
    transaction_template,
)


@pytest.mark.parametrize(
    "message",
    [
        "undefined method 'total' for nil",
        "'NoneType' object has no attribute 'price'",
        "Cannot read properties of undefined (reading 'price')",
        "column 'orders.total' does not exist",
        "missing keyword argument: 'currency'",
        "uninitialized constant 'Shop::Cart'",
        "Validation failed: Email has already been taken",
        "Missing template orders/show",
    ],
)
def test_meaning_stays(message: str) -> None:
    assert message_template(message) == message


@pytest.mark.parametrize(
    ("message", "template"),
    [
        ("Order 17 not found", "Order <n> not found"),
        ("balance is -1,204.50", "balance is <n>"),
        ("no cart 0f8fad5b-d9cb-469f-a165-70867728950e", "no cart <uuid>"),
        ("object at 0x00007f3a", "object at <hex>"),
        ("com.shop.Cart@1b6d3586 is closed", "com.shop.Cart@<hex> is closed"),
        ("commit 9f8e7d6c is gone", "commit <hex> is gone"),
        ("no account for mia@example.org", "no account for <email>"),
        ("GET https://pay.example.org/v1/charges?id=7 failed", "GET <url> failed"),
        ("connect to 10.1.2.3:5432 failed", "connect to <ip> failed"),
        ("connect to db/10.1.2.3 failed", "connect to <ip> failed"),
        ("connect to fe80::1 failed", "connect to <ip> failed"),
        ("cannot open /srv/shop/tmp/7.csv", "cannot open <path>"),
        (r"cannot open C:\shop\7.csv", "cannot open <path>"),
        ("late since 2026-11-03T10:20:30.5Z", "late since <date>"),
        ("late since Tue, 03 Nov 2026 10:20:30 GMT", "late since <date>"),
        ("late at 10:20:30", "late at <time>"),
        ("gave up after 2.5 seconds", "gave up after <duration>"),
        ("gave up after 1h30m", "gave up after <duration>"),
        ("unknown coupon 'SPRING 26'", "unknown coupon <quoted>"),
        ('For input string: "abc"', "For input string: <quoted>"),
        (
            "invalid literal: int() with base 10: 'abc'",
            "invalid literal: int() with base <n>: <quoted>",
        ),
        ("Duplicate entry 'mia' for key 'email'", "Duplicate entry <quoted> for key 'email'"),
        ("token eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 expired", "token <token> expired"),
        ("session x7Kp2Lq9 expired", "session <id> expired"),
        ("lost blk_-160899968 and blk_42", "lost blk_<n> and blk_<n>"),
        ("no orders (1, 2, 3)", "no orders (<n>)"),
        ("undefined method `x' for #<Order id: 7, y: nil>", "undefined method 'x' for #<Order>"),
    ],
)
def test_what_changes_goes(message: str, template: str) -> None:
    assert message_template(message) == template


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


@pytest.mark.parametrize(
    "piece",
    ["'", "a", "1", "1.", "/a", "-", ":", "a@", "#<A ", '"a', "0x", "a1", "+", "http://", "Mon ",
     "x/1.1.1.", "1,", "a-", "A_", "=", "\\", "\x00", "é", "\U0001f600"],
)  # fmt: skip
def test_hostile_messages_take_no_time(piece: str) -> None:
    message = piece * MESSAGE_LIMIT
    message_template(message)
    transaction_template(message)


@pytest.mark.parametrize(
    ("transaction", "template"),
    [
        ("Controller/orders/update", "Controller/orders/update"),
        ("OrdersController#show", "OrdersController#show"),
        ("Order#paid?", "Order#paid?"),
        ("GET /orders/4711?page=2", "GET /orders/<n>"),
        ("/api/v2/orders/:id/", "/api/v2/orders/:id"),
        ("/s3/oauth2/callback", "/s3/oauth2/callback"),
        ("/users/0f8fad5b-d9cb-469f-a165-70867728950e", "/users/<uuid>"),
        ("/blobs/9f8e7d6c5b", "/blobs/<hex>"),
        ("/users/mia@example.org/cart", "/users/<email>/cart"),
        ("/users/mia%40example.org", "/users/<id>"),
        ("/cart;jsessionid=1A2B", "/cart"),
        ("https://shop.example/orders/7?x=1", "https://shop.example/orders/<n>"),
        ("ImportJob 4711", "ImportJob <n>"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_transactions_lose_their_ids(transaction: str, template: str) -> None:
    assert transaction_template(transaction) == template
    assert transaction_template(template) == template


def test_every_variable_has_a_name_that_reads() -> None:
    assert all(name.isalpha() and pattern for name, pattern in VARIABLES)
    assert len(set(VALUE_LEADS)) == len(VALUE_LEADS)
