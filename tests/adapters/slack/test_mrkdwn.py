"""Text on its way to Slack."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.adapters.slack import mrkdwn as slack_text

TABLES = tables_of(__file__)

PIECES = (
    "<",
    ">",
    "&",
    "`",
    "!channel",
    "@U123",
    "#C1",
    "|",
    "https://evil.example",
    "\n",
    "@here",
)
PIECES += ("mailto:a@b.example", "\u202e", "\ud800", "😀", "é", " ", "*", "&lt;", "```", "x" * 50)
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join)


@given(HOSTILE, st.integers(20, 200))
def test_no_text_leaves_its_place(text, limit):
    for make in (slack_text.mrkdwn, slack_text.prose, slack_text.code, slack_text.fenced):
        made = make(text, limit)
        assert slack_text.size(made) <= limit
        assert not re.search("[<>]", made)
        assert re.fullmatch(r"(?:[^&]|&(?:amp|lt|gt);)*", made), "every entity is whole"
        outside = re.sub(r"```\n[^`]*\n```|`[^`\n]+`", "", made)
        assert "`" not in outside
        assert "://" not in outside
    shown = slack_text.plain(text, limit)
    assert slack_text.size(shown) <= limit
    assert not re.search(r"<[!@#]|://|@(?:here|channel|everyone)\b", shown)
    shown.encode()


@given(HOSTILE)
def test_a_link_has_one_address_and_it_is_ours(text):
    made = slack_text.link(text, "https://git.example/1?a=b&c=d")
    assert re.fullmatch(r"<https://git\.example/1\?a=b&amp;c=d\|[^<>|`]+>", made)
    assert "<" not in slack_text.link("#1", f"javascript:{text}")


@pytest.mark.parametrize(("text", "shown"), TABLES["test_prose_shows_what_was_written"])
def test_prose_shows_what_was_written(text, shown):
    assert slack_text.mrkdwn(text) == shown


def test_a_cut_pair_of_backticks_formats_nothing():
    assert slack_text.mrkdwn("see `abcdefghijk` now", 10) == "see…"


def test_long_prose_says_that_it_goes_on():
    assert slack_text.prose("first line\n" * 50, 40) == "first line\nfirst line\nfirst line\nfirst…"


def test_code_shows_what_is_hidden():
    assert slack_text.code("a\u202eb") == "`a\\u202eb`"
    assert slack_text.fenced("if a\u200b:\n") == "```\nif a\\u200b:\n```"
