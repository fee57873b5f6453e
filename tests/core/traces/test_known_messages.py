"""Messages that tell the class where a trace does not name it."""

import pytest
from tables import tables_of

from nightwatch_core.traces.grammar import is_known
from nightwatch_core.traces.parsing import parse

TABLES = tables_of(__file__)

RUBY = "/srv/larder/app/models/basket.rb:31:in `total'\n/srv/larder/app/jobs/pay.rb:7:in `run'"
NODE = "    at total (/srv/larder/basket.js:31:9)\n    at pay (/srv/larder/pay.js:7:3)"


MESSAGES = TABLES["MESSAGES"]


@pytest.mark.parametrize("row", list(enumerate(MESSAGES.splitlines())))
def test_a_message_of_one_class_names_it(row):
    name, _, message = row[1].partition(": ")
    trace = parse(f"      {message}\n{RUBY if row[0] < 5 else NODE}")
    assert (trace.root.error_class, trace.root.message) == (name, message)


@pytest.mark.parametrize("text", ["", "no price", "the method is not defined here", "x" * 100_000])
def test_other_words_name_none(text):
    assert not is_known(text)
    assert parse(f"{text[:200]}\n{RUBY}").root.error_class == ""


def test_a_class_that_is_named_wins():
    trace = parse(f"Basket::Empty: undefined method `price' for nil\n{RUBY}")
    assert trace.root.error_class == "Basket::Empty"


def test_words_of_the_console_are_no_class():
    trace = parse(f"Trace: TypeError: Cannot read properties of null (reading 'price')\n{NODE}")
    assert trace.root.error_class == "TypeError"


def test_a_panic_in_a_quoted_value_is_named():
    text = (
        'level=ERROR msg="http: panic serving 10.0.0.9:5123: no price\\ngoroutine 7 [running]:\\n'
        'main.total(0x1)\\n\\t/srv/larder/basket.go:31 +0x1d"'
    )
    trace = parse(text)
    assert (trace.root.error_class, trace.root.message) == ("panic", "no price")
    assert trace.root.frames[0].place == "/srv/larder/basket.go:31"
