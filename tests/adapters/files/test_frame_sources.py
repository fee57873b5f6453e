"""The source that trackers keep with frames, as far as the frames of a trace."""

from pathlib import Path

import pytest
import yaml

from nightwatch_core.adapters.files.frames import stack_text
from nightwatch_core.adapters.files.limits import SOURCE_FRAMES, STACK_LIMIT
from nightwatch_core.traces.parsing import parse

TRACKERS = yaml.safe_load(Path(__file__).with_name("frame_sources.yml").read_text())


@pytest.mark.parametrize("tracker", TRACKERS)
def test_what_a_tracker_keeps_reaches_the_frame(tracker):
    stack = stack_text([TRACKERS[tracker]])
    (frame,) = parse(f"NoMethodError: no\n{stack}").frames
    assert (frame.line, frame.code) == (7, "lines.sum")
    assert frame.before == ("def total", "  sum = 0")
    assert frame.after == ("end", "")


def test_source_that_looks_like_frames_stays_source():
    text = "/srv/app/other.rb:3:in `pay'"
    trace = parse(stack_text([{"file": "/srv/app/models/cart.rb", "line": 7, "code": {"7": text}}]))
    assert [frame.place for frame in trace.frames] == ["/srv/app/models/cart.rb:7"]
    assert trace.frames[0].code == text


def test_source_is_bounded_and_the_applications_own_goes_first():
    long = {"pre_context": ["x" * 9_000] * 50, "context_line": "y" * 9_000}
    frames = [
        {"filename": f"/srv/app/f{n}.rb", "lineno": 70, "in_app": n < 40, **long}
        for n in range(100)
    ]
    stack = stack_text(frames)
    assert len(stack) <= STACK_LIMIT
    with_source = [frame for frame in parse(stack).frames if frame.code]
    assert len(with_source) == SOURCE_FRAMES
    assert {frame.path for frame in with_source} == {f"/srv/app/f{n}.rb" for n in range(20, 40)}
    assert with_source[0].code.endswith("…")
