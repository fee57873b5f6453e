""""""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_repo import frame
from tables import tables_of

from nightwatch_core.code.likely_files import (
    IN_MESSAGE,
    NAMED_CLASS,
    OWN_CLASS,
    RULES,
    clue_of,
    likely_files,
    ranked_places,
)
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.text.transactions import endpoint
from nightwatch_core.traces.placing import PathIndex

TABLES = tables_of(__file__)

INDEX = PathIndex(
    (
        "app/controllers/orders_controller.rb",
        "app/errors/shop/out_of_stock.rb",
        "app/models/order.rb",
        "app/models/price_list.rb",
        "app/views/orders/show.html.erb",
        "lib/rates.rb",
        "frontend/routes/orders.js",
        "vendor/gems/orders_controller.rb",
    )
)


def case(transaction="", message="", error_class="KeyError", trace=None):
    group = ErrorGroup(
        fingerprint="v1:1",
        source="file",
        error_class=error_class,
        transaction=transaction,
        message=message,
    )
    return Case(leader=group, trace=trace)


def paths(one, limit=10):
    return [file.path for file in likely_files(one, INDEX, limit)]


RUBY = Trace(
    language="ruby",
    links=(
        ExceptionLink(
            error_class="KeyError",
            frames=(
                Frame(path="/gems/a.rb", line=1),
                Frame(path="x", repo_path="lib/rates.rb", line=2, in_app=True),
                Frame(path="y", repo_path="app/models/order.rb", line=3, in_app=True),
                Frame(path="z", repo_path="app/gone.rb", line=3, in_app=True),
            ),
        ),
    ),
)


def test_frames_come_before_what_the_transaction_suggests():
    found = likely_files(case("Controller/orders/show", trace=RUBY), INDEX)
    assert [file.path for file in found] == [
        "lib/rates.rb",
        "app/models/order.rb",
        "app/controllers/orders_controller.rb",
        "app/views/orders/show.html.erb",
    ]
    reasons = {file.path: file.because for file in found}
    assert reasons["app/models/order.rb"][-1] == "Rails model of the transaction"
    assert len(reasons["app/models/order.rb"]) == 2


def test_a_traces_language_rules_other_files_out():
    assert "frontend/routes/orders.js" in paths(case("GET /orders"))
    assert "frontend/routes/orders.js" not in paths(case("GET /orders", trace=RUBY))


def test_the_message_may_name_a_file_or_a_class():
    (file,) = likely_files(case(message="cannot load /srv/shop/lib/rates.rb:3"), INDEX)
    assert (file.path, file.score) == ("lib/rates.rb", IN_MESSAGE)
    (file,) = likely_files(case(message="undefined method 'x' for an instance of PriceList"), INDEX)
    assert (file.path, file.score) == ("app/models/price_list.rb", NAMED_CLASS)


def test_an_error_class_of_the_application_is_found():
    (file,) = likely_files(case(error_class="Shop::OutOfStock"), INDEX)
    assert (file.path, file.score) == ("app/errors/shop/out_of_stock.rb", OWN_CLASS)


@given(st.text(max_size=120), st.text(max_size=120))
def test_hostile_text_names_no_file_outside_the_tree(transaction, message):
    assert all(path in INDEX for path in paths(case(transaction, message, message)))


def ranked(*frames, message="", language=""):
    link = ExceptionLink(error_class="E", message=message, frames=frames)
    return [p.path for p in ranked_places(Trace(language=language, links=(link,)))]


def test_the_innermost_in_app_frame_comes_first():
    frames = (frame("gems/x.rb", 1, in_app=False), frame("a.py", 1, "f"), frame("b.py", 2, "g"))
    assert ranked(*frames) == ["a.py", "b.py"]


def test_frames_that_only_check_report_or_carry_come_later():
    caller = frame("app/basket.py", 9, "add")
    for helper in (
        frame("app/checks.py", 1, "assert_stock"),
        frame("app/stock_error.py", 1, "build"),
        frame("app/context.py", 1, "unknown_property_exception"),
        frame("tests/test_basket.py", 1, "test_add"),
        frame("app/string_utils.py", 1, "cut"),
        frame("config/boot.rb", 1, "load"),
    ):
        assert ranked(helper, caller)[0] == "app/basket.py", helper.path


EXAMPLES = TABLES["examples"]


@pytest.mark.parametrize(("what", "transaction", "path"), EXAMPLES)
def test_a_guess_names_the_files_of_its_framework(what, transaction, path):
    clue = clue_of(endpoint(transaction))
    guesses = (guess for guess in RULES.guesses if guess.what == what)
    assert path in [found for guess in guesses for found in guess.paths(clue)]
