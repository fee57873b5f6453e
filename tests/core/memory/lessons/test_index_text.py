"""index.yml is what a YAML library would write, only quicker."""

import string

import pytest
import yaml
from core.lesson_shapes import lesson
from hypothesis import given, settings
from hypothesis import strategies as st

from nightwatch_core.memory.index import entry_of, index_over, index_text
from nightwatch_core.models.knowledge import Index, IndexEntry, PatternEntry
from nightwatch_core.text.frontmatter import StrictLoader

ODD = (
    "yes", "No", "null", "~", "", " x", "x ", "a: b", "a:b", "Billing::RateMissing", "x#y", "x #y",
    "GET /orders/{id}", "- x", "-x", "404", "1e3", "0x1f", "1_000", "12:30:45", "2031-03-01",
    "a\nb", "\ttab", "'", '"', "\\", "#", "%x", "@x", "`x", "a,b", "[a]", "{a}", "&a", "*a", "!a",
    "|", ">", "?", "=", "<<", ".inf", "x:", ":x", "\u65e5\u672c", "\x85", "\u2028", "\U0001f600",
    "e.g. x", "a - b", "a  b", "true", "---", "...", "# end", "patterns:", "a\npatterns:\n- x",
)  # fmt: skip
TEXT = st.sampled_from(ODD) | st.text(max_size=12) | st.text(string.printable, max_size=12)
ENTRY = st.builds(
    IndexEntry,
    file=TEXT,
    fingerprint=TEXT,
    error_class=TEXT,
    transaction=TEXT,
    tags=st.lists(TEXT, max_size=3).map(tuple),
    aliases=st.lists(TEXT, max_size=2).map(tuple),
    last_seen=st.none() | st.dates(),
    stale=st.booleans(),
)
PATTERN = st.builds(
    PatternEntry, file=TEXT, title=TEXT, occurrences=st.integers(), tags=st.just(())
)


@settings(max_examples=200)
@given(st.lists(ENTRY, max_size=4), st.lists(PATTERN, max_size=2))
@pytest.mark.slow
def test_a_library_reads_what_was_written(solutions, patterns):
    index = index_over(tuple(solutions), tuple(patterns))
    meta = yaml.load(index_text(index), StrictLoader)
    counts = [meta.pop("total_solutions"), meta.pop("total_patterns")]
    assert counts == [len(solutions), len(patterns)]
    assert Index.model_validate(meta) == index


def test_only_a_stale_lesson_says_so():
    fresh, stale = entry_of(lesson(file="a")), entry_of(lesson(file="b", stale="gone"))
    text = index_text(index_over((fresh, stale), ()))
    assert text.count("stale") == 1
    assert text.index("stale") > text.index("file: b")
