"""The JSON object in an answer, and a first sight read from it: strict where it decides."""

import json

import pytest
from pydantic import ValidationError
from tables import tables_of

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.batch import FirstSight
from nightwatch_core.text.json_objects import object_in

TABLES = tables_of(__file__)

WHOLE = {
    "severity": "critical", "likely_cause": "A lock order.", "needs_deep_investigation": True,
    "category": "code_bug",
}  # fmt: skip


def read(text):
    return FirstSight.model_validate(object_in(text, FirstSight.model_fields))


@pytest.mark.parametrize(("more", "expected"), TABLES["what_is_meant_is_understood"])
def test_what_is_meant_is_understood(more, expected):
    text = f"As asked:\n```json\n{json.dumps(WHOLE | more)}\n```"
    assert read(text).model_dump() == WHOLE | expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("I cannot say.", "no JSON object"),
        (json.dumps(WHOLE)[:60], "cut off"),
        ('{"a":' * 50_000, "too deep"),
        *(
            (json.dumps(WHOLE | wrong), next(iter(wrong)))
            for wrong in (
                {"severity": "urgent"}, {"severity": None},
                {"needs_deep_investigation": "perhaps"}, {"likely_cause": ["a"]},
            )
        ),
        ('{"severity": "low"}', "likely_cause"),
    ],
)  # fmt: skip
def test_what_decides_something_is_not_guessed(text, reason):
    with pytest.raises((GiveUp, ValidationError), match=reason):
        read(text)
