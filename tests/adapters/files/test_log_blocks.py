"""Stack traces in plain logs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from error_records import FULL, NOW, PYTHON, fetched, groups_of, json_lines, only, written
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.adapters.files.limits import MAX_STREAMS
from nightwatch_core.adapters.files.logs import Block, LogStreams, TraceCutter
from nightwatch_core.adapters.files.shapes.fields import LogLine
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.models.errors import ExceptionLink
from nightwatch_core.traces.parsing import parse

LOG = f"""2026-11-03 10:00:00,123 INFO started
2026-11-03 10:00:01,000 ERROR Exception on /orders [GET]
{PYTHON}
2026-11-03 10:00:02,000 INFO going on
E, [2026-11-03T10:00:03.000000 #12] ERROR -- : NoMethodError (undefined method `total' for nil):
  
app/models/order.rb:12:in `total'
app/controllers/orders_controller.rb:5:in `show'
I, [2026-11-03T10:00:04.000000 #12]  INFO -- : done
2026-11-03 10:00:05 ERROR org.shop.Web - failed
org.shop.EmptyCart: none
\tat org.shop.Cart.total(Cart.java:8)
Caused by: java.io.IOException: closed
\tat org.shop.Db.read(Db.java:3)
\t... 1 more
2026-11-03T10:00:06Z error
TypeError: Cannot read properties of undefined (reading 'price')
    at total (/srv/shop/cart.js:3:5)
2026/11/03 10:00:07 http: panic serving 10.0.0.1:5: runtime error: index out of range
goroutine 12 [running]:
main.(*Cart).Total(0xc000)
\t/srv/shop/cart.go:12 +0x1d
2026/11/03 10:00:08 fine
[03-Nov-2026 10:00:09 UTC] PHP Fatal error:  Uncaught Shop\\Gone: gone in /srv/shop/a.php:12
Stack trace:
#0 /srv/shop/b.php(3): f()
#1 {{main}}
  thrown in /srv/shop/a.php on line 12
[2026-11-03 10:00:10] fail: Shop[13]
      System.InvalidOperationException: bad
         at Shop.Cart.Total() in /src/Cart.cs:line 12
2026-11-03 10:00:11 INFO the end
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_logs_with_traces_of_every_language(tmp_path: Path, newline: str) -> None:
    files = ErrorFiles((written(tmp_path, LOG.replace("\n", newline), "app.log"),))
    groups = groups_of(files, None, NOW).groups
    found = {group.error_class: group for group in groups}
    assert {name: group.last_seen.second for name, group in found.items() if group.last_seen} == {
        "KeyError": 1,
        "NoMethodError": 3,
        "org.shop.EmptyCart": 5,
        "TypeError": 6,
        "panic": 7,
        "Shop\\Gone": 9,
        "System.InvalidOperationException": 10,
    }
    assert found["KeyError"].message == "'total'"
    (java,) = files.traces(found["org.shop.EmptyCart"])
    assert java.root.error_class == "java.io.IOException"
    assert "INFO" not in "".join(trace.raw for group in groups for trace in files.traces(group))


def test_the_same_trace_twice_in_a_log_is_one_group(tmp_path: Path) -> None:
    assert only(written(tmp_path, f"begin\n{PYTHON}\nbetween\n{PYTHON}\nend\n")).occurrences == 2


def test_traces_right_below_each_other_are_two(tmp_path: Path) -> None:
    assert only(written(tmp_path, f"begin\n{PYTHON}\n{PYTHON}\nend\n")).occurrences == 2


def test_chained_traces_are_one_occurrence(tmp_path: Path) -> None:
    between = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    text = f"begin\n{PYTHON}{between}{PYTHON.replace('KeyError', 'ShopError')}\nend\n"
    group = only(written(tmp_path, text))
    assert (group.error_class, group.occurrences) == ("ShopError", 1)


def test_json_records_inside_a_log(tmp_path: Path) -> None:
    text = "starting up\n" + json_lines([FULL, {"message": "ok"}]) + "{not json\n"
    assert only(written(tmp_path, text)).error_class == "Shop::Empty"


def test_a_log_without_traces_says_so(tmp_path: Path) -> None:
    answer = fetched(written(tmp_path, "started\nat work\n   from home\nstopped\n", "app.log"))
    assert answer.groups == ()
    assert answer.partial == ("app.log: 4 lines and no stack trace in them",)


def blocks(log: str) -> list[Block]:
    cutter = TraceCutter()
    read = [block for n, line in enumerate(log.split("\n"), 1) for block in cutter.read(n, line)]
    return [*read, *cutter.finish()]


def errors(log: str) -> list[tuple[str, list[str]]]:
    """Class and places of every trace of a log."""
    traces = [parse(block.raw) for block in blocks(log)]
    return [
        (trace.links[0].error_class, [frame.place for frame in trace.frames])
        for trace in traces
        if trace.links
    ]


JAVA = """org.shop.EmptyCart: none
\tat org.shop.Cart.total(Cart.java:8)
\tat org.shop.Web.show(Web.java:3)"""
READ = {
    PYTHON: ("KeyError", ["/srv/shop/cart.py:7"]),
    JAVA: ("org.shop.EmptyCart", ["Cart.java:8", "Web.java:3"]),
}


def of_processes(log: str) -> list[tuple[str, str, list[str]]]:
    """Place, class and frames of every trace of a log of several processes."""
    streams = LogStreams(lambda _: ExceptionLink())
    read = [
        one
        for n, text in enumerate(log.split("\n"), 1)
        for one in streams.read(LogLine(text), f"log:{n}")
    ]
    cut = [(one.place, one.item) for one in (*read, *streams.finish())]
    traces = [(place, parse(item["stack_trace"][0])) for place, item in cut if "around" in item]
    return sorted(
        (place, trace.links[0].error_class, [frame.place for frame in trace.frames])
        for place, trace in traces
    )


def test_lines_of_two_containers_are_two_traces() -> None:
    one = [f"web_1     | {line}" for line in JAVA.split("\n")]
    other = [f"worker_1  | {line}" for line in JAVA.replace("EmptyCart", "Late").split("\n")]
    log = "\n".join(line for pair in zip(one, other, strict=True) for line in pair)
    places = ["Cart.java:8", "Web.java:3"]
    assert of_processes(log) == [
        ("log:1", "org.shop.EmptyCart", places),
        ("log:2", "org.shop.Late", places),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("May 04 10:11:12 host web[1]: ", "May 04 10:11:12 host web[22]: "),
        ("[101] ", "[102] "),
        ("[pod/web-5d4f7c9b8-abcde/app] ", "[pod/web-5d4f7c9b8-fghij/app] "),
        ("web-5d4f7c9b8-abcd2 app ", "web-5d4f7c9b8-fghi3 app "),
    ],
)
def test_lines_of_two_processes_are_two_traces(one: str, other: str) -> None:
    lines = [f"{name}{line}" for line in JAVA.split("\n") for name in (one, other)]
    assert of_processes("\n".join(lines)) == [
        (place, "org.shop.EmptyCart", ["Cart.java:8", "Web.java:3"]) for place in ("log:1", "log:2")
    ]


def test_lines_without_a_process_are_of_the_one_above() -> None:
    log = f"[101] started\n[102] {JAVA}\n[101] bye"
    assert [name for _, name, _ in of_processes(log)] == ["org.shop.EmptyCart"]


def test_more_processes_than_are_kept_lose_no_trace() -> None:
    log = "\n".join(
        f"[{pid}] {line}" for pid in range(1, MAX_STREAMS + 600) for line in JAVA.split("\n")
    )
    assert len(of_processes(log)) == MAX_STREAMS + 599


@pytest.mark.parametrize(
    "prefix",
    [
        "2026-11-03 10:00:00,123 ERROR [main] o.s.Web - ",
        "10:00:00.123 [main] ERROR o.s.Web - ",
        "shop.web - ERROR - ",
        "<11>1 2026-11-03T10:00:00Z host app 123 ID47 - ",
        "fail: Shop.Web[0] ",
    ],
)
@pytest.mark.parametrize("raw", [JAVA, PYTHON], ids=["java", "python"])
def test_a_prefix_on_every_line_is_no_part_of_the_trace(raw: str, prefix: str) -> None:
    log = "\n".join(f"{prefix}{line}" for line in ["begin", *raw.split("\n"), "end: bye"])
    plain = errors(f"begin\n{raw}\nend")
    assert plain
    assert errors(log) == plain


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: "\n".join(line.strip() for line in raw.split("\n")),
        lambda raw: raw.replace("\n", "\\n").replace("\t", "\\t"),
        lambda raw: "2026-11-03 10:00:00 ERROR " + raw.replace("\n", "\\n").replace("\t", "\\t"),
        lambda raw: " ".join(line.strip() for line in raw.split("\n")),
        lambda raw: "<br>".join(raw.split("\n")),
        lambda raw: raw.replace(" ", "\xa0"),
    ],
    ids=["stripped", "escaped", "escaped in a record", "one line", "page", "no-break spaces"],
)
@pytest.mark.parametrize("raw", [JAVA, PYTHON], ids=["java", "python"])
def test_a_mangled_trace_ends_where_the_plain_one_does(
    raw: str, change: Callable[[str], str]
) -> None:
    between = "2026-11-03 10:00:01 INFO: all is well\nshop: at work"
    log = f"{between}\n{change(raw)}\n{between}\n{change(raw)}\n{between}"
    assert errors(log) == errors(raw) * 2
    assert not [block for block in blocks(log) if "work" in block.raw.partition(raw[:3])[2]]


