import pytest
from tables import tables_of

from nightwatch_core.code.languages import PARSED_FILE
from nightwatch_core.code.syntax import complaint

TABLES = tables_of(__file__)

SOUND = TABLES["sound"]
BROKEN = TABLES["broken"]


@pytest.mark.parametrize("path", SOUND)
def test_sound_files_parse(path):
    assert complaint(path, SOUND[path]) == ""
    assert complaint(path, "") == "" or path.endswith(".json")


@pytest.mark.parametrize("path", BROKEN)
def test_broken_files_do_not(path):
    text, words = BROKEN[path]
    why = complaint(path, text, SOUND[path])
    assert why.startswith(f"{path} does not parse: ")
    assert words in why


@pytest.mark.parametrize("path", BROKEN)
def test_a_file_that_was_broken_before_is_not_held_against_the_change(path):
    text, _ = BROKEN[path]
    assert complaint(path, text, text) == ""
    assert complaint(path, SOUND[path], text) == ""


@pytest.mark.parametrize(
    "path", ["a.txt", "Makefile", "a", "", "a.", ".py/x", "a.html.erb", "a.md"]
)
def test_what_no_parser_knows_is_not_judged(path):
    assert complaint(path, "((( <<< {{{") == ""


@pytest.mark.parametrize(
    "text",
    [
        *("return 1\n", "def f():\n    x = await g()\n", "def f(a, a):\n    pass\n", "break\n"),
        *("def f():\n    nonlocal x\n", "def f():\n    x = 1\n    global x\n", "*a = 1\n"),
    ],
)
def test_what_parses_and_cannot_be_compiled_is_broken(text):
    assert "line" in complaint("a.py", text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "(" * 100_000),
        ("a.py", "-" * 100_000 + "1"),
        ("a.py", "x" + ".a" * 100_000),
        ("a.rb", "x = {" * 9_000),
        ("a.js", "(" * 40_000),
        ("a.json", "[" * 400_000),
        ("a.yml", "[" * 90_000),
        ("a.toml", "a=" + "[" * 90_000),
    ],
)
def test_deep_files_do_not_parse_and_break_nothing(path, text):
    assert "does not parse" in complaint(path, text)


def test_a_file_too_large_to_check_is_said_to_be():
    large = "x = 1\n" * PARSED_FILE
    assert "too large to be checked" in complaint("a.py", large, large)
    assert complaint("a.txt", large) == ""
