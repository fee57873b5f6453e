"""Front matter is read strictly, quickly and without losing a character."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.errors import GiveUp
from nightwatch_core.text.frontmatter import LIMIT, read, render

TABLES = tables_of(__file__)

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
META = st.dictionaries(
    TEXT,
    st.recursive(
        SCALAR,
        lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXT, v, max_size=3),
        max_leaves=8,
    ),
    max_size=5,
)


@settings(max_examples=150, deadline=None)
@given(META, TEXT)
def test_what_is_written_is_read_again(meta, body):
    assert read(render(meta, body)) == (meta, body)


@pytest.mark.parametrize("text", TABLES["awkward_text_stays_itself"])
def test_awkward_text_stays_itself(text):
    assert read(render({"a": text, "b": [text, {"c": text}]}, text)) == (
        {"a": text, "b": [text, {"c": text}]},
        text,
    )


def test_multi_line_text_is_written_as_a_block():
    assert "a: |-\n  one\n  two\n" in render({"a": "one\ntwo"}, "")


@pytest.mark.parametrize(("written", "value"), TABLES["plain_values"])
def test_only_plain_numbers_booleans_and_null_are_not_text(written, value):
    assert read(f"---\na: {written}\n---\n")[0] == {"a": value}


@pytest.mark.parametrize("text", ["", "# title", "--- \na: 1\n---\n", " ---\na: 1\n", "----\n"])
def test_a_text_without_front_matter_is_all_body(text):
    assert read(text) == ({}, text)


def test_a_delimiter_is_a_line_of_three_dashes_and_nothing_else():
    assert read("---\na: |\n  ---\n  ---- x\n---\nbody\n---\n") == (
        {"a": "---\n---- x\n"},
        "body\n---\n",
    )


def test_line_ends_and_byte_order_mark_of_other_systems_are_read():
    assert read("\ufeff---\r\na: 1\r\n---\r\nbody\r\n") == ({"a": 1}, "body\r\n")
    assert read("---\n---") == ({}, "")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        *TABLES["refusals"],
        ("a: " + "[" * 21 + "]" * 21, "nested deeper than 20"),
        ("a: " + "[" * 60_000, "nested deeper than 20"),
        ("a: " + "{a: " * 15_000, "nested deeper than 20"),
        ("a: " + "9" * 5_000, "Exceeds the limit"),
    ],
)
def test_refusals_name_their_reason(source, reason):
    with pytest.raises(GiveUp, match=r"^front matter: ") as raised:
        read(f"---\n{source}\n---\nbody")
    assert reason in str(raised.value)


def test_merge_keys_merge_nothing():
    assert read("---\n<<: {a: 1}\nb: 2\n---\n")[0] == {"<<": {"a": 1}, "b": 2}


@pytest.mark.parametrize("text", ["---\na: 1\n", "---\n" + "a" * LIMIT + "\n---\n", "---"])
def test_front_matter_that_is_not_closed_is_refused(text):
    with pytest.raises(GiveUp, match="no closing line"):
        read(text)


def test_a_delimiter_cut_by_the_limit_is_none():
    head = "---\n# " + "x" * (LIMIT - 10) + "\n"
    assert len(head) + 3 == LIMIT
    with pytest.raises(GiveUp, match="no closing line"):
        read(head + "---more\n---\n")


def test_twenty_levels_are_read():
    deep = "a: " + "[" * 18 + "x" + "]" * 18
    assert read(f"---\n{deep}\n---\n")[0]["a"] is not None


@pytest.mark.parametrize(
    "source",
    [
        "a: " + "9" * 60_000 + "x",
        "a: '" + "''" * 30_000 + "'",
        "- " * 30_000,
        "? " * 30_000,
        "a: [" + "a," * 30_000 + "]",
        "a: " + "\\" * 60_000,
        "#" * 60_000,
        "a: |\n" + " \n" * 20_000,
    ],
)
@pytest.mark.slow
def test_hostile_front_matter_is_over_in_seconds(source):
    with contextlib.suppress(GiveUp):
        read(f"---\n{source}\n---\n")


def test_a_huge_body_is_not_looked_at():
    meta, body = read("---\na: 1\n---\n" + "---\n" * 500_000)
    assert meta == {"a": 1}
    assert len(body) == 2_000_000
