"""Text on its way to Slack."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.adapters.slack import messages as slack_text

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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("&lt;!channel&gt;", "&amp;lt;!channel&amp;gt;"),
        ("<https://evil.example|your bank>", "`&lt;https://evil.example|your` bank&gt;"),
        ("call `rate_for(<x>)` twice", "call `rate_for(&lt;x&gt;)` twice"),
        ("one ` only", "one ˋ only"),
        ("https://a.example and user_id", "`https://a.example` and `user_id`"),
        ("@everyone @Here @dana", "@ everyone @ Here @dana"),
    ],
)
def test_prose_shows_what_was_written(text, shown):
    assert slack_text.mrkdwn(text) == shown


def test_a_cut_pair_of_backticks_formats_nothing():
    assert slack_text.mrkdwn("see `abcdefghijk` now", 10) == "see…"


def test_long_prose_says_that_it_goes_on():
    assert slack_text.prose("first line\n" * 50, 40) == "first line\nfirst line\nfirst line\nfirst…"


def test_code_shows_what_is_hidden():
    assert slack_text.code("a\u202eb") == "`a\\u202eb`"
    assert slack_text.fenced("if a\u200b:\n") == "```\nif a\\u200b:\n```"
