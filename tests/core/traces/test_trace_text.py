"""Traces as an analyst is shown them: once, own frames marked, libraries folded."""

import re

import pytest
from tables import tables_of

from nightwatch_core.models.errors import ExceptionLink, Frame, Trace
from nightwatch_core.traces.limits import LIBRARY_ENDS, OWN_FRAMES_LISTED, PRINTED_SHOWN
from nightwatch_core.traces.parsing import parse
from nightwatch_core.traces.placing import PathIndex, map_frames
from nightwatch_core.traces.trace_text import passes_on, trace_text

TABLES = tables_of(__file__)

GEM = "/usr/local/bundle/gems/actionpack-7.1.3/lib/part_{n}.rb:{n}:in 'call'"
SHORT = ".../actionpack-7.1.3/lib/part_{n}.rb:{n}:in 'call'"
TREE = (
    *("app/models/cart.rb", "app/cart.py", "src/main/java/com/acme/Cart.java", "src/cart.js"),
    *("shop/cart.go", "app/middleware.py"),
)


def shown(raw, language):
    """The rows that are shown."""
    return trace_text(map_frames(parse(raw, language, ()), PathIndex(TREE))).split("\n")


def ruby(below):
    gems = (GEM.format(n=n) for n in range(10, 10 + below))
    head = "NoMethodError (undefined method 'x' for nil)", "app/models/cart.rb:7:in 'total'"
    return "\n".join((*head, *gems))


def test_the_tail_ends_one_row_below_the_last_own_frame():
    assert shown(ruby(below=30), "ruby") == [
        "NoMethodError (undefined method 'x' for nil)",
        "app/models/cart.rb:7:in 'total'  <- ours",
        SHORT.format(n=10),
        "[... 29 library frames left out ...]",
    ]
    assert [len(shown(ruby(below), "ruby")) for below in (0, 1, 2)] == [2, 3, 4]
    printed = python(*(OWN, LIBRARY[0], *LIBRARY[:1], LIBRARY[1]))
    assert "[... 1 library frame left out: call ...]" in shown(printed, "python")


def test_libraries_between_own_frames_keep_both_ends():
    rows = shown(ruby(below=9) + "\napp/models/cart.rb:70:in 'outer'", "ruby")
    assert rows[2:5] == [
        SHORT.format(n=10),
        "[... 7 library frames left out: call ...]",
        SHORT.format(n=18),
    ]
    assert rows[5] == "app/models/cart.rb:70:in 'outer'  <- ours"


def test_source_that_stands_beside_it_is_left_out_but_for_the_innermost_and_marks_of_libraries():
    raw = (
        'Traceback (most recent call last):\n  File "/srv/app/cart.py", line 9, in show\n'
        '    total(cart, 1)\n    ~~~~~^^^^^\n  File "/usr/lib/site-packages/a.py", line 3, in b\n'
        '    c(d)\n    ~^^^\n  File "/srv/app/cart.py", line 7, in total\n    return cart.net\n'
        "           ^^^^^^^^\nAttributeError: no net\n"
    )
    trace = map_frames(parse(raw, "python", ()), PathIndex(TREE))
    rows = trace_text(trace, {("app/cart.py", 9), ("app/cart.py", 7)}).split("\n")
    assert rows[1:] == [
        '  File "/srv/app/cart.py", line 9, in show  <- ours',
        '  File ".../a.py", line 3, in b',
        "    c(d)",
        '  File "/srv/app/cart.py", line 7, in total  <- ours',
        "    return cart.net",
        "           ^^^^^^^^",
        "AttributeError: no net",
    ]


JAVA = """com.acme.Failed: no cart
\tat com.acme.Cart.total(Cart.java:7)
""" + "".join(f"\tat org.springframework.web.Part{n}.call(Part{n}.java:{n})\n" for n in range(9))


def test_a_cause_without_own_frames_keeps_its_heading_and_the_frame_that_raised():
    cause = "Caused by: java.net.SocketTimeoutException: Read timed out\n" + "".join(
        f"\tat java.net.Socket{n}.read(Socket{n}.java:{n})\n" for n in range(9)
    )
    printed = "\n".join(shown(f"{JAVA}{cause}\t... 45 more", "java"))
    assert "Caused by: java.net.SocketTimeoutException: Read timed out" in printed
    assert re.findall(r"Socket(\d)\.java", printed) == ["0"]
    assert re.findall(r"Part(\d)\.java", printed) == ["0"]
    assert "(Cart.java:7)  <- ours, src/main/java/com/acme/Cart.java:7" in printed


