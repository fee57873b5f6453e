"""The level of a record decides whether it is an error; a `type` names one only if it looks so."""

import pytest
from error_records import NOW, groups_of, json_lines, written
from tables import tables_of

from nightwatch_core.adapters.files.source import ErrorFiles

TABLES = tables_of(__file__)

TRACE = (
    'Traceback (most recent call last):\n  File "shop/cart.py", line 4, in total\n'
    "    return prices[name]\nKeyError: 'total'\n"
)
REQUEST = {"time": "2026-11-03T10:00:00Z", "type": "http.request", "message": "GET / 200"}
FAILED = {"time": "2026-11-03T10:00:00Z", "level": "error", "message": "no total"}


def classes(folder, *records):
    files = ErrorFiles((written(folder, json_lines([*records])),))
    return [group.error_class for group in groups_of(files, None, NOW).groups]


@pytest.mark.parametrize("quiet", TABLES["test_what_is_said_quietly_is_no_error_whatever_its_type"])
def test_what_is_said_quietly_is_no_error_whatever_its_type(quiet, tmp_path):
    error = FAILED | {"type": "KeyError"}
    assert classes(tmp_path, REQUEST | quiet, error) == ["KeyError"]


@pytest.mark.parametrize("name", ["KeyError", "shop.errors.Empty", "Shop::Empty", "*url.Error"])
def test_a_type_that_looks_like_an_exception_names_one(name, tmp_path):
    assert classes(tmp_path, FAILED | {"type": name}) == [name]


@pytest.mark.parametrize("holder", ["Fields", "ctx", "extra.job"])
def test_a_trace_is_found_in_any_object_of_a_record(holder, tmp_path):
    record = {"level": "error", "message": "request failed"}
    assert classes(tmp_path, record | {holder: {"traceback": TRACE}}) == ["KeyError"]
