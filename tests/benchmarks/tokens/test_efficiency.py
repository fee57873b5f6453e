"""BENCHMARKS.md holds what its commands compute, and what the README claims."""

import re

import pytest
from benchmarks.run import DOCUMENT, commands, parts_of, written
from benchmarks.tokens import report_tables
from benchmarks.tokens.efficiency import ALONE, NEEDS_DATA, alike
from benchmarks.tokens.ours import ours
from benchmarks.tokens.real import EVAL

TEXT = DOCUMENT.read_text(encoding="utf-8")
KEPT = parts_of(TEXT)
README = DOCUMENT.with_name("README.md").read_text(encoding="utf-8")


def test_every_part_has_its_place_and_its_command():
    assert set(KEPT) == {*ALONE, *NEEDS_DATA, *commands()}
    for name, lines in commands().items():
        assert all(f"$ {' '.join(line)}" in KEPT[name] for line in lines), f"make bench ONLY={name}"
    changed = written(TEXT, {"looks": "| new |"})
    assert parts_of(changed) == {**KEPT, "looks": "| new |"}


def test_the_readme_links_to_headings_that_are_there():
    headings = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"(?m)^#+ (.+)$", TEXT)
    }
    linked = re.findall(r"\(BENCHMARKS\.md#([^)]+)\)", README)
    assert linked
    assert not set(linked) - headings


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
    assert (report_tables.plays(), report_tables.leads()) == (KEPT["plays"], KEPT["leads"])


@pytest.mark.slow
@pytest.mark.skipif(not EVAL.is_dir(), reason="needs the evaluation data beside the checkout")
def test_duplicates_are_those_of_the_data():
    assert report_tables.duplicate_shares() == KEPT["duplicates"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ALONE if name != "plays"])
def test_tables_that_need_no_data(name):
    assert alike(KEPT[name], ALONE[name]())
