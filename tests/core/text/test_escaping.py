"""Untrusted text on its way out."""

import re
import unicodedata
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tables import tables_of

from nightwatch_core.text.escaping import (
    block,
    clean,
    code_span,
    fenced,
    is_web,
    line,
    link,
    markdown,
    shown,
    title,
)

TABLES = tables_of(__file__)

NASTY = st.lists(st.sampled_from(TABLES["nasty"]), max_size=25).map("".join)


class Rendered(HTMLParser):
    """Tags, and the text in and outside of code, of rendered Markdown."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.plain = self.coded = ""
        self._depth = 0
        self.feed(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(source))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        self._depth += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag == "code"

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.coded += data
        else:
            self.plain += data


def letters(text: str) -> str:
    """Text without what inline code may cost: its backticks, and spaces."""
    return re.sub(r"[`\s]", "", text)


@settings(max_examples=400, deadline=None)
@given(NASTY)
def test_markdown_renders_as_the_text_and_does_nothing(text: str) -> None:
    page = Rendered(f"- x {markdown(text)}")
    assert page.tags <= {"ul", "li", "code"}
    assert not re.search(r"@\w|#\d|://|www\.|GH-\d", page.plain)
    both = Rendered(f"x {markdown(text)}")
    assert sorted(letters(both.plain + both.coded)) == sorted("x" + letters(line(text, 2_000)))


@settings(max_examples=200, deadline=None)
@given(NASTY)
def test_a_line_of_its_own_stays_a_paragraph(text: str) -> None:
    assert Rendered(markdown(text)).tags <= {"p", "code"}


@settings(max_examples=200, deadline=None)
@given(NASTY)
def test_a_table_cell_stays_a_cell(text: str) -> None:
    source = f"| a | b |\n|---|---|\n| {markdown(text, cell=True)} | {code_span(text, cell=True)} |"
    html = MarkdownIt("commonmark").enable("table").render(source)
    cells = re.findall(r"<td>(.*?)</td>", html)
    prose, code = (letters(unescape(re.sub(r"<[^>]+>", "", cell))) for cell in cells)
    assert sorted(prose.replace("¦", "|")) == sorted(letters(line(text, 2_000)))
    assert code.replace("¦", "|") == letters(line(shown(text)))
    assert html.count("<tr>") == 2


@settings(max_examples=200, deadline=None)
@given(NASTY)
@pytest.mark.slow
def test_nothing_leaves_a_fence(text: str) -> None:
    page = Rendered(f"before\n\n{fenced(text)}\n\nafter")
    assert page.tags <= {"p", "pre", "code"}
    assert letters(page.plain) == "beforeafter"


@pytest.mark.parametrize(("text", "expected"), TABLES["markdown_is_readable_too"])
def test_markdown_is_readable_too(text: str, expected: str) -> None:
    assert markdown(text) == expected


def test_titles_ping_and_close_nothing() -> None:
    text = title("fixes #12, closes GH-7, https://git.example/a/issues/3 by @dana\nsecond line")
    assert not re.search(r"@\w|#\d|GH-\d|://", text)
    assert "\n" not in text
    assert len(title("x" * 500)) == 120


def test_clean_leaves_nothing_that_cannot_be_seen() -> None:
    every = "".join(map(chr, range(0x110000)))
    kept = clean(every)
    hidden = {c for c in kept if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")}
    assert hidden == {"\t", "\n"}
    directing = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"}
    left = {c for c in kept if unicodedata.bidirectional(c) in directing}
    assert left <= {chr(p) for p in range(0x110000) if (p & 0xFFFF) >= 0xFFFE}  # noncharacters


def test_terminal_sequences_vanish_whole() -> None:
    assert (
        clean("a\x1b[1;31mb\x1b]8;;https://evil.example\x1b\\c\x1b]0;title\x07d\x1bMe") == "abcde"
    )


def test_hidden_characters_are_seen_in_code() -> None:
    assert shown("x\u202ey\u200bz\x00") == "x\\u202ey\\u200bz\\x00"
    assert "\\u202e" in fenced("if admin\u202e")
    assert "\\U000e0041" in code_span("tag\U000e0041")


def test_long_text_is_bounded_and_says_so() -> None:
    long = "word " * 400_000
    assert len(line(long)) == 300
    assert block(long, 100).endswith("… 1,999,900 more characters")
    assert len(markdown(long)) <= 2_000
    assert len(fenced("`" * 1_000_000, limit=1_000)) < 4_000


def test_bots_see_no_command_at_the_start_of_a_line() -> None:
    assert not re.search(r"(?m)^/\w", fenced("ok\n/approve\n/merge now"))
    assert "// comment" in fenced("// comment").splitlines()


@pytest.mark.parametrize("address", TABLES["only_plain_web_addresses_become_links"])
def test_only_plain_web_addresses_become_links(address: str) -> None:
    assert not is_web(address)
    assert "a" not in Rendered(link("name", address)).tags


def test_a_link_cannot_be_left_by_its_name() -> None:
    html = MarkdownIt().render(link("x](https://evil.example) [y", "https://git.example/1"))
    assert re.findall(r'href="([^"]+)"', html) == ["https://git.example/1"]
