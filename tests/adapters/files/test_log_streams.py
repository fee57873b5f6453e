"""Lines of logs by stream: order, bounds, what is left out, and hostile records."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from error_records import PYTHON, entries_of, exception_of, json_lines, written

from nightwatch_core.adapters.files.limits import DOUBTS, MAX_STREAMS, ORDER_SAMPLE
from nightwatch_core.adapters.files.occurrences import CUT_SHORT, LOUD_LINES
from nightwatch_core.adapters.files.source import ErrorFiles, FileReader
from nightwatch_core.models.errors import Occurrence, RejectedRecord

NS = 1_793_700_000 * 10**9  # 2026-11-03 10:00 UTC


def occurrences(path: Path) -> list[Occurrence]:
    return [one for one in entries_of(path) if isinstance(one, Occurrence)]


def docker(text: str, second: int = 0, stream: str = "stderr") -> dict[str, object]:
    return {"log": text, "stream": stream, "time": f"2026-11-03T10:00:{second:02d}Z"}


def loki(lines: Iterable[str], pod: str = "web-1") -> list[dict[str, object]]:
    return [
        {"line": text, "timestamp": str(NS + n * 10**6), "labels": {"pod": pod}}
        for n, text in enumerate(lines)
    ]


@pytest.mark.parametrize("filler", [0, ORDER_SAMPLE + 10])
@pytest.mark.parametrize("turned", [False, True])
def test_the_newest_may_stand_first(tmp_path: Path, filler: int, turned: bool) -> None:
    ticks = [f"tick {n}" for n in range(filler)]
    records = loki([*ticks, *PYTHON.split("\n"), "next", *ticks, *PYTHON.split("\n")])
    path = written(tmp_path, json_lines(reversed(records) if turned else records))
    assert [one.error_class for one in occurrences(path)] == ["KeyError", "KeyError"]


def test_a_nanosecond_tells_the_newest(tmp_path: Path) -> None:
    lines = [[str(NS + n), line] for n, line in enumerate(PYTHON.split("\n"))]
    stream = {"stream": {"app": "shop"}, "values": lines[::-1]}
    document = {"status": "success", "data": {"resultType": "streams", "result": [stream]}}
    (one,) = occurrences(written(tmp_path, json.dumps(document)))
    assert (one.error_class, one.app) == ("KeyError", "shop")


def test_streams_that_run_side_by_side_stay_apart(tmp_path: Path) -> None:
    pods = [loki(PYTHON.split("\n"), f"web-{n}") for n in range(30)]
    path = written(
        tmp_path, json_lines(line for lines in zip(*pods, strict=True) for line in lines)
    )
    hosts = [one.host for one in occurrences(path)]
    assert sorted(hosts) == sorted(f"web-{n}" for n in range(30))


def test_more_streams_than_are_followed_are_counted(tmp_path: Path) -> None:
    pods = [loki(PYTHON.split("\n"), f"web-{n}") for n in range(MAX_STREAMS + 20)]
    path = written(
        tmp_path, json_lines(line for lines in zip(*pods, strict=True) for line in lines)
    )
    reader = FileReader(path.name, exception_of)
    assert list(reader.entries(path))
    assert reader.left_out[CUT_SHORT] > MAX_STREAMS


def test_parts_of_a_line_are_joined_and_bounded(tmp_path: Path) -> None:
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


def test_lines_without_ends_stand_alone(tmp_path: Path) -> None:
    path = written(tmp_path, json_lines(docker(line) for line in [*PYTHON.split("\n"), "next"]))
    assert [one.error_class for one in occurrences(path)] == ["KeyError"]


def test_what_is_no_error_is_counted(tmp_path: Path) -> None:
    lines = [docker(f"served {n}\n") for n in range(60)]
    traced = [docker(f"{line}\n") for line in PYTHON.split("\n")]
    entries = entries_of(written(tmp_path, json_lines([*lines, *traced])))
    assert sum(entry is None for entry in entries) == 60
    assert len(entries) == 61


def test_loud_lines_without_a_trace_are_counted_and_no_rejects(tmp_path: Path) -> None:
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


def test_unknown_records_of_lines_make_one_trace(tmp_path: Path) -> None:
    records = [
        {"level": "error", "msg": line, "pod": "web-1", "ts": 1_793_700_000 + n}
        for n, line in enumerate(["boom", *PYTHON.split("\n"), "next"])
    ]
    path = written(tmp_path, json_lines(records))
    (one,) = occurrences(path)
    assert (one.error_class, one.host) == ("KeyError", "web-1")
    assert one.last_seen is not None
    assert one.last_seen.second == 1
    assert not [entry for entry in entries_of(path) if isinstance(entry, RejectedRecord)]


@pytest.mark.parametrize("many", [3, DOUBTS + 5])
def test_records_that_were_only_logged_are_errors(tmp_path: Path, many: int) -> None:
    records = [{"level": "error", "message": f"cannot pay {n}"} for n in range(many)]
    seen = occurrences(written(tmp_path, json_lines([*records, {"level": "info", "message": "x"}])))
    assert [one.message for one in seen] == [f"cannot pay {n}" for n in range(many)]


def test_a_record_without_level_and_class_is_refused(tmp_path: Path) -> None:
    entries = entries_of(written(tmp_path, json_lines([{"message": "no class"}] * (DOUBTS + 5))))
    assert sum(isinstance(entry, RejectedRecord) for entry in entries) == DOUBTS + 5


def test_a_table_in_a_log_names_no_stream(tmp_path: Path) -> None:
    log = f"name  | count\n2026-11-03 10:00:00 ERROR no\n{PYTHON}\n2026-11-03 10:00:01 on\n"
    (one,) = occurrences(written(tmp_path, log))
    assert (one.app, one.last_seen is not None) == ("", True)


def test_a_message_of_syslog_goes_on_without_its_prefix(tmp_path: Path) -> None:
    first, *others = PYTHON.split("\n")
    log = f"2026-11-03T10:00:00Z web-1 shop[7]: {first}\n" + "\n".join(others)
    (one,) = occurrences(written(tmp_path, f"{log}\n2026-11-03T10:00:01Z web-1 shop[7]: on\n"))
    assert (one.error_class, one.host, one.app) == ("KeyError", "web-1", "shop")


def test_the_time_with_a_zone_counts(tmp_path: Path) -> None:
    inner = {"level": "error", "exc_info": PYTHON, "asctime": "2026-11-03 11:00:00,5"}
    path = written(tmp_path, json_lines([docker(json.dumps(inner) + "\n", 7)]))
    (one,) = occurrences(path)
    assert one.last_seen is not None
    assert one.last_seen.isoformat() == "2026-11-03T10:00:07+00:00"


@pytest.mark.parametrize(
    "record",
    [
        {"log": 7, "stream": "x", "time": "y"},
        {"log": "a\n", "stream": ["x"], "time": {}},
        {"MESSAGE": {"a": 1}, "_PID": [1]},
        {"MESSAGE": [300, -1, "a"], "__REALTIME_TIMESTAMP": "x", "PRIORITY": "9"},
        {"MESSAGE": [255] * 200_000, "_PID": "1"},
        {"textPayload": ["a"], "resource": "x"},
        {"jsonPayload": {"message": 7}, "resource": [1]},
        {"line": "a", "timestamp": None, "labels": "x"},
        {"data": {"result": [{"stream": 1, "values": [[1], ["a"], 7, [None, None]]}]}},
        {"events": [{"message": 7, "ingestionTime": 1}, 7, None]},
        {"logEvents": [7, {"message": ["x"]}]},
        {"results": [[{"field": None, "value": None}], [7]]},
        {"kubernetes": {"labels": [1], "pod_name": 7}, "log": "x"},
        {"@t": None, "@x": 7},
        {"level_name": 7, "context": {"exception": {"trace": {"a": 1}, "previous": {}}}},
        {"exception": [{"exc_type": None, "frames": 7}]},
        {"stack": [{"func": None, "source": 7, "line": "x"}], "error": 7},
        {"fields": {"message": ["x"]}, "target": 7},
        {"record": {"exception": 7}, "text": "x"},
        {"errorType": "x", "errorMessage": {}, "stackTrace": [[1, 2, 3], {"a": 1}, None]},
        {"exception_name": 1, "stack_trace": {"frames": 7}},
        {"result": {"_raw": 7}},
        {"around": 7, "message": "m"},
        {"around": {"around": {"around": 1}}, "message": "x"},
    ],
)  # fmt: skip
def test_records_of_odd_types_are_read_or_refused(tmp_path: Path, record: object) -> None:
    traced = [docker(f"{line}\n") for line in PYTHON.split("\n")]
    seen = occurrences(written(tmp_path, json_lines([record, *traced])))
    assert "KeyError" in {one.error_class for one in seen}


def test_hostile_depth_is_refused(tmp_path: Path) -> None:
    deep = '{"kubernetes":{},"message":"y","log":' * 5_000
    nested = '{"message":"end"}'
    for _ in range(12):
        nested = json.dumps(docker(nested))
    entries = entries_of(written(tmp_path, f"{nested}\n{deep}\n{json.dumps(docker('x'))}\n"))
    assert not [entry for entry in entries if isinstance(entry, Occurrence)]


def test_users_are_counted_and_never_named(tmp_path: Path) -> None:
    payload = {"message": PYTHON, "context": {"user": "mia@example.com"}}
    record = {"jsonPayload": payload, "timestamp": "2026-11-03T10:00:00Z"}
    (one,) = occurrences(written(tmp_path, json_lines([record])))
    assert one.user == "mia@example.com"
    assert "mia" not in one.message + one.transaction + one.stacktrace + one.host
