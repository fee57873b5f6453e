"""Files of errors: whole, broken, missing, hostile; windows and traces."""

import json
from datetime import timedelta

import pytest
from error_records import AT, EPOCH_MS, FULL, NOW, fetched, groups_of, json_lines, only, written

from nightwatch_core.adapters.files.limits import LINE_LIMIT
from nightwatch_core.adapters.files.source import COPIES, SEEN_BEFORE, ErrorFiles
from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.ignore_rules import ignored_by, rules_from

LATER = {**FULL, "timestamp": EPOCH_MS + 1}


def test_json_lines_say_all(tmp_path):
    files = ErrorFiles((written(tmp_path, json_lines([FULL, {**FULL, "enduser.id": 8}])),))
    answer = groups_of(files, None, NOW)
    (group,) = answer.groups
    assert (group.source, group.app, group.error_class) == ("file", "shop", "Shop::Empty")
    assert (group.transaction, group.message) == ("Controller/orders/show", "no order 17")
    assert (group.occurrences, group.users, group.hosts, group.release) == (2, 2, ("web-1",), "2.1")
    assert group.first_seen == group.last_seen == AT
    assert answer.window.since == AT
    assert answer.window.until == AT + timedelta(microseconds=1)
    (trace,) = files.traces(group)
    assert (trace.root.error_class, trace.release) == ("Shop::Empty", "2.1")
    assert trace.top.place == "app/models/order.rb:12"
    assert "2 records" in files.probe()
    assert files.releases() == ()


def test_a_record_may_name_its_commit_besides_its_release(tmp_path):
    sha = "0a1b2c3d4e"
    for fields, release, commit in (
        ({"release": "2.1", "git.sha": sha}, "2.1", sha),
        ({"release": "2.1", "commit": sha}, "2.1", sha),
        ({"commit": sha}, sha, sha),
        ({"release": "2.1"}, "2.1", ""),
    ):
        record = {name: value for name, value in FULL.items() if "version" not in name}
        files = ErrorFiles((written(tmp_path, json_lines([{**record, **fields}])),))
        (group,) = groups_of(files, None, NOW).groups
        assert (group.release, group.commit) == (release, commit)


def test_traces_come_newest_release_first(tmp_path):
    records = [{**FULL, "timestamp": EPOCH_MS + n, "service.version": f"{n}.0"} for n in (2, 1, 3)]
    files = ErrorFiles((written(tmp_path, json_lines(records)),))
    (group,) = groups_of(files, None, NOW).groups
    assert group.releases == ("1.0", "2.0", "3.0")
    assert [trace.release for trace in files.traces(group, limit=2)] == ["3.0", "2.0"]
    assert files.traces(group.model_copy(update={"fingerprint": "v1:0"})) == ()


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"]
)
def test_encodings(tmp_path, encoding):
    record = json.dumps({"class": "KeyError", "message": "caf\u00e9"}, ensure_ascii=False)
    message = only(written(tmp_path, f"{record}\n{record}\n".encode(encoding))).message
    assert message == ("caf\ufffd" if encoding == "latin-1" else "caf\u00e9")


def test_broken_records_are_rejected_one_by_one(tmp_path):
    lines = [
        json.dumps(FULL),
        '{"class": "KeyError", ',
        "7",
        '"text"',
        "{}",
        '{"message": "no class"}',
        '{"level": "info", "message": "fine"}',
        "[" * 100_000,
        '{"class": "X", "n": ' + "9" * 5_000 + "}",
        "not json",
        json.dumps(FULL)[:40],
    ]
    answer = fetched(written(tmp_path, "\n".join(lines), "export.jsonl"))
    assert [group.occurrences for group in answer.groups] == [1]
    assert {reject.place for reject in answer.rejects} == {
        f"export.jsonl:{number}" for number in (2, 3, 6, 8, 9, 10, 11)
    }
    counts = {reject.place.partition(":")[2]: reject.count for reject in answer.rejects}
    assert (counts["3"], sum(counts.values())) == (3, 9)  # 7, "text" and {} are no objects
    reasons = {reject.place.partition(":")[2]: reject.reason for reject in answer.rejects}
    assert reasons["6"] == "no error class and no stack trace; its fields: message"
    assert reasons["8"] == "nested too deeply"
    assert reasons["10"] == "no JSON (Expecting value)"
    assert reasons["11"] == "it has no end: the JSON is cut off"
    assert all(len(reject.text) <= 2_000 for reject in answer.rejects)


def test_a_huge_line_among_others_is_rejected_and_the_next_one_read(tmp_path):
    huge = json.dumps({**FULL, "error.message": "x" * (3 * LINE_LIMIT)})
    line = json.dumps(FULL)
    answer = fetched(written(tmp_path, "\n".join((line, line, huge, line))))
    assert answer.groups[0].occurrences == 3
    assert [reject.reason for reject in answer.rejects] == [f"longer than {LINE_LIMIT} characters"]


def test_no_file_stops_the_night():
    with pytest.raises(StopTheNight, match="no error file is given"):
        groups_of(ErrorFiles(()), None, NOW)


def test_one_missing_file_of_two_is_partial(tmp_path):
    there = written(tmp_path, json_lines([FULL]))
    answer = groups_of(ErrorFiles((tmp_path / "gone", there)), None, NOW)
    assert len(answer.groups) == 1
    assert "gone does not exist" in answer.partial[0]