RUST = """2026-11-03T10:00:00Z INFO started
thread 'main' panicked at src/cart.rs:7:9:
called `Option::unwrap()` on a `None` value
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
2026-11-03T10:00:01Z INFO again
thread 'main' panicked at 'no rate', src/cart.rs:8:9
stack backtrace:
   0: shop::cart::total
             at ./src/cart.rs:8:9
   1: shop::main
             at ./src/main.rs:4:5
2026-11-03T10:00:02Z INFO again
"""
ELIXIR = """10:00:00.000 [info] GET /carts/1
10:00:00.003 [error] GenServer #PID<0.53.0> terminating
** (KeyError) key :rate not found in: %{
  a: 1
}
    (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.total/1
    (stdlib 4.3) gen_server.erl:1123: :gen_server.try_dispatch/4
Last message: {:total, 1}
State: %{}
10:00:01.000 [error] #PID<0.70.0> running ShopWeb.Endpoint terminated
Request: GET /carts/1
** (exit) an exception was raised:
    ** (Ecto.NoResultsError) expected at least one result
        (shop 0.1.0) lib/shop_web/cart_controller.ex:9: ShopWeb.CartController.show/2
10:00:02.000 [info] Sent 500 in 3ms
"""


def test_panics_of_rust_in_a_log() -> None:
    assert errors(RUST) == [
        ("panic", ["src/cart.rs:7"]),
        ("panic", ["./src/cart.rs:8", "./src/main.rs:4"]),
    ]
    messages = [parse(block.raw).root.message for block in blocks(RUST)]
    assert messages == ["called `Option::unwrap()` on a `None` value", "no rate"]


