"""Where names are defined and used: by trees of eight languages, by lines where there is none."""

import pytest
from tables import tables_of

from nightwatch_core.code.definitions import class_around, definitions_in, uses_in

TABLES = tables_of(__file__)

SOURCES = TABLES["sources"]


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_and_uses_of_every_language(path):
    text, defined, used = SOURCES[path]
    found = [f"{one.name}:{one.kind}:{one.line}-{one.end}" for one in definitions_in(path, text)]
    assert " ".join(found) == defined
    total = next(
        one for one in definitions_in(path, text) if one.name.startswith(("total", "Total"))
    )
    names = dict.fromkeys(one.name for one in uses_in(path, text, total.line, total.end))
    assert " ".join(names) == used


def test_a_function_of_the_module_has_no_class_around_it():
    text = "class A:\n    def f(self):\n        pass\n\n\ndef g():\n    if 1:\n        pass\n"
    heads = [class_around("a.py", text, line) for line in (1, 2, 3, 6, 8)]
    assert [head.name if head else "" for head in heads] == ["", "A", "A", "", ""]


def test_strings_comments_and_calls_with_blocks_define_nothing():
    assert definitions_in("a.py", '"""\nclass A:\n    def b(): ...\n"""\n# def c():\n') == ()
    assert definitions_in("a.rb", "# def a\nget('/') { 1 }\nx = 'class B'\n") == ()
    assert definitions_in("a.js", "if (x) {\n}\nit('a', function () {\n  const y = 1;\n});\n") == ()
