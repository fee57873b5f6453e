"""Every format and every field name of error exports."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from error_records import AT, EPOCH_MS, FULL, NOW, fetched, groups_of, json_lines, only, written

from nightwatch_core.adapters.files.source import ErrorFiles


@pytest.mark.parametrize(
    "document",
    [
        [FULL, FULL],
        {"data": {"actor": {"account": {"nrql": {"results": [FULL, FULL]}}}}},
        {"data": {"actor": {"a": {"x": {"results": [FULL]}}, "b": {"y": {"results": [FULL]}}}}},
        {"results": [{"events": [FULL, FULL]}], "metadata": {}},
        {"errors": [FULL, FULL]},
        {"hits": {"hits": [{"_source": FULL}, {"_source": FULL}]}},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_documents_hold_the_same(tmp_path, document, indent):
    group = only(written(tmp_path, json.dumps(document, indent=indent)))
    assert (group.occurrences, group.error_class, group.users) == (2, "Shop::Empty", 1)
    pretty = "\n".join(json.dumps(FULL, indent=2) for _ in range(2))
    assert only(written(tmp_path, pretty)).occurrences == 2


def test_facets_of_new_relic(tmp_path):
    rows = [
        {"facet": ["KeyError", "Controller/cart/show"], "count": 12.0, "latest.host": "web-1",
         "uniqueCount.enduser.id": 4.0, "earliest.timestamp": EPOCH_MS,
         "latest.timestamp": EPOCH_MS + 7_200_000, "latest.error.message": "no 'total'"},
        {"facet": "NameError", "count": 3},
        {"facet": [None, None], "count": 3},
    ]  # fmt: skip
    nrql = {"results": rows, "otherResult": {"count": 5}}
    answer = fetched(written(tmp_path, json.dumps({"data": {"actor": {"a": {"nrql": nrql}}}})))
    first, second = answer.groups
    assert (first.title, first.occurrences, first.users) == (
        "KeyError in Controller/cart/show",
        12,
        4,
    )
    assert (first.message, first.hosts, first.first_seen) == ("no 'total'", ("web-1",), AT)
    assert first.hourly == ()
    assert (second.title, second.occurrences) == ("NameError", 3)
    assert len(answer.rejects) == 1
    assert "5 more occurrences" in answer.partial[0]
    named = {
        "results": [{"facet": ["shop", "KeyError"], "count": 2}],
        "metadata": {"facets": ["appName", "error.class"]},
    }
    group = only(written(tmp_path, json.dumps({"data": {"actor": {"a": {"nrql": named}}}})))
    assert (group.app, group.error_class) == ("shop", "KeyError")
    failed = {"data": {"actor": {"account": None}}, "errors": [{"message": "TIMEOUT"}]}
    assert "TIMEOUT" in fetched(written(tmp_path, json.dumps(failed))).partial[0]


RECORDS = yaml.safe_load(Path(__file__).with_name("records.yml").read_text())


@pytest.mark.parametrize("record", RECORDS["ways"])
def test_every_way_to_say_the_same(tmp_path, record):
    group = only(written(tmp_path, json_lines([record])))
    assert (group.title, group.message) == ("KeyError in cart", "no total")


def test_controller_and_action_are_one_transaction(tmp_path):
    record = {"class": "KeyError", "controller": "orders", "action": "show"}
    assert only(written(tmp_path, json_lines([record]))).transaction == "orders#show"


def test_records_that_are_groups(tmp_path):
    times = {"first_seen": "2026-11-01T00:00:00Z", "last_seen": "2026-11-03T00:00:00Z"}
    record = {"class": "KeyError", "occurrences": 40, "users": "1,204", **times}
    group = only(written(tmp_path, json_lines([record, {**record, "occurrences": 0}])))
    assert (group.occurrences, group.users) == (40, 1_204)
    assert group.first_seen == datetime(2026, 11, 1, tzinfo=UTC)
    assert group.last_seen == datetime(2026, 11, 3, tzinfo=UTC)


@pytest.mark.parametrize("row", RECORDS["frames"])
def test_lists_of_lines_and_of_frames(tmp_path, row):
    record = {"class": "Shop.EmptyError", "message": "none", "backtrace": row["frames"]}
    files = ErrorFiles((written(tmp_path, json_lines([record])),), app_prefixes=("org.shop",))
    (group,) = groups_of(files, None, NOW).groups
    (trace,) = files.traces(group)
    assert trace.root.error_class == "Shop.EmptyError"
    assert trace.frames[0].place == row["place"]
