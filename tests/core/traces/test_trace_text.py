"""Traces as an analyst is shown them: once, own frames marked, the libraries' tail left out."""

import re

import pytest

from nightwatch_core.models.trace import ExceptionLink, Frame, Trace
from nightwatch_core.traces.limits import (
    FRAMES_LISTED,
    LISTED_SHOWN,
    OWN_FRAMES_LISTED,
    PRINTED_SHOWN,
)
from nightwatch_core.traces.parsing import parse
from nightwatch_core.traces.path_index import PathIndex
from nightwatch_core.traces.repo_paths import map_frames
from nightwatch_core.traces.trace_text import frames_text, printed_text

GEM = "/usr/local/bundle/gems/actionpack-7.1.3/lib/part_{n}.rb:{n}:in 'call'"
TREE = ("app/models/cart.rb", "app/cart.py", "src/main/java/com/acme/Cart.java", "src/cart.js")


def shown(raw: str, language: str) -> tuple[str, str]:
    """Frames and printed trace as they are shown."""
    trace = map_frames(parse(raw, language, ()), PathIndex(TREE))
    printed = printed_text(trace)
    return frames_text(trace, printed), printed


def ruby(below: int) -> str:
    gems = (GEM.format(n=n) for n in range(10, 10 + below))
    head = "NoMethodError (undefined method 'x' for nil)", "app/models/cart.rb:7:in 'total'"
    return "\n".join((*head, *gems))


def test_the_tail_ends_two_rows_below_the_last_own_frame() -> None:
    frames, printed = shown(ruby(below=30), "ruby")
    rows = printed.split("\n")
    assert rows[:4] == ruby(below=2).split("\n")
    assert rows[4:] == ["[... 28 rows of libraries left out; get_error_traces has them ...]"]
    assert frames.split("\n") == [
        "app  app/models/cart.rb:7 in total", "[... 30 more frames are in the printed trace ...]"
    ]  # fmt: skip


def test_short_tails_stay_as_they_are() -> None:
    for below in (0, 1, 2):
        assert shown(ruby(below), "ruby")[1] == ruby(below)


def test_libraries_between_own_frames_stay() -> None:
    raw = ruby(below=9) + "\napp/models/cart.rb:70:in 'outer'"
    assert shown(raw, "ruby")[1] == raw


JAVA = """com.acme.Failed: no cart
\tat com.acme.Cart.total(Cart.java:7)
""" + "".join(f"\tat org.springframework.web.Part{n}.call(Part{n}.java:{n})\n" for n in range(9))


def test_a_cause_without_own_frames_keeps_its_heading_and_first_rows() -> None:
    cause = "Caused by: java.net.SocketTimeoutException: Read timed out\n" + "".join(
        f"\tat java.net.Socket{n}.read(Socket{n}.java:{n})\n" for n in range(9)
    )
    printed = shown(f"{JAVA}{cause}\t... 45 more", "java")[1]
    assert "Caused by: java.net.SocketTimeoutException: Read timed out" in printed
    assert re.findall(r"Socket(\d)\.java", printed) == ["0", "1"]
    assert re.findall(r"Part(\d)\.java", printed) == ["0", "1"]
    assert "... 15 rows of libraries left out" in printed


def test_python_prints_outermost_first_so_the_head_is_cut() -> None:
    library = "".join(
        f'  File "/usr/lib/python3/site-packages/web/part{n}.py", line {n}, in call\n'
        f"    return handler_{n}(request)\n           ^^^^^^^^^^\n"
        for n in range(1, 9)
    )
    raw = (
        f"Traceback (most recent call last):\n{library}"
        '  File "/srv/shop/app/cart.py", line 7, in total\n    return lines.net\n'
        '  File "/usr/lib/python3/site-packages/orm/row.py", line 9, in __getattr__\n'
        "    raise AttributeError(name)\nAttributeError: net"
    )
    frames, printed = shown(raw, "python")
    rows = printed.split("\n")
    assert rows[0] == "Traceback (most recent call last):"
    assert rows[1] == "[... 21 rows of libraries left out; get_error_traces has them ...]"
    assert "part8.py" in rows[2]
    assert printed.endswith("\n".join(raw.split("\n")[-5:]))
    assert "app  app/cart.py:7 in total" in frames


def test_a_trace_without_own_frames_is_printed_whole() -> None:
    raw = "\n".join(("Timeout::Error (late)", *(GEM.format(n=n) for n in range(1, 30))))
    frames, printed = shown(raw, "ruby")
    assert printed == raw
    assert frames.count("lib  ") == OWN_FRAMES_LISTED


def own(number: int, raw: str = "", place: str = "app/{n}.rb") -> Trace:
    paths = [place.format(n=n) for n in range(number)]
    frames = tuple(Frame(path=p, repo_path=p, line=3, in_app=True) for p in paths)
    return Trace(language="ruby", links=(ExceptionLink(frames=frames),), raw=raw)


def test_own_frames_are_listed_where_the_printed_trace_says_something_else() -> None:
    printed = "\n".join(f"app/{n}.rb:3" for n in range(OWN_FRAMES_LISTED + 2))
    listed = frames_text(own(OWN_FRAMES_LISTED + 4), printed).split("\n")
    assert [row.split()[1] for row in listed[:-1]] == [
        f"app/{n}.rb:3" for n in range(OWN_FRAMES_LISTED + 4) if n not in (5, 6)
    ]
    assert "2 more frames" in listed[-1]


@pytest.mark.parametrize("printed", ["", "x" * (PRINTED_SHOWN + 1)])
def test_all_frames_are_listed_where_what_is_printed_is_not_whole(printed: str) -> None:
    assert frames_text(own(FRAMES_LISTED + 9), printed).count("app/") == FRAMES_LISTED


def test_huge_and_hostile_traces_are_bounded() -> None:
    for raw in ("a" * 500_000, "x.rb:1\n" * 90_000, "((((" * 100_000, "\n" * 200_000):
        trace = own(400, raw, "app/x.rb")
        printed = printed_text(trace)
        assert len(printed) < PRINTED_SHOWN + 100
        assert len(frames_text(trace, printed)) < LISTED_SHOWN + 100


def test_recursion_is_not_listed_again_and_again() -> None:
    trace = own(900, "\n".join(["app/x.rb:3"] * 900)[: PRINTED_SHOWN - 1], "app/x.rb")
    assert frames_text(trace, printed_text(trace)).count("app  ") == OWN_FRAMES_LISTED
