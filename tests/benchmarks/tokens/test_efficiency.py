"""The document of the comparison holds what its command computes."""

import pytest
from benchmarks.tokens import report_tables
from benchmarks.tokens.efficiency import ALONE, DOCUMENT, NEEDS_DATA, alike, committed, written
from benchmarks.tokens.ours import ours
from benchmarks.tokens.real import EVAL

TEXT = DOCUMENT.read_text(encoding="utf-8")
KEPT = committed(TEXT)


def test_every_table_has_its_place():
    assert set(KEPT) == {*ALONE, *NEEDS_DATA}
    changed = written(TEXT, {"looks": "| new |"})
    assert committed(changed) == {**KEPT, "looks": "| new |"}


def test_a_night_costs_what_the_document_says():
    made = report_tables.row("clinic, ours", report_tables.night_of("clinic", ours))
    (kept,) = (row for row in KEPT["invented"].splitlines() if "clinic, ours" in row)
    assert alike(kept, made), "see `make efficiency`"


def test_a_few_tokens_are_alike_and_an_answer_or_a_word_is_not():
    row = "| ours | 24 of 24 | 4,494 | met |"
    assert alike(row, "| ours | 24 of 24 | 4,513 | met |")
    assert not alike(row, "| ours | 24 of 24 | 4,700 | met |")
    assert not alike(row, "| ours | 23 of 24 | 4,494 | met |")
    assert not alike(row, "| ours | 24 of 24 | 4,494 | not met |")


def test_plays_are_those_that_were_counted():
    assert report_tables.plays() == KEPT["plays"]


@pytest.mark.slow
@pytest.mark.skipif(not EVAL.is_dir(), reason="needs the evaluation data beside the checkout")
def test_duplicates_are_those_of_the_data():
    assert report_tables.duplicate_shares() == KEPT["duplicates"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ALONE if name != "plays"])
def test_tables_that_need_no_data(name):
    assert alike(KEPT[name], ALONE[name]())
