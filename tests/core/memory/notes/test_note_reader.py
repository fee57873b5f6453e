"""`<future-agent-notes>`: what people and agents write is read, and rendered in one layout."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.memory.note_reader import normalised, notes_in, rendered
from nightwatch_core.models.knowledge import Decision, Notes, Problem

TABLES = tables_of(__file__)
SEED = TABLES["seed"]

SEED_NOTES = Notes.model_validate(TABLES["seed_notes"])

# Words that look like what the format itself is made of.
WORDS = st.sampled_from(
    ("</what>", "<problem>", "&amp;", "&", "&#60;", "<!--", "-->", "```", "- ", "\n", "\n\n  ", " ")
    + ("</future-agent-notes>", "<future-agent-notes>", "---", "\r\n", "\x1b[31m", "\u202e", "\t")
)
TEXTS = st.lists(st.one_of(WORDS, st.text(max_size=12)), max_size=8).map("".join)
PROBLEMS = st.builds(
    Problem,
    what=TEXTS,
    symptoms=st.lists(TEXTS, max_size=3).map(tuple),
    root_cause=TEXTS,
    solution=TEXTS,
    prevention=TEXTS,
)
DECISIONS = st.builds(Decision, choice=TEXTS, alternatives=TEXTS, rationale=TEXTS)
NOTES = st.builds(
    Notes,
    timestamp=st.none() | st.dates(),
    problems=st.lists(PROBLEMS, max_size=3).map(tuple),
    decisions=st.lists(DECISIONS, max_size=3).map(tuple),
    gotchas=st.lists(TEXTS, max_size=3).map(tuple),
)


def inside(body: str) -> Notes:
    return notes_in(f"<future-agent-notes>{body}</future-agent-notes>")[0]


def test_the_seeds_example_is_read_whole() -> None:
    assert notes_in(f"# A task\n\n{SEED}\n") == (SEED_NOTES,)


def test_the_layout_is_the_seeds_to_the_letter() -> None:
    assert rendered(SEED_NOTES) == SEED


@given(NOTES)
@pytest.mark.slow
def test_rendered_notes_are_read_back_the_same(notes: Notes) -> None:
    kept = normalised(notes)
    expected = () if kept.empty else (kept,)
    assert notes_in(rendered(notes)) == expected
    assert normalised(kept) == kept


@given(st.lists(st.one_of(WORDS, st.text(max_size=5)), max_size=40).map("".join))
def test_nothing_anybody_writes_raises(text: str) -> None:
    for notes in notes_in(f"<future-agent-notes>\n{text}"):
        assert not notes.empty


def test_elements_nobody_closed_end_where_the_next_begins() -> None:
    found = inside(
        "<problem><what>A<solution>B <problem><what>C\n<gotcha>one<gotcha>two<timestamp>2026-01-02"
    )
    assert found.problems == (Problem(what="A", solution="B"), Problem(what="C"))
    assert found.gotchas == ("one", "two")
    assert found.timestamp == date(2026, 1, 2)


def test_unknown_elements_and_markdown_are_text_where_text_belongs() -> None:
    found = inside(
        "<problem><severity>high</severity><what>Use <code>a</code> and **b**</what></problem>"
    )
    assert found.problems == (Problem(what="Use <code>a</code> and **b**"),)


def test_what_stands_alone_in_an_item_is_its_name() -> None:
    found = inside("<problem>It broke</problem><decision>We wait</decision>")
    assert (found.problems[0].what, found.decisions[0].choice) == ("It broke", "We wait")


def test_lists_come_with_any_bullet_or_none() -> None:
    symptoms = inside("<what>x</what><symptoms>- a\n  b\n* c\n1. d</symptoms>").problems[0].symptoms
    assert symptoms == ("a b", "c", "d")
    assert inside("<gotchas>\n one\n two\n</gotchas>").gotchas == ("one", "two")


def test_markdown_of_several_lines_keeps_its_own_indentation() -> None:
    text = "First:\n\n    code\n\nlast"
    assert notes_in(rendered(Notes(gotchas=(text,))))[0].gotchas == (text,)
    assert inside("<gotcha>First:\n      - a\n        - b</gotcha>").gotchas == (
        "First:\n- a\n  - b",
    )


def test_escaped_text_is_read_once() -> None:
    found = inside("<gotcha>a &lt;b&gt; &amp;lt; &copy=1</gotcha>")
    assert found.gotchas == ("a <b> &lt; &copy=1",)


def test_comments_are_not_learnings() -> None:
    assert inside("<gotchas><!-- none --><gotcha>x</gotcha></gotchas>").gotchas == ("x",)


def test_every_section_is_found_in_order_but_none_in_code_or_prose() -> None:
    one, two = rendered(Notes(gotchas=("one",))), rendered(Notes(gotchas=("two",)))
    text = f"{one}\n```xml\n{two}\n```\nA <future-agent-notes> is a section.\n\n{two}\n```\n{one}\n"
    assert [notes.gotchas for notes in notes_in(text)] == [("one",), ("two",)]


def test_a_section_nobody_closed_ends_at_the_next() -> None:
    text = "<future-agent-notes>\n<gotcha>a\n<future-agent-notes>\n<gotcha>b</gotcha>"
    assert [notes.gotchas for notes in notes_in(text)] == [("a",), ("b",)]


def test_sizes_are_bounded() -> None:
    many = "<future-agent-notes><gotcha>x</gotcha></future-agent-notes>\n" * 50
    assert len(notes_in(many)) == 20
    assert len(inside("<gotcha>x</gotcha>" * 500).gotchas) == 50
    assert len(inside("<gotcha>" + "x" * 60_000).gotchas[0]) == 4_000
    huge = Problem(what="&" * 9_000, symptoms=("<" * 9_000,) * 90, solution="y\n" * 9_000)
    assert len(rendered(Notes(problems=(huge,) * 90, gotchas=("z",)))) <= 64 * 1024


@pytest.mark.slow
def test_hostile_text_is_read_in_time_that_grows_with_its_length() -> None:
    for text in (
        "<future-agent-notes>" + "<what" * 200_000,
        "<future-agent-notes>\n" * 50_000,
        "<future-agent-notes>" + "<!--" * 200_000,
        "".join("`" * length + "a\n" for length in range(3, 1_200)),
        "```a\n" * 200_000,
        "<future-agent-notes>" + "&#" * 500_000,
        " " * 1_000_000 + "<future-agent-notes>",
        "<future-agent-notes><gotcha>" + (" " * 500 + "\n") * 2_000,
    ):
        notes_in(text)
