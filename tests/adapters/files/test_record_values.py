"""Texts and times of records."""

from error_records import NOW, fetched, groups_of, json_lines, written

from nightwatch_core.adapters.files.limits import MESSAGE_LIMIT, STACK_LIMIT
from nightwatch_core.adapters.files.source import ErrorFiles


def test_hostile_text_is_tamed(tmp_path):
    record = {
        "class": "Key\x00Error\n",
        "message": "a\x00b\x1b[31mc\x07\ttab\nline \ud800" + "z" * 100_000,
        "stacktrace": "E\n" + "\x00x\n" * 200_000,
        "transaction": "t" * 5_000,
        "count": float("nan"),
        "users": float("inf"),
        "timestamp": float("-inf"),
        "host": {"a": {"b": "c"}},
        "user": ["x"],
    }
    nested = {"class": "KeyError"}
    for _ in range(200):
        nested = {"class": "KeyError", "inner": nested}
    groups = fetched(written(tmp_path, json_lines([record, nested]))).groups
    group, _ = sorted(groups, key=lambda group: -len(group.message))
    assert group.message.startswith("abc\ttab\nline ?zzz")
    assert len(group.message) < MESSAGE_LIMIT + 100
    assert (group.error_class, group.occurrences, group.users) == ("KeyError", 1, None)
    assert len(group.transaction) <= 500


def test_stack_traces_keep_head_and_tail(tmp_path):
    deep = "\n".join(f"app/models/order.rb:{n}:in `total'" for n in range(1, 9_000))
    files = ErrorFiles((written(tmp_path, json_lines([{"class": "Deep", "backtrace": deep}])),))
    (trace,) = files.traces(groups_of(files, None, NOW).groups[0])
    assert len(trace.raw) < STACK_LIMIT + 100
    assert "order.rb:1:" in trace.raw
    assert trace.raw.endswith("order.rb:8999:in `total'")
    assert trace.root.error_class == "Deep"
