"""Tests of values that are nil, null or undefined, language by language."""

import pytest
from small_repo import answered
from tables import tables_of

TABLES = tables_of(__file__)

NET = "Object reference not set to an instance of an object."


@pytest.mark.parametrize(("language", "path", "message", "code", "told"), TABLES["other_languages"])
def test_other_languages(language, path, message, code, told):
    error = {"ruby": "NoMethodError", "java": "java.lang.NullPointerException"}
    error |= {"csharp": "System.NullReferenceException", "php": "Error"}
    frames = ((path, "f", "f"),)
    answer = answered(
        error.get(language, "TypeError"), message, {path: code}, *frames, language=language
    )
    assert told in answer.root_cause


GUARDED = TABLES["guarded"]


def test_what_the_code_itself_found_to_be_null():
    frames = (("A.cs", "f", "F"),)
    answer = answered("NullReferenceException", NET, {"A.cs": GUARDED}, *frames, language="csharp")
    assert answer.root_cause == (
        "A.cs:4 checks whether `item` is null, and A.cs:6 uses it where it is."
    )
    for other in ("item is not null", "item is null && log is null", "other is null"):
        code = {"A.cs": GUARDED.replace("item is null", other)}
        answer = answered("NullReferenceException", NET, code, *frames, language="csharp")
        assert answer.handover is not None


def test_an_argument_that_is_left_out_and_set_by_the_failing_line_itself():
    code = (
        "Sub.prototype.isModified = function(paths, more) {\n"
        "  paths = (Array.isArray(paths) ? paths : paths.split(' ')).map(p => p); «f»\n"
        "  return paths;\n};\nfunction save() {\n  return this.isModified(); «c»\n}\n"
    )
    message = "Cannot read property 'split' of undefined"
    frames = (("a.js", "f", "Sub.isModified"), ("a.js", "c", "save"))
    answer = answered("TypeError", message, {"a.js": code}, *frames, language="javascript")
    assert answer.root_cause == (
        "`paths` is undefined in a.js:2. a.js:6 omits `paths`, so it is undefined."
    )
    given = {"a.js": code.replace("isModified();", "isModified(this.all);")}
    answer = answered("TypeError", message, given, *frames, language="javascript")
    assert answer.handover.value == "`paths` is undefined"


def test_a_long_title_keeps_the_line_and_leaves_the_folders_out():
    path = "/".join(["src", *(f"a_long_name_of_a_folder_{n}" for n in range(5)), "Cart.py"])
    code = {path: "def show(d):\n    o = d.get('o')\n    return o.total «f»\n"}
    message = "'NoneType' object has no attribute 'total'"
    answer = answered("AttributeError", message, code, (path, "f", "show"))
    assert answer.title == "AttributeError: `o` is None in Cart.py:3"


def test_an_error_that_comes_up_while_another_is_raised_is_not_raised_on_purpose():
    code = "<?php\nfunction f($lock) {\n  throw new Busy('at '.$path); «f»\n}\n"
    answer = answered(
        "ErrorException",
        "Undefined variable: path",
        {"a.php": code},
        ("a.php", "f", "f"),
        language="php",
    )
    words = " ".join((answer.root_cause, *(answer.handover.look_at if answer.handover else ())))
    assert "raises it" not in words
