"""Tests of read_library: which version, which file, and what is said where there is none."""

import pytest
from small_repo import SmallRepo, case, frame
from tables import tables_of
from twins.reading import MemoryLibraries

from nightwatch_core.analysis import tools
from nightwatch_core.models.code import Library
from nightwatch_core.models.conversation import ToolCall

TABLES = tables_of(__file__)

CASE = case("KeyError", "'a'", frame("app/a.py", 3, "total"))
OLD = Library(ecosystem="python", package="requests", version="2.28.0")
NEW = Library(ecosystem="python", package="requests", version="2.31.0")
SOURCE = {"requests/__init__.py": "", "requests/sessions.py": "class Session:\n    pass\n"}
LIBRARIES = MemoryLibraries({OLD: SOURCE, NEW: SOURCE})
FILES = {"app/a.py": "x\n", "requirements.txt": "requests==2.31.0\n"}


def read(place, files=FILES, libraries=LIBRARIES, known=frozenset(), **given):
    call = ToolCall(id="1", name="read_library", arguments={"place": place, **given})
    return tools.run(call, SmallRepo(files), CASE, (), known, libraries)


@pytest.mark.parametrize("place", TABLES["test_a_frames_file_is_read_at_the_locked_version"])
def test_a_frames_file_is_read_at_the_locked_version(place):
    assert read(place).text == (
        "requests 2.31.0: the version of requirements.txt.\n"
        "library/requests@2.31.0/requests/sessions.py (lines 1-2 of 2)\n"
        "    1| class Session:\n    2|     pass"
    )


def test_another_version_than_the_locked_one_is_said():
    only = MemoryLibraries({OLD: SOURCE})
    text = read("requests/sessions.py", libraries=only).text
    assert text.startswith("requests 2.28.0: requirements.txt has 2.31.0, so lines may differ.")
    text = read("requests/sessions.py", files={"app/a.py": "x"}, libraries=only).text
    assert text.startswith("requests 2.28.0: nothing has its version, so lines may differ.")


def test_a_frame_may_name_its_version_itself():
    gems = [Library(ecosystem="ruby", package="rack", version=v) for v in ("2.2.8", "3.0.0")]
    shelf = MemoryLibraries({one: {"lib/rack.rb": "module Rack\nend\n"} for one in gems})
    text = read("/usr/lib/ruby/gems/3.2.0/gems/rack-3.0.0/lib/rack.rb", {}, shelf, start=1).text
    assert text.startswith(
        "rack 3.0.0: the version of the frame.\nlibrary/rack@3.0.0/lib/rack.rb ("
    )


def test_a_package_alone_lists_its_files():
    assert read("requests").text.endswith("\nrequests/__init__.py\nrequests/sessions.py")


@pytest.mark.parametrize(
    ("place", "said"),
    [*TABLES["what_cannot_be_read_is_refused_with_a_way_on"], ("x" * 900, "Give a frame's path")],
)
def test_what_cannot_be_read_is_refused_with_a_way_on(place, said):
    result = read(place)
    assert result.is_error
    assert said in result.text


def test_without_libraries_it_says_so():
    assert "Library source is not available here" in read("requests", libraries=None).text
