"""Changes that keep a crash away are told from fixes, in the languages that a grammar reads."""

import pytest
from tables import tables_of

from nightwatch_core.code.symptom_fixes import symptom_fixes
from tests.benchmarks.symptom_fixes.pairs import NONE, development

TABLES = tables_of(__file__)

PAIRS = development()
MISSED = {"java-b02"}  # known, and not seen yet
ALARMS = {"py-t07"}  # known, and taken for symptom fixes
# Of two kinds at once, or seen as another one.
ALSO = frozenset(
    ["rb-b07", "php-b09", "java-b01", "cs-b11", "py-b14", "rb-b12", "js-b14",
     "go-b08", "php-b02", "py-t05", "rb-t03"]
)  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids=[one.name for one in PAIRS])
def test_a_symptom_fix_is_named_and_a_fix_is_left_alone(pair):
    kinds = {one.kind for one in symptom_fixes(pair.path, pair.before, pair.after)}
    if pair.label == NONE or pair.name in MISSED:
        assert bool(kinds) == (pair.name in ALARMS)
    else:
        assert pair.label in kinds or (kinds and pair.name in ALSO)


@pytest.mark.parametrize("after", TABLES["test_a_test_may_loop_wait_and_catch"])
def test_a_test_may_loop_wait_and_catch(after):
    before = "def test_total():\n    assert total([1]) == 1\n"
    assert symptom_fixes("tests/test_cart.py", before, after) == ()


def test_one_exception_class_more_may_be_what_was_missing():
    before = "try:\n    load()\nexcept ValueError:\n    use_default()\n"
    one_more = before.replace("ValueError", "(ValueError, KeyError)")
    everything = before.replace("ValueError", "Exception")
    assert symptom_fixes("shop/cart.py", before, one_more) == ()
    assert [f.kind for f in symptom_fixes("shop/cart.py", before, everything)] == [
        "widened_exception"
    ]


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    TABLES["test_an_assertion_counts_where_nothing_handles_its_value_instead"],
)
def test_an_assertion_counts_where_nothing_handles_its_value_instead(before, after, kinds):
    def inside(code):
        return "def show(user, total):\n" + "".join(f"    {row}\n" for row in code.splitlines())

    found = symptom_fixes("shop/views.py", inside(before), inside(after))
    assert [one.kind for one in found] == kinds


def test_a_decoder_that_refuses_nothing_any_more_hides_what_it_refused():
    strict = 'const text = new TextDecoder("utf-8", { fatal: true }).decode(raw);\n'
    for loose in (strict.replace("true", "false"), strict.replace(", { fatal: true }", "")):
        assert [f.kind for f in symptom_fixes("src/a.js", strict, loose)] == ["swallowed_exception"]
    assert symptom_fixes("src/a.js", strict, strict.replace("utf-8", "latin1")) == ()
