"""Source maps read from a folder: a real bundle's, hostile ones, and files that are none."""

import json

import pytest
from tables import tables_of

from nightwatch_core.adapters.source_maps import source_map_folder as limits
from nightwatch_core.adapters.source_maps.source_map_folder import SourceMapFolder
from nightwatch_core.errors import StopTheNight

TABLES = tables_of(__file__)

pytest.importorskip("symbolic", reason="the extra source-maps is not installed")

CART = TABLES["CART"]
# As esbuild writes it: column 1 is line 1 of the source, column 21 is line 3, column 18.
MAP = {
    "version": 3,
    "sources": ["../src/cart.ts"],
    "sourcesContent": [CART],
    "mappings": "AAAA,oBAEiB",
    "names": [],
}
TEXT = json.dumps(MAP)


@pytest.fixture
def maps():
    return SourceMapFolder()


def test_a_place_comes_with_path_line_function_and_source(maps):
    frame = maps.original(TEXT, 1, 25)
    assert (frame.path, frame.line, frame.function) == ("../src/cart.ts", 3, "total")
    assert frame.code == "const factor = customer.discount.factor;"
    assert frame.before == ("export class Cart {", "  total(customer) {")
    assert frame.after == ("    return factor;", "  }", "}")


def test_a_map_without_source_tells_the_place_alone(maps):
    text = json.dumps({**MAP, "sourcesContent": [None]})
    frame = maps.original(text, 1, 25)
    assert (frame.path, frame.line, frame.code, frame.function) == ("../src/cart.ts", 3, "", "")


def test_a_map_of_parts_is_read(maps):
    whole = {"version": 3, "sections": [{"offset": {"line": 0, "column": 0}, "map": MAP}]}
    assert maps.original(json.dumps(whole), 1, 25).line == 3


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", "null", "x" * 100, "[" * 200_000, '{"version": 3}',
        json.dumps({**MAP, "mappings": "!!!"}),
        json.dumps({**MAP, "mappings": "AggggggggggggggggggggggggE"}),
        json.dumps({**MAP, "sources": []}),
        json.dumps({**MAP, "sources": ["a\nb.ts"]}),
    ],
)  # fmt: skip
def test_what_is_no_map_tells_nothing(maps, text):
    frame = maps.original(text, 1, 25)
    assert frame is None or frame.path == ""


@pytest.mark.parametrize(("line", "column"), [(0, 1), (1, 0), (-1, 5), (9, 1)])
def test_places_that_are_none_tell_nothing(maps, line, column):
    assert maps.original(TEXT, line, column) is None


def test_deeply_nested_source_and_many_mappings_are_survived(maps):
    nested = json.dumps({**MAP, "sourcesContent": ["(" * 200_000 + "\n\n" + "[" * 200_000]})
    many = json.dumps({**MAP, "mappings": "AAAA" + ",CAAA" * 500_000})
    assert len(maps.original(nested, 1, 25).code) <= limits.SOURCE_LINE
    assert maps.original(many, 1, 25).line == 1


def test_a_map_that_is_too_large_is_not_read(tmp_path):
    (tmp_path / "app.js.map").write_text(TEXT)
    maps = SourceMapFolder(tmp_path, most=len(TEXT) - 1)
    assert maps.original(TEXT, 1, 25) is None
    assert maps.map_of("app.js") is None
    assert SourceMapFolder(tmp_path, most=len(TEXT)).map_of("app.js") == TEXT


def test_the_folder_is_asked_by_the_end_of_the_path(tmp_path):
    for name in ("web/assets/app.js.map", "admin/assets/app.js.map", "web/only.js.map"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    maps = SourceMapFolder(tmp_path)
    assert maps.map_of("web/assets/app.js") == "web/assets/app.js.map"
    assert maps.map_of("static/only.js") == "web/only.js.map"
    assert maps.map_of("assets/app.js") is None  # which of the two, nobody knows
    assert maps.map_of("../../etc/passwd") is None


def test_links_out_of_the_folder_lead_nowhere(tmp_path):
    (tmp_path / "secret.map").write_text("secret")
    folder = tmp_path / "maps"
    folder.mkdir()
    (folder / "app.js.map").symlink_to(tmp_path / "secret.map")
    (folder / "below").symlink_to(tmp_path)
    maps = SourceMapFolder(folder)
    assert maps.map_of("app.js") is None
    assert maps.map_of("secret") is None


def test_a_folder_that_is_not_there_stops_the_night(tmp_path):
    with pytest.raises(StopTheNight, match="no folder of source maps"):
        SourceMapFolder(tmp_path / "gone")
    assert SourceMapFolder().map_of("app.js") is None
