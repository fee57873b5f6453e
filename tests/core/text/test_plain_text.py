import pytest

from nightwatch_core.text.plain_text import digest, fixed_folder, matches, text_lines


def test_lines_are_counted_like_interpreters_count():
    assert text_lines("") == ()
    assert text_lines("a\u2028b\x0cc\nd") == ("a\u2028b\x0cc", "d")


def test_digests_tell_texts_apart():
    assert digest("a") == digest("a") != digest("b")
    assert digest("") != digest(None) == ""
    assert len(digest("\ud800")) == 12


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.py", "a/b/c.py", True),
        ("c.py", "a/b/c.py", True),
        ("*.py", "c.pyc", False),
        ("a/*.py", "a/c.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**", "a/b/c.py", True),
        ("a/**/c.py", "a/c.py", True),
        ("**/c.py", "c.py", True),
        ("**", "a/b", True),
        ("a/**/b/**/c", "a/x/b/y/z/c", True),
        ("./a/?.py", "a/c.py", True),
        ("/a/*.py", "a/c.py", True),
        ("*.{js,ts}", "a/c.ts", True),
        ("{a,b}/{c,d}.py", "b/d.py", True),
        ("[ab]*.py", "x/b1.py", True),
        ("a/*", "A/c", False),
        ("{", "a", False),
        ("[", "a", False),
        ("", "a", False),
    ],
)
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
