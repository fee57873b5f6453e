"""Numbered source that stands in texts around a failing line."""

import pytest

from nightwatch_core.traces.excerpts import row, taken_out
from nightwatch_core.traces.parsing import parse

RAILS = """\
ActionView::Template::Error (undefined method `name' for nil:NilClass):
    1: <h1>Hi</h1>
    2: <p>
    3:   <%= @user.name %>
    4: </p>

app/views/users/show.html.erb:3:in `_app_views_users_show'
app/controllers/users_controller.rb:9:in `show'
"""
RUNNER = """\
TypeError: Cannot read properties of undefined (reading 'bar')

      1 | const a = 1;
    > 2 | foo.bar();
        |     ^
      3 | done();

      at total (src/cart.js:2:5)
      at Object.<anonymous> (src/cart.test.js:9:1)
"""
LARAVEL = """\
   ErrorException: Undefined variable $cart

  at /srv/app/Http/Shop.php:12
      8▕     {
      9▕
     10▕     }
  ➜  11▕     return $cart->total();
     12▕ }

#0 /srv/app/Http/Shop.php(11): total()
#1 {main}
"""
NODE = """\
file:///srv/app/cart.js:3
    foo.bar()
        ^

TypeError: Cannot read properties of undefined (reading 'bar')
    at total (file:///srv/app/cart.js:3:9)
"""


@pytest.mark.parametrize(
    ("text", "place", "code", "before", "after"),
    [
        (
            *(RAILS, "app/views/users/show.html.erb:3", "<%= @user.name %>"),
            *(("<h1>Hi</h1>", "<p>"), ("</p>",)),
        ),
        (RUNNER, "src/cart.js:2", "foo.bar();", ("const a = 1;",), ("done();",)),
        (
            *(LARAVEL, "/srv/app/Http/Shop.php:11", "return $cart->total();"),
            *(("    {", "", "    }"), ("}",)),
        ),
        (NODE, "/srv/app/cart.js:3", "foo.bar()", (), ()),
    ],
    ids=["rails", "jest", "laravel", "node"],
)
def test_what_is_printed_reaches_the_frame(text, place, code, before, after):
    trace = parse(text)
    frame = next(one for one in trace.frames if one.place == place)
    assert (frame.code, frame.before, frame.after) == (code, before, after)
    assert trace.raw == text  # what others printed is shown as it was


def test_other_frames_get_no_source():
    frames = parse(RAILS).frames
    assert [bool(frame.code) for frame in frames] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "    4: from app/a.rb:3:in `b'\n    3: from app/a.rb:2:in `c'\napp/a.rb:1:in `d'",
        "  1: one\n  2: two\n  3: three",
        "app/a.rb:9:in `b'\n  1: one\n  2: two",
        "  3 | x",
    ],
)
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
