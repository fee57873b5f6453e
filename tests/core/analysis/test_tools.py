"""Tests of the agent's tools: plain text answers, bounded; refusals say what to do."""

import json

import pytest
from small_repo import SmallRepo, case, frame
from tables import tables_of
from twins.reading import MemoryLibraries

from nightwatch_core.adapters.claude.request import tool_params
from nightwatch_core.analysis import tools
from nightwatch_core.errors import TryLater
from nightwatch_core.models.conversation import TOOLS, LinesRead, ToolCall
from nightwatch_core.models.errors import Trace
from nightwatch_core.text.plain_text import estimated_tokens

TABLES = tables_of(__file__)

FILES = {
    "app/order.py": "class Order:\n    def total(self):\n        return 1\n",
    "app/orders.py": "from app.order import Order\n",
    "lib/order.py": "x = 1",
    "big.py": "".join(f"line_{n} = {n}\n" for n in range(1, 2_001)),
    "logo.png": None,
    "windows.py": "a = 1\r\nb = 2\r\n",
    "app/__init__.py": "",
}
CASE = case("KeyError", "'a'", frame("app/order.py", 3, "total"))


def run(tool, traces=(), files=FILES, written=None, the_case=CASE, known=frozenset(), **given):
    call = ToolCall(id="7", name=tool, arguments=given)
    return tools.run(call, SmallRepo(files, written), the_case, traces, known)


def test_schemas_are_strict_and_descriptions_short():
    assert tuple(spec.name for spec in tools.SPECS) == TOOLS == tuple(tools.LIMITS)
    for spec in tools.SPECS:
        assert spec.parameters["additionalProperties"] is False
        assert set(spec.parameters["required"]) <= set(spec.parameters["properties"])
        assert len(spec.description.split()) < 60
    fields = [spec.parameters for spec in tools.SPECS]
    optional = sum(len(one["properties"]) - len(one["required"]) for one in fields)
    assert optional <= 24, "the service compiles no more strict schemas"


@pytest.mark.parametrize("strict", [True, False])
def test_all_tools_as_sent_stay_below_their_tokens(strict):
    sent = tool_params(tools.SPECS, strict=strict)
    assert all(one.get("strict", False) is strict for one in sent)
    assert estimated_tokens(json.dumps(sent, separators=(",", ":"))) < 1_200


def test_tools_for_libraries_are_offered_where_there_are_some():
    assert [spec.name for spec in tools.offered(("read_library", "blame"), None)] == ["blame"]
    assert len(tools.offered(TOOLS, MemoryLibraries(), runs=True)) == len(TOOLS)


# read_file


def test_read_file_numbers_its_lines():
    result = run("read_file", path="app/order.py", start=2, end=9)
    assert result.text == (
        "app/order.py (lines 2-3 of 3)\n    2|     def total(self):\n    3|         return 1"
    )
    assert (result.id, result.name, result.is_error) == ("7", "read_file", False)
    assert run("read_file", path="windows.py").text.endswith("    1| a = 1\n    2| b = 2")
    assert run("read_file", path="app/__init__.py").text == "app/__init__.py is empty."


def test_more_lines_than_one_answer_holds_are_cut_at_the_end():
    text = run("read_file", path="big.py", start=1, end=2_000).text
    assert "  400| line_400 = 400\n" in text
    assert text.endswith("[... at most 400 lines at once: go on with start 401 ...]")
    wide = {"a.py": "".join(f"{'x' * 400}\n" for _ in range(400))}
    result = run("read_file", path="a.py", start=1, files=wide)
    assert len(result.text) <= tools.LIMITS["read_file"] + 200
    *_, last, note = result.text.split("\n")
    following = int(last[:5]) + 1
    assert f"cut here: lines {following}-400 did not fit, ask for them by start and end" in note
    assert max(result.value.lines) == following - 1


def test_a_long_file_answers_with_its_outline_where_no_range_is_asked():
    body = "        x = 1  # and so on\n" * 60
    source = "".join(f"    def method_{n}(self):\n{body}" for n in range(20))
    result = run("read_file", path="a.py", files={"a.py": f"class A:\n{source}"})
    rows = result.text.split("\n")
    assert rows[0] == "a.py, 1221 lines; what it defines, and where. Ask by start and end."
    assert len(rows) == 2
    assert rows[1].startswith("A 1-1221, method_0 2, method_1 63, ")
    assert rows[1].endswith(f", method_19 {1 + 61 * 19 + 1}")
    assert result.value == LinesRead(path="a.py", total=1_221)


def test_a_file_of_200_lines_comes_whole():
    rows = "def f():\n" + "    x = 1\n" * 199
    assert run("read_file", path="a.py", files={"a.py": rows}).text.endswith("  200|     x = 1")
    assert "what it defines" in run("read_file", path="a.py", files={"a.py": f"{rows}\n"}).text


def test_of_a_long_file_without_definitions_the_beginning_is_shown():
    text = run("read_file", path="notes.md", files={"notes.md": "word\n" * 500}).text
    assert text.startswith("notes.md (lines 1-40 of 500)\n    1| word")
    assert "ask for more by start and end" in text


def known(path, *numbers):
    return frozenset(f"{path}:{number}" for number in numbers)


def test_what_stands_above_is_named_once():
    shown = known("big.py", *range(10, 21))
    text = run("read_file", path="big.py", start=8, end=23, known=shown).text
    assert text == (
        "big.py (lines 8-23 of 2000)\n    8| line_8 = 8\n    9| line_9 = 9\n"
        "(lines 10-20: shown above)\n   21| line_21 = 21\n   22| line_22 = 22\n   23| line_23 = 23"
    )
    every = run("read_file", path="big.py", start=12, end=20, known=shown)
    assert every.text == "big.py, 2000 lines: shown above, lines 12-20."
    assert len(every.value.lines) == 9
    assert "Shown above: lines 10-20." in run("read_file", path="big.py", known=shown).text


