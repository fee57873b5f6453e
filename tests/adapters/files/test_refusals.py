"""Refused records: the names of their fields, and nothing about people."""

import pytest
from adapters.files.export_cases import CASES, read_case
from error_records import FULL, NOW, fetched, groups_of, json_lines, written

from nightwatch_core.adapters.files.occurrences import refusal, unreadable

PEOPLE = ("mia@example.com", "m@e.com", "203.0.113.9", "dev@example.com", "u-17", "u17")


def test_a_refusal_names_fields(tmp_path):
    names = ("id", "culprit", "metadata", "count", "permalink", "isUnhandled")
    issue = CASES["one issue"]["content"]
    assert isinstance(issue, dict)
    part = {name: issue[name] for name in names}
    (reject,) = fetched(written(tmp_path, json_lines([FULL, part]))).rejects
    assert reject.reason.startswith("no error class and no stack trace; its fields: id, culprit")
    assert (reject.place, reject.text, reject.count) == ("errors.txt:2", "", 1)


def test_equal_refusals_are_one_with_a_count(tmp_path):
    records = [FULL, *({"colour": n, "size": "x"} for n in range(50)), {"colour": 1}]
    first, second = fetched(written(tmp_path, json_lines(records))).rejects
    assert (first.place, first.count) == ("errors.txt:2", 50)
    assert (second.place, second.count) == ("errors.txt:52", 1)


def test_names_that_may_be_values_are_not_shown():
    record = {"mia@example.com": 1, "0664 1234567": 2, "x" * 300: 3, "a\x1b[31m": 4, "note": 5}
    reason = refusal("a:1", "no", record).reason
    assert reason == "no; its fields: …, note"
    many = refusal("a:1", "no", {f"f{n}x": n for n in range(500)}).reason
    assert many.endswith("and 488 more")
    assert len(many) < 200


def test_addresses_and_secrets_leave_what_is_kept():
    text = '{"user": "mia@example.com", "ip": "203.0.113.9", "password": "hunter2", '
    kept = unreadable("a:1", "no JSON", text).text
    assert not any(word in kept for word in ("mia", "203", "hunter2"))


@pytest.mark.parametrize("name", CASES)
def test_people_are_counted_and_never_named(name, tmp_path):
    files = read_case(tmp_path, CASES[name]["content"])
    answer = groups_of(files, None, NOW)
    traces = [trace for group in answer.groups for trace in files.traces(group)]
    kept = answer.model_dump_json() + "".join(trace.model_dump_json() for trace in traces)
    assert not [one for one in PEOPLE if one in kept]
