import pytest
from tables import tables_of

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.in_app import belongs, is_own, without_libraries
from nightwatch_core.traces.parsing import parse

TABLES = tables_of(__file__)

JAVA = (
    "java.lang.Error: no\n\tat org.apache.shop.Cart.total(Cart.java:1)\n\tat io.dep.X.y(X.java:2)\n"
)


@pytest.mark.parametrize(("path", "prefix", "expected"), TABLES["prefixes"])
def test_prefixes(path, prefix, expected):
    assert belongs(Frame(path=path), (prefix,)) is expected


def test_prefixes_win_over_the_tables():
    assert parse(JAVA).top.module == "io.dep.X"
    trace = parse(JAVA, app_prefixes=("org.apache.shop",))
    assert [frame.module for frame in trace.in_app] == ["org.apache.shop.Cart"]


def test_prefixes_that_fit_nothing_are_no_prefixes():
    assert parse(JAVA, app_prefixes=("src/main", "")).top.module == "io.dep.X"


@pytest.mark.parametrize(("path", "language"), TABLES["libraries"])
def test_libraries(path, language):
    assert not is_own(Frame(path=path), language)


@pytest.mark.parametrize(("text", "stays"), TABLES["printed"])
def test_what_tests_print_is_shown_without_libraries(text, stays):
    below = f"{text}\n            the code below it\n"
    whole = "Traceback\n    total()\n    ~~~~~^^\n{}KeyError: 'EUR'"
    expected = whole.replace("    ~~~~~^^\n", "").format(below if stays else "")
    assert without_libraries(whole.format(below)) == expected


@pytest.mark.parametrize("path", ["/srv/rubygems/app/a.rb", "lib/shop/vendor.rb", "gems/own/a.rb"])
def test_folders_that_only_sound_like_libraries(path):
    assert is_own(Frame(path=path), "ruby")