def test_nothing_readable_stops_the_night(tmp_path):
    with pytest.raises(StopTheNight, match=r"none of the 2 records.*errors\.txt:1: no error class"):
        fetched(written(tmp_path, '{"a": 1}\n{"b": 2}\n'))


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff", "[]", "[\n]\n"])
def test_an_empty_file_is_a_quiet_night_that_is_told(tmp_path, content):
    answer = fetched(written(tmp_path, content, "export.jsonl"))
    assert (answer.groups, answer.partial) == ((), ("export.jsonl holds no records",))
    assert answer.window.until == NOW


def test_a_folder_is_all_files_in_it(tmp_path):
    (tmp_path / "old").mkdir()
    written(tmp_path, json_lines([FULL]), "a.jsonl")
    written(tmp_path / "old", json_lines([{"x": 1}, LATER]), "b.jsonl")
    written(tmp_path, "junk", ".hidden")
    (tmp_path / "empty").mkdir()
    answer = fetched(tmp_path)
    assert answer.groups[0].occurrences == 2
    assert answer.rejects[0].place == "old/b.jsonl:1"
    with pytest.raises(StopTheNight, match="empty holds no files"):
        fetched(tmp_path / "empty")


SECONDS = {**FULL, "timestamp": EPOCH_MS // 1_000}
ID = {**SECONDS, "id": "0a1b2c3d4e5f60718293"}
AS_SENTRY = {
    "eventID": ID["id"],
    "title": "Shop::Empty: no order 17",
    "dateCreated": "2026-11-03T10:00:00.412Z",
    "tags": [{"key": "transaction", "value": "Controller/orders/show"}],
}


@pytest.mark.parametrize(
    ("one", "other", "count", "seen_before"),
    [
        ([LATER, LATER], [LATER, FULL], 3, 1),  # what one file repeats did happen again
        ([LATER, FULL], [FULL, LATER, LATER], 3, 2),
        ([SECONDS, SECONDS], [SECONDS], 3, 0),  # perhaps another machine's
        ([ID], [AS_SENTRY], 1, 1),
        ([{**SECONDS, "id": 7}], [{**SECONDS, "id": 7}, {"x": 1}], 2, 0),  # a number of a kind
        ([{**SECONDS, "count": 9}], [{**SECONDS, "count": 9}, {"x": 1}], 9, 1),
    ],
)
def test_an_event_in_two_files_counts_once(tmp_path, one, other, count, seen_before):
    for name, records in (("a.jsonl", one), ("b.jsonl", other), ("c.jsonl", one)):
        written(tmp_path, json_lines(records), name)
    answer = fetched(tmp_path)
    assert sum(group.occurrences for group in answer.groups) == count
    told = {f"1 {COPIES}", *([f"{seen_before} {SEEN_BEFORE}"] if seen_before else [])}
    assert set(answer.left_out) == told


def test_what_is_missing_says_the_address_that_only_the_request_names(tmp_path):
    rules = rules_from("- {pattern: wp-login, field: missing}\n- {pattern: xmlrpc, field: missing}")
    gone = {**SECONDS, "error.class": "NotFound", "error.message": "404", "transaction": "any"}
    for names, is_ignored in (("wp-login.php xmlrpc.php", True), ("wp-login.php carts", False)):
        paths = names.split()
        asked = [{**gone, "request": {"url": f"https://shop.test/{path}"}} for path in paths]
        group = only(written(tmp_path, json_lines(asked)))
        assert group.message == f"404 (/{paths[-1]})"
        assert bool(ignored_by(rules.rules, group)) is is_ignored
        assert group.fingerprint == only(written(tmp_path, json_lines([gone]))).fingerprint


def test_since_counts_back_from_the_last_record(tmp_path):
    hours = [{**FULL, "timestamp": EPOCH_MS + n * 3_600_000} for n in range(48)]
    path = written(tmp_path, json_lines([*hours, {"class": "Timeless"}]))
    answer = fetched(path, since=NOW - timedelta(hours=5))
    assert [group.occurrences for group in answer.groups] == [5, 1]
    assert answer.window.until == AT + timedelta(hours=47, microseconds=1)
    assert answer.window.since == AT + timedelta(hours=43)
    assert sum(answer.groups[0].hourly) == 5
    assert answer.partial == ()


def test_files_are_read_once(tmp_path):
    path = written(tmp_path, json_lines([FULL]))
    files = ErrorFiles((path,))
    before = groups_of(files, None, NOW)
    path.unlink()
    assert groups_of(files, None, NOW) == before
    assert len(files.traces(before.groups[0])) == 1


def test_one_wrong_clock_does_not_hide_the_others(tmp_path):
    path = written(tmp_path, json_lines([FULL, {**FULL, "timestamp": "2071-01-01T00:00:00Z"}]))
    answer = fetched(path, since=NOW - timedelta(hours=24))
    assert (answer.groups[0].occurrences, answer.window.since) == (2, AT)
    assert "1 record of a future time" in answer.partial[0]


def test_many_rejects_are_counted_not_kept(tmp_path):
    broken = "".join(f'{{"x": {n}, \n' for n in range(1_500))
    answer = fetched(written(tmp_path, json_lines([FULL]) + broken))
    assert len(answer.rejects) == 1_001
    assert answer.rejects[-1].reason.startswith("500 more records")
    assert answer.rejects[-1].count == 500
