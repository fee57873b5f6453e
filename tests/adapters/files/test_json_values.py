"""JSON of any size: whole values, or parts shaped like the whole."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from error_records import FULL, fetched, written
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.adapters.files.json_values import Part, parts_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9**12) | st.text("a\n\"\\{[]},: é", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text('ab"{', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)  # fmt: skip


def parts(text: str, most: int = 40, chunk: int = 7) -> list[Part]:
    return list(parts_of(io.StringIO(text).read, most, chunk))


@given(st.lists(VALUES, max_size=5), st.sampled_from((None, 1)), st.integers(1, 30))
def test_items_of_an_array_come_one_by_one(
    items: list[object], indent: int | None, chunk: int
) -> None:
    text = json.dumps(items, indent=indent)
    assert [part.value for part in parts(text, 10_000, chunk)] == items


@given(
    st.lists(st.dictionaries(st.text("ab", max_size=2), VALUES, max_size=3), max_size=4),
    st.integers(1, 30),
)
def test_values_one_behind_the_other(documents: list[object], chunk: int) -> None:
    text = "\n".join(json.dumps(one, indent=1) for one in documents)
    assert [part.value for part in parts(text, 10_000, chunk)] == documents


def records_in(values: Sequence[object]) -> list[object]:
    return [record for value in values for record in value["data"]["results"]]  # type: ignore[index,call-overload]


def test_a_long_document_comes_in_parts_of_its_shape() -> None:
    records: list[object] = [{"n": n, "text": "x" * 20} for n in range(100)]
    document = {"page": 1, "data": {"meta": {"a": [1]}, "results": records, "end": 1}, "last": 2}
    got = parts(json.dumps(document))
    assert not [part.problem for part in got if part.problem]
    values = [part.value for part in got if "results" in str(part.value)]
    assert records_in(values) == records
    assert all(value["page"] == 1 and value["data"]["meta"] == {"a": [1]} for value in values)  # type: ignore[index,call-overload]


def test_items_that_are_long_themselves_are_parted() -> None:
    records = [{"n": n, "inner": {"texts": ["x" * 9] * 9}} for n in range(3)]
    values = [part.value for part in parts(json.dumps({"records": records}), 60)]
    texts = [v["records"][0]["inner"]["texts"] for v in values if "texts" in str(v)]  # type: ignore[index,call-overload]
    assert sum(map(len, texts)) == 27


def test_very_many_fields_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nightwatch_core.adapters.files.json_values.LINE_LIMIT", 500)
    document = {f"name{n}": [n] * 5 for n in range(200)}
    got = parts(json.dumps(document))
    assert len(got) > 3
    merged = {name: value for part in got for name, value in part.value.items()}  # type: ignore[attr-defined]
    assert merged == document


@pytest.mark.parametrize(
    ("text", "values", "problem"),
    [
        ('[{"a": 1}, {"b": ', [{"a": 1}], "no JSON"),
        ('[{"a": 1}', [{"a": 1}], "it has no end"),
        ('[{"a": 1} x]', [{"a": 1}], "no JSON"),
        ('{"a": 1}\n{"b" 2}\n{"c": 3}', [{"a": 1}, {"c": 3}], "no JSON"),
        ('{"a": "' + "x" * 500, [], "longer than"),
        ('{"a": [' + "[" * 300, [], "nested too deeply"),
        ('{"errors": [' + "1, " * 50, [], "it has no end"),
        ('{"a" 1' + " " * 80 + "}", [], "no JSON"),
        ("[" * 200_000, [], "nested too deeply"),
    ],
)
def test_what_is_broken_ends_a_document(text: str, values: list[object], problem: str) -> None:
    got = parts(text)
    assert [part.value for part in got if not part.problem][: len(values)] == values
    problems = [part.problem for part in got if part.problem]
    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_lines_are_counted_through_all_parts() -> None:
    assert [part.number for part in parts("\n[\n1,\n\n2,\n" + "3,\n" * 20 + "4]")][-1] == 26


def test_a_wrapped_export_of_any_size_is_read(tmp_path: Path) -> None:
    record = {**FULL, "error.message": "y" * 900_000}
    document = json.dumps({"meta": {"page": 1}, "errors": [record] * 25, "next": None})
    assert sum(group.occurrences for group in fetched(written(tmp_path, document)).groups) == 25
