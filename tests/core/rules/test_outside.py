"""Tests of outside input that reaches the failing line: said where it is proved, else not."""

import pytest
from small_repo import answered
from tables import tables_of

TABLES = tables_of(__file__)
LANGUAGES = {".py": "python", ".rb": "ruby", ".js": "javascript", ".php": "php"}
CALLER = "«c»"


def answer_to(path, error, code):
    """The answer to "Class: message" at the mark f, called at the mark c where there is one."""
    error_class, _, message = error.partition(": ")
    marks = [("f", "shown"), *([("c", "main")] if CALLER in code else [])]
    frames = ((path, mark, function) for mark, function in marks)
    language = LANGUAGES[path[path.rindex(".") :]]
    return answered(error_class, message, {path: code}, *frames, language=language)


@pytest.mark.parametrize(("path", "error", "code", "told"), TABLES["reaches"])
def test_the_input_its_line_and_what_breaks_it(path, error, code, told):
    answer = answer_to(path, error, code)
    assert answer.root_cause == told.strip()
    assert (answer.handover, answer.has_fix, answer.file_changes) == (None, False, ())
    assert "outside-input" in answer.tags


@pytest.mark.parametrize(("path", "error", "code", "told"), TABLES["may_come"])
def test_input_that_may_be_checked_or_be_something_else_is_where_to_look(path, error, code, told):
    answer = answer_to(path, error, code)
    assert answer.root_cause.startswith("Cause unknown: ")
    assert [item for item in answer.handover.look_at if "may come" in item] == told


@pytest.mark.parametrize(("path", "error", "code"), TABLES["silent"])
def test_silent_where_something_else_may_be_meant(path, error, code):
    answer = answer_to(path, error, code)
    assert "outside-input" not in answer.tags
    assert "outside input" not in answer.model_dump_json()
