"""What a tracker says about frames stands in a text beside them, and is never shown."""

from nightwatch_core.traces.grammar import frame_row
from nightwatch_core.traces.in_app import own_row
from nightwatch_core.traces.parsing import parse

HEAD = "SIGSEGV: no"
INNER = frame_row("/vendor/shop/cart.rs", 7, 3, "shop::total")
OUTER = frame_row("/srv/main.rs", 2, 0, "main")


def test_frames_of_any_language_keep_place_and_function():
    trace = parse("\n".join((HEAD, INNER, OUTER, frame_row("", 0, 0, "abort"))))
    (link,) = trace.links
    assert (trace.language, link.error_class, link.message) == ("other", "SIGSEGV", "no")
    assert [(f.path, f.line, f.column, f.function) for f in link.frames] == [
        ("/vendor/shop/cart.rs", 7, 3, "shop::total"),
        ("/srv/main.rs", 2, None, "main"),
        ("<unknown>", None, None, "abort"),
    ]


def test_the_trackers_word_about_own_frames_counts_behind_prefixes_of_the_owner():
    raw = "\n".join((HEAD, own_row("/vendor/shop/cart.rs", 7), INNER, OUTER))
    trace, by_prefix = parse(raw), parse(raw, app_prefixes=("/srv/",))
    assert [frame.in_app for frame in trace.frames] == [True, False]
    assert [frame.in_app for frame in by_prefix.frames] == [False, True]
    assert "in app|" not in trace.raw
    assert [frame.in_app for frame in parse("\n".join((HEAD, INNER, OUTER))).frames] == [
        False,
        True,
    ]
