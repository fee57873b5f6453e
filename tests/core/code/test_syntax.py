import pytest

from nightwatch_core.code.languages import PARSED_FILE
from nightwatch_core.code.syntax import complaint

SOUND = {
    "a.py": "def f(x: int) -> int:\n    return x\n",
    "a.rb": "class A\n  def b\n    @c ||= 1\n  end\nend\n",
    "a.js": "export const f = async (x) => { await g?.(x ?? 1); };\n",
    "a.ts": "interface A { b?: string }\nconst f = <T,>(x: T): T => x;\n",
    "a.tsx": "const A = (p: { x: number }) => <b>{p.x}</b>;\n",
    "A.java": "class A { int b() { return 1; } }\n",
    "a.go": "package a\n\nfunc B() error { return nil }\n",
    "a.php": "<?php\nclass A { public function b(): ?int { return 1; } }\n",
    "A.cs": "public class A { public int? B { get; set; } }\n",
    "a.json": '{"a": [1, null]}\n',
    "a.yml": "a:\n  - b: 1\n",
    "a.toml": "[a]\nb = 1\n",
}
BROKEN = {
    "a.py": ("def f(:\n", "line 1"),
    "a.rb": ("class A\n  def b\n    1\n  end\n", "line"),
    "a.js": ("const f = (x => {\n", "line"),
    "a.ts": ("x = 1;\ny = 2;\ninterface A { b?: }\n", "line 3"),
    "a.tsx": ("const A = <b>{</b>;\n", "line"),
    "A.java": ("class A { int b() { return 1; }\n", "line"),
    "a.go": ("package a\n\nfunc B( error {}\n", "line 3"),
    "a.php": ("<?php\nclass A { function b( { } }\n", "line 2"),
    "A.cs": ("public class A { public int B { get; }\n", "line"),
    "a.json": ('{"a": }', "line 1"),
    "a.yml": ("a: [1\nb: 2\n", "line 2"),
    "a.toml": ("a = \n", "line 1"),
}


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
