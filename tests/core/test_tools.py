"""Tests of the agent's tools: plain text answers, bounded; refusals say what to do."""

import pytest
from small_repo import SmallRepo, case, frame

from nightwatch_core.agent import tools
from nightwatch_core.errors import TryLater
from nightwatch_core.models.conversation import ToolCall
from nightwatch_core.models.error import Trace

FILES = {
    "app/order.py": "class Order:\n    def total(self):\n        return 1\n",
    "app/orders.py": "from app.order import Order\n",
    "lib/order.py": "x = 1",
    "big.py": "".join(f"line_{n} = {n}\n" for n in range(1, 2_001)),
    "logo.png": None,
    "windows.py": "a = 1\r\nb = 2\r\n",
}
CASE = case("KeyError", "'a'", frame("app/order.py", 3, "total"))


def run(name, traces=(), files=FILES, written=None, the_case=CASE, **arguments):
    call = ToolCall(id="7", name=name, arguments=arguments)
    return tools.run(call, SmallRepo(files, written), the_case, traces)


def test_schemas_are_strict():
    assert [spec.name for spec in tools.SPECS] == [
        *("read_file", "search_code", "list_directory", "get_error_traces", "blame"),
    ]
    for spec in tools.SPECS:
        assert spec.parameters["additionalProperties"] is False
        assert set(spec.parameters["required"]) <= set(spec.parameters["properties"])
        assert "Use it" in spec.description


def test_read_file_numbers_its_lines():
    result = run("read_file", path="app/order.py", start=2, end=9)
    assert result.text == (
        "app/order.py (lines 2-3 of 3)\n    2|     def total(self):\n    3|         return 1"
    )
    assert (result.id, result.name, result.is_error) == ("7", "read_file", False)
    assert run("read_file", path="windows.py").text.endswith("    1| a = 1\n    2| b = 2")


def test_a_long_file_loses_its_middle_only_until_it_is_asked_for():
    result = run("read_file", path="big.py")
    assert len(result.text) <= tools.LIMITS["read_file"] + 120
    assert "    1| line_1 = 1\n" in result.text
    assert result.text.endswith(" 2000| line_2000 = 2000")
    assert "characters left out; ask for a line range" in result.text
    assert "line_1000 = 1000" not in result.text
    assert "line_1000 = 1000" in run("read_file", path="big.py", start=990, end=1010).text


def test_one_huge_line_is_cut_and_marked():
    text = run("read_file", path="min.js", files={"min.js": "x" * 50_000}).text
    assert len(text) < 8_200
    assert "…\n[... " in text


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("srv/app/order.py", "Near matches: app/order.py, lib/order.py, app/orders.py."),
        ("app", "is a folder: use list_directory"),
        ("logo.png", "is not text"),
        ("zzz", "Use list_directory or search_code"),
        ("../etc/passwd", "must stay inside the repository"),
        ("/etc/passwd", "must stay inside the repository"),
        ("a\\b", "must stay inside the repository"),
        ("a\x00b", "must stay inside the repository"),
        ("", "must not be empty"),
        ("x" * 2_000, "longer than 1000"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_way_on(path, said):
    result = run("read_file", path=path)
    assert result.is_error
    assert said in result.text


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("read_file", {}, "Argument path is missing"),
        ("read_file", {"path": 3}, "must be of type string, not int"),
        ("read_file", {"path": "app/order.py", "start": 9}, "has 3 lines; ask for start"),
        ("read_file", {"path": "app/order.py", "start": 3, "end": 2}, "has 3 lines; ask for"),
        ("read_file", {"path": "app/order.py", "start": 0}, "at least 1"),
        ("read_file", {"path": "app/order.py", "start": True}, "must be of type integer"),
        ("read_file", {"path": "app/order.py", "lines": "1-2"}, "read_file takes path, start, end"),
        ("search_code", {"query": "a\nb"}, "one line of visible text"),
        ("search_code", {"query": "  "}, "one line of visible text"),
        ("search_code", {"query": "x" * 201}, "longer than 200"),
        ("list_directory", {"path": "app/order.py"}, "use read_file"),
        ("list_directory", {"path": "ap"}, "Near matches: app."),
        ("get_error_traces", {"limit": 11}, "at most 10"),
        ("blame", {"path": "app/order.py", "line": 4}, "has 3 lines; ask for a line up to 3"),
        ("blame", {"path": "app/order.py", "line": 2}, "go on without blame"),
        ("blame", {"path": "gone.py", "line": 2}, "no file gone.py"),
        ("rm", {"path": "/"}, "There is no tool 'rm'. Use one of read_file,"),
    ],
)
def test_wrong_calls_are_refused_with_a_way_on(name, arguments, said):
    result = run(name, **arguments)
    assert result.is_error
    assert said in result.text


def test_null_counts_as_left_out():
    assert not run("read_file", path="app/order.py", start=None, end=None).is_error


def test_search_shows_places_and_says_when_there_are_none():
    assert run("search_code", query="Order").text == (
        "app/order.py:1: class Order:\napp/orders.py:1: from app.order import Order"
    )
    assert run("search_code", query="Order", path="lib").text == "No line holds 'Order' below lib."
    assert "which is not there" in run("search_code", query="Order", path="gone").text
    assert "there may be more" in run("search_code", query="line_1").text


def test_folders_are_listed_with_kinds_and_sizes():
    assert run("list_directory", path="app").text == "order.py (51)\norders.py (28)"
    for root in ("", "/", "."):
        assert run("list_directory", path=root).text.startswith("app/\nbig.py (")
    many = {f"folder/file_{n:04}.py": "" for n in range(500)}
    assert len(run("list_directory", path="folder", files=many).text) < 2_120


def test_blame_is_one_line_and_the_code():
    result = run(
        "blame",
        path="app/order.py",
        line=2,
        written={("app/order.py", 2): ("ab" * 20, "2026-01-02")},
    )
    assert result.text == "app/order.py:2 ababababab 2026-01-02 Ann: Change\n    def total(self):"


def test_traces_are_shown_as_printed_else_as_parsed():
    traces = (Trace(raw="Traceback one", release="1.2"), Trace(raw="Traceback two"))
    assert (
        run("get_error_traces", traces, limit=1).text == "trace 1 of 2, release 1.2\nTraceback one"
    )
    assert "at app/order.py:3 in total" in run("get_error_traces").text
    assert "without a stack trace" in run("get_error_traces", the_case=case("E", "m")).text
    assert len(run("get_error_traces", (Trace(raw="x\n" * 9_000),)).text) < 4_120


def test_an_unwell_code_reader_is_the_tasks_business():
    class Unwell(SmallRepo):
        def read_file(self, path):
            raise TryLater("503")

    call = ToolCall(id="1", name="read_file", arguments={"path": "a.py"})
    with pytest.raises(TryLater):
        tools.run(call, Unwell({}), CASE, ())
