from datetime import date

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.library import ANSWER, NOTICE, as_data, lesson_file, lessons_text
from nightwatch_core.models.knowledge import IndexEntry, Lesson, Match

TABLES = tables_of(__file__)

DAY = date(2026, 11, 20)


def lesson(name: str = "v1:aaaa1111", **more: object) -> Lesson:
    told = {"error_class": "KeyError", "root_cause": "x", "first_detected": DAY, **more}
    return Lesson(fingerprint=name, **told)


def entry(name: str, **more: object) -> IndexEntry:
    told = {"file": f"errors/{name[3:]}.md", "error_class": "KeyError", **more}
    return IndexEntry(fingerprint=name, **told)


def match(score: float = 0.5) -> Match:
    return Match(score=score, because=("cart",))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from("`~\n a/\u202e\0é"), max_size=300))
def test_nothing_ends_the_fence(text):
    notice, _, block = as_data(text, "yaml").partition("\n\n")
    assert notice == NOTICE
    first, *inside, last = block.split("\n")
    assert first == f"{last}yaml"
    assert not [row for row in inside if row.strip().startswith(last)]
    assert "\u202e" not in block


def test_an_answer_is_bounded_and_says_what_is_left_out():
    text = as_data("x" * 1_000_000, "yaml")
    assert len(text) < ANSWER + 500
    assert f"{1_000_000 - ANSWER:,} more characters" in text


def test_many_long_lessons_are_cut_between_two_of_them():
    long = lesson(root_cause="`" * 10_000, title="t" * 999, transaction="u" * 999, message="m")
    text = as_data(lessons_text((long, match()) for _ in range(500)), "yaml")
    body = text.partition("yaml\n")[2].rpartition("\n")[0]
    found = yaml.safe_load(body)
    assert 3 < found["lessons_found"] == len(found["lessons"]) < 500
    assert "more characters" not in text


def test_a_row_says_what_matters_and_nothing_empty():
    one = lesson(title="No price", outcome="merged", stale="app/a.rb was rewritten", pr_number=7)
    (row,) = yaml.safe_load(lessons_text([(one, match())]))["lessons"]
    assert list(row.items()) == list(TABLES["row"].items())


@pytest.mark.parametrize("id", TABLES["names_of_a_lesson"])
def test_a_lesson_has_many_names(id):
    one = entry("v1:aaaa1111", aliases=("v1:cccc2222",), file="errors/2026-a.md")
    assert lesson_file(id, lambda: (entry("v1:bbbb1111"), one)) == "errors/2026-a.md"


def test_a_whole_name_wins_over_beginnings_and_the_first_shelf_over_others():
    short, long = entry("v1:aaaa"), entry("v1:aaaabbbb")
    assert lesson_file("aaaa", lambda: (long, short)) == short.file
    assert lesson_file("aaaa", lambda: (long,), lambda: (short,)) == long.file
    assert lesson_file("bbbb", lambda: (long,), lambda: (entry("v1:bbbb"),)) == "errors/bbbb.md"


def test_several_are_named():
    with pytest.raises(GiveUp, match="name one: v1:aaaa1, v1:aaaa2"):
        lesson_file("aaaa", lambda: (entry("v1:aaaa2"), entry("v1:aaaa1")))


@pytest.mark.parametrize("id", ["", " ", "v1:", "aaa", "v", "zzzz", "../x", "a" * 9_999, "\0"])
def test_an_unknown_lesson(id):
    with pytest.raises(GiveUp, match="no lesson is called") as told:
        lesson_file(id, lambda: (entry("v1:aaaa1111"),), lambda: ())
    assert len(str(told.value)) < 300
