"""Code as it is shown: exact, and nothing in it unseen."""

import pytest

from nightwatch_core.code.code_view import around, as_written, lines_of, name, numbered, visible
from nightwatch_core.models.answer import Edit


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\tx = 'é – 日本'  ", "\tx = 'é – 日本'  "),
        ("a\u200bb", "a\\u200bb"),
        ("a\u2028b\x85c", "a\\u2028b\\x85c"),
        ("\x1b[31m\x00\x0c", "\\x1b[31m\\x00\\x0c"),
        ("a\rb", "a\\rb"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\ufffd"),
        ("⚠️ 👩‍💻 1️⃣", "⚠️ 👩‍💻 1️⃣"),
        ("a\ufe0f\u200db", "a\\ufe0f\\u200db"),
        ("⚠\ufe0f\ufe0f", "⚠️\\ufe0f"),
        ("", ""),
    ],
)
def test_hidden_characters_are_seen_and_others_are_as_they_were(text, seen):
    assert visible(text) == seen


def test_lines_are_those_of_compilers():
    assert lines_of("\ufeffusing X;\r\n\r\nb\u2028c\x0cd") == ("using X;", "", "b\u2028c\x0cd")
    assert lines_of("a\n\n") == ("a", "")


def test_rows_and_names():
    assert list(numbered(("a", ""), 99_999)) == ["99999| a", "100000| "]
    assert name("a/\u202eb\tc\nd") == "a/\\u202eb\\tc\\nd"


def test_the_part_around():
    line = f"{'a' * 400}needle{'b' * 400}"
    assert around(line, "needle", 20) == "…aaaaaaaneedlebbbbbbb…"
    assert around(line, "a" * 90, 20).startswith("aaaa")
    assert around(line, "gone", 20) == f"{'a' * 20}…"
    assert around(line, "bbb\u202e", 5_000) == line


@pytest.mark.parametrize(
    ("old", "new", "text", "becomes"),
    [
        ("x\\u200b = 1", "x = 1", "x\u200b = 1\n", ("x\u200b = 1", "x = 1")),
        ("x\\u200b\\u0041", "y", "x\u200b\\u0041", ("x\u200b\\u0041", "y")),
        ("'\\u200b'", "'\\u200c'", "re = '\\u200b'", ("'\\u200b'", "'\\u200c'")),  # code says so
        ("gone\\u200b", "x\\u200b", "other", ("gone\\u200b", "x\\u200b")),
        ("", "\\u200b", "a", ("", "\\u200b")),
        ("a", "b", None, ("a", "b")),
        ("a\\x0c\nb", "c", "a\x0c\r\nb", ("a\x0c\nb", "c")),
    ],
)
def test_an_edit_in_what_was_shown_becomes_one_in_what_is_there(old, new, text, becomes):
    edit = as_written(Edit(path="a", old=old, new=new), text)
    assert (edit.old, edit.new) == becomes
