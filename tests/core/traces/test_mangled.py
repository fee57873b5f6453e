"""What tickets, mails, pages and loggers make of a trace: it is read as the plain one is."""

import html
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.traces.normalise import clean_lines
from nightwatch_core.traces.parsing import parse

TABLES = tables_of(__file__)

TEXTS = (Path(__file__).parent / "plain_traces.txt").read_text(encoding="utf-8")
PLAIN = {
    name: text.removesuffix("\n")
    for name, _, text in (part.partition("\n") for part in TEXTS.split("########## ")[1:])
}


def each(change):
    return lambda raw: "\n".join(map(change, raw.split("\n")))


def as_pasted(line):
    """One space before what was indented, a tab before what was indented further."""
    indent = len(line) - len(line.lstrip())
    return ("" if not indent else " " if indent < 4 else "\t") + line.lstrip()


def prefixed(prefix):
    """A logger's prefix on every line; `{n}` is a number that grows."""

    def change(raw):
        lines = raw.split("\n")
        return "\n".join(prefix.replace("{n}", f"{n:02}") + line for n, line in enumerate(lines))

    return change


MANGLINGS = {
    "one space, then a tab": each(as_pasted),
    "no indentation": each(str.lstrip),
    "escaped newlines": lambda raw: raw.replace("\\", "\\\\").replace("\n", "\\n"),
    "escaped twice": lambda raw: json.dumps(json.dumps(raw)[1:-1])[1:-1],
    "invisible characters": each(lambda line: f"\u200b{line}"),
    "line separators": lambda raw: raw.replace("\n", "\u2028"),
    "colours without escape": each(lambda line: f"[31m{line}[0m"),
    "escaped newlines and tabs": lambda raw: json.dumps(raw)[1:-1].replace('\\"', '"'),
    "json": lambda raw: json.dumps({"level": "error", "error": raw}),
    "entities": each(html.escape),
    "a page": lambda raw: f"<pre><code>{html.escape(raw)}</code></pre>",
    "a page with breaks": lambda raw: "<br/>".join(map(html.escape, raw.split("\n"))),
    "paragraphs": each(lambda line: f"<p>{html.escape(line)}</p>"),
    "typographic quotes": lambda raw: re.sub(r'"([^"\n]*)"', "\u201c\\1\u201d", raw),
    "no-break spaces everywhere": lambda raw: raw.replace(" ", "\xa0"),
    "carriage returns": lambda raw: raw.replace("\n", "\r\n"),
    "colours": each(lambda line: f"\x1b[38;5;196m{line}\x1b[0m\x1b[K"),
    "a fence": lambda raw: f"it failed:\n\n```text\n{raw}\n```\nwhy?",
    "docker compose": prefixed("web_1  | "),
    "kubectl": prefixed("[pod/web-5d4f7c9b8-abcde/app] "),
    "container runtime": prefixed("2031-05-04T10:11:{n}.123456789Z stderr F "),
    "journald": prefixed("May 04 10:11:{n} host app[123]: "),
    "syslog": prefixed("<11>1 2031-05-04T10:11:{n}.003Z host app 123 ID47 - "),
    "time, level, thread": prefixed("2031-05-04 10:11:{n},123 ERROR [main] "),
    "logback": prefixed("10:11:{n}.123 [http-nio-1] ERROR o.e.shop.CartController - "),
    "python's logging": prefixed("2031-05-04 10:11:{n},123 - shop.cart - ERROR - "),
    "pid": prefixed("[12345] "),
    "mail": prefixed("> > "),
    "list": prefixed("* "),
    "table": prefixed("| "),
    "docker compose, stripped": lambda raw: prefixed("web_1  | ")(each(str.lstrip)(raw)),
    "one line": lambda raw: " ".join(line.strip() for line in raw.split("\n") if line.strip()),
    "one line with tabs": lambda raw: re.sub(r"\n\s*", "\t", raw),
}


QUOTES = str.maketrans("\u201c\u201d", '""')  # those of a message stay as they were pasted


def read(trace):
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
def test_a_mangled_trace_is_read_as_the_plain_one(language, how):
    plain, mangled = parse(PLAIN[language]), parse(MANGLINGS[how](PLAIN[language]))
    assert plain.frames
    assert read(mangled) == read(plain)


@pytest.mark.parametrize("language", PLAIN)
def test_plain_traces_are_left_as_they_are(language):
    assert clean_lines(PLAIN[language]) == tuple(PLAIN[language].split("\n"))


@pytest.mark.parametrize("width", [60, 100])
def test_frames_that_were_broken_are_made_whole(width):
    folder = "org.shop.warehouse.inventory.reservation.internal"
    raw = "org.shop.Gone: gone\n" + "\n".join(
        f"\tat {folder}.Reservations{n}.reserveEverything(Reservations{n}.java:{n})"
        for n in range(1, 6)
    )
    broken = "\n".join(
        line[at : at + width] for line in raw.split("\n") for at in range(0, len(line), width)
    )
    assert read(parse(broken)) == read(parse(raw))


@pytest.mark.parametrize("prose", TABLES["prose_holds_no_frames"])
def test_prose_holds_no_frames(prose):
    assert parse(prose).links == ()


def test_a_trace_ends_where_it_ends():
    stripped = MANGLINGS["no indentation"](PLAIN["python without source"])
    trace = parse(f"{stripped}\nFile not found: a.py\nshop: bye\nDone: yes")
    assert read(trace) == read(parse(PLAIN["python without source"]))


def test_source_that_looks_like_an_exception_stays_source():
    raw = 'Traceback (most recent call last):\nFile "a.py", line 3, in f\ntotal: int = g()\n'
    trace = parse(f'{raw}File "b.py", line 4, in g\nreturn rate\nNameError: rate')
    assert [frame.code for frame in trace.frames] == ["return rate", "total: int = g()"]
    assert (trace.root.error_class, trace.root.message) == ("NameError", "rate")


@given(st.sampled_from(sorted(PLAIN)), st.integers(0, 9), st.sampled_from((" ", "\t", "\xa0")))
def test_any_indentation_before_all_lines_is_none(language, depth, space):
    deeper = each(lambda line: f"{space * depth}{line}")(PLAIN[language])
    assert [one.place for one in parse(deeper).frames] == [
        one.place for one in parse(PLAIN[language]).frames
    ]
