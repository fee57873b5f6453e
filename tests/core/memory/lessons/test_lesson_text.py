"""A lesson's document keeps every field, its people's notes, and its size, whatever is in it."""

import re
from datetime import date

import pytest
from core.lesson_shapes import lesson
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.index import entry_of
from nightwatch_core.memory.lesson_text import FIELDS, SEEDS, body, document, lesson_of, summary
from nightwatch_core.memory.limits import MOST_OUTCOMES
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.knowledge import CitedLine, Lesson, Notes, OutcomeEvent, PublishedItem

TABLES = tables_of(__file__)

FULL = Lesson.model_validate({**lesson().model_dump(), **TABLES["full"]})
NOTES = FULL.notes[0]


def test_every_field_is_kept_the_notes_in_the_body():
    of_the_body = {"file", "notes", "pattern_notes"}
    assert {*FIELDS, "related"} == {*Lesson.model_fields, "related_tasks"} - of_the_body
    assert lesson_of(document(FULL), FULL.file) == FULL
    assert entry_of(FULL).stale
    assert not entry_of(lesson()).stale


def test_what_is_empty_takes_no_line_but_the_fields_of_the_seeds_are_always_there():
    front = document(lesson(evidence=())).partition("\n---\n")[0]
    keys = [row.partition(":")[0] for row in front.splitlines() if re.match(r"\w", row)]
    assert set(keys) == {*SEEDS, "title", "fingerprint", "commit", "nights", "schema_version"}
    assert "hours" not in front
    assert "traffic" not in front


def test_the_body_says_first_what_is_wrong_and_last_what_became_of_it():
    text = body(FULL)
    assert text.startswith("# T\n\n**Stale: `app/a.rb` was rewritten.**\n\n## Root Cause")
    assert "Stale" in summary(FULL)
    outcome = text.partition("## Outcome\n\n")[2].partition("\n\n")[0]
    assert outcome.splitlines() == [
        "- 2031-03-03: `#9` closed unmerged",
        "  - “No \\*way\\* `@team`”",
        "- 2031-03-09: no effect: 7 an hour, before 6",
    ]


def test_notes_that_people_add_to_the_body_are_kept():
    added = document(lesson(title="T")) + (
        "\nMore prose.\n\n<future-agent-notes>\n<gotcha>By hand</gotcha>\n</future-agent-notes>\n"
    )
    read = lesson_of(added, "errors/x.md")
    assert read.notes == (Notes(gotchas=("By hand",)),)
    again = lesson_of(document(read), "errors/x.md")
    assert again == read
    assert document(read).rstrip().endswith("</future-agent-notes>")


HOSTILE = st.sampled_from(TABLES["hostile"])


@settings(max_examples=150, deadline=None)
@given(st.lists(HOSTILE, min_size=8, max_size=8), st.booleans())
def test_nothing_but_notes_becomes_notes(texts, noted):
    one, two, three, four, five, six, seven, eight = texts
    told = lesson(
        title=one,
        root_cause=two,
        stale=three,
        evidence=(CitedLine(path=four, line=1, quote=five), CitedLine(path="a", line=2, quote=six)),
        edits=(Edit(path=seven, old=eight, new=one, description=two),),
        next_steps=(three, four),
        learnings=(five,),
        outcomes=(
            OutcomeEvent(kind="merged", on=date(2031, 3, 3), words=(six, seven), because=eight),
        ),
        notes=(NOTES,) if noted else (),
    )
    assert lesson_of(document(told), "errors/x.md").notes == told.notes


def test_of_many_fates_and_words_the_newest_and_first_are_kept():
    event = OutcomeEvent(kind="merged", on=date(2031, 3, 3), words=("w" * 9_000,) * 9, because="b")
    many = lesson(
        outcomes=tuple(event.model_copy(update={"number": n, "words": ()}) for n in range(58))
        + (event.model_copy(update={"number": 58}), event.model_copy(update={"number": 59})),
        proposed=tuple(PublishedItem(kind="pull", number=n, on=event.on) for n in range(60)),
        edits=(),
    )
    read = lesson_of(document(many), "errors/x.md")
    assert [one.number for one in read.proposed] == list(range(20, 60))
    assert [event.number for event in read.outcomes] == list(range(60 - MOST_OUTCOMES, 60))
    few = lesson_of(
        document(many.model_copy(update={"outcomes": many.outcomes[-2:]})), "errors/x.md"
    )
    assert few.outcomes[0].words == ("w" * 500,) * 5


def test_a_fingerprint_that_is_none_is_refused():
    with pytest.raises(GiveUp, match="too long"):
        document(lesson("v1:" + "a" * 300))
