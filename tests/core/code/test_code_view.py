"""Code as it is shown: exact, and nothing in it unseen."""

import pytest
from tables import tables_of

from nightwatch_core.code.code_view import QUOTE_NEAR, as_written, lines_of, verified, visible
from nightwatch_core.models.answer import Edit, Evidence

TABLES = tables_of(__file__)


@pytest.mark.parametrize(
    ("text", "seen"),
    [*TABLES["hidden_characters_are_seen_and_others_are_as_they_were"], ("\ud800", "\ufffd")],
)
def test_hidden_characters_are_seen_and_others_are_as_they_were(text, seen):
    assert visible(text) == seen


def test_lines_are_those_of_compilers():
    assert lines_of("\ufeffusing X;\r\n\r\nb\u2028c\x0cd") == ("using X;", "", "b\u2028c\x0cd")
    assert lines_of("a\n\n") == ("a", "")


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


TEXT = TABLES["text"]


def found(quote, line, text=TEXT, path="cart.rb"):
    return verified(Evidence(path=path, line=line, quote=quote), text)


@pytest.mark.parametrize(
    ("quote", "line", "right"),
    [
        *TABLES["a_quote_is_found_and_its_line_put_right"],
        ("line.price * line.count", 4 + QUOTE_NEAR, 4),
    ],
)
def test_a_quote_is_found_and_its_line_put_right(quote, line, right):
    one = found(quote, line)
    assert (one.verified, one.line) == (True, right)


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        *TABLES["what_does_not_stand_there_is_not_verified"],
        ("line.price * line.count", 5 + QUOTE_NEAR),
    ],
)
def test_what_does_not_stand_there_is_not_verified(quote, line):
    one = found(quote, line)
    assert (one.verified, one.line) == (False, line)


def test_a_missing_file_and_a_path_that_leaves_the_tree_verify_nothing():
    assert not found("class Cart", 1, None).verified
    for path in ("../cart.rb", "/etc/passwd", "a\\b", "a\0", "", "\ud800"):
        assert not found("class Cart", 1, TEXT, path).verified
    assert found("class Cart", 1, TEXT, "./app//cart.rb").path == "app/cart.rb"
