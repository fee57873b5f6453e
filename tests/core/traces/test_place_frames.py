from analysis_shapes import tree

from nightwatch_core.models.errors import ExceptionLink, Frame, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.traces.placing import PathIndex, place_frames

FILES = {
    "backend/shop/cart.py": "# new\n\ndef total(lines):\n    return sum(l.price for l in lines)\n",
    "backend/shop/pay.py": "def pay(card):\n    return charge(card)\n",
}
SUM = "return sum(l.price for l in lines)"


def place(*frames, options=None, code=None):
    links = (
        ExceptionLink(error_class="E", frames=frames[:1]),
        ExceptionLink(error_class="F", frames=frames[1:]),
    )
    code = code or tree(FILES)
    trace = Trace(language="python", links=links, raw="raw")
    index = PathIndex(code.paths())
    return place_frames(trace, index, code.read_file, options or NightOptions()), code


def frame(path, line=2, code=""):
    return Frame(path=path, line=line, function="total", in_app=True, code=code)


def test_paths_are_mapped_in_every_link():
    found, _ = place(frame("/srv/app/backend/shop/cart.py"), frame("/srv/app/backend/shop/pay.py"))
    assert [f.repo_path for f in found.frames] == ["backend/shop/pay.py", "backend/shop/cart.py"]
    assert [link.error_class for link in found.links] == ["E", "F"]
    assert found.raw == "raw"


def test_a_line_of_another_release_is_moved_to_where_its_code_stands():
    found, code = place(frame("/srv/backend/shop/cart.py", 2, SUM), frame("/x/shop/pay.py", 9))
    assert [one.line for one in found.frames] == [9, 4]
    assert code.reads == ["backend/shop/cart.py"]


def test_a_file_is_read_once_however_many_frames_are_in_it():
    frames = [frame("/srv/backend/shop/cart.py", n, SUM) for n in range(1, 50)]
    found, code = place(*frames)
    assert code.reads == ["backend/shop/cart.py"]
    assert {one.line for one in found.frames} == {4}


def test_what_is_not_ours_is_not_read():
    found, code = place(frame("/usr/lib/python3/json/decoder.py", 2, SUM))
    assert found.frames[0].repo_path == ""
    assert code.reads == []
