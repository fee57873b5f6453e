"""One entry more in CLAUDE.md: everything else stays, byte for byte, whatever the file is like."""

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.claude_md import COMMENT, GROUPS, statements, with_entry

ENTRY = "- **Edge has no fs** - Use KV. (from t, 2026-01-26)"
HAND_WRITTEN = """# Shop

Intro.

## learnings ##

We write them by hand.

### Gotchas
- mine
### Team
Nobody.

## After

Text.
"""


def headings(text):
    """Level and words of every heading, as a real parser sees them."""
    tokens = MarkdownIt().parse(text)
    return [
        (token.tag, tokens[at + 1].content)
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    ]


def only_additions(before, after):
    """Whether `after` is `before` with text put in, nothing taken out."""
    rest = iter(after)
    return all(character in rest for character in before)


def test_an_empty_file_becomes_the_section_alone():
    assert with_entry("", "Gotchas", ENTRY) == (
        f"## Learnings\n\n{COMMENT}\n\n### Gotchas\n\n{ENTRY}\n"
    )


def test_the_section_is_made_at_the_end():
    after = with_entry("# Shop\n\nText.\n", "Problems", ENTRY)
    assert after == (f"# Shop\n\nText.\n\n## Learnings\n\n{COMMENT}\n\n### Problems\n\n{ENTRY}\n")


def test_entries_are_apart_and_groups_in_order():
    text = ""
    for group, entry in (("Decisions", "- d"), ("Problems", "- p"), ("Gotchas", "- g")):
        text = with_entry(text, group, entry)
    text = with_entry(text, "Problems", "- q")
    assert text == (
        f"## Learnings\n\n{COMMENT}\n\n### Problems\n\n- p\n\n- q\n\n### Gotchas\n\n- g\n\n"
        "### Decisions\n\n- d\n"
    )


def test_hand_written_sections_are_respected():
    after = with_entry(HAND_WRITTEN, "Gotchas", ENTRY)
    assert f"- mine\n\n{ENTRY}\n\n### Team\nNobody." in after
    after = with_entry(after, "Decisions", "- d")
    assert "### Team\nNobody.\n\n### Decisions\n\n- d\n\n## After\n\nText.\n" in after
    after = with_entry(after, "Problems", "- p")
    assert "by hand.\n\n### Problems\n\n- p\n\n### Gotchas\n" in after
    assert COMMENT not in after  # what people wrote is not called generated
    assert [tag for tag, name in headings(after) if name.lower() == "learnings"] == ["h2"]


def test_carriage_returns_and_a_missing_last_newline_are_kept():
    before = "# Shop\r\n\r\nText."
    after = with_entry(before, "Gotchas", ENTRY)
    assert after.startswith(f"{before}\r\n\r\n## Learnings\r\n\r\n")
    assert after.endswith(ENTRY)
    assert "\n" not in after.replace("\r\n", "")


def test_a_byte_order_mark_stays_in_front():
    assert with_entry("\ufeff## Learnings\n", "Gotchas", ENTRY).startswith(
        "\ufeff## Learnings\n\n#"
    )
    assert with_entry("\ufeff", "Gotchas", ENTRY).startswith("\ufeff## Learnings\n")


@pytest.mark.parametrize(
    "decoy",
    [
        "```\n## Learnings\n### Gotchas\n```\n",
        "~~~~md\n## Learnings\n~~~\n### Gotchas\n~~~~\n",
        "- item\n  ```\n  ## Learnings\n  ```\n",
        "<!--\n## Learnings\n### Gotchas\n-->\n",
        "    ## Learnings\n",
        "##Learnings\n",
        "### Learnings\n",
        "## Learnings from 2024\n",
        "Learnings\n",
    ],
)
def test_what_only_looks_like_the_section_is_none(decoy):
    after = with_entry(decoy, "Gotchas", ENTRY)
    assert after == f"{decoy}\n## Learnings\n\n{COMMENT}\n\n### Gotchas\n\n{ENTRY}\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [("a\n```\nb\n", "code block that begins in line 2"), ("<!-- a\n", "comment that begins in")],
)
def test_an_open_block_is_refused(text, what):
    with pytest.raises(GiveUp, match=what):
        with_entry(text, "Gotchas", ENTRY)


PIECES = st.sampled_from(
    [
        *(
            "\n",
            "\r\n",
            " ",
            "# A",
            "## Learnings",
            "### Problems",
            "### Gotchas",
            "text",
            "- item",
        ),
        *("```", "~~~", "<!-- c -->", "<!--", "-->", "---", "===", "1. one", "> quote", "\ufeff"),
        *("    code", "\t", "\u2028", "## After", "|a|b|", "`x`", "ü", "\0"),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join), st.lists(st.sampled_from(GROUPS), max_size=4))
def test_nothing_is_taken_out_and_twice_is_once(before, groups):
    text = before
    try:
        for number, group in enumerate(groups):
            text = with_entry(text, group, f"- **{number}** - Entry. (from t, 2026-01-26)")
    except GiveUp:
        return
    assert only_additions(before, text)
    for number, group in enumerate(groups):
        assert with_entry(text, group, f"- **{number}** - Entry. (from t, 2026-01-26)") == text


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["# A\n", "text\n", "\n", "- item\n", "> q\n", "```\ncode\n```\n"]))
)
def test_a_parser_finds_the_section(parts):
    before = "".join(parts)
    after = with_entry(before, "Gotchas", ENTRY)
    assert headings(after) == [*headings(before), ("h2", "Learnings"), ("h3", "Gotchas")]
    new = [
        row[2:] for row in difflib.ndiff(before.splitlines(), after.splitlines()) if row[0] == "+"
    ]
    assert ENTRY in new


def test_statements_are_items_paragraphs_and_sentences():
    text = (
        "# A\n\nOne. Two is\nlonger. Three.\n\n- **H** - item\n  goes on. (from t, 2026-01-01)\n"
        "1. first\n```\nnot this\n```\n<!-- nor this -->\n"
    )
    assert statements(text) == (
        *("One. Two is longer. Three.", "One.", "Two is longer.", "Three."),
        *("**H** - item goes on.", "first"),
    )


def test_a_file_left_open_can_still_be_read():
    assert statements("- said\n```\ncode\n") == ("said",)
