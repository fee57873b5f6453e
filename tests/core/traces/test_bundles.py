"""Frames of JavaScript bundles, put where their source maps say."""

import pytest
from analysis_shapes import tree
from tables import tables_of
from twins.reading import MemorySourceMaps

from nightwatch_core.models.errors import Frame
from nightwatch_core.models.options import NightOptions
from nightwatch_core.traces.bundles import with_original_places
from nightwatch_core.traces.parsing import parse
from nightwatch_core.traces.placing import PathIndex, place_frames

TABLES = tables_of(__file__)

RAW = TABLES["RAW"]
CART = "export function price(line) {\n  return line.product.price;\n}\n"
PLACE = Frame(path="../src/cart.ts", line=2, function="price", code="return line.product.price;")


def mapped(files=None, texts=None, place=PLACE, raw=RAW, **options):
    files = {"src/cart.ts": CART} if files is None else files
    maps = MemorySourceMaps(texts or {}, {("map", 1, 38): place})
    code, chosen = tree(files), NightOptions(**options)
    index = PathIndex(code.paths())
    trace = parse(raw)
    (found,) = with_original_places((trace,), maps, index, code.read_file, chosen)
    return place_frames(found, index, code.read_file, chosen)


def test_a_map_of_the_folder_leads_to_the_source():
    top, outer, other = mapped(texts={"assets/app-1a2b.js": "map"}).frames
    assert (top.repo_path, top.line, top.function) == ("src/cart.ts", 2, "price")
    assert (top.in_app, top.fit) == (True, "same")
    assert (outer.line, outer.function, outer.repo_path) == (1, "i", "")  # no map tells of it
    assert other.path.endswith("other.js")


def test_a_map_beside_the_bundle_in_the_repository_is_read():
    files = {"src/cart.ts": CART, "public/assets/app-1a2b.js.map": "map"}
    place = PLACE.model_copy(update={"path": "../../src/cart.ts"})
    assert mapped(files, place=place).frames[0].repo_path == "src/cart.ts"


@pytest.mark.parametrize(("path", "expected"), TABLES["paths_of_maps_are_placed_like_any_other"])
def test_paths_of_maps_are_placed_like_any_other(path, expected):
    place = PLACE.model_copy(update={"path": path})
    top = mapped(texts={"assets/app-1a2b.js": "map"}, place=place).frames[0]
    assert top.repo_path == expected
    assert top.in_app == ("node_modules" not in path)


def test_source_that_the_commit_does_not_hold_is_told():
    place = PLACE.model_copy(update={"code": "return line.product.cost;"})
    top = mapped(texts={"assets/app-1a2b.js": "map"}, place=place).frames[0]
    assert top.fit == "differs"


def test_other_languages_and_frames_without_a_column_stay():
    raw = "E: x\n  app/a.rb:1:in `b'\n"
    assert mapped(raw=raw, texts={"app/a.rb": "map"}) == mapped(raw=raw)
    bare = "TypeError: x\nf@https://shop.example/assets/app-1a2b.js:1"
    assert mapped(raw=bare, texts={"assets/app-1a2b.js": "map"}).frames[0].line == 1
