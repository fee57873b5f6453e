"""A first sight is read leniently in how it is wrapped, strictly in what it decides."""

import json

import pytest

from nightwatch_core.analysis.second_look import read_first_sight
from nightwatch_core.errors import GiveUp

WHOLE = {
    "severity": "critical", "likely_cause": "A lock order.", "needs_deep_investigation": True,
    "category": "code_bug",
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, {}),
        ({"severity": " Critical "}, {}),
        ({"needs_deep_investigation": "yes"}, {}),
        ({"category": "CODE_BUG"}, {}),
        ({"confidence": "high"}, {}),
        ({"category": "weather"}, {"category": "unknown"}),
        ({"category": None}, {"category": "unknown"}),
    ],
)
def test_what_is_meant_is_understood(more, told):
    text = f"As asked:\n```json\n{json.dumps(WHOLE | more)}\n```"
    assert read_first_sight(text).model_dump() == WHOLE | told


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I cannot say.", "no JSON object"),
        (json.dumps(WHOLE)[:60], "no JSON object"),
        (json.dumps(WHOLE)[:60] + "}", "no whole JSON object"),
        ("{" * 50_000 + "}" * 50_000, "no whole JSON object"),
        *(
            (json.dumps(WHOLE | wrong), next(iter(wrong)))
            for wrong in (
                {"severity": "urgent"}, {"severity": None}, {"needs_deep_investigation": 1},
                {"needs_deep_investigation": "perhaps"}, {"likely_cause": ["a"]},
            )
        ),
        ("{}", "severity: Field required"),
    ],
)  # fmt: skip
def test_what_decides_something_is_not_guessed(text, reason):
    with pytest.raises(GiveUp, match=reason):
        read_first_sight(text)
