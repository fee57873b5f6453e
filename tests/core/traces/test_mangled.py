"""What tickets, mails, pages and loggers make of a trace: it is read as the plain one is."""

import html
import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.models.errors import Trace
from nightwatch_core.traces.normalise import clean_lines
from nightwatch_core.traces.parsing import parse

PLAIN = {
    "python": """Traceback (most recent call last):
  File "/srv/shop/orders.py", line 8, in place
    return self.cart.total(order.rate)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/srv/shop/cart.py", line 14, in total
    raise CartError(f"no rate: {rate}")
KeyError: 'eur'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/shop/views.py", line 21, in show
    place(order)
shop.errors.CartError: no rate: "eur" <none>""",
    "python without source": """Traceback (most recent call last):
  File "/srv/shop/orders.py", line 8, in place
  File "/srv/shop/cart.py", line 14, in <lambda>
TypeError: no rate""",
    "ruby": """Shop::Empty: no items in "eur"
/srv/shop/app/models/cart.rb:7:in 'block in Shop::Cart#total'
/usr/local/bundle/gems/activerecord-7.0.1/lib/relation.rb:1:in 'each'
/srv/shop/app/models/cart.rb:6:in 'Shop::Cart#total'""",
    "old ruby": """/srv/shop/lib/cart.rb:7:in `total': no items (Shop::Empty)
\tfrom /srv/shop/lib/job.rb:4:in `run'
\tfrom /srv/shop/bin/job:9:in `<main>'""",
    "java": """org.shop.web.OrderException: cannot place "order"
\tat org.shop.web.Orders.place(Orders.java:41) ~[classes!/:1.2]
\tat java.base/java.lang.Thread.run(Thread.java:829)
Caused by: org.shop.db.RowMissing: no row 7
\tat org.shop.db.RowsKt$find$1.invokeSuspend(Rows.kt:17)
\t... 12 more""",
    "javascript": """TypeError: Cannot read properties of undefined (reading 'price')
    at Cart.total (/srv/shop/cart.js:3:5)
    at async Object.<anonymous> (/srv/shop/node_modules/express/index.js:9:7)
    at /srv/shop/server.js:12:3""",
    "firefox": """TypeError: order.price is undefined
total@https://shop.example/assets/cart.js:3:5
place/<@https://shop.example/assets/orders.js:9:7
@https://shop.example/assets/main.js:12:3""",
    "go": """panic: no cart

goroutine 1 [running]:
example.org/shop/cart.(*Cart).Total(0xc000, 0x1)
\t/srv/shop/cart/cart.go:33 +0x1d
main.main()
\t/srv/shop/main.go:12 +0x1d""",
    "php": """PHP Fatal error:  Uncaught Shop\\Gone: gone in /srv/shop/a.php:12
Stack trace:
#0 /srv/shop/b.php(3): Shop\\Cart->total('eur')
#1 {main}
  thrown in /srv/shop/a.php on line 12""",
    "csharp": """System.InvalidOperationException: cannot place "order"
   at Shop.Orders.Place(Order order, String rate) in C:\\src\\Shop\\Orders.cs:line 12
   at Shop.Web.Startup.Run() in C:\\src\\Shop\\Startup.cs:line 3""",
    "rust": """thread 'main' panicked at src/cart.rs:7:9:
called `Option::unwrap()` on a `None` value
stack backtrace:
   0: core::panicking::panic
             at /rustc/0123456789abcdef/library/core/src/panicking.rs:74:14
   1: shop::cart::total
             at ./src/cart.rs:7:9
   2: shop::main
             at ./src/main.rs:4:5""",
    "elixir": """** (KeyError) key :rate not found in: nil
    (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.total/1
    (elixir 1.14.3) lib/enum.ex:2468: Enum."-reduce/3-lists^foldl/2-0-"/3
    (shop 0.1.0) lib/shop/orders.ex:9: anonymous fn/2 in Shop.Orders.place/1""",
}
Mangle = Callable[[str], str]


def each(change: Mangle) -> Mangle:
    return lambda raw: "\n".join(map(change, raw.split("\n")))


def as_pasted(line: str) -> str:
    """One space before what was indented, a tab before what was indented further."""
    indent = len(line) - len(line.lstrip())
    return ("" if not indent else " " if indent < 4 else "\t") + line.lstrip()


def indented_with(space: str) -> Mangle:
    return each(lambda line: space * (len(line) - len(line.lstrip())) + line.lstrip())


