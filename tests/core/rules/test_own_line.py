"""Tests of causes that the failing line and its surroundings show."""

import pytest
from marked_code import answered

CHANGED = "dictionary changed size during iteration"
ZERO = "division by zero"


def python(code, error, message):
    return answered(error, message, {"shop/a.py": code}, ("shop/a.py", "f", "show"))


def test_a_loop_that_changes_what_it_goes_through():
    code = "def show(d):\n    for k in d: «f»\n        if k:\n            d.pop(k)\n"
    answer = python(code, "RuntimeError", CHANGED)
    assert answer.root_cause == (
        "The loop in shop/a.py:2 goes through `d`, and its own line 4 changes that."
    )
    views = code.replace("in d", "in d.items()").replace("d.pop(k)", "del d[k]")
    assert "goes through `d`" in python(views, "RuntimeError", CHANGED).root_cause


@pytest.mark.parametrize(
    "code",
    [
        "def show(d):\n    for k in d: «f»\n        print(k)\n",
        "def show(d):\n    for k in d: «f»\n        e.pop(k)\n",
        "def show(d):\n    for k in d: «f»\n        d.pop(k)\n        break\n",
        "def show(d):\n    for k in list(d): «f»\n        d.pop(k)\n",
    ],
)
def test_a_loop_that_does_not_change_it_is_not_accused(code):
    answer = python(code, "RuntimeError", CHANGED)
    assert answer.handover is not None
    assert "changes" not in answer.root_cause


def test_a_java_list():
    code = (
        "class A {\n  void f(List<String> names) {\n    for (String one : names) { «f»\n"
        "      if (one == null) {\n        names.add(one);\n      }\n    }\n  }\n}\n"
    )
    error = "java.util.ConcurrentModificationException"
    answer = answered(error, "", {"A.java": code}, ("A.java", "f", "f"), language="java")
    assert answer.root_cause == (
        "The loop in A.java:3 goes through `names`, and its own line 5 changes that."
    )


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("return sum(d) / len(d)", "`d` is empty: shop/a.py:2 divides by its size (`len(d)`)."),
        ("return d / e", "Not known: why `e` is 0 in shop/a.py:2."),
        ("return d / e + e / d", "Not known: why shop/a.py:2 raises ZeroDivisionError."),
    ],
)
def test_what_is_divided_by(line, cause):
    code = f"def show(d, e):\n    {line} «f»\n"
    assert python(code, "ZeroDivisionError", ZERO).root_cause == cause


def test_a_size_that_was_taken_before():
    code = "def show(d):\n    n = len(d.rows)\n    return 1 / n «f»\n"
    assert "`d.rows` is empty: shop/a.py:3 divides by its size (`len(d.rows)` in shop/a.py:2)" in (
        python(code, "ZeroDivisionError", ZERO).root_cause
    )


def test_a_constant_that_is_assigned():
    files = {"a.js": "const total = 1;\nfunction f(a) {\n  total = a; «f»\n}\n"}
    message = "Assignment to constant variable."
    answer = answered("TypeError", message, files, ("a.js", "f", "f"), language="javascript")
    assert answer.root_cause == "a.js:3 assigns `total`, a constant since a.js:1."
    twice = {"a.js": files["a.js"] + "function g() {\n  const total = 2;\n}\n"}
    answer = answered("TypeError", message, twice, ("a.js", "f", "f"), language="javascript")
    assert answer.handover is not None
