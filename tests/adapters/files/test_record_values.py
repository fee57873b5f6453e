"""Texts and times of records."""

from pathlib import Path

import pytest
from error_records import AT, EPOCH_MS, NOW, fetched, groups_of, json_lines, only, written

from nightwatch_core.adapters.files.limits import MESSAGE_LIMIT, STACK_LIMIT
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.adapters.files.times import time_of


def test_hostile_text_is_tamed(tmp_path: Path) -> None:
    record = {
        "class": "Key\x00Error\n",
        "message": "a\x00b\x1b[31mc\x07\ttab\nline \ud800" + "z" * 100_000,
        "stacktrace": "E\n" + "\x00x\n" * 200_000,
        "transaction": "t" * 5_000,
        "count": float("nan"),
        "users": float("inf"),
        "timestamp": float("-inf"),
        "host": {"a": {"b": "c"}},
        "user": ["x"],
    }
    nested: dict[str, object] = {"class": "KeyError"}
    for _ in range(200):
        nested = {"class": "KeyError", "inner": nested}
    groups = fetched(written(tmp_path, json_lines([record, nested]))).groups
    group, _ = sorted(groups, key=lambda group: -len(group.message))
    assert group.message.startswith("abc\ttab\nline ?zzz")
    assert len(group.message) < MESSAGE_LIMIT + 100
    assert (group.error_class, group.occurrences, group.users) == ("KeyError", 1, None)
    assert len(group.transaction) <= 500


def test_messages_keep_head_and_tail(tmp_path: Path) -> None:
    record = {"class": "KeyError", "message": "begin" + "x" * 100_000 + "end"}
    message = only(written(tmp_path, json_lines([record]))).message
    assert message.startswith("begin")
    assert message.endswith("end")
    assert "characters left out" in message


def test_stack_traces_keep_head_and_tail(tmp_path: Path) -> None:
    deep = "\n".join(f"app/models/order.rb:{n}:in `total'" for n in range(1, 9_000))
    files = ErrorFiles((written(tmp_path, json_lines([{"class": "Deep", "backtrace": deep}])),))
    (trace,) = files.traces(groups_of(files, None, NOW).groups[0])
    assert len(trace.raw) < STACK_LIMIT + 100
    assert "order.rb:1:" in trace.raw
    assert trace.raw.endswith("order.rb:8999:in `total'")
    assert trace.root.error_class == "Deep"


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-03T10:00:00Z", "2026-11-03T12:00:00+02:00", "2026-11-03 10:00:00",
        "2026-11-03 10:00:00 UTC", "2026-11-03 11:00:00 +0100", "2026/11/03 10:00:00",
        "03/Nov/2026:10:00:00 +0000", "03-Nov-2026 10:00:00 UTC", "Tue Nov  3 10:00:00 2026",
        "Tue, 03 Nov 2026 10:00:00 GMT", "1793700000", "1793700000.0", 1_793_700_000, EPOCH_MS,
        str(EPOCH_MS), EPOCH_MS * 1_000, EPOCH_MS * 1_000_000, str(EPOCH_MS * 1_000_000),
    ],
)  # fmt: skip
def test_times(text: object) -> None:
    assert time_of(text) == AT


@pytest.mark.parametrize("value", ["", "soon", "12", True, None, [], -5, 10**400, "9" * 60, "2026-99-99", float("nan"), "1970-01-01", "2999-01-01"])  # fmt: skip  # noqa: E501
def test_no_times(value: object) -> None:
    assert time_of(value) is None