@pytest.mark.parametrize(
    ("path", "said", "missing"), TABLES["what_cannot_be_read_is_refused_with_a_way_on"]
)
def test_what_cannot_be_read_is_refused_with_a_way_on(path, said, missing):
    result = run("read_file", path=path)
    assert result.is_error
    assert said in result.text
    assert result.missing is missing


# arguments


@pytest.mark.parametrize(
    ("name", "arguments", "said"), TABLES["wrong_calls_are_refused_with_a_way_on"]
)
def test_wrong_calls_are_refused_with_a_way_on(name, arguments, said):
    result = run(name, **arguments)
    assert result.is_error
    assert said in result.text


def test_null_and_numbers_in_quotes_are_understood():
    assert not run("read_file", path="app/order.py", start=None, end=None).is_error
    asked = run("read_file", path="app/order.py", start="2", end=3.0)
    assert asked.text.startswith("app/order.py (lines 2-3 of 3)")


# find_files and list_directory


def test_files_are_found_by_part_and_glob():
    assert run("find_files", name="ORDER").text == "app/order.py\nlib/order.py\napp/orders.py"
    assert run("find_files", name="order", path="lib").text == "lib/order.py"
    assert run("find_files", name="app/ord").text == "app/order.py\napp/orders.py"
    assert run("find_files", name="**/order?.py").text == "app/orders.py"
    assert run("find_files", name="odrer.py").text == (
        "No file is called 'odrer.py'. Near matches: app/order.py, lib/order.py, app/orders.py."
    )
    many = {f"folder/file_{n:04}.py": "" for n in range(500)}
    text = run("find_files", name="file_", files=many).text
    assert len(text) < 2_120
    assert text.endswith(" more: give a longer part, a glob or a path ...]")


def test_folders_are_listed_with_kinds_and_sizes():
    assert (
        run("list_directory", path="app").text == "__init__.py (0)\norder.py (51)\norders.py (28)"
    )
    for root in ("", "/", ".", "./"):
        assert run("list_directory", path=root).text.startswith("app/ (3 files)\nbig.py (")
    many = {f"folder/file_{n:04}.py": "" for n in range(500)}
    text = run("list_directory", path="folder", files=many).text
    assert len(text) < 2_140
    assert "use find_files ...]" in text


def test_names_that_would_start_a_line_do_not():
    files = {"app/a\nb.py": "x", "app/\u202ec.py": "x"}
    for name, given in (("list_directory", {"path": "app"}), ("search_code", {"query": "x"})):
        text = run(name, files=files, **given).text
        assert len(text.split("\n")) == 2
        assert "a\\nb.py" in text
        assert "\\u202ec.py" in text


# blame and get_error_traces


def test_traces_are_shown_as_printed_else_as_parsed():
    traces = (Trace(raw="Traceback one", release="1.2"), Trace(raw="Traceback two"))
    assert run("get_error_traces", traces, limit=1).text == (
        "trace 1 of 2, release 1.2\n```\nTraceback one\n```"
    )
    assert run("get_error_traces", traces, number=2).text == "trace 2 of 2\n```\nTraceback two\n```"
    assert run("get_error_traces").text == "trace 1 of 1: as above"
    assert "app/order.py:3 in total" in run("get_error_traces", number=1).text
    assert "without a stack trace" in run("get_error_traces", the_case=case("E", "m")).text


def test_of_traces_only_what_the_message_above_does_not_show_is_told():
    top = frame("app/order.py", 3, "total")
    outer = "".join(f'  File "/srv/app/a{n}.py", line {n}, in call\n' for n in range(1, 6))
    library = "".join(f'  File "/site-packages/lib/l{n}.py", line 1, in go\n' for n in (1, 2, 3))
    text = f'Traceback:\n{outer}{library}  File "/srv/app/order.py", line 3, in total\n'
    the_case = case("KeyError", "'a'", top)
    told = the_case.trace.model_copy(update={"raw": f"{text}KeyError: 'a'", "language": "python"})
    the_case = the_case.model_copy(update={"trace": told})
    other = Trace(raw=told.raw.replace("'a'", "'b'"))
    shorter = Trace(raw=other.raw.replace(outer, ""))
    first, same, value, route = run(
        "get_error_traces", (told, told, other, shorter), the_case=the_case, limit=4
    ).text.split("\n\n")
    assert first == "trace 1 of 4: as above"
    assert same == "trace 2 of 4: as above"
    assert value == "trace 3 of 4\n```\n[... 10 lines as above ...]\nKeyError: 'b'\n```"
    assert "[... 5 lines above are not here ...]" in route
    assert library in run("get_error_traces", (told,), the_case=the_case, number=1).text


def test_each_trace_gets_its_share():
    long = tuple(Trace(raw=f"first {n}\n" + f"y{n}\n" * 9_000 + "last") for n in (1, 2))
    text = run("get_error_traces", long).text
    assert len(text) < 4_200
    assert ("first 1" in text, "first 2" in text, text.count("last")) == (True, True, 2)


def test_an_unwell_code_reader_is_the_tasks_business():
    class Unwell(SmallRepo):
        def read_file(self, path):
            raise TryLater("503")

    call = ToolCall(id="1", name="read_file", arguments={"path": "a.py"})
    with pytest.raises(TryLater):
        tools.run(call, Unwell({}), CASE, ())
