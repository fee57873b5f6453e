"""Whether the source of a record is that of the commit, and where it stands there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.models.errors import ExceptionLink, Frame, Trace
from nightwatch_core.traces.limits import FITTED_FRAMES
from nightwatch_core.traces.placing import fitted, lines_of, with_fits

TABLES = tables_of(__file__)

TEXT = TABLES["text"]


def fit(line, code="", before=(), after=(), text=TEXT):
    frame = Frame(path="cart.py", line=line, code=code, before=before, after=after)
    found = fitted(frame, lines_of(text))
    return found.line, found.fit


@pytest.mark.parametrize(("line", "code", "around", "expected"), TABLES["compared_lines"])
def test_a_line_is_compared_and_looked_for(line, code, around, expected):
    assert fit(line, code, **around) == tuple(expected)


def test_what_stands_everywhere_needs_its_neighbours():
    text = "def a\n  one\nend\n\ndef b\n  two\nend\n"
    assert fit(3, "end", ("  one",), text=text) == (3, "same")
    assert fit(3, "end", ("  two",), text=text) == (7, "moved")
    assert fit(4, "end", text=text) == (4, "unknown")
    assert fit(3, "end", ("  three",), text=text) == (3, "differs")


def test_every_frame_is_compared_with_its_own_file():
    frames = (
        Frame(path="a", repo_path="cart.py", line=4, code="return sum(one.price for one in …"),
        Frame(path="b", repo_path="gone.py", line=4, code="return 0"),
        Frame(path="c", line=4, code="return 0"),
        Frame(path="d", repo_path="cart.py", line=4),
    )
    reads = []

    def read(path):
        reads.append(path)
        return {"cart.py": TEXT}.get(path)

    trace = with_fits(Trace(links=(ExceptionLink(frames=frames),)), read)
    assert [(one.line, one.fit) for one in trace.frames] == [
        (5, "moved"), (4, "unknown"), (4, "unknown"), (4, "unknown"),
    ]  # fmt: skip
    assert reads == ["cart.py", "gone.py"]


@given(st.text(max_size=60), st.integers(1, 12), st.lists(st.text(max_size=20), max_size=3))
def test_whatever_a_record_holds_the_frame_stays_in_the_file(code, line, before):
    found, said = fit(line, code, tuple(before))
    assert said != "moved" or 1 <= found <= 10
    assert said == "moved" or found == line


def test_deep_traces_over_long_files_are_quick():
    frames = tuple(
        Frame(path="a", repo_path="a.py", line=n, code=f"gone({n})") for n in range(1, 500)
    )
    trace = with_fits(Trace(links=(ExceptionLink(frames=frames),)), lambda _: "x = 1\n" * 5_000)
    assert [one.fit for one in trace.frames].count("differs") == FITTED_FRAMES
