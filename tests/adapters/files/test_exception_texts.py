"""Exceptions whose frames are objects, through the text of their language and back."""

import pytest
from adapters.files.export_cases import CASES, read_case
from error_records import NOW, groups_of
from tables import tables_of

from nightwatch_core.adapters.files.frames import chain_text, thrown
from nightwatch_core.adapters.files.limits import MAX_LINKS
from nightwatch_core.traces.parsing import parse

TABLES = tables_of(__file__)


def frame(path, line, function, own, **more):
    return {"file": path, "line": line, "function": function, "in_app": own, **more}


@pytest.mark.parametrize(("language", "outer", "inner", "path"), TABLES["chains_come_back_whole"])
def test_chains_come_back_whole(language, outer, inner, path):
    module = {"class": "Shop.Cart"} if language in ("java", "csharp") else {}
    chain = [
        thrown(outer, "no items\nin cart 7", [
            frame(path.format("lib"), 3, "check", False, column=9, **module),
            frame(path.format("web"), 5, "show", True, column=8, **module)]),
        thrown(inner, "price", [frame(path.format("cart"), 7, "total", True, column=7, **module)]),
    ]  # fmt: skip
    trace = parse(chain_text(chain))
    assert trace.language == language
    assert [(one.error_class, one.message) for one in trace.links] == [
        (outer, "no items"),
        (inner, "price"),
    ]
    assert [
        [(f.path, f.line, f.function, f.in_app) for f in one.frames] for one in trace.links
    ] == [
        [(path.format("lib"), 3, "check", False), (path.format("web"), 5, "show", True)],
        [(path.format("cart"), 7, "total", True)],
    ]


def test_columns_of_minified_code_are_kept_for_source_maps(tmp_path):
    files = read_case(tmp_path, CASES["event as stored"]["content"])
    (trace,) = files.traces(groups_of(files, None, NOW).groups[0])
    first = trace.frames[0]
    assert (first.path, first.line, first.column) == (
        "https://shop.example/static/app.min.js",
        1,
        48213,
    )


def test_long_chains_keep_both_ends():
    chain = [thrown(f"E{n}", "", [frame("a.rs", n, "f", False)]) for n in range(50)]
    links = parse(chain_text(chain)).links
    assert (len(links), links[0].error_class, links[-1].error_class) == (MAX_LINKS, "E0", "E49")


def test_go_and_frames_without_files():
    go = [thrown("*errors.errorString", "no", []), thrown("*net.OpError", "x", [
        frame("/srv/cart.go", 7, "total", True)])]  # fmt: skip
    assert parse(chain_text(go)).frames[0].place == "/srv/cart.go:7"
    java = [thrown("java.lang.E", "", [{"class": "com.shop.Cart", "method": "total"}])]
    assert parse(chain_text(java, "java")).frames[0].function == "total"
    assert chain_text([thrown("E", "no frames", [])]) == ""
    assert chain_text([thrown("E", "nothing in it", [{"in_app": True}])], "ruby") == ""


@pytest.mark.parametrize("ending", ["py", "java", "js", "php", "cs", "go", "rb", "rs"])
@pytest.mark.parametrize("message", TABLES["messages_forge_no_frames"])
def test_messages_forge_no_frames(message, ending):
    more = {"class": "a.Cart"} if ending in ("java", "cs") else {}
    real = frame(f"/srv/cart.{ending}", 7, "total", True, **more)
    text = chain_text([thrown("Empty", message, [real]), thrown("KeyError", message, [real])])
    trace = parse(text)
    assert {one.path for one in trace.frames} == {f"/srv/cart.{ending}"}
    assert trace.frames[0].in_app


def test_addresses_in_messages_stay():
    real = frame("/srv/cart.js", 7, "total", True)
    trace = parse(chain_text([thrown("Error", "connect ECONNREFUSED 127.0.0.1:5432", [real])]))
    assert trace.root.message == "connect ECONNREFUSED 127.0.0.1:5432"
