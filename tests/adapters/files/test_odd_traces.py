"""Traces that began before the log did, errors that PHP prints without frames, mails."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from error_records import only, written

from nightwatch_core.adapters.files.logs import Block, TraceCutter
from nightwatch_core.adapters.files.times import settled
from nightwatch_core.traces.parsing import parse

NOW = datetime(2026, 11, 4, tzinfo=UTC)
TAIL = """    price = rate(sku)
  File "/srv/shop/rates.py", line 8, in rate
    return table[sku]
shop.rates.NoRate: sku-881
2026-11-03 10:00:00 INFO going on"""
FATAL = "PHP Fatal error:  Allowed memory size of 64 bytes exhausted in /srv/a/cart.php on line 12"
MAIL = """A Cart::Empty occurred in orders#show:

  cart 7 has no lines
  app/models/cart.rb:31:in `total'

-------------------------------
Backtrace:
-------------------------------

  app/models/cart.rb:31:in `total'
  app/controllers/orders_controller.rb:5:in `show'
"""
TRACKER = """View it: https://tracker.example/items/9

Cart::Empty: cart 7 has no lines
  File "/srv/shop/app/models/cart.rb", line 31, in total
  File "/srv/shop/app/views/orders/show.html.erb", line 4, in block in render

It happened 12 times."""


def blocks(log: str) -> list[Block]:
    cutter = TraceCutter()
    made = [one for n, text in enumerate(log.split("\n"), 1) for one in cutter.read(n, text)]
    return [*made, *cutter.finish()]


def read(log: str) -> list[tuple[str, str, list[str]]]:
    links = [parse(block.raw).links for block in blocks(log)]
    return [
        (link.error_class, link.message, [frame.place for frame in link.frames])
        for link, *_ in filter(None, links)
    ]


def test_the_end_of_a_traceback_whose_beginning_is_cut_off() -> None:
    assert read(TAIL) == [("shop.rates.NoRate", "sku-881", ["/srv/shop/rates.py:8"])]


@pytest.mark.parametrize(
    "below", ["INFO: ready", "Done", "2026-11-03 10:00:00 INFO ready", "Thread 0x1:"]
)
def test_what_stands_below_loose_frames_is_no_exception_unless_it_is_surely_one(below: str) -> None:
    frames = '  File "/srv/a.py", line 3, in serve\n    loop()\n'
    assert all(not name for name, _, _ in read(f"{frames}{below}\n"))


def test_an_error_of_php_without_frames_has_class_message_place_and_time() -> None:
    (block,) = blocks(f"[03-Nov-2026 10:00:09 UTC] {FATAL}\nand so on")
    assert block.at is not None
    assert settled(block.at, UTC, NOW) == datetime(2026, 11, 3, 10, 0, 9, tzinfo=UTC)
    message = "Allowed memory size of 64 bytes exhausted"
    assert read(FATAL) == [("Fatal error", message, ["/srv/a/cart.php:12"])]


def test_what_a_web_server_writes_around_an_error_of_php_is_no_part_of_it() -> None:
    log = f'2026/11/03 10:00:09 [error] 1#1: *9 FastCGI sent in stderr: "{FATAL}" while reading'
    assert [block.raw for block in blocks(log)] == [FATAL]


def test_a_trace_on_one_line_of_a_web_server_has_the_time_of_the_line(tmp_path: Path) -> None:
    log = (
        r"[Tue Nov 03 10:00:09.123456 2026] [php:error] [pid 7] [client 10.0.0.9:1] PHP Fatal "
        r"error:  Uncaught Shop\Gone: none in /srv/a.php:3\nStack trace:\n#0 /srv/b.php(4): f()"
        r"\n#1 {main}\n  thrown in /srv/a.php on line 3, referer: https://shop.example/"
    )
    group = only(written(tmp_path, log, "error.log"))
    assert group.last_seen == datetime(2026, 11, 3, 10, 0, 9, 123456, tzinfo=UTC)
    assert (group.error_class, group.message) == ("Shop\\Gone", "none")


@pytest.mark.parametrize("kind", ["Warning", "Notice", "Deprecated"])
def test_warnings_of_php_are_no_errors(kind: str) -> None:
    assert read(FATAL.replace("Fatal error", kind)) == []


def test_a_mailed_backtrace_is_one_error_and_its_heading_no_class() -> None:
    ((name, message, places),) = read(MAIL)
    assert (name, message) == ("Cart::Empty", "cart 7 has no lines")
    assert places[-1] == "app/controllers/orders_controller.rb:5"
    assert [name for name, _, _ in read(MAIL[MAIL.index("-----") :])] == [""]


def test_frames_of_ruby_in_the_form_of_python() -> None:
    places = ["/srv/shop/app/models/cart.rb:31", "/srv/shop/app/views/orders/show.html.erb:4"]
    assert read(TRACKER) == [("Cart::Empty", "cart 7 has no lines", places)]
    assert parse(TRACKER).language == "ruby"
