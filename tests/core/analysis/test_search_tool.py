"""Tests of the search: every hit is told, those that matter first, with what there is room for."""

import pytest
from small_repo import SmallRepo, case, frame
from tables import tables_of

from nightwatch_core.analysis import tools
from nightwatch_core.analysis.file_tools import places_in
from nightwatch_core.analysis.tool_context import near_matches
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.conversation import ToolCall

TABLES = tables_of(__file__)

FILES = TABLES["FILES"]
CASE = case("KeyError", "'a'", frame("app/order.py", 3, "total"))
LIMIT = tools.LIMITS["search_code"]


def search(files=FILES, the_case=CASE, known=frozenset(), **given):
    call = ToolCall(id="1", name="search_code", arguments=given)
    return tools.run(call, SmallRepo(files), the_case, (), known)


def paths(text):
    return list(
        dict.fromkeys(row.split(":")[0].split(" (")[0] for row in text.split("\n") if "/" in row)
    )


def test_places_are_told_and_that_there_are_none():
    assert search(query="app.order").text == "app/orders.py:1: from app.order import Order"
    assert search(query="Order", path="lib").text.startswith("No line holds 'Order' below lib.")
    assert "Files of such a name: app/orders.py" in search(query="Orders").text
    assert "patterns do not work" in search(query="def .*total").text


def test_several_texts_at_once_are_counted_and_told_together():
    text = search(queries=["app.order", "x = 1", "nowhere"]).text
    assert text == (
        "'app.order': 1 lines; 'x = 1': 1 lines; 'nowhere': no lines\n"
        "app/orders.py:1: from app.order import Order\nlib/order.py:1: x = 1"
    )
    assert search(queries=["none", "nowhere"]).text == (
        "No line holds 'none'.\nNo line holds 'nowhere'."
    )


def test_lines_in_another_case_are_shown():
    files = {"a.html": "Auto Tagging\nnone\n", "b.py": "x\n# AUTO TAGGING\n", "c.py": "autotagging"}
    rows = "a.html:1: Auto Tagging\nb.py:2: # AUTO TAGGING"
    rows = f"2 lines hold 'Auto tagging' in another case:\n{rows}"
    result = search(files, query="Auto tagging")
    assert result.text == f"No line holds 'Auto tagging'.\n{rows}"
    assert result.shown == ("a.html:1", "b.py:2")
    both = search(files, queries=["Auto tagging", "none"]).text
    assert both.endswith(f"\na.html:2: none\n{rows}")
    assert "1 line holds 'X' in another" in search(files, query="X", glob="*.py").text


def test_globs():
    assert search(query="Order", glob="*s.py").text.startswith("app/orders.py:1: ")
    assert paths(search(query="Order", glob="app/**/order.{rb,py}").text) == ["app/order.py"]
    assert search(query="Order", glob="*.rb").text.startswith(
        "No line holds 'Order' in files like *.rb."
    )
    assert search(query="Order", glob="gone/*.py").is_error
    deep = search({"app/a/b.py": "Order", "app/a.rb": ""}, query="Order", glob="app/*.py").text
    assert deep.endswith("`*` stays in its folder, `**/` goes below.")


def test_files_of_frames_come_first_then_code_then_tests_then_texts_then_libraries():
    at = ("a/README.md", "a/code.py", "app/order.py", "tests/test_a.py", "vendor/x/a.rb")
    text = search({path: "total = 1\n" for path in at}, query="total").text
    assert paths(text) == [*("app/order.py", "a/code.py", "a/README.md", "vendor/x/a.rb", "(tests")]
    assert text.endswith("\n(tests: tests/test_a.py 1)")
    assert search(
        {path: "total = 1\n" for path in at[2:4] if "test" in path}, query="total"
    ).text == ("tests/test_a.py:1: total = 1")


def test_bulk_is_counted_and_cannot_hide_code():
    files = {f"conf/locale/{n}/django.po": 'msgid "total"\n' * 20 for n in range(50)}
    files |= {"package-lock.json": "total\n", "z/app.min.js": "total\n", "z/code.py": "total = 1\n"}
    result = search(files, query="total")
    assert result.text == (
        "z/code.py:1: total = 1\n(lines not shown: 1000 in 50 locale files, 1 in 1 lock file, "
        "1 in 1 minified file; name one with path or glob)"
    )
    only = search(files, query="total", glob="*.min.js")
    assert only.text == "z/app.min.js:1: total"


def test_a_hit_on_a_definition_shows_it_whole():
    text = search(query="total").text
    assert text == (
        "app/order.py (lines 2-3 of 3)\n    2|     def total(self):\n    3|         return 1"
    )
    long = "def total():\n" + "    x = 1\n" * 70
    rows = search({"a.py": long}, query="def total").text.split("\n")
    assert rows[0] == "a.py (lines 1-60 of 71)"
    assert len(rows) == 61


def test_context_is_shown_as_files_are_read_and_merged():
    lines = {"a.py": "".join(f"{'hit' if n in (3, 5, 20) else 'line'} {n}\n" for n in range(1, 31))}
    text = search(lines, query="hit", context=1).text
    head, *rows = text.split("\n")
    assert head == "a.py (lines 2-6, 19-21 of 30)"
    assert list(places_in(text))[-1] == "a.py:21"
    numbers = [row[:5].strip() for row in rows]
    assert numbers == ["2", "3", "4", "5", "6", "...", "19", "20", "21"]
    assert (
        search(lines, query="hit", context=99).text == search(lines, query="hit", context=10).text
    )


