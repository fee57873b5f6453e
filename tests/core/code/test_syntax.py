import pytest

from nightwatch_core.code.languages import GRAMMARS, PARSED_FILE
from nightwatch_core.code.syntax import complaint

SOUND = {
    "a.py": "def f(x: int) -> int:\n    return x\n",
    "a.pyi": "def f(x: int) -> int: ...\n",
    "a.rb": "class A\n  def b\n    @c ||= 1\n  end\nend\n",
    "lib/tasks/a.rake": "task :a do\n  puts 1\nend\n",
    "config.ru": "run App\n",
    "a.jbuilder": "json.name @a.name\n",
    "a.js": "export const f = async (x) => { await g?.(x ?? 1); };\n",
    "a.jsx": "const A = () => <b>{x}</b>;\n",
    "a.mjs": "import a from 'a';\n",
    "a.cjs": "const a = require('a');\n",
    "a.ts": "interface A { b?: string }\nconst f = <T,>(x: T): T => x;\n",
    "a.mts": "export type A = 'b';\n",
    "a.cts": "const a: number = 1;\n",
    "a.tsx": "const A = (p: { x: number }) => <b>{p.x}</b>;\n",
    "A.java": "class A { int b() { return 1; } }\n",
    "a.go": "package a\n\nfunc B() error { return nil }\n",
    "a.php": "<?php\nclass A { public function b(): ?int { return 1; } }\n",
    "page.php": "<h1><?= $title ?></h1>\n",
    "A.cs": "public class A { public int? B { get; set; } }\n",
    "a.json": '{"a": [1, null]}\n',
    "a.yml": "a:\n  - b: 1\n",
    "a.yaml": "a: &x 1\nb: *x\n",
    "a.toml": "[a]\nb = 1\n",
}
BROKEN = {
    "a.py": ("def f(:\n", "line 1"),
    "a.pyi": ("class A\n", "line 1"),
    "a.rb": ("class A\n  def b\n    1\n  end\n", "line"),
    "lib/tasks/a.rake": ("task :a do\n", "line"),
    "config.ru": ("run App)\n", "line 1"),
    "a.jbuilder": ("json.name(\n", "line"),
    "a.js": ("const f = (x => {\n", "line"),
    "a.jsx": ("const A = () => <b>{x}</c>;\n<", "line"),
    "a.mjs": ("import from from;;)\n", "line 1"),
    "a.cjs": ("const = 1;\n", "line 1"),
    "a.ts": ("x = 1;\ny = 2;\ninterface A { b?: }\n", "line 3"),
    "a.mts": ("export type = 'b';\n", "line 1"),
    "a.cts": ("const a: = 1;\n", "line 1"),
    "a.tsx": ("const A = <b>{</b>;\n", "line"),
    "A.java": ("class A { int b() { return 1; }\n", "line"),
    "a.go": ("package a\n\nfunc B( error {}\n", "line 3"),
    "a.php": ("<?php\nclass A { function b( { } }\n", "line 2"),
    "page.php": ("<?php if ($a { ?>x<?php } ?>\n", "line 1"),
    "A.cs": ("public class A { public int B { get; }\n", "line"),
    "a.json": ('{"a": }', "line 1"),
    "a.yml": ("a: [1\nb: 2\n", "line 2"),
    "a.yaml": ("a: b: c\n", "mapping values"),
    "a.toml": ("a = \n", "line 1"),
}


def test_every_language_is_tried_here():
    tried = {"." + path.rsplit(".", 1)[-1] for path in SOUND}
    assert {ending for endings, _, _ in GRAMMARS for ending in endings} <= tried
    assert set(SOUND) == set(BROKEN)


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
