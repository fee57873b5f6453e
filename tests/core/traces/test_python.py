from core.traces.stacktrace_shapes import errors, own, places, top

from nightwatch_core.traces.parsing import parse

PLAIN = """\
Traceback (most recent call last):
  File "/srv/shop/web.py", line 40, in show
    total(cart)
    ~~~~~^^^^^^
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
  File "/srv/shop/cart.py", line 14, in total
    raise CartError("no rate")
shop.errors.CartError: no rate
"""


def test_frames_come_innermost_first_with_their_code():
    trace = parse(PLAIN)
    assert places(trace) == [
        [
            "/srv/shop/cart.py:14",
            "/usr/lib/python3.11/json/decoder.py:355",
            "/srv/shop/web.py:40",
        ]
    ]
    assert [frame.code for frame in trace.frames] == [
        'raise CartError("no rate")',
        "",
        "total(cart)",
    ]
    assert errors(trace) == [("shop.errors.CartError", "no rate")]
    assert own(trace) == ["/srv/shop/cart.py:14", "/srv/shop/web.py:40"]


ROOT = (
    'Traceback (most recent call last):\n  File "/srv/shop/db.py", line 3, in row\n'
    "    rows[7]\nKeyError: 7\n"
)


def test_cause_and_context_are_printed_before_what_they_led_to():
    for phrase in (
        "The above exception was the direct cause of the following exception:",
        "During handling of the above exception, another exception occurred:",
    ):
        trace = parse(f"{ROOT}\n{phrase}\n\n{PLAIN}")
        assert errors(trace) == [("shop.errors.CartError", "no rate"), ("KeyError", "7")]
        assert top(trace) == "/srv/shop/db.py:3"


def test_separate_tracebacks_are_no_chain():
    assert errors(parse(f"{ROOT}\nretrying\n\n{PLAIN}")) == [("KeyError", "7")]


def test_first_exception_of_a_group_is_its_cause():
    trace = parse(
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "/srv/shop/batch.py", line 9, in run\n'
        "  |     raise ExceptionGroup('batch', errors)\n"
        "  | ExceptionGroup: batch (2 sub-exceptions)\n"
        "  +-+---------------- 1 ----------------\n"
        "    | Traceback (most recent call last):\n"
        '    |   File "/srv/shop/batch.py", line 5, in one\n'
        "    | ValueError: bad\n"
        "    +---------------- 2 ----------------\n"
        "    | Traceback (most recent call last):\n"
        '    |   File "/srv/shop/batch.py", line 6, in two\n'
        "    | ZeroDivisionError: division by zero\n"
        "    +------------------------------------\n"
    )
    assert errors(trace) == [
        ("ExceptionGroup", "batch (2 sub-exceptions)"),
        ("ValueError", "bad"),
    ]


def test_text_wrapped_in_logs_json_and_mails():
    lines = PLAIN.splitlines()
    for wrapped in (
        "\n".join(f"May  4 10:11:12 web1 shop[88]: {line}" for line in lines),
        "\n".join(f"2031-05-04T10:11:12.3Z stderr F {line}" for line in lines),
        "\n".join(f"web-1  | {line}" for line in lines),
        "\n".join(f"> {line}" for line in lines),
        "\r\n".join(f"    {line}" for line in lines),
        '{"level":"error","exc":"' + PLAIN.replace('"', '\\"').replace("\n", "\\n") + '"}',
        PLAIN.replace("\n", "\\n"),
    ):
        trace = parse(wrapped)
        assert (errors(trace), top(trace)) == (
            [("shop.errors.CartError", "no rate")],
            "/srv/shop/cart.py:14",
        )


def test_exception_named_above_and_lines_without_number():
    trace = parse(
        "ValueError: bad\n"
        '  File "flask/app.py", line 1982, in wsgi_app\n'
        "    response = self.dispatch()\n"
        '  File "cart.py", line None, in total\n'
        '  File "<string>", line 2, in <module>\n'
    )
    assert errors(trace) == [("ValueError", "bad")]
    assert own(trace) == ["cart.py"]


def test_faulthandler_prints_the_innermost_frame_first():
    trace = parse(
        "Fatal Python error: Segmentation fault\n\n"
        "Current thread 0x00007f (most recent call first):\n"
        '  File "/srv/shop/cart.py", line 3 in total\n  File "/srv/shop/web.py", line 9 in show\n'
    )
    assert top(trace) == "/srv/shop/cart.py:3"


def test_code_that_looks_like_json_or_an_exception_stays_code():
    trace = parse(
        "Traceback (most recent call last):\n"
        '  File "/srv/shop/a.py", line 1, in a\n    "rate": "none",\n'
        '  File "/srv/shop/b.py", line 2, in b\n    x = d["a:1", "b"]\n'
        '  File "/srv/shop/c.py", line 3, in c\n    KeyError\n'
        "KeyError: 'x'\n"
    )
    assert [frame.line for frame in trace.frames] == [3, 2, 1]
    assert trace.root.error_class == "KeyError"
