import pytest
from tables import tables_of

from nightwatch_core.text.plain_text import digest, fixed_folder, matches, text_lines

TABLES = tables_of(__file__)


def test_lines_are_counted_like_interpreters_count():
    assert text_lines("") == ()
    assert text_lines("a\u2028b\x0cc\nd") == ("a\u2028b\x0cc", "d")


def test_digests_tell_texts_apart():
    assert digest("a") == digest("a") != digest("b")
    assert digest("") != digest(None) == ""
    assert len(digest("\ud800")) == 12


@pytest.mark.parametrize(("glob", "path", "fits"), TABLES["what_a_glob_stands_for"])
def test_what_a_glob_stands_for(glob, path, fits):
    assert matches(path, glob) is fits


def test_hostile_globs_end():
    path = "/".join(["a" * 200] * 40)
    for glob in ("*a" * 50, "**/" * 33, "{a,b}" * 20, "[" * 100, "*/" * 50, "{" * 50 + "}" * 50):
        assert matches(path, glob) in (True, False)


def test_the_folder_a_glob_is_in():
    assert [fixed_folder(glob) for glob in ("/a/b/*.py", "../a/*", "a/../b/c", "a.py", "")] == [
        *("a/b", "", "a", "", "")
    ]
