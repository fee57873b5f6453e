"""Numbered source that stands in texts around a failing line."""

import pytest
from tables import tables_of

from nightwatch_core.traces.excerpts import row, taken_out
from nightwatch_core.traces.parsing import parse

TABLES = tables_of(__file__)


@pytest.mark.parametrize("name", TABLES["printed"])
def test_what_is_printed_reaches_the_frame(name):
    case = TABLES["printed"][name]
    trace = parse(case["text"])
    frame = next(one for one in trace.frames if one.place == case["place"])
    assert (frame.code, [*frame.before], [*frame.after]) == (
        *(case["code"], case["before"], case["after"]),
    )
    assert trace.raw == case["text"]  # what others printed is shown as it was


def test_other_frames_get_no_source():
    frames = parse(TABLES["printed"]["rails"]["text"]).frames
    assert [bool(frame.code) for frame in frames] == [True, False]
    frames = parse(TABLES["printed"]["rails, where a helper fails"]["text"]).frames
    assert [bool(frame.code) for frame in frames] == [False, True, False]


@pytest.mark.parametrize("text", TABLES["test_numbers_that_lead_to_no_frame_stay_in_the_text"])
def test_numbers_that_lead_to_no_frame_stay_in_the_text(text):
    lines = tuple(text.split("\n"))
    assert taken_out(lines) == (lines, ())


def test_ours_are_written_and_left_out_again():
    rows = [row(6, "a"), row(7, "  b | c", failing=True), row(8, "")]
    text = "\n".join(["app/a.rb:7:in `b'", *rows, "app/b.rb:1:in `c'"])
    trace = parse(f"E: x\n{text}")
    assert trace.raw == "E: x\napp/a.rb:7:in `b'\napp/b.rb:1:in `c'"
    frame = trace.frames[0]
    assert (frame.code, frame.before, frame.after) == ("b | c", ("a",), ("",))


def test_a_text_of_nothing_but_numbers_is_read_quickly():
    text = "\n".join(f"  {n}: x" for n in range(15_000)) + "\napp/a.rb:7:in `b'"
    assert [frame.line for frame in parse(text).frames] == [7]