def test_exceptions_of_elixir_in_a_log() -> None:
    assert errors(ELIXIR) == [
        ("KeyError", ["lib/shop/cart.ex:12", "gen_server.erl:1123"]),
        ("Ecto.NoResultsError", ["lib/shop_web/cart_controller.ex:9"]),
    ]


def test_lines_that_waited_for_more_of_a_trace_are_read_all_the_same() -> None:
    log = f"** (RuntimeError) never mind\n{JAVA}\nbye"
    assert errors(log) == [READ[JAVA]]


@given(st.lists(st.sampled_from([*LOG.split("\n"), *RUST.split("\n"), *ELIXIR.split("\n"), ""])))
def test_whatever_lines_follow_each_other_blocks_are_made_of_them(lines: list[str]) -> None:
    for block in blocks("\n".join(lines)):
        assert 1 <= block.number <= len(lines)
        assert block.raw


@pytest.mark.parametrize("raw", [JAVA, PYTHON], ids=["java", "python"])
@pytest.mark.parametrize("begin", ["", "started\n", "2026-11-03 10:00:00 ERROR "])
def test_a_trace_on_one_line_of_a_file_is_an_error(tmp_path: Path, raw: str, begin: str) -> None:
    line = raw.replace("\n", "\\n").replace("\t", "\\t")
    assert only(written(tmp_path, f"{begin}{line}\n", "app.log")).error_class == READ[raw][0]


def test_a_message_of_several_lines_does_not_cut_a_chain(tmp_path: Path) -> None:
    log = """2026-11-03 10:00:01,123 ERROR app.views Exception on /items [POST]
Traceback (most recent call last):
  File "/srv/shop/views.py", line 430, in load
    item = Item(**data)
pydantic_core._pydantic_core.ValidationError: 1 validation error for Item
name
  Field required [type=missing, input_value={'a': 1}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.9/v/missing

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/shop/views.py", line 166, in create
    owner = data["owner"]
KeyError: 'owner'
2026-11-03 10:00:02,123 INFO app.views served
"""
    files = ErrorFiles((written(tmp_path, log, "app.log"),))
    (group,) = groups_of(files, None, NOW).groups
    assert (group.error_class, group.occurrences) == ("KeyError", 1)
