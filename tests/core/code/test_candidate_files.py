"""Tests of the ranking of files by the trace alone; figures are in the benchmarks."""

from small_repo import frame

from nightwatch_core.code.candidate_files import ranked_places
from nightwatch_core.models.error import ExceptionLink, Frame, Trace


def ranked(*frames, message="", language=""):
    link = ExceptionLink(error_class="E", message=message, frames=frames)
    return [p.path for p in ranked_places(Trace(language=language, links=(link,)))]


def test_the_innermost_in_app_frame_comes_first():
    frames = (frame("gems/x.rb", 1, in_app=False), frame("a.py", 1, "f"), frame("b.py", 2, "g"))
    assert ranked(*frames) == ["a.py", "b.py"]


def test_frames_that_only_check_report_or_carry_come_later():
    caller = frame("app/basket.py", 9, "add")
    for helper in (
        frame("app/checks.py", 1, "assert_stock"),
        frame("app/stock_error.py", 1, "build"),
        frame("app/context.py", 1, "unknown_property_exception"),
        frame("tests/test_basket.py", 1, "test_add"),
        frame("app/string_utils.py", 1, "cut"),
        frame("config/boot.rb", 1, "load"),
    ):
        assert ranked(helper, caller)[0] == "app/basket.py", helper.path


def test_a_wrong_call_is_its_callers_fault_where_ruby_blames_the_callee():
    frames = (frame("a.rb", 1, "total"), frame("b.rb", 2, "show"))
    message = "wrong number of arguments (given 1, expected 2)"
    assert ranked(*frames, message=message, language="ruby") == ["b.rb", "a.rb"]
    assert ranked(*frames, message=message, language="python") == ["a.rb", "b.rb"]


def test_the_root_exception_counts_before_what_wrapped_it():
    outer = ExceptionLink(error_class="Wrapped", frames=(frame("web.py", 1, "page"),))
    root = ExceptionLink(error_class="Root", frames=(frame("db.py", 1, "load"),))
    assert [p.path for p in ranked_places(Trace(links=(outer, root)))] == ["db.py", "web.py"]


def test_empty_recursive_and_foreign_traces():
    assert ranked() == []
    assert ranked(Frame(path="gems/x.rb", line=1), Frame(path="", line=2)) == ["gems/x.rb"]
    deep = tuple(frame("walk.py", 1, "walk") for _ in range(5_000))
    assert ranked(*deep, frame("main.py", 1, "start")) == ["walk.py"]
    places = ranked_places(
        Trace(links=(ExceptionLink(frames=(frame("a.py", 1), frame("b.py", 1))),))
    )
    assert places[0].score == 1.0
    assert places[0].because[0] == "frame 1 of the application"
