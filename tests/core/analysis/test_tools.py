"""Tests of the agent's tools: plain text answers, bounded; refusals say what to do."""

import pytest
from small_repo import SmallRepo, case, frame

from nightwatch_core.analysis import tools
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.agent import TOOLS
from nightwatch_core.models.code import FolderEntry, SearchHit
from nightwatch_core.models.conversation import (
    EntriesListed,
    HitsFound,
    LinesRead,
    NothingThere,
    PathsFound,
    ToolCall,
    ToolResult,
    TracesShown,
)
from nightwatch_core.models.trace import Trace

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


def run(tool, traces=(), files=FILES, written=None, the_case=CASE, **arguments):
    call = ToolCall(id="7", name=tool, arguments=arguments)
    return tools.run(call, SmallRepo(files, written), the_case, traces)


def test_schemas_are_strict_and_descriptions_short():
    assert tuple(spec.name for spec in tools.SPECS) == TOOLS == tuple(tools.LIMITS)
    for spec in tools.SPECS:
        assert spec.parameters["additionalProperties"] is False
        assert set(spec.parameters["required"]) <= set(spec.parameters["properties"])
        assert "Use it" in spec.description
        assert len(spec.description) < 400
    assert sum(len(spec.model_dump_json()) for spec in tools.SPECS) < 6_000


# read_file


def test_read_file_numbers_its_lines():
    result = run("read_file", path="app/order.py", start=2, end=9)
    assert result.text == (
        "app/order.py (lines 2-3 of 3)\n    2|     def total(self):\n    3|         return 1"
    )
    assert (result.id, result.name, result.is_error) == ("7", "read_file", False)
    assert run("read_file", path="windows.py").text.endswith("    1| a = 1\n    2| b = 2")
    assert run("read_file", path="app/__init__.py").text == "app/__init__.py is empty."


def test_a_long_file_loses_its_middle_only_until_it_is_asked_for():
    result = run("read_file", path="big.py")
    assert len(result.text) <= tools.LIMITS["read_file"] + 200
    assert "    1| line_1 = 1\n" in result.text
    assert result.text.endswith(" 2000| line_2000 = 2000")
    assert " left out; ask for a line range (start, end), up to " in result.text
    assert "line_1000 = 1000" not in result.text
    assert "line_1000 = 1000" in run("read_file", path="big.py", start=990, end=1010).text


def test_what_is_left_out_can_be_read_as_told():
    text = run("read_file", path="big.py").text
    (note,) = [row for row in text.split("\n") if row.startswith("[... lines ")]
    first, last = map(int, note.split(" ")[2].split("-"))
    assert f"\n{first - 1:>5}| " in text
    assert f"\n{last + 1:>5}| " in text
    once = int(note.split("up to ")[1].split(" ")[0])
    part = run("read_file", path="big.py", start=first, end=first + once - 1).text
    assert f"{first + once - 1:>5}| line_" in part
    assert "[..." not in part


def test_what_a_long_file_defines_is_told():
    body = "        x = 1  # and so on, and on, and on\n" * 60
    source = "".join(f"    def method_{n}(self):\n{body}" for n in range(20))
    text = run("read_file", path="a.py", files={"a.py": f"class A:\n{source}"}).text
    assert len(text) <= tools.LIMITS["read_file"] + 200
    assert "; they define ...]\n" in text
    rows = text.split("\n")
    assert f"{1 + 61 * 9 + 1:>5}|     def method_9(self):" in rows
    assert rows[-1] == f"{1 + 61 * 20:>5}|         x = 1  # and so on, and on, and on"
    numbers = [int(row[:5]) for row in rows if row[:5].strip().isdigit()]
    assert numbers == sorted(set(numbers))


def test_one_huge_line_is_cut_alone():
    text = run("read_file", path="min.js", files={"min.js": "x" * 50_000}).text
    assert len(text) < 8_200
    assert "…\n[... " in text
    between = {"a.py": f"a = 1\nb = '{'x' * 50_000}'\nc = 3\n"}
    text = run("read_file", path="a.py", files=between).text
    assert text.startswith("a.py (lines 1-3 of 3)\n    1| a = 1\n    2| b = 'xxx")
    assert "x…\n[... 49006 more characters in line 2; search_code finds text in them ...]" in text
    assert text.endswith("    3| c = 3")
    assert len(run("read_file", path="a.py", start=2, end=2, files=between).text) > 7_000


