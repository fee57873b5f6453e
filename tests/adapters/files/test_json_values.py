"""JSON documents as values, one behind the other."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.adapters.files.json_values import parts_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9**12) | st.text("a\n\"\\{[]},: é", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text('ab"{', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)  # fmt: skip


TWO = ({"a": 1}, {"a": 2})


def parts(text):
    return list(parts_of(io.StringIO(text).read, 210_000))


@given(st.lists(VALUES, max_size=5), st.sampled_from((None, 1)))
def test_items_of_an_array_come_one_by_one(items, indent):
    assert [part.value for part in parts(json.dumps(items, indent=indent))] == items


@given(st.lists(st.dictionaries(st.text("ab", max_size=2), VALUES, max_size=3), max_size=4))
def test_values_one_behind_the_other(documents):
    text = "\n".join(json.dumps(document, indent=1) for document in documents)
    assert [part.value for part in parts(text)] == documents


@pytest.mark.parametrize(
    ("text", "values", "problem"),
    [
        ('[{"a": 1}, {"b": ', [{"a": 1}], "it has no end"),
        ('[{"a": 1}', [{"a": 1}], "it has no end"),
        ('[{"a": 1} x]', [{"a": 1}], "no JSON"),
        ('{"a": 1}\n{"b" 2}\n{"c": 3}', [{"a": 1}, {"c": 3}], "no JSON"),
        ('{"a": "' + "x" * 300_000, [], "longer than"),
        ('{"errors": [' + "1, " * 50, [], "it has no end"),
        ('{"errors":\n[{"a": 1},\n{"a": 2},\n{"a": "x', [{"errors": [*TWO]}], "it has no end"),
        ('{"errors": [{"a": 1}, {"a": 2} x]}', [{"errors": [*TWO]}], "no JSON (Expecting ',"),
        (
            '{"results": [{"events": [{"a": 1}, {"a": 2}]}, {"events": [{"a": 1}, {"a": 2}, {"a":',
            [{"results": [{"events": [*TWO]}, {"events": [*TWO]}]}],
            "it has no end",
        ),
        ('{"class": "X", "stack": [{"a": 1}, {"a": 2}, {"a": tru', [], "it has no end"),
        ("{[1]: 2}", [], "no JSON"),
        ('{"a" 1' + " " * 80 + "}", [], "no JSON"),
        ("[" * 200_000, [], "nested too deeply"),
    ],
)
def test_what_is_broken_ends_a_document(text, values, problem):
    got = parts(text)
    assert [part.value for part in got if not part.problem] == values
    problems = [part.problem for part in got if part.problem]
    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_lines_are_counted_through_all_parts():
    assert [part.number for part in parts("\n[\n1,\n\n2,\n" + "3,\n" * 20 + "4]")][-1] == 26
