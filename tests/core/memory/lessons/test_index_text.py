"""index.yml is what a YAML library would write and read, only quicker."""

import hashlib
import string

import pytest
import yaml
from core.lesson_shapes import lesson, seen
from hypothesis import given, settings
from hypothesis import strategies as st

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.lessons.index_lines import entries_in, rendered
from nightwatch_core.memory.lessons.index_text import (
    END,
    entry_of,
    index_of,
    index_over,
    index_text,
)
from nightwatch_core.models.knowledge import Index, IndexEntry, PatternEntry
from nightwatch_core.text.frontmatter import StrictLoader, dumped

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


@settings(max_examples=400, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), TEXT | st.lists(TEXT), min_size=1)))
def test_lines_are_those_of_the_library_and_come_back(entries):
    text = rendered(entries)
    whole = dumped({"a": entries}) if entries else "a:\n"
    assert text == whole.partition("\n")[2].removesuffix("...\n")
    assert entries_in(text) == entries


@settings(max_examples=200, deadline=None)
@given(st.lists(ENTRY, max_size=4), st.lists(PATTERN, max_size=2))
def test_an_index_comes_back_and_the_library_reads_the_same(solutions, patterns):
    index = index_over(tuple(solutions), tuple(patterns))
    text = index_text(index)
    assert index_of(text) == index
    meta = yaml.load(text, StrictLoader)
    del meta["total_solutions"], meta["total_patterns"]
    assert Index.model_validate(meta) == index


def test_only_a_stale_lesson_says_so():
    fresh, stale = entry_of(lesson(file="a")), entry_of(lesson(file="b", stale="gone"))
    text = index_text(index_over((fresh, stale), ()))
    assert text.count("stale") == 1
    assert [one.stale for one in index_of(text).solutions] == [False, True]


WHOLE = index_text(
    index_over(tuple(entry_of(lesson(f"v1:{n}", file=f"f{n}", nights=seen(n))) for n in (1, 2)), ())
)


def signed(text):
    """The text as an index that says it is whole."""
    body = text.rpartition(END)[0] or text
    return f"{body}{END}{hashlib.sha256(body.encode()).hexdigest()[:16]}\n"


@pytest.mark.parametrize("cut", range(0, len(WHOLE), 37))
def test_no_part_of_an_index_is_taken_for_the_whole(cut):
    for torn in (WHOLE[:cut], WHOLE[cut + 1 :]):
        with pytest.raises(GiveUp, match="index: "):
            index_of(torn)


@pytest.mark.parametrize(
    "harm",
    [
        lambda text: text.replace("  has_fix: false\n", "  has_fix: false\n  has_fix: true\n", 1),
        lambda text: text.replace("- file: f1\n", "- &a file: f1\n", 1),
        lambda text: text.replace("- file: f1\n", "- file: *a\n", 1),
        lambda text: text.replace("- file: f1\n", "- file: !!python/name:os.system\n", 1),
        lambda text: text.replace("- file: f1\n", "- - file: f1\n", 1),
        lambda text: text.replace("- file: f1\n", "x\n- file: f1\n", 1),
        lambda text: text.replace("- file: f1\n", "- file: " + "[" * 50_000 + "\n", 1),
        lambda text: text.replace("  aliases: []\n", "  aliases:\n", 1),
        lambda text: text.replace("  aliases: []\n", "  aliases: {}\n", 1),
        lambda text: text.replace("  aliases: []\n", "  - aliases\n", 1),
        lambda text: text.replace("  aliases: []\n", "  weather: rain\n", 1),
        lambda text: text.replace("patterns: []\n", "patterns: []\nsolutions: []\n"),
        lambda text: text.replace("patterns: []\n", "patterns: []\nmore: []\n"),
    ],
)
def test_what_is_no_index_is_refused(harm):
    assert harm(WHOLE) != WHOLE
    with pytest.raises(GiveUp, match="index: "):
        index_of(harm(WHOLE))
    with pytest.raises(GiveUp, match="index: "):
        index_of(signed(harm(WHOLE)))


def test_an_index_in_another_layout_is_read_too():
    plain = signed(yaml.safe_dump(yaml.load(WHOLE, StrictLoader)))
    assert plain != WHOLE
    assert signed(WHOLE) == WHOLE
    assert index_of(plain) == index_of(WHOLE)
