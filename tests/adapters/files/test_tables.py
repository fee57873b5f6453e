"""Tables with a line of names: what trackers and log services export, and what is no table."""

import csv
import io
import re

import pytest
from error_records import AT, RUBY, fetched, only, written
from tables import tables_of

from nightwatch_core.adapters.files.json_values import is_table
from nightwatch_core.adapters.files.limits import LINE_LIMIT
from nightwatch_core.adapters.files.source import ErrorFiles

TABLES = tables_of(__file__)

NEW_RELIC = ("timestamp", "error.class", "error.message", "transactionName", "appName", "host",
             "error.stack_trace")  # fmt: skip
ROW = ("1793700000000", "Shop::Empty", 'no "order" 17, sorry', "Controller/orders/show", "shop",
       "web-1", RUBY)  # fmt: skip


def table(*rows, delimiter=",", quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=quoting).writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize(
    ("names", "delimiter"),
    [*zip(",;\t|", ",;\t|", strict=True), (",", ";"), ("\t", ","), (";", ",")],
)
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_tables_by_any_delimiter(tmp_path, names, delimiter, quoting):
    text = table(NEW_RELIC, delimiter=names) + table(ROW, ROW, delimiter=delimiter, quoting=quoting)
    path = written(tmp_path, text.encode("utf-8-sig"), "export.json")
    assert ErrorFiles((path,)).contents().shapes == (("row of a table", 2),)
    group = only(path)
    assert (group.error_class, group.message) == ("Shop::Empty", 'no "order" 17, sorry')
    assert (group.occurrences, group.app, group.last_seen) == (2, "shop", AT)
    assert (group.transaction, group.hosts) == ("Controller/orders/show", ("web-1",))


def test_what_excel_writes(tmp_path):
    for line in ("sep=;", '"sep=;"'):
        text = "\ufeff" + line + "\r\n" + table(NEW_RELIC, ROW, delimiter=";")
        assert only(written(tmp_path, text)).app == "shop"


def test_rows_are_told_by_the_line_they_begin_at(tmp_path):
    rows = (NEW_RELIC, ROW, ("", "", "no class"), (*ROW, "one", "more"), ROW)
    answer = fetched(written(tmp_path, "\n" + table(*rows), "a.csv"))
    assert answer.groups[0].occurrences == 2
    assert [(one.place, re.split("[:;]", one.reason)[0]) for one in answer.rejects] == [
        ("a.csv:5", "no error class and no stack trace"),
        ("a.csv:6", "9 cells below 7 names"),
    ]


def test_a_quote_that_never_ends_is_bounded(tmp_path):
    row = 'KeyError,"no end\n' + "x,y\n" * (LINE_LIMIT // 4 + 10)
    answer = fetched(written(tmp_path, f"error.class,message\nKeyError,no\n{row}KeyError,no\n"))
    assert "KeyError" in {group.error_class for group in answer.groups}
    assert "a row that cannot be read" in answer.rejects[0].reason


def test_nothing_but_names_is_nothing(tmp_path):
    path = written(tmp_path, "error.class,message\n\n", "a.csv")
    assert fetched(path).partial == ("a.csv holds no records",)


@pytest.mark.parametrize(
    "firsts",
    [
        *TABLES["what_is_no_table"],
        ["x" * 100_000 + ",message,type\n", "a,b,c\n"],
        ["message" + "\t" * 5_000 + "\n"],
    ],
)
def test_what_is_no_table(firsts):
    assert not is_table(firsts)
