"""Stack traces in plain logs."""

from pathlib import Path

import pytest
from error_records import FULL, NOW, PYTHON, fetched, groups_of, json_lines, only, written
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.adapters.files.limits import MAX_STREAMS
from nightwatch_core.adapters.files.logs import LogStreams, TraceCutter
from nightwatch_core.adapters.files.shapes.values import LogLine
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.models.errors import ExceptionLink
from nightwatch_core.traces.parsing import parse

TABLES = tables_of(__file__)

LOGS = Path(__file__).parent / "logs"
LOG = (LOGS / "languages.log").read_text()


def test_lines_may_end_as_on_windows_and_traces_hold_no_other_lines(tmp_path):
    files = ErrorFiles((written(tmp_path, LOG.replace("\n", "\r\n"), "app.log"),))
    groups = groups_of(files, None, NOW).groups
    assert len(groups) == 7
    java = next(group for group in groups if group.error_class == "org.shop.EmptyCart")
    assert files.traces(java)[0].root.error_class == "java.io.IOException"
    assert "INFO" not in "".join(trace.raw for group in groups for trace in files.traces(group))


DURING = "\n\nDuring handling of the above exception, another exception occurred:\n\n"


@pytest.mark.parametrize(
    ("between", "count"), [("\nbetween\n", 2), ("\n", 2), (DURING, 1)], ids=["far", "near", "chain"]
)
def test_the_same_trace_twice_in_a_log(tmp_path, between, count):
    group = only(written(tmp_path, f"begin\n{PYTHON}{between}{PYTHON}\nend\n"))
    assert (group.error_class, group.occurrences) == ("KeyError", count)


def test_json_records_inside_a_log(tmp_path):
    text = "starting up\n" + json_lines([FULL, {"message": "ok"}]) + "{not json\n"
    assert only(written(tmp_path, text)).error_class == "Shop::Empty"


def test_a_log_without_traces_says_so(tmp_path):
    answer = fetched(written(tmp_path, "started\nat work\n   from home\nstopped\n", "app.log"))
    assert answer.groups == ()
    assert answer.partial == ("app.log: 4 lines and no stack trace in them",)


def blocks(log):
    cutter = TraceCutter()
    read = [block for n, line in enumerate(log.split("\n"), 1) for block in cutter.read(n, line)]
    return [*read, *cutter.finish()]


def errors(log):
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


def of_processes(log):
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


@pytest.mark.parametrize(("one", "other"), TABLES["test_lines_of_two_processes_are_two_traces"])
def test_lines_of_two_processes_are_two_traces(one, other):
    lines = [f"{name}{line}" for line in JAVA.split("\n") for name in (one, other)]
    assert of_processes("\n".join(lines)) == [
        (place, "org.shop.EmptyCart", ["Cart.java:8", "Web.java:3"]) for place in ("log:1", "log:2")
    ]


def test_more_processes_than_are_kept_lose_no_trace():
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
def test_a_prefix_on_every_line_is_no_part_of_the_trace(raw, prefix):
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
def test_a_mangled_trace_ends_where_the_plain_one_does(raw, change):
    between = "2026-11-03 10:00:01 INFO: all is well\nshop: at work"
    log = f"{between}\n{change(raw)}\n{between}\n{change(raw)}\n{between}"
    assert errors(log) == errors(raw) * 2
    assert not [block for block in blocks(log) if "work" in block.raw.partition(raw[:3])[2]]


def test_lines_that_waited_for_more_of_a_trace_are_read_all_the_same():
    log = f"** (RuntimeError) never mind\n{JAVA}\nbye"
    assert errors(log) == [READ[JAVA]]


LINES = [
    line
    for name in ("languages.log", "rust.log", "elixir.log")
    for line in (LOGS / name).read_text().split("\n")
]


@given(st.lists(st.sampled_from(LINES)))
def test_whatever_lines_follow_each_other_blocks_are_made_of_them(lines):
    for block in blocks("\n".join(lines)):
        assert 1 <= block.number <= len(lines)
        assert block.raw


FATAL = "PHP Fatal error:  Allowed memory size of 64 bytes exhausted in /srv/a/cart.php on line 12"


@pytest.mark.parametrize(
    "below", ["INFO: ready", "Done", "2026-11-03 10:00:00 INFO ready", "Thread 0x1:"]
)
def test_what_stands_below_loose_frames_is_no_exception_unless_it_is_surely_one(below):
    frames = '  File "/srv/a.py", line 3, in serve\n    loop()\n'
    assert all(not name for name, _ in errors(f"{frames}{below}\n"))


def test_what_a_web_server_writes_around_an_error_of_php_is_no_part_of_it():
    log = f'2026/11/03 10:00:09 [error] 1#1: *9 FastCGI sent in stderr: "{FATAL}" while reading'
    assert [block.raw for block in blocks(log)] == [FATAL]


@pytest.mark.parametrize("kind", ["Warning", "Notice", "Deprecated"])
def test_warnings_of_php_are_no_errors(kind):
    assert errors(FATAL.replace("Fatal error", kind)) == []


def test_the_heading_of_a_mailed_backtrace_is_no_class():
    mail = (LOGS / "mail.txt").read_text()
    assert [name for name, _ in errors(mail[mail.index("-----") :])] == [""]
