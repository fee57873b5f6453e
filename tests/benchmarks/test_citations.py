"""Which sections of a first message an answer cites."""

import json

from benchmarks.citations import Cited, cited, of_transcripts, table

MESSAGE = """Find it.

## The error

```
E in a: ## no heading
```

## Where it fails

```
shop/a.py (lines 7-8 of 9): line 7 fails
7| x = load(1)
8|   y = x.tag
```

## The failing expression in other places

```
shop/b.py:3: z = x.tag
```
"""
FAILING, USES = "Where it fails", "The failing expression in other places"
TOLD = ("The error", FAILING, USES)


def names(**answer):
    return cited(MESSAGE, answer).cited


def test_by_line_by_quote_and_by_old_text():
    assert names(evidence=[{"path": "shop/a.py", "line": 8, "quote": ""}]) == {FAILING}
    assert names(evidence=[{"path": "c.py", "line": 1, "quote": "x  = load(1)"}]) == {FAILING}
    assert names(evidence=[{"path": "shop/b.py", "line": 3, "quote": "?"}]) == {USES}
    edit = {"path": "shop/a.py", "old": "x = load(1)\n  y = x.tag\n", "new": ""}
    assert names(evidence=[], file_changes=[edit]) == {FAILING}
    assert names(evidence=[{"path": "shop/a.py", "line": 9, "quote": "y"}]) == frozenset()


def test_headings_in_fences_are_none_and_counts_are_printed():
    one = cited(MESSAGE, {"evidence": [{"path": "shop/a.py", "line": 7, "quote": ""}]})
    assert one == Cited(TOLD, frozenset({FAILING}))
    assert "| Where it fails | 2 | 1 | 50% |" in table([one, Cited(TOLD, frozenset())])


def test_of_transcripts_the_last_run_counts(tmp_path):
    answer = {"evidence": [{"path": "shop/b.py", "line": 3, "quote": ""}]}
    rows = [
        {"kind": "opening"}, {"kind": "user", "text": "older"},
        {"kind": "opening"}, {"kind": "user", "text": MESSAGE},
        {"kind": "assistant", "text": "", "calls": [{}]},
        {"kind": "assistant", "text": json.dumps(answer)},
    ]  # fmt: skip
    (tmp_path / "night").mkdir()
    (tmp_path / "night" / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "night" / "b.jsonl").write_text(json.dumps(rows[0]))
    assert list(of_transcripts(tmp_path)) == [Cited(TOLD, frozenset({USES}))]
