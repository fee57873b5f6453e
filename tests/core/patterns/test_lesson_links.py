"""Lessons tell of their patterns and of similar errors, and people's rows beside them are kept."""

from datetime import date

import pytest
from core.lesson_shapes import lesson

from nightwatch_core.memory.lesson_text import document, lesson_of
from nightwatch_core.models.knowledge import Lesson, NightSeen, Pattern
from nightwatch_core.patterns.detection import related_to_patterns

RATES = Pattern(
    title="One cause: *rates*",
    description="",
    pattern_type="systemic_issue",
    rule="same_cause",
    suggestion="Ask @vendor.",
    fingerprints=("v1:aaaaaaaabbbb",),
)
PATTERNS = {"patterns/rates.md": RATES}
BY_HAND = "- General pattern: look countries up by code\n  (see `app/rate.rb`)"


def related(*lessons: Lesson, patterns=PATTERNS) -> Lesson:
    changed = related_to_patterns(lessons, patterns)
    return next((one for one in changed if one.fingerprint == lessons[0].fingerprint), lessons[0])


def section(text: str) -> str:
    return text.partition("## Related Patterns\n\n")[2].partition("\n\n## ")[0]


def test_the_section_is_written_read_back_and_kept_up() -> None:
    near = lesson("v1:near", title="No rate for MT", file="errors/near.md")
    seen = NightSeen(date=date(2031, 3, 4), night="n", occurrences=1, verdict="new")
    near = near.model_copy(update={"nights": (seen,), "transaction": "Products#destroy"})
    known = related(lesson(related=("v1:near", "task-1"), file="errors/a.md"), near)
    text = document(known)
    assert section(text) == (
        "- Pattern: One cause: \\*rates\\* (`patterns/rates.md`): Ask `@vendor`.\n"
        "- Similar: No rate for MT (`errors/near.md`): `Billing::RateMissing` in "
        "`Products#destroy`, last seen 2031-03-04"
    )
    assert lesson_of(text, "errors/a.md") == known
    assert related_to_patterns((known, near), PATTERNS) == ()  # nothing to write again
    alone = related(known, patterns={})
    assert alone.related_patterns == ()
    assert "Related Patterns" not in document(alone)


@pytest.mark.parametrize(
    "rows",
    [
        BY_HAND,
        "Nobody *knows* why.\n\n- a\n- b",
        "```ruby\n# a comment\n\nx = 1\n```",
        "- a\r\n- b",
    ],
)
def test_what_people_write_there_is_kept(rows: str) -> None:
    text = document(related(lesson(file="errors/a.md")))
    ours = section(text)
    edited = text.replace(ours, f"{ours}\n\n{rows}")
    again = document(lesson_of(edited, "errors/a.md"))
    assert rows.replace("\r\n", "\n") in section(again)
    assert section(again).count("patterns/rates.md") == 1
    assert document(lesson_of(again, "errors/a.md")) == again
    gone = document(related(lesson_of(again, "errors/a.md"), patterns={}))
    assert section(gone) == rows.replace("\r\n", "\n")


def test_a_seeds_document_with_such_a_section_keeps_it() -> None:
    rows = f"## Related Patterns\n\n{BY_HAND}\n\n## History"
    text = document(lesson()).replace("## History", rows)
    assert lesson_of(text, "errors/a.md").pattern_notes == BY_HAND


def test_patterns_of_people_are_matched_by_class_and_place() -> None:
    own = {"title": "T", "description": "", "pattern_type": "systemic_issue"}
    named = Pattern(**own, error_classes=("Billing::RateMissing",))
    elsewhere = named.model_copy(update={"modules": ("app/other.rb",)})
    files = {"patterns/a.md": named, "patterns/b.md": elsewhere}
    (one,) = related(lesson(), patterns=files).related_patterns
    assert one.file == "patterns/a.md"
    unknown = lesson(root_cause="")
    assert related_to_patterns((unknown,), files) == ()


def test_related_tasks_are_read_and_written_again() -> None:
    text = document(lesson()).replace("---\n", "---\nrelated_tasks: [v1:x, task-1]\n", 1)
    related = lesson_of(text, "errors/a.md")
    assert related.related == ("v1:x", "task-1")
    assert "\nrelated_tasks:" in document(related)
