"""Pattern documents: written, read back, and refused where they hold what no pattern holds."""

import pytest
from core.lesson_shapes import lesson, seen
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.knowledge import Pattern
from nightwatch_core.patterns import detect, merge_pattern
from nightwatch_core.patterns.pattern_text import pattern_document, pattern_entry, pattern_of

TABLES = tables_of(__file__)

FILE = "patterns/x.md"


def coming_back(*days):
    return detect((), (lesson(nights=seen(*days), tags=("a", "b")),))[0]


def test_a_document_and_its_line_in_the_index():
    pattern = coming_back(1, 2, 3).model_copy(update={"because": ("the same class on 3 nights",)})
    text = pattern_document(pattern)
    entry = pattern_entry(text, FILE)
    assert (entry.title, entry.occurrences, entry.tags) == (pattern.title, 21, ("a", "b"))
    assert "**Suggestion:** No fix is known for `app/rate.rb`" in text
    assert "Found on 3 nights, first on 2031-03-01, last on 2031-03-03." in text
    assert "## Because\n\n- the same class on 3 nights" in text


def test_a_document_is_updated_and_not_doubled():
    first = pattern_document(coming_back(1, 2, 3))
    again = merge_pattern(coming_back(2, 3, 4), pattern_of(first, FILE))
    text = pattern_document(again, first)
    assert [night.day for night in pattern_of(text, FILE).nights] == [1, 2, 3, 4]
    assert (
        pattern_document(merge_pattern(coming_back(2, 3, 4), pattern_of(text, FILE)), text) == text
    )


def test_notes_of_people_are_kept_and_read():
    pattern = coming_back(1, 2, 3)
    noted = pattern_document(pattern) + "\n## Notes\n\nAsked the vendor.\n"
    again = pattern_document(merge_pattern(pattern, pattern_of(noted, FILE)), noted)
    assert again.endswith("\n## Notes\n\nAsked the vendor.\n")
    assert again.count("Asked the vendor.") == 1
    assert pattern_document(pattern, again) == again
    assert pattern_of(again, FILE).description.endswith("\n\nNotes: Asked the vendor.")


def test_what_people_wrote_is_a_systemic_issue():
    assert pattern_of("# Ask the vendor\n\nRates are late.\n", "patterns/by-hand.md") == Pattern(
        title="by-hand",
        description="# Ask the vendor\n\nRates are late.",
        pattern_type="systemic_issue",
    )
    assert pattern_of("---\ntitle: 2031\n---\n", FILE).title == "2031"
    assert pattern_of("", FILE) == Pattern(title="x", description="", pattern_type="systemic_issue")
    assert pattern_of("## Notes\n\nOnly this.\n", FILE).description == "Notes: Only this."


@pytest.mark.parametrize(("meta", "wrong"), TABLES["refusals"])
def test_what_no_pattern_holds_is_refused_with_the_reason(meta, wrong):
    for read in (pattern_of, pattern_entry):
        with pytest.raises(GiveUp, match=wrong):
            read(f"---\n{meta}\n---\n", FILE)


def test_huge_documents_are_bounded():
    rows = "".join(f"- v1:{n}\n" for n in range(5_000))
    text = f"---\nfingerprints:\n{rows}---\n{'word ' * 99_999}\n## Notes\n{'note ' * 99_999}"
    found = pattern_of(text, FILE)
    assert len(found.fingerprints) == 50
    assert len(found.description) < 3_200


TEXT = st.text(max_size=80)


@given(TEXT, TEXT, st.lists(TEXT, max_size=5), st.sets(st.dates(), max_size=5))
def test_every_pattern_is_read_back(title, told, listed, nights):
    pattern = Pattern(
        title=title,
        description=told,
        pattern_type="transient_noise",
        because=tuple(listed),
        modules=tuple(listed),
        fingerprints=tuple(listed),
        nights=tuple(sorted(nights)),
        rule="all_transient",
    )
    found = pattern_of(pattern_document(pattern), FILE)
    assert found.modules == pattern.modules
    assert found.fingerprints == pattern.fingerprints
    assert found.nights == pattern.nights
    assert found.because == pattern.because
