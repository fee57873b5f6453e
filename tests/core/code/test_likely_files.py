from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.code.likely_files import (
    ENDINGS,
    IN_MESSAGE,
    NAMED_CLASS,
    OWN_CLASS,
    likely_files,
)
from nightwatch_core.models.error import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.traces.parsing import PARSERS
from nightwatch_core.traces.path_index import PathIndex

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


def case(
    transaction: str = "",
    message: str = "",
    error_class: str = "KeyError",
    trace: Trace | None = None,
) -> Case:
    group = ErrorGroup(
        fingerprint="v1:1",
        source="file",
        error_class=error_class,
        transaction=transaction,
        message=message,
    )
    return Case(leader=group, trace=trace)


def paths(one: Case, limit: int = 10) -> list[str]:
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


def test_frames_come_before_what_the_transaction_suggests() -> None:
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


def test_only_own_files_that_exist_are_named() -> None:
    found = paths(case("Controller/orders/show", trace=RUBY))
    assert all(path in INDEX for path in found)


def test_a_traces_language_rules_other_files_out() -> None:
    assert "frontend/routes/orders.js" in paths(case("GET /orders"))
    assert "frontend/routes/orders.js" not in paths(case("GET /orders", trace=RUBY))


def test_every_language_of_traces_has_its_endings() -> None:
    assert {parser.language for parser in PARSERS} == set(ENDINGS)


def test_the_message_may_name_a_file_or_a_class() -> None:
    (file,) = likely_files(case(message="cannot load /srv/shop/lib/rates.rb:3"), INDEX)
    assert (file.path, file.score) == ("lib/rates.rb", IN_MESSAGE)
    (file,) = likely_files(case(message="undefined method 'x' for an instance of PriceList"), INDEX)
    assert (file.path, file.score) == ("app/models/price_list.rb", NAMED_CLASS)


def test_an_error_class_of_the_application_is_found() -> None:
    (file,) = likely_files(case(error_class="Shop::OutOfStock"), INDEX)
    assert (file.path, file.score) == ("app/errors/shop/out_of_stock.rb", OWN_CLASS)


def test_all_transactions_of_a_case_are_asked() -> None:
    other = ErrorGroup(
        fingerprint="v1:2", source="file", error_class="K", transaction="Controller/orders/show"
    )
    both = case("Nothing").model_copy(update={"others": (other,)})
    assert "app/controllers/orders_controller.rb" in paths(both)


def test_the_limit_holds() -> None:
    assert len(paths(case("Controller/orders/show"), limit=2)) == 2
    assert paths(case("Controller/orders/show"), limit=0) == []
    assert likely_files(case(), PathIndex(())) == ()


@given(st.text(max_size=120), st.text(max_size=120))
def test_hostile_text_names_no_file_outside_the_tree(transaction: str, message: str) -> None:
    assert all(path in INDEX for path in paths(case(transaction, message, message)))


def test_hostile_text_is_bounded() -> None:
    for text in ("../" * 100_000 + "etc/passwd.rb", "A::" * 100_000, "a." * 100_000, "A" * 10**6):
        assert paths(case(text, text, text)) == []
