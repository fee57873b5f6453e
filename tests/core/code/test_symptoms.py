"""Tests of the wordings by which languages tell their failures."""

import pytest

from nightwatch_core.code.symptoms import RULES as SYMPTOMS
from nightwatch_core.code.symptoms import symptom_of
from nightwatch_core.rules.engine import CATEGORIES, RULES

CASES = [
    ("NoMethodError", "undefined method 'total' for nil", "none receiver", {"name": "total"}),
    ("NoMethodError", "undefined method `total' for nil:NilClass", "none receiver", {}),
    ("AttributeError", "'NoneType' object has no attribute 'x'", "none receiver", {"name": "x"}),
    ("TypeError", "'NoneType' object is not iterable", "none receiver", {"use": "iterable"}),
    (
        "TypeError",
        "Cannot read properties of undefined (reading 'items')",
        "none receiver",
        {"name": "items"},
    ),
    ("TypeError", "Cannot read property 'items' of null", "none receiver", {"name": "items"}),
    (
        "TypeError",
        "undefined is not an object (evaluating 'a.b.c')",
        "none receiver",
        {"receiver": "a.b", "name": "c"},
    ),
    (
        "java.lang.NullPointerException",
        'Cannot invoke "shop.Order.total()" because "this.order" is null',
        "none receiver",
        {"receiver": "this.order"},
    ),
    ("runtime error", "invalid memory address or nil pointer dereference", "none receiver", {}),
    ("Error", "Call to a member function name() on null", "none receiver", {"name": "name"}),
    ("System.NullReferenceException", "Object reference not set", "none receiver", {}),
    ("KeyError", "'price'", "missing key", {"key": "price"}),
    ("KeyError", "key not found: :price", "missing key", {"key": "price"}),
    ("ErrorException", 'Undefined array key "price"', "missing key", {"key": "price"}),
    (
        "System.Collections.Generic.KeyNotFoundException",
        "The given key 'price' was not present in the dictionary.",
        "missing key",
        {"key": "price"},
    ),
    ("IndexError", "list index out of range", "out of range", {}),
    (
        "TypeError",
        "make() got an unexpected keyword argument 'colour'",
        "wrong arguments",
        {"name": "make", "keyword": "colour"},
    ),
    ("ArgumentError", "unknown keyword: :colour", "wrong arguments", {"keyword": "colour"}),
    ("ArgumentError", "wrong number of arguments (given 1, expected 2)", "wrong arguments", {}),
    ("NameError", "name 'json' is not defined", "undefined name", {"name": "json"}),
    ("NameError", "uninitialized constant Shop::Price", "undefined name", {"name": "Price"}),
    ("ReferenceError", "total is not defined", "undefined name", {"name": "total"}),
    ("Error", 'Class "App\\Mailer" not found', "undefined name", {"name": "Mailer"}),
    (
        "AttributeError",
        "'Order' object has no attribute 'totl'",
        "unknown member",
        {"owner": "Order", "name": "totl"},
    ),
    (
        "AttributeError",
        "module 'a.b' has no attribute 'x'",
        "unknown member",
        {"module": "a.b", "name": "x"},
    ),
    (
        "NoMethodError",
        "undefined method `x' for #<Shop::Order:0x01>",
        "unknown member",
        {"owner": "Shop::Order"},
    ),
    ("TypeError", "db.load is not a function", "unknown member", {"receiver": "db"}),
    ("ImportError", "cannot import name 'X' from 'a.b' (/a)", "import", {"name": "X"}),
    ("UnboundLocalError", "cannot access local variable 'a' where it", "unbound local", {}),
    ("ActiveRecord::RecordNotFound", "Couldn't find User with 'id'=3", "missing record", {}),
    ("PG::UniqueViolation", 'violates unique constraint "ix"', "constraint", {"relation": "ix"}),
    ("ActiveRecord::Deadlocked", "PG: deadlock detected", "lock", {}),
    ("RuntimeError", "dictionary changed size during iteration", "race", {}),
    ("Net::ReadTimeout", "Net::ReadTimeout", "timeout", {}),
    ("Faraday::ConnectionFailed", "Connection refused - connect(2)", "connection", {}),
    ("sqlalchemy.exc.TimeoutError", "QueuePool limit of size 5 reached", "pool", {}),
    ("json.decoder.JSONDecodeError", "Expecting value: line 1", "parse error", {}),
    ("Pundit::NotAuthorizedError", "not allowed", "permission", {}),
    ("SystemStackError", "stack level too deep", "stack", {}),
    ("java.lang.OutOfMemoryError", "Java heap space", "memory", {}),
    ("OSError", "[Errno 28] No space left on device", "disk", {}),
    ("Errno::ENOENT", "No such file or directory - tmp/x", "missing file", {}),
    ("ZeroDivisionError", "division by zero", "division by zero", {}),
    ("AssertionError", "", "assertion", {}),
    ("FrozenError", "can't modify frozen String", "frozen", {}),
    ("TypeError", "no implicit conversion of String into Integer", "wrong type", {}),
    ("PaymentDeclined", "card refused", "unknown", {}),
    ("", "", "unknown", {}),
]


@pytest.mark.parametrize(("error_class", "message", "kind", "facts"), CASES)
def test_kinds_and_facts(error_class, message, kind, facts):
    symptom = symptom_of(error_class, message)
    assert symptom.kind == kind
    assert {name: getattr(symptom, name) for name in facts} == facts


def test_a_word_in_a_message_does_not_make_a_bug_transient():
    assert symptom_of("ValueError", "timeout must be positive").kind == "unknown"
    assert symptom_of("InvalidState", "connection id 401 is odd").kind == "unknown"


def test_every_kind_has_a_rule_or_a_category_and_is_reached_by_a_case():
    kinds = {rule.kind for rule in SYMPTOMS.symptoms} | {"unknown"}
    assert kinds == set(RULES) | set(CATEGORIES)
    assert kinds == {kind for _, _, kind, _ in CASES}


def test_hostile_messages_take_no_time():
    for part in ("'", '"', "a.", "Cannot invoke ", "Undefined index ", "((", "Too few arguments "):
        symptom_of(part * 50_000, part * 50_000)