def test_context_shrinks_before_hits_are_dropped():
    files = {f"f{n:03}.py": f"a = 1\nb = total({n})\nc = 3\n" for n in range(250)}
    text = search(files, query="total", context=10).text
    assert len(text) <= LIMIT + 300
    assert [name for name in files if name not in text] == []


def test_files_are_read_only_for_what_is_shown_of_them():
    files = {f"f{n:03}.py": "def get():\n    return {}\n" + "x.get()\n" * 9 for n in range(300)}
    repo = SmallRepo(files)
    call = ToolCall(id="1", name="search_code", arguments={"query": "get"})
    assert "of 300 files" in tools.run(call, repo, CASE, (), frozenset()).text
    assert len(set(repo.reads)) < 80


def test_one_file_with_very_many_hits_does_not_hide_the_others():
    files = {"a.py": "total = 1\n" * 4_000, "b.py": "total = 2\n", "c.py": "total = 3\n"}
    text = search(files, query="total").text
    assert len(text) <= LIMIT + 300
    assert "more lines of a.py)" in text
    assert "b.py:1: total" in text
    assert "c.py:1: total" in text


def test_files_that_do_not_fit_are_counted():
    files = {f"app/{'folder' * 20}/f{n}.py": f"total = {'x' * 100}\n" for n in range(400)}
    text = search(files, query="total").text
    assert len(text) <= LIMIT + 300
    assert "rows more, of 400 files: search with path or glob" in text


def test_a_hit_far_out_in_a_long_line_is_shown():
    line = f"{'a' * 5_000}needle{'b' * 5_000}"

    class Cutting(SmallRepo):
        def search(self, query, path="", limit=50):
            hits = super().search(query, path, limit)
            return tuple(hit.model_copy(update={"text": hit.text[:300]}) for hit in hits)

    call = ToolCall(id="1", name="search_code", arguments={"query": "needle"})
    text = tools.run(call, Cutting({"a.js": line}), CASE, ()).text
    assert "aaaneedlebbb" in text
    assert len(text) < 400


def test_a_search_that_is_too_large_is_the_models_to_narrow():
    class Large(SmallRepo):
        def search(self, query, path="", limit=50):
            raise GiveUp("900 files are too many to search: name a folder")

    call = ToolCall(id="1", name="search_code", arguments={"query": "x"})
    result = tools.run(call, Large({}), CASE, ())
    assert result.is_error
    assert "name a folder" in result.text


# Tests of read_symbol: every place that defines a name, the likeliest one whole.

SYMBOL_FILES = TABLES["symbol_files"]
SYMBOL_CASE = case("KeyError", "'a'", frame("app/cart.py", 3, "total"))


def read(name, files=SYMBOL_FILES, the_case=SYMBOL_CASE, known=frozenset(), repo=SmallRepo):
    call = ToolCall(id="1", name="read_symbol", arguments={"name": name})
    return tools.run(call, repo(files), the_case, (), known)


def test_all_places_are_listed_and_the_frames_file_comes_first():
    result = read("total")
    rows = result.text.split("\n")
    assert rows[:3] == [
        "app/cart.py:2 function Cart.total",
        "app/order.py:3 function Order.total",
        "tests/test_order.py:1 function total",
    ]
    assert rows[3:6] == [
        "app/cart.py (lines 2-3 of 3)",
        "    2|     def total(self):",
        "    3|         return 3",
    ]


@pytest.mark.parametrize("name", ["Order.total", "Order#total", "order.total", "Order::total()"])
def test_an_owner_tells_which_one_is_meant_and_decorators_belong_to_it(name):
    text = read(name).text
    assert "app/order.py (lines 2-4 of 7)\n    2|     @cached\n    3|     def total(self):" in text
    assert "def total(self):\n    3|         return 3" not in text


@pytest.mark.parametrize(("name", "place"), TABLES["test_definitions_of_all_languages_come_whole"])
def test_definitions_of_all_languages_come_whole(name, place):
    assert read(name).text.split("\n")[0] == place


def test_a_long_definition_is_cut_at_its_end():
    long = {"a.py": "def total():\n" + "    x = 1\n" * 600}
    text = read("total", long, case("E", "m")).text
    assert "  400|     x = 1\n[... it goes on to line 601, ask read_file for more ...]" in text
    wide = {"a.py": "def total():\n" + f"    x = '{'y' * 300}'\n" * 300}
    text = read("total", wide, case("E", "m")).text
    assert len(text) < tools.LIMITS["read_symbol"] + 300
    assert text.endswith("did not fit, ask for them by start and end ...]")


def test_what_nobody_defines_is_said():
    assert "Nothing in the repository defines 'gone'" in read("gone").text
    assert "app/order.py" in read("Order_").text


# Names that were meant: by the first rule that knows one, our own files before libraries'.

PATHS = TABLES["paths"]


@pytest.mark.parametrize(("path", "first"), TABLES["what_was_meant"])
def test_what_was_meant(path, first):
    assert near_matches(path, PATHS)[: len(first)] == tuple(first)


@pytest.mark.parametrize("path", ["", "x", "zzz/qqq.py", "/" * 50, "a" * 5_000, "\u202e", "."])
def test_what_was_not_meant(path):
    assert near_matches(path, PATHS) == ()
    assert near_matches(path, ()) == ()