@pytest.mark.parametrize(
    "content",
    ["\u200b" * 100_000, "\x1b[31m" * 50_000, "\n" * 100_000, "a\u202e\n" * 50_000, "\r" * 9_000],
    ids=["zero width", "terminal", "empty lines", "override", "returns"],
)
def test_hostile_content_stays_bounded_and_can_be_seen(content):
    for start, end in ((None, None), (1, 1), (1, 60)):
        result = run("read_file", path="a.py", files={"a.py": content}, start=start, end=end)
        assert len(result.text) <= tools.LIMITS["read_file"] + 200
        assert not any(sign in result.text for sign in "\u200b\u202e\x1b\r")
    found = run("search_code", query="a", files={"a.py": f"{content}a"})
    assert len(found.text) <= tools.LIMITS["search_code"] + 200
    assert not any(sign in found.text for sign in "\u200b\u202e\x1b\r")


@pytest.mark.parametrize(
    ("path", "said", "missing"),
    [
        ("srv/app/order.py", "Near matches: app/order.py, lib/order.py, app/orders.py.", True),
        ("app", "is a folder: use list_directory", False),
        ("app/", "is a folder: use list_directory", False),
        ("logo.png", "is not text", False),
        ("zzz", "Use find_files or search_code", True),
        ("../etc/passwd", "must not contain ..: paths start at the root", True),
        ("app/../../x", "must not contain ..", True),
        ("/etc/passwd", "must not begin with /: paths start at the root", True),
        ("/srv/shop/app/order.py", "Near matches: app/order.py, lib/order.py", True),
        (
            "app\\order.py",
            "must have / between folders, not a backslash. Near matches: app/o",
            True,
        ),
        ("a\x00b", "characters that cannot be seen", True),
        ("app/\u202eorder.py", "characters that cannot be seen", True),
        ("./", "must name a file", True),
        ("", "must not be empty", False),
        ("x" * 2_000, "longer than 1000", False),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_way_on(path, said, missing):
    result = run("read_file", path=path)
    assert result.is_error
    assert said in result.text
    assert result.missing is missing


@pytest.mark.parametrize("path", ["./app/order.py", "app//order.py", "app/./order.py"])
def test_paths_are_understood_as_they_are_written(path):
    assert run("read_file", path=path).text.startswith("app/order.py (lines 1-3 of 3)")


# arguments


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("read_file", {}, "Argument path is missing"),
        ("read_file", {"path": 3}, "must be of type string (text in quotes), not int"),
        ("read_file", {"path": "app/order.py", "start": 9}, "has 3 lines; ask for start"),
        ("read_file", {"path": "app/order.py", "start": 3, "end": 2}, "end <= 3, not 3-2."),
        ("read_file", {"path": "app/order.py", "start": 0}, "at least 1"),
        ("read_file", {"path": "app/order.py", "end": -4}, "at least 1"),
        ("read_file", {"path": "app/order.py", "start": True}, "must be of type integer"),
        ("read_file", {"path": "app/order.py", "start": 1.5}, "a whole number like 12), not float"),
        ("read_file", {"path": "app/order.py", "start": "first"}, "must be of type integer"),
        ("read_file", {"path": "app/order.py", "start": [1]}, "must be of type integer"),
        ("read_file", {"path": "app/order.py", "end": 10**5_000}, "at most 10000000"),
        ("read_file", {"file": "app/order.py"}, "no argument 'file'; read_file takes path, start"),
        ("search_code", {"query": "a\nb"}, "one line of visible text"),
        ("search_code", {"query": "a\u200bb"}, "one line of visible text"),
        ("search_code", {"query": "  "}, "one line of visible text"),
        ("search_code", {"query": "x" * 201}, "longer than 200"),
        ("search_code", {"query": "x", "context": 11}, "at most 10"),
        ("search_code", {"query": "x", "path": "../x"}, "must not contain .."),
        ("search_code", {"query": "x", "path": "ap"}, "There is no folder ap"),
        ("find_files", {"name": ""}, "must not be empty"),
        ("find_files", {"name": "x", "path": "nowhere"}, "There is no folder nowhere"),
        ("list_directory", {"path": "app/order.py"}, "use read_file"),
        ("list_directory", {"path": "ap"}, "Near matches: app."),
        ("list_directory", {"path": "../"}, "must not contain .."),
        ("get_error_traces", {"limit": 11}, "at most 10"),
        ("get_error_traces", {"number": 2}, "There are 1 traces; ask for number <= 1"),
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


def test_null_and_numbers_in_quotes_are_understood():
    assert not run("read_file", path="app/order.py", start=None, end=None).is_error
    asked = run("read_file", path="app/order.py", start="2", end=3.0)
    assert asked.text.startswith("app/order.py (lines 2-3 of 3)")


# search_code


def test_search_shows_places_and_says_when_there_are_none():
    assert run("search_code", query="Order").text == (
        "app/order.py:1: class Order:\napp/orders.py:1: from app.order import Order"
    )
    assert run("search_code", query="Order", path="lib").text.startswith(
        "No line holds 'Order' below lib."
    )
    assert "Files of such a name: app/orders.py" in run("search_code", query="Orders").text
    assert "patterns do not work" in run("search_code", query="def .*total").text
    assert "there may be more" in run("search_code", query="line_1").text


def test_search_by_glob():
    assert run("search_code", query="Order", glob="*s.py").text.startswith("app/orders.py:1: ")
    assert run("search_code", query="Order", glob="app/**/order.{rb,py}").text == (
        "app/order.py:1: class Order:"
    )
    assert run("search_code", query="Order", glob="*.rb").text.startswith(
        "No line holds 'Order' in files like *.rb."
    )
    assert run("search_code", query="Order", glob="gone/*.py").is_error


def test_context_is_shown_as_files_are_read():
    text = run("search_code", query="total", context=1).text
    assert text == (
        "app/order.py (lines 1-3 of 3)\n"
        "    1| class Order:\n    2|     def total(self):\n    3|         return 1"
    )
    lines = {"a.py": "".join(f"{'hit' if n in (3, 5, 20) else 'line'} {n}\n" for n in range(1, 31))}
    text = run("search_code", query="hit", context=1, files=lines).text
    assert [row for row in text.split("\n") if row.startswith("a.py")] == [
        *("a.py (lines 2-6 of 30)", "a.py (lines 19-21 of 30)")
    ]


def test_every_file_is_named_before_one_file_fills_the_answer():
    many = {f"app/f{n}.py": f"total = {'x' * 100}\n" * 6 for n in range(8)}
    text = run("search_code", query="total", files=many).text
    assert len(text) <= tools.LIMITS["search_code"] + 200
    assert [name for name in many if f"{name}:1: " not in text] == []
    assert " more in app/f0.py, search with that path ...]" in text


def test_files_that_do_not_fit_are_named():
    many = {f"app/{'folder' * 20}/f{n}.py": f"total = {'x' * 100}\n" for n in range(40)}
    text = run("search_code", query="total", files=many).text
    assert len(text) <= tools.LIMITS["search_code"] + 200
    assert "more files have it, search with path or glob: " in text


def test_libraries_come_last():
    files = {"app/a.py": "total", "node_modules/x/a.js": "total", "web/b.js": "total"}
    text = run("search_code", query="total", files=files).text
    assert [row.split(":")[0] for row in text.split("\n")] == [
        *("app/a.py", "web/b.js", "node_modules/x/a.js")
    ]


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


def test_a_folder_that_leads_on_to_one_is_shown_with_it():
    deep = {"src/main/java/shop/A.java": "", "src/main/java/shop/cart/B.java": "", "pom.xml": ""}
    assert run("list_directory", path="", files=deep).text == (
        "pom.xml (0)\nsrc/main/java/shop/ (2 files)"
    )


def test_names_that_would_start_a_line_do_not():
    files = {"app/a\nb.py": "x", "app/\u202ec.py": "x"}
    for name, given in (("list_directory", {"path": "app"}), ("search_code", {"query": "x"})):
        text = run(name, files=files, **given).text
        assert len(text.split("\n")) == 2
        assert "a\\nb.py" in text
        assert "\\u202ec.py" in text


# blame and get_error_traces


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
    assert run("get_error_traces", traces, limit=1).text == (
        "trace 1 of 2, release 1.2\n```\nTraceback one\n```"
    )
    assert run("get_error_traces", traces, number=2).text == "trace 2 of 2\n```\nTraceback two\n```"
    assert "at app/order.py:3 in total" in run("get_error_traces").text
    assert "without a stack trace" in run("get_error_traces", the_case=case("E", "m")).text


def test_each_trace_gets_its_share_and_none_is_told_twice():
    long = tuple(Trace(raw=f"first {n}\n{'x' * 50}\n" + "y\n" * 9_000 + "last") for n in (1, 2))
    text = run("get_error_traces", (*long, long[0])).text
    assert len(text) < 4_200
    assert "first 1" in text
    assert "first 2" in text
    assert text.count("last") == 2
    assert text.endswith("trace 3 of 3: the same as trace 1")


def test_a_trace_cannot_leave_its_fence_or_hide_anything():
    text = run("get_error_traces", (Trace(raw="a\n```\n\x1b[2Jignore\u202e this\n"),)).text
    assert text == "trace 1 of 1\n````\na\n```\nignore this\n````"


def test_an_unwell_code_reader_is_the_tasks_business():
    class Unwell(SmallRepo):
        def read_file(self, path):
            raise TryLater("503")

    call = ToolCall(id="1", name="read_file", arguments={"path": "a.py"})
    with pytest.raises(TryLater):
        tools.run(call, Unwell({}), CASE, ())


@pytest.mark.parametrize(
    ("tool", "arguments", "value"),
    [
        (
            "read_file",
            {"path": "app/order.py", "start": 3},
            LinesRead(path="app/order.py", total=3, lines={3: "        return 1"}),
        ),
        ("read_file", {"path": "app/__init__.py"}, LinesRead(path="app/__init__.py", total=0)),
        (
            "read_file",
            {"path": "app/order.py", "start": 9},
            LinesRead(path="app/order.py", total=3),
        ),
        (
            "read_file",
            {"path": "gone/order.py"},
            NothingThere(near=("app/order.py", "lib/order.py", "app/orders.py")),
        ),
        (
            "search_code",
            {"query": "x = 1"},
            HitsFound(hits=(SearchHit(path="lib/order.py", line=1, text="x = 1"),)),
        ),
        ("search_code", {"query": "nowhere"}, HitsFound()),
        ("find_files", {"name": "orders"}, PathsFound(paths=("app/orders.py",))),
        (
            "list_directory",
            {"path": "lib"},
            EntriesListed(entries=(FolderEntry(name="order.py", kind="file", size=5),)),
        ),
        ("get_error_traces", {}, TracesShown(traces=(CASE.trace,))),
    ],
)
def test_answers_carry_the_value_that_they_show(tool, arguments, value):
    result = run(tool, **arguments)
    assert result.value == value
    assert "value" not in result.model_dump()
    assert ToolResult.model_validate(result.model_dump()).value is None


def test_a_value_holds_whole_lines_only_and_says_what_is_left_out():
    long = run("read_file", path="big.py").value
    assert long.total == 2_000
    assert len(long.lines) < 1_000
    assert (long.lines[1], long.lines[2_000]) == ("line_1 = 1", "line_2000 = 2000")
    cut = run("read_file", files={"a.js": "x = 1\n" + "y" * 30_000}, path="a.js").value
    assert cut.lines == {1: "x = 1"}
    files = {f"f{n}.py": "total = 1" for n in range(60)}
    assert not run("search_code", files=files, query="total").value.complete
    written = {("app/order.py", 2): ("b" * 40, "2026-02-01")}
    blame = run("blame", written=written, path="app/order.py", line=2).value
    assert (blame.sha, blame.author, blame.line) == ("b" * 10, "Ann", 2)
