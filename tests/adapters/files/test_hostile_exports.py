"""Exports whose values are of any type: read or refused, never an exception, never lost."""

import copy
import json

import pytest
from adapters.files.export_cases import CASES
from error_records import entries_of, written
from hypothesis import given, settings
from hypothesis import strategies as st

from nightwatch_core.adapters.files.limits import MAX_LINES, MAX_LINKS
from nightwatch_core.models.errors import Occurrence
from nightwatch_core.traces.parsing import parse

DOCUMENTS = {
    name: case["content"]
    for name, case in CASES.items()
    if not isinstance(case["content"], str) or case["content"].startswith("{")
}
EXAMPLES = settings.default.max_examples // 5  # of each case: there are many cases
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["", "1e999", "9" * 400, "\x00\x1b[31m", "a\n  at c (d.js:1:1)", -1, 1e308])
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
# What tells how many records there are; without it a file may well hold none.
LISTS = frozenset(
    ("data", "result", "items", "instances", "results", "events", "groups", "notices", "rows",
     "columns", "tables", "hits", "errorGroupStats", "included", "app", "exceptionIncidents",
     "relationships", "type", "id", "name", "value")
)  # fmt: skip


def read(document, folder):
    return entries_of(written(folder, json.dumps(document)))


def places(value):
    """Every (container, key) of a JSON value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(
        value, list) else ()  # fmt: skip
    return [one for key in keys for one in ((value, key), *places(value[key]))]


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_any_type_anywhere(name, tmp_path_factory, data):
    content = DOCUMENTS[name]
    lines = content.split("\n") if isinstance(content, str) else []
    document = [*map(json.loads, lines)] if lines else copy.deepcopy(content)
    for _ in range(data.draw(st.integers(1, 4))):
        spots = [(at, key) for at, key in places(document) if key not in LISTS]
        container, key = data.draw(st.sampled_from(spots))
        if isinstance(container, list) and not isinstance(container[key], str | int | float):
            continue
        container[key] = data.draw(VALUES)
    entries = read(document, tmp_path_factory.getbasetemp())
    assert entries
    for entry in entries:
        if isinstance(entry, Occurrence):
            assert entry.error_class
            assert entry.count > 0
            parse(entry.stacktrace)


@pytest.mark.slow
def test_deep_and_wide_exports_are_bounded(tmp_path):
    event = {"event_id": "1", "platform": "python", "exception": {"values": [
        {"type": f"E{n}", "value": "x", "stacktrace": {"frames": [
            {"filename": f"a{m}.py", "lineno": m, "in_app": m % 2 == 0}
            for m in range(MAX_LINES + 100)]}}
        for n in range(2 * MAX_LINKS)]}}  # fmt: skip
    (entry,) = read(event, tmp_path)
    assert isinstance(entry, Occurrence)
    assert (entry.error_class, len(entry.stacktrace) < 70_000) == (f"E{2 * MAX_LINKS - 1}", True)
    inner = {"className": "A", "message": "m", "stackTrace": []}
    for _ in range(300):
        inner = {"className": "A", "message": "m", "stackTrace": [], "innerError": inner}
    (entry,) = read({"occurredOn": "x", "details": {"error": inner}}, tmp_path)
    assert isinstance(entry, Occurrence)


def test_what_fuzzing_brought_to_light(tmp_path):
    before_all_times = {"title": "Shop::Empty: no", "count": 3, "first_seen": -6.2e16}
    call = {
        "event_name": "new_item",
        "data": {"item": {"title": "E: no", "total_occurrences": 2, "last_occurrence": [[]]}},
    }
    for document, count in ((before_all_times, 3), (call, 2)):
        (entry,) = read(document, tmp_path)
        assert isinstance(entry, Occurrence)
        assert (entry.count, entry.first_seen) == (count, None)