def python(*frames, end="AttributeError: net"):
    rows = (f'  File "{path}", line {n}, in {name}\n    {code}' for path, n, name, code in frames)
    return "\n".join(("Traceback (most recent call last):", *rows, end))


LIBRARY = [
    (f"/usr/lib/python3/site-packages/web/part{n}.py", n, "call", f"return handler_{n}(request)")
    for n in range(1, 9)
]
OWN = ("/srv/shop/app/cart.py", 7, "total", "from cart:7 at total(7)")  # source, no frame


def test_python_prints_outermost_first_so_the_head_is_folded():
    row = ("/usr/lib/python3/site-packages/orm/row.py", 9, "__getattr__", "raise Missing(name)")
    rows = shown(python(*LIBRARY, OWN, row), "python")
    assert rows == [
        "Traceback (most recent call last):",
        "[... 7 library frames left out ...]",
        '  File ".../web/part8.py", line 8, in call',
        "    return handler_8(request)",
        '  File "/srv/shop/app/cart.py", line 7, in total  <- ours',
        "    from cart:7 at total(7)",
        '  File ".../orm/row.py", line 9, in __getattr__',
        "    raise Missing(name)",
        "AttributeError: net",
    ]


def test_a_driver_below_ours_keeps_what_we_called_and_what_raised():
    rows = shown(python(OWN, *LIBRARY), "python")
    assert [row for row in rows if "part" in row] == [
        '  File ".../web/part1.py", line 1, in call', '  File ".../web/part8.py", line 8, in call'
    ]  # fmt: skip
    assert "[... 6 library frames" in "\n".join(rows)


def test_own_frames_that_only_pass_on_are_folded():
    passing = [
        ("/srv/app/middleware.py", n, "__call__", "return self.get_response(request)")
        for n in range(1, 8)
    ]
    rows = shown(python(*passing, OWN), "python")
    assert sum("middleware.py" in row for row in rows) == 2
    assert "[... 5 own pass-through frames left out ...]" in rows
    assert rows[-3].endswith("in total  <- ours")


@pytest.mark.parametrize(("code", "expected"), TABLES["test_what_only_passes_on"])
def test_what_only_passes_on(code, expected):
    assert passes_on(Frame(path="a", code=code)) is expected


def test_the_function_above_a_place_goes_with_it():
    libraries = "".join(f"net/http.part{n}(0x1)\n\t/usr/local/go/src/net/http/p{n}.go:{n} +0x1\n"
                        for n in range(1, 7))  # fmt: skip
    own = "goroutine 1 [running]:\nmain.total(0x1)\n\t/srv/shop/cart.go:7 +0x2\n"
    raw = f"panic: nil map\n\n{own}{libraries}"
    rows = shown(raw, "go")
    assert "main.total(0x1)" in rows
    assert [row for row in rows if row.startswith("net/http")] == ["net/http.part1(0x1)"]


def test_a_trace_without_own_frames_keeps_both_its_ends():
    rows = shown("\n".join(("Timeout::Error (late)", *(GEM.format(n=n) for n in range(1, 30)))),
                 "ruby")  # fmt: skip
    kept = [*range(1, 1 + LIBRARY_ENDS), *range(30 - LIBRARY_ENDS, 30)]
    assert [row for row in rows if "part_" in row] == [SHORT.format(n=n) for n in kept]


def own(number, raw="", place="app/{n}.rb"):
    paths = [place.format(n=n) for n in range(number)]
    frames = tuple(Frame(path=p, repo_path=p, line=3, in_app=True) for p in paths)
    return Trace(language="ruby", links=(ExceptionLink(frames=frames),), raw=raw)


def test_frames_are_listed_where_nothing_was_printed():
    assert trace_text(own(2)) == "app/0.rb:3 in ?  <- ours\napp/1.rb:3 in ?  <- ours"


def test_a_printed_trace_that_is_cut_is_followed_by_the_first_own_frames():
    text = trace_text(own(9, "x" * (PRINTED_SHOWN + 1)))
    assert text.count("<- ours") == OWN_FRAMES_LISTED


def test_huge_and_hostile_traces_are_bounded():
    for raw in ("a" * 500_000, "x.rb:1\n" * 90_000, "((((" * 100_000, "\n" * 200_000, "/" * 90_000):
        assert len(trace_text(own(400, raw, "app/x.rb"))) < PRINTED_SHOWN + 2_000


def test_recursion_is_not_shown_again_and_again():
    text = trace_text(own(900, "\n".join(["app/x.rb:3"] * 900), "app/x.rb"))
    assert text.count("app/x.rb:3") == 2
    assert "898 frames again as above" in text
