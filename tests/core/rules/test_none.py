"""Tests of values that are None: which one is proved by elimination, why by following it."""

import pytest
from small_repo import answered, case, explained, frame

TOTAL = "'NoneType' object has no attribute 'total'"
FIND = "def find(n):\n    return None\n"


def python(code, message=TOTAL, **others):
    files = {"shop/a.py": code, **{f"shop/{name}.py": text for name, text in others.items()}}
    marks = [mark for mark in ("f", "c") if f"«{mark}»" in code]
    functions = {"f": "show", "c": "main"}
    error = "AttributeError" if "attribute" in message else "TypeError"
    frames = (("shop/a.py", mark, functions[mark]) for mark in marks)
    return answered(error, message, files, *frames)


@pytest.mark.parametrize(
    "code",
    [
        FIND + "def show(n):\n    o = find(n)\n    if o is None:\n        o = find(2)\n"
        "    return o.total «f»\n",  # something asks
        FIND + "def show(n):\n    o = find(n)\n    if not o:\n        raise Gone(n)\n"
        "    return o.total «f»\n",
        FIND + "def show(n, find):\n    o = find(n)\n    return o.total «f»\n",  # another one
        "@wrapped\n" + FIND + "def show(n):\n    o = find(n)\n    return o.total «f»\n",
        "class A:\n    def find(self, n):\n        return None\nclass B:\n    def find(self, n):\n"
        "        return 1\ndef show(x, n):\n    o = x.find(n)\n    return o.total «f»\n",
        "class A:\n    def find(self, n):\n        return None\ndef show(x, n):\n"
        "    o = x.find(n)\n    return o.total «f»\n",  # the receiver's type is not known
        "def show(xs):\n    o = 1\n    for x in xs:\n        print(o.total) «f»\n        o = x\n",
        "from lib.q import find\ndef show(n):\n    o = find(n)\n    return o.total «f»\n",
        "class F:\n    def find(self, n):\n        return None\ndef show(n):\n    o = find(n)\n"
        "    return o.total «f»\n",  # a method is not a function of its own
    ],
)
def test_nothing_is_claimed_where_another_value_may_be_meant(code):
    answer = python(code, b=FIND)
    assert "returns None" not in answer.root_cause
    assert not [e for e in answer.evidence if "gives None" in e.note]
    assert (answer.hypotheses, answer.learnings) == ((), ())
    if "if " in code or "for x" in code:
        assert answer.root_cause.startswith("Cause unknown: why `o` is None in shop/a.py:")


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (
            "def show(o=None):\n    return o.total «f»\ndef main():\n    show() «c»\n",
            "shop/a.py:4 omits `o`, so it is None.",
        ),
        (
            "def show(d):\n    o = d.get('o')\n    return o.total «f»\n",
            "It is what `d.get('o')` returned in shop/a.py:2, and no line in between checks it.",
        ),
    ],
)
def test_the_way_of_none_is_told_where_it_is_the_only_one(code, cause):
    answer = python(code)
    assert answer.handover is None
    assert cause in answer.root_cause


@pytest.mark.parametrize(
    ("message", "line", "value"),
    [
        (
            "'NoneType' object is not subscriptable",
            "d['a'] + e['b']",
            "what is used there: `d`, `e`",
        ),
        ("'NoneType' object is not subscriptable", "d['a'] + e.b", "`d` is None"),
        ("'NoneType' object is not callable", "d(e)", "`d` is None"),
    ],
)
def test_how_it_is_used_tells_which_value_is_none(message, line, value):
    answer = python(f"def show(d, e):\n    return {line} «f»\n", message)
    assert answer.handover.value == value


def test_what_a_dependency_met_is_not_taken_for_what_our_line_uses():
    frames = (frame("lib/x.py", 9, "go", in_app=False), frame("shop/a.py", 2, "show"))
    files = {"shop/a.py": "def show(a):\n    return lib.go(a.total)\n"}
    answer, _ = explained(case("AttributeError", TOTAL, *frames), files)
    assert (
        answer.root_cause == "Cause unknown: what is None in x.py (go), which shop/a.py:2 led to."
    )


def test_a_global_that_another_function_sets_is_not_known():
    code = "o = None\ndef use():\n    global o\n    o = make()\n"
    code += "def show(n):\n    return o.total «f»\n"
    assert python(code).handover is not None
    alone = "o = None\ndef show(n):\n    return o.total «f»\n"
    assert "nothing in shop/a.py sets it after that" in python(alone).root_cause


def test_what_is_unpacked_is_a_part_of_what_was_given():
    code = "def show(n):\n    o, p = load(n)\n    return o.total «f»\n"
    assert "It is part of what `load(n)` returned in shop/a.py:2" in python(code).root_cause
