"""Lines of logs by stream: order, bounds, what is left out, and hostile records."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from error_records import PYTHON, entries_of, exception_of, json_lines, written

from nightwatch_core.adapters.files.limits import DOUBTS, MAX_STREAMS, ORDER_SAMPLE
from nightwatch_core.adapters.files.occurrences import (
    CUT_SHORT,
    LOUD_LINES,
    WITHOUT_TRACE,
    FileReader,
)
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.models.errors import Occurrence, RejectedRecord

NS = 1_793_700_000 * 10**9  # 2026-11-03 10:00 UTC


def occurrences(path):
    return [one for one in entries_of(path) if isinstance(one, Occurrence)]


def docker(text, second=0, stream="stderr"):
    return {"log": text, "stream": stream, "time": f"2026-11-03T10:00:{second:02d}Z"}


def loki(lines, pod="web-1"):
    return [
        {"line": text, "timestamp": str(NS + n * 10**6), "labels": {"pod": pod}}
        for n, text in enumerate(lines)
    ]


@pytest.mark.parametrize("filler", [0, ORDER_SAMPLE + 10])
@pytest.mark.parametrize("turned", [False, True])
def test_the_newest_may_stand_first(tmp_path, filler, turned):
    ticks = [f"tick {n}" for n in range(filler)]
    records = loki([*ticks, *PYTHON.split("\n"), "next", *ticks, *PYTHON.split("\n")])
    path = written(tmp_path, json_lines(reversed(records) if turned else records))
    assert [one.error_class for one in occurrences(path)] == ["KeyError", "KeyError"]


def test_more_streams_than_are_followed_are_counted(tmp_path):
    pods = [loki(PYTHON.split("\n"), f"web-{n}") for n in range(MAX_STREAMS + 20)]
    path = written(
        tmp_path, json_lines(line for lines in zip(*pods, strict=True) for line in lines)
    )
    reader = FileReader(path.name, exception_of)
    assert list(reader.entries(path))
    assert reader.left_out[CUT_SHORT] > MAX_STREAMS


def test_parts_of_a_line_are_joined_and_bounded(tmp_path):
    lines = [f"{line}\n" for line in PYTHON.split("\n")[:-1]]
    parts = [*lines, "KeyErr", "or: 'to", "tal'\n", "next\n"]
    path = written(tmp_path, json_lines(docker(part) for part in parts))
    assert [(one.error_class, one.message) for one in occurrences(path)] == [
        ("KeyError", "'total'")
    ]
    endless = written(tmp_path, json_lines(docker("x" * 500_000) for _ in range(20)), "endless.log")
    assert not occurrences(endless)
    crumbs = "2026-11-03T10:00:00Z stderr P x\n" * 50_000  # minutes, if each were counted again
    assert not occurrences(written(tmp_path, crumbs, "crumbs.log"))


def test_what_is_no_error_is_counted(tmp_path):
    lines = [docker(f"served {n}\n") for n in range(60)]
    traced = [docker(f"{line}\n") for line in PYTHON.split("\n")]
    entries = entries_of(written(tmp_path, json_lines([*lines, *traced])))
    assert sum(entry is None for entry in entries) == 60
    assert len(entries) == 61


def test_loud_lines_without_a_trace_are_counted_and_no_rejects(tmp_path):
    records = [
        {"insertId": str(n), "textPayload": f"cannot reach {n}", "severity": "ERROR",
         "timestamp": "2026-11-03T10:21:00Z", "logName": "projects/shop/logs/stderr"}
        for n in range(60)
    ]  # fmt: skip
    path = written(tmp_path, json_lines(records))
    reader = FileReader(path.name, exception_of)
    assert list(reader.entries(path)) == [None] * 60
    assert reader.left_out == {LOUD_LINES: 60}
    source = ErrorFiles((path,))
    fetched = source.error_groups(source.window(None, datetime(2026, 11, 4, tzinfo=UTC)))
    assert fetched.left_out == (f"60 {LOUD_LINES}",)


@pytest.mark.parametrize("level", ["", "F, [2026-11-03T10:00:01.1 #7] FATAL -- : [cccc-03] "])
def test_errors_that_rails_names_without_frames_are_counted(tmp_path, level):
    named = ['ActionController::RoutingError (No route matches [GET] "/.env"):', "", "Started GET"]
    traced = ["NoMethodError (no total):", "", "app/models/cart.rb:12:in `sum'", "Started GET"]
    lines = [f"{level}{line}" for line in (*named, *traced, *named)]
    path = written(tmp_path, "\n".join(lines), "production.log")
    reader = FileReader(path.name, exception_of)
    assert [entry.error_class for entry in reader.entries(path) if entry] == ["NoMethodError"]
    assert reader.left_out == {WITHOUT_TRACE: 2}


@pytest.mark.parametrize("many", [3, DOUBTS + 5])
def test_records_that_were_only_logged_are_errors(tmp_path, many):
    records = [{"level": "error", "message": f"cannot pay {n}"} for n in range(many)]
    seen = occurrences(written(tmp_path, json_lines([*records, {"level": "info", "message": "x"}])))
    assert [one.message for one in seen] == [f"cannot pay {n}" for n in range(many)]


def test_a_record_without_level_and_class_is_refused(tmp_path):
    entries = entries_of(written(tmp_path, json_lines([{"message": "no class"}] * (DOUBTS + 5))))
    assert sum(isinstance(entry, RejectedRecord) for entry in entries) == DOUBTS + 5


ODD = Path(__file__).with_name("odd_records.yml")


@pytest.mark.parametrize(
    "record", [*yaml.safe_load(ODD.read_text()), {"MESSAGE": [255] * 200_000, "_PID": "1"}]
)
def test_records_of_odd_types_are_read_or_refused(tmp_path, record):
    traced = [docker(f"{line}\n") for line in PYTHON.split("\n")]
    seen = occurrences(written(tmp_path, json_lines([record, *traced])))
    assert "KeyError" in {one.error_class for one in seen}


def test_hostile_depth_is_refused(tmp_path):
    deep = '{"kubernetes":{},"message":"y","log":' * 5_000
    nested = '{"message":"end"}'
    for _ in range(12):
        nested = json.dumps(docker(nested))
    entries = entries_of(written(tmp_path, f"{nested}\n{deep}\n{json.dumps(docker('x'))}\n"))
    assert not [entry for entry in entries if isinstance(entry, Occurrence)]


def test_users_are_counted_and_never_named(tmp_path):
    payload = {"message": PYTHON, "context": {"user": "mia@example.com"}}
    record = {"jsonPayload": payload, "timestamp": "2026-11-03T10:00:00Z"}
    (one,) = occurrences(written(tmp_path, json_lines([record])))
    assert one.user == "mia@example.com"
    assert "mia" not in one.message + one.transaction + one.stacktrace + one.host