def prefixed(prefix: str) -> Mangle:
    """A logger's prefix on every line; `{n}` is a number that grows."""

    def change(raw: str) -> str:
        lines = raw.split("\n")
        return "\n".join(prefix.replace("{n}", f"{n:02}") + line for n, line in enumerate(lines))

    return change


MANGLINGS: dict[str, Mangle] = {
    "one space, then a tab": each(as_pasted),
    "no indentation": each(str.lstrip),
    "one space before every line": each(lambda line: f" {line.lstrip()}"),
    "escaped newlines": lambda raw: raw.replace("\\", "\\\\").replace("\n", "\\n"),
    "escaped newlines and tabs": lambda raw: json.dumps(raw)[1:-1].replace('\\"', '"'),
    "escaped twice": lambda raw: json.dumps(json.dumps(raw)[1:-1])[1:-1],
    "escaped as on Windows": lambda raw: raw.replace("\\", "\\\\").replace("\n", "\\r\\n"),
    "json": lambda raw: json.dumps({"level": "error", "error": raw}),
    "entities": each(html.escape),
    "entities twice": each(lambda line: html.escape(html.escape(line))),
    "a page": lambda raw: f"<pre><code>{html.escape(raw)}</code></pre>",
    "a page with breaks": lambda raw: "<br/>".join(map(html.escape, raw.split("\n"))),
    "a page with breaks and lines": lambda raw: "<br />\n".join(map(html.escape, raw.split("\n"))),
    "paragraphs": each(lambda line: f"<p>{html.escape(line)}</p>"),
    "spaces of a page": each(
        lambda line: "&nbsp;" * (len(line) - len(line.lstrip())) + html.escape(line.lstrip())
    ),
    "typographic quotes": lambda raw: re.sub(r'"([^"\n]*)"', "\u201c\\1\u201d", raw),
    "no-break spaces": indented_with("\xa0"),
    "no-break spaces everywhere": lambda raw: raw.replace(" ", "\xa0"),
    "wide spaces": indented_with("\u3000"),
    "invisible characters": each(lambda line: f"\u200b{line}"),
    "carriage returns": lambda raw: raw.replace("\n", "\r\n"),
    "two carriage returns": lambda raw: raw.replace("\n", "\r\r\n"),
    "line separators": lambda raw: raw.replace("\n", "\u2028"),
    "a blank line below every line": lambda raw: raw.replace("\n", "\n\n"),
    "colours": each(lambda line: f"\x1b[38;5;196m{line}\x1b[0m\x1b[K"),
    "colours without escape": each(lambda line: f"[31m{line}[0m"),
    "a fence": lambda raw: f"it failed:\n\n```text\n{raw}\n```\nwhy?",
    "a fence on the same line": lambda raw: f"```{raw}```",
    "docker compose": prefixed("web_1  | "),
    "kubectl": prefixed("[pod/web-5d4f7c9b8-abcde/app] "),
    "stern": prefixed("web-5d4f7c9b8-abcde app "),
    "container runtime": prefixed("2031-05-04T10:11:{n}.123456789Z stderr F "),
    "journald": prefixed("May 04 10:11:{n} host app[123]: "),
    "syslog": prefixed("<11>1 2031-05-04T10:11:{n}.003Z host app 123 ID47 - "),
    "heroku": prefixed("2031-05-04T10:11:{n}.123456+00:00 app[web.1]: "),
    "time, level, thread": prefixed("2031-05-04 10:11:{n},123 ERROR [main] "),
    "logback": prefixed("10:11:{n}.123 [http-nio-1] ERROR o.e.shop.CartController - "),
    "python's logging": prefixed("2031-05-04 10:11:{n},123 - shop.cart - ERROR - "),
    "log4j": prefixed("2031-05-04 10:11:00,1{n} ERROR [main] org.shop.Foo (Foo.java:12) - "),
    "glog": prefixed("E0504 10:11:{n}.123456       1 cart.go:12] "),
    "pm2": prefixed("0|shop-api | 2031-05-04 10:11:{n}: "),
    "pid": prefixed("[12345] "),
    "mail": prefixed("> > "),
    "list": prefixed("* "),
    "table": prefixed("| "),
    "a list of a ticket, stripped": lambda raw: prefixed("* ")(each(str.lstrip)(raw)),
    "docker compose, stripped": lambda raw: prefixed("web_1  | ")(each(str.lstrip)(raw)),
    "one line": lambda raw: " ".join(line.strip() for line in raw.split("\n") if line.strip()),
    "one line with its spaces": lambda raw: re.sub(r"[\n\t]", " ", raw),
    "one line with tabs": lambda raw: re.sub(r"\n\s*", "\t", raw),
}


