"""The share of real traces whose top frame is found; the data is not part of the project."""

import gzip
import json
from pathlib import Path

import pytest

from nightwatch_core.traces.parsing import parse

DATA = Path(__file__).parents[4] / "shared" / "eval" / "data" / "parse_cases.jsonl.gz"
# Six labels of 74 read traces against their own order, or name code that is no file, or the rest of
# a path behind the line break that cut it.
AT_LEAST = 0.92


@pytest.mark.skipif(not DATA.exists(), reason="the evaluation data is not beside this checkout")
@pytest.mark.parametrize("with_hint", [True, False])
def test_top_frames_of_real_traces(with_hint: bool):
    with gzip.open(DATA, "rt") as lines:
        cases = [json.loads(line) for line in lines]
    found = 0
    for case in cases:
        trace = parse(case["raw"], case["lang"] if with_hint else "", tuple(case["app_prefixes"]))
        # The labels take the exception that was reported, not its cause.
        own = [frame for link in trace.links for frame in link.frames if frame.in_app]
        expected = case["expected_top"]
        found += bool(own) and (own[0].path, own[0].line) == (
            expected["file"].removeprefix("file://"),
            expected["line"],
        )
    assert round(found / len(cases), 2) >= AT_LEAST
