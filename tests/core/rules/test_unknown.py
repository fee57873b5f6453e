"""Tests of names and members that are not there: only what is proved of them is said."""

import pytest
from marked_code import answered

PROJECT = "class Project:\n    def open(self):\n        self.board = 1\n"
BOARD = "'Project' object has no attribute 'board'"


def member(files, message=BOARD):
    page = "def page(project):\n    return project.board «f»\n"
    files = {"shop/page.py": page, **files}
    return answered("AttributeError", message, files, ("shop/page.py", "f", "page"))


def test_an_attribute_that_only_another_method_sets_was_not_set_yet():
    answer = member({"shop/project.py": PROJECT})
    assert answer.handover is None
    assert answer.root_cause.startswith(
        "`Project` gets `board` only in shop/project.py:3 (`open`), which had not run for the obj"
    )


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
    assert answer.root_cause == "Not known: why `Project` has no `board`."
    assert answer.confidence == "low"


def test_two_classes_of_one_name_in_a_file():
    twice = "class Project:\n    def boards(self):\n        return 1\n\n\n" + (
        "class Project:\n    def bord(self):\n        return 1\n"
    )
    answer = member({"shop/project.py": twice})
    assert answer.handover is not None
    assert not answer.has_fix


def test_a_name_that_another_type_has_is_handed_on():
    other = {"shop/project.py": "class Project:\n    name = 1\n"}
    other["shop/team.py"] = "class Team:\n    def board(self):\n        return 1\n"
    answer = member(other)
    assert answer.root_cause == "Not known: why `Project` has no `board`."
    assert "shop/team.py:2" in answer.handover.look_at[0]


def test_a_ruby_method_of_a_file_that_is_not_required():
    files = {
        "lib/puma/cli.rb": "require 'puma/const'\n\ndef run\n  Puma.windows? «f»\nend\n",
        "lib/puma/detect.rb": "module Puma\n  def self.windows?\n    false\n  end\nend\n",
    }
    message = "undefined method `windows?' for Puma:Module"
    frames = (("lib/puma/cli.rb", "f", "run"),)
    answer = answered("NoMethodError", message, files, *frames, language="ruby")
    assert "`Puma.windows?` is defined in lib/puma/detect.rb:2 alone, which was not" in (
        answer.root_cause
    )
    files["lib/puma/cli.rb"] = "require 'puma/detect'\n" + files["lib/puma/cli.rb"]
    answer = answered("NoMethodError", message, files, *frames, language="ruby")
    assert answer.handover is not None


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
    "code",
    [
        "from five import *\n\ndef show(d):\n    return values(d) «f»\n",
        "if DEBUG:\n    values = 1\n\ndef show(d):\n    return values(d) «f»\n",
        "def make(values):\n    def show(d):\n        return values(d) «f»\n    return show\n",
        "if TYPING:\n    from five import values\n\ndef show(d):\n    return values(d) «f»\n",
    ],
)
def test_a_name_that_something_may_define_is_not_known(code):
    assert name(code).root_cause == "Not known: what `values` stands for."


def test_a_variable_of_another_function_is_not_visible():
    code = "def make(d):\n    values = d\n\ndef show(d):\n    return values(d) «f»\n"
    assert "nothing that it can see" in name(code).root_cause


def test_names_of_the_standard_library_are_told_by_their_use():
    code = "def show(d):\n    return string «f»\n"
    assert "standard library" not in name(code, "name 'string' is not defined").root_cause
    used = code.replace("string", "string.capwords(d)")
    assert "standard library" in name(used, "name 'string' is not defined").root_cause


def test_a_local_that_one_branch_sets():
    code = "def show(d):\n    if d:\n        x_1 = 2\n    return x_1 «f»\n"
    files = {"shop/a.py": code}
    message = "cannot access local variable 'x_1' where it is not associated with a value"
    answer = answered("UnboundLocalError", message, files, ("shop/a.py", "f", "show"))
    assert answer.root_cause == (
        "`x_1` has no value yet in shop/a.py:4: of the function only shop/a.py:3 sets it, and that "
        "was not run before."
    )


def test_imports_in_a_circle():
    files = {
        "shop/a.py": "from shop.b import two «f»\n\none = 1\n",
        "shop/b.py": "from shop.a import one «b»\n\ntwo = 2\n",
    }
    message = "cannot import name 'one' from partially initialized module 'shop.a' (most likely)"
    frames = (("shop/b.py", "b", "<module>"), ("shop/a.py", "f", "<module>"))
    answer = answered("ImportError", message, files, *frames)
    assert answer.root_cause == (
        "The imports are circular: `one` is defined in shop/a.py:3, and `shop.a` had not come to "
        "that line when the name was asked for; shop/a.py:1 was being run, which led to it."
    )


def test_a_reopened_class_of_the_language_has_more_than_the_repository_shows():
    files = {"a.rb": "class String\n  def shout\n    upcase\n  end\nend\n\nx.shoot «f»\n"}
    message = "undefined method `shoot' for an instance of String"
    answer = answered("NoMethodError", message, files, ("a.rb", "f", "f"), language="ruby")
    assert answer.handover.value == "`String` has no `shoot`"
    assert not answer.has_fix


def test_a_parameter_that_is_no_function_is_not_called_undefined():
    files = {"a.js": "function f(callback) {\n  callback(1); «f»\n}\n"}
    message = "callback is not a function"
    answer = answered("TypeError", message, files, ("a.js", "f", "f"), language="javascript")
    assert answer.root_cause == "Not known: why `callback` is no function."
    files["b.js"] = "const o = { trim: function () {} };\nvar trim = 1;\n"
    files["a.js"] = files["a.js"].replace("callback(1)", "callback.trim(1)")
    message = "callback.trim is not a function"
    answer = answered("TypeError", message, files, ("a.js", "f", "f"), language="javascript")
    assert answer.root_cause == "Not known: why `callback` has no `trim`."
    assert "b.js" not in " ".join(answer.handover.look_at)