QUOTES = str.maketrans("\u201c\u201d", '""')  # those of a message stay as they were pasted


def read(trace: Trace) -> list[tuple[str, str, list[tuple[str, int | None, str, bool]]]]:
    return [
        (
            link.error_class,
            " ".join(link.message.translate(QUOTES).split()),
            [(one.path, one.line, one.function, one.in_app) for one in link.frames],
        )
        for link in trace.links
    ]


@pytest.mark.parametrize("how", MANGLINGS)
@pytest.mark.parametrize("language", PLAIN)
def test_a_mangled_trace_is_read_as_the_plain_one(language: str, how: str) -> None:
    plain, mangled = parse(PLAIN[language]), parse(MANGLINGS[how](PLAIN[language]))
    assert plain.frames
    assert read(mangled) == read(plain)


@pytest.mark.parametrize("language", PLAIN)
def test_plain_traces_are_left_as_they_are(language: str) -> None:
    assert clean_lines(PLAIN[language]) == tuple(PLAIN[language].split("\n"))


@pytest.mark.parametrize("width", [60, 72, 80, 100])
def test_frames_that_were_broken_are_made_whole(width: int) -> None:
    folder = "org.shop.warehouse.inventory.reservation.internal"
    raw = "org.shop.Gone: gone\n" + "\n".join(
        f"\tat {folder}.Reservations{n}.reserveEverything(Reservations{n}.java:{n})"
        for n in range(1, 6)
    )
    broken = "\n".join(
        line[at : at + width] for line in raw.split("\n") for at in range(0, len(line), width)
    )
    assert read(parse(broken)) == read(parse(raw))


@pytest.mark.parametrize(
    "prose",
    [
        "We met at noon (in the yard) and at one (in town), from two:in the house.",
        "See app/cart.rb:7 and lib/rates.rb:3 for more; at Cart.total we were at a loss.",
        "INFO called from the house at 10:11:12 at https://shop.example/a:3\nINFO at ease",
        "* first: looked at it\n* second: looked at that\n* third: nothing",
        "shop.Web - started\nshop.Web - at work (really)\nshop.Web - stopped",
        "C:\\new\\tools\\report.txt was made at C:\\temp\\n",
        "a <b>bold</b> word at the end<br>of two lines",
        "File the report at line 3, in triplicate",
        "** (really) he said\n(soon) we go: home",
    ],
)
def test_prose_holds_no_frames(prose: str) -> None:
    assert parse(prose).links == ()


def test_a_trace_ends_where_it_ends() -> None:
    stripped = MANGLINGS["no indentation"](PLAIN["python without source"])
    trace = parse(f"{stripped}\nFile not found: a.py\nshop: bye\nDone: yes")
    assert read(trace) == read(parse(PLAIN["python without source"]))


def test_source_that_looks_like_an_exception_stays_source() -> None:
    raw = 'Traceback (most recent call last):\nFile "a.py", line 3, in f\ntotal: int = g()\n'
    trace = parse(f'{raw}File "b.py", line 4, in g\nreturn rate\nNameError: rate')
    assert [frame.code for frame in trace.frames] == ["return rate", "total: int = g()"]
    assert (trace.root.error_class, trace.root.message) == ("NameError", "rate")


PIECES = st.sampled_from(
    (
        *(
            "\n",
            " ",
            "\t",
            "\\n",
            "\\t",
            "<br>",
            "<p>",
            "</p>",
            "&quot;",
            "&amp;lt;",
            "\xa0",
            "```",
        ),
        *("{code}", "web_1  | ", "a.B - ", "[31m", "[0m", "| ", "* ", "2031-05-04 10:11:12 "),
        *(line for raw in PLAIN.values() for line in raw.split("\n")),
    )
)


@given(st.lists(PIECES, max_size=30))
def test_whatever_is_mixed_is_read(pieces: list[str]) -> None:
    raw = "".join(pieces)
    again = clean_lines("\n".join(clean_lines(raw)))
    assert all(frame.path for frame in parse(raw).frames)
    assert len(again) <= len(raw) + 1


@given(st.sampled_from(sorted(PLAIN)), st.integers(0, 9), st.sampled_from((" ", "\t", "\xa0")))
def test_any_indentation_before_all_lines_is_none(language: str, depth: int, space: str) -> None:
    deeper = each(lambda line: f"{space * depth}{line}")(PLAIN[language])
    assert [one.place for one in parse(deeper).frames] == [
        one.place for one in parse(PLAIN[language]).frames
    ]
