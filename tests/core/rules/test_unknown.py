"""Tests of names and members that are not there: only what is proved of them is said."""

import pytest
from small_repo import answered

PROJECT = "class Project:\n    def open(self):\n        self.board = 1\n"
BOARD = "'Project' object has no attribute 'board'"


def member(files, message=BOARD):
    page = "def page(project):\n    return project.board «f»\n"
    files = {"shop/page.py": page, **files}
    return answered("AttributeError", message, files, ("shop/page.py", "f", "page"))


@pytest.mark.parametrize(
    "more",
    [
        {"shop/old.py": "class Project:\n    board = 1\n"},  # a second class of the name
        {"shop/set.py": "def f(project):\n    project.board = 2\n"},
        {"shop/set.py": "def f(project):\n    setattr(project, 'board', 2)\n"},
    ],
)
def test_a_second_definition_or_setter_makes_it_not_known(more):
    answer = member({"shop/project.py": PROJECT, **more})
    assert answer.root_cause == "Cause unknown: why `Project` has no `board`."
    assert answer.confidence == "low"


def test_a_name_that_another_type_has_tells_nothing():
    other = {"shop/project.py": "class Project:\n    name = 1\n"}
    other["shop/team.py"] = "class Team:\n    def board(self):\n        return 1\n"
    answer = member(other)
    assert answer.root_cause == "Cause unknown: why `Project` has no `board`."
    assert "shop/team.py" not in answer.model_dump_json()


@pytest.mark.parametrize(
    ("error", "line", "shown"),
    [
        ("NoMethodError: undefined method `windows?' for Puma:Module", "Puma.windows?", True),
        ("NoMethodError: undefined method `windows?' for an instance of Puma", "x.windows?", False),
        ("NameError: uninitialized constant Puma::VERSION", "x = VERSION", True),
        ("NameError: uninitialized constant Gem::VERSION", "x = Gem::VERSION", False),
    ],
)
def test_a_definition_is_shown_where_the_name_alone_decides(error, line, shown):
    files = {"b.rb": "module Puma\n  VERSION = 1\n  def windows?\n    1\n  end\nend\n"}
    files["a.rb"] = f"{line} «f»\n"
    error_class, _, message = error.partition(": ")
    answer = answered(error_class, message, files, ("a.rb", "f", "f"), language="ruby")
    assert ("b.rb:" in " ".join(answer.handover.look_at)) == shown


VALUES = "name 'values' is not defined"


def name(code, message=VALUES, **others):
    files = {"shop/a.py": code, **{f"shop/{one}.py": text for one, text in others.items()}}
    return answered("NameError", message, files, ("shop/a.py", "f", "show"))


def test_a_name_that_nothing_visible_defines():
    code = "from five import items\n\n\ndef show(d):\n    return values(d) «f»\n"
    other = {"multi": "class M:\n    def values(self):\n        return 1\n"}
    answer = name(code, **other, b="from five import items, values\n")
    assert answer.root_cause == (
        "shop/a.py:5 uses `values`, and nothing that it can see in shop/a.py defines or imports "
        "it; shop/b.py:1 has `from five import items, values`."
    )
    assert "multi" not in answer.root_cause


@pytest.mark.parametrize(
    ("row", "language", "binds"),
    [
        ("from b import c, values", "py", True),
        ("from values import b", "py", False),
        ("from b import values as c", "py", False),
        ("x = f(values)", "py", False),
        ("const { values } = require('./b');", "js", True),
        ("import values from './b';", "js", True),
        ("require('./b')(values);", "js", False),
    ],
)
def test_only_a_line_that_imports_the_name_itself_is_quoted(row, language, binds):
    code = {"py": "def show(d):\n    return values(d) «f»\n"}
    code["js"] = "function show(d) {\n  return values(d); «f»\n}\n"
    message = {"py": VALUES, "js": "values is not defined"}[language]
    error, name_of = {"py": ("NameError", "python"), "js": ("ReferenceError", "javascript")}[
        language
    ]
    files = {f"a.{language}": code[language], f"b.{language}": f"{row}\n"}
    frames = ((f"a.{language}", "f", "show"),)
    answer = answered(error, message, files, *frames, language=name_of)
    assert (f"b.{language}:1 has" in answer.root_cause) == binds


@pytest.mark.parametrize(
    "code",
    [
        "from five import *\n\ndef show(d):\n    return values(d) «f»\n",
        "if DEBUG:\n    values = 1\n\ndef show(d):\n    return values(d) «f»\n",
        "def make(values):\n    def show(d):\n        return values(d) «f»\n    return show\n",
        "if TYPING:\n    from five import values\n\ndef show(d):\n    return values(d) «f»\n",
    ],
)
def test_a_name_that_something_may_define_is_not_known(code):
    assert name(code).root_cause == "Cause unknown: what `values` stands for."


def test_a_variable_of_another_function_is_not_visible():
    code = "def make(d):\n    values = d\n\ndef show(d):\n    return values(d) «f»\n"
    assert "nothing that it can see" in name(code).root_cause


def test_a_reopened_class_of_the_language_has_more_than_the_repository_shows():
    files = {"a.rb": "class String\n  def shout\n    upcase\n  end\nend\n\nx.shoot «f»\n"}
    message = "undefined method `shoot' for an instance of String"
    answer = answered("NoMethodError", message, files, ("a.rb", "f", "f"), language="ruby")
    assert answer.handover.value == "`x` is of type `String`"
    assert not answer.has_fix


def test_a_parameter_that_is_no_function_is_not_called_undefined():
    files = {"a.js": "function f(callback) {\n  callback(1); «f»\n}\n"}
    message = "callback is not a function"
    answer = answered("TypeError", message, files, ("a.js", "f", "f"), language="javascript")
    assert answer.root_cause == "Cause unknown: why `callback` is not a function."
    files["b.js"] = "const o = { trim: function () {} };\nvar trim = 1;\n"
    files["a.js"] = files["a.js"].replace("callback(1)", "callback.trim(1)")
    message = "callback.trim is not a function"
    answer = answered("TypeError", message, files, ("a.js", "f", "f"), language="javascript")
    assert answer.root_cause == "Cause unknown: why `callback` has no `trim`."
    assert "b.js" not in " ".join(answer.handover.look_at)
