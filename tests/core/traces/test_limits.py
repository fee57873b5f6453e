"""Texts nobody would call a stack trace, and far too long ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.traces.grammar import ALIASES, LANGUAGES
from nightwatch_core.traces.normalise import lines_in_log_line
from nightwatch_core.traces.parsing import parse

SIZE = 65_536

# One a line, with the escapes of Python.
PIECES = tuple(
    line.encode().decode("unicode_escape")
    for line in (Path(__file__).parent / "hostile_pieces.txt").read_text().split("\n")
    if line
)
FIXED = "Error: x\n    at f (/a.js:1:2)\n"


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.slow
def test_hostile_text_is_read_to_its_end(piece):
    one_line = (piece.replace("\n", "") * SIZE)[:1_999] + "\n"
    for text in ((piece * SIZE)[:SIZE], FIXED + (one_line * 40)[:SIZE]):
        assert len(parse(text).raw) == len(text)


def test_tags_in_each_other_are_bounded():
    line = "<pre>" * 50_000 + "at a.b(C.java:1)" + "</pre>" * 50_000
    assert all(len(part) <= len(line) for part in lines_in_log_line(line))
    assert lines_in_log_line("<div><pre>at a.b(C.java:1)</pre></div>") == ["at a.b(C.java:1)"]


@given(st.text(), st.sampled_from(("", "nonsense", *ALIASES)))
def test_any_text_is_read(text, language):
    assert parse(text, language, ("app",)).raw == text


@given(st.lists(st.sampled_from((*PIECES, "\n", "x", "12", FIXED)), max_size=40))
def test_any_pieces_of_traces_are_read(pieces):
    text = "".join(pieces)
    for language in LANGUAGES:
        trace = parse(text, language)
        assert all(frame.path for frame in trace.frames)


def test_deep_recursion_keeps_both_ends():
    deep = "\n".join(f"\tat org.shop.Cart.total(Cart.java:{n})" for n in range(1, 1025))
    frames = parse(f"java.lang.StackOverflowError\n{deep}\n").frames
    assert [frame.line for frame in frames[:251]][-2:] == [250, 775]
    assert (len(frames), frames[-1].line) == (500, 1024)


def test_endless_chain_keeps_both_ends():
    text = "\n".join(f"Caused by: a.B{n}\n\tat a.b.C.d(C.java:{n + 1})" for n in range(500))
    trace = parse(text)
    assert (len(trace.links), trace.root.error_class) == (50, "a.B499")


def test_text_without_frames_has_no_links():
    for text in ("", "nothing happened", "NoMethodError: no price"):
        trace = parse(text, "rb")
        assert (trace.links, trace.raw, trace.language) == ((), text, "ruby")


def test_wrong_hint_does_not_win():
    assert parse(FIXED + "    at g (/b.js:2:2)\n", "ruby").language == "javascript"
    assert parse("app/cart.rb:7:in `total'", "php").language == "ruby"
