"""Tests of clues that messages hold, and of the changes that brought a line."""

import pytest

from nightwatch_core.code.languages import PYTHON
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.rules.engine import telling_shape
from nightwatch_core.rules.findings import WORDS, FailingLine

LINE = FailingLine(path="shop/feed.py", line=3, language=PYTHON, seen=True)
SHOWN = [
    "could not convert string to float: '12,90'",
    "could not convert string to float: '1,234.50'",
    "could not convert string to float: '$12'",
    "invalid literal for int() with base 10: ''",
    "invalid literal for int() with base 10: 'None'",
    "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
    "Expecting value: line 1 column 1 (char 0)",
    "time data '01/02/2026' does not match format '%Y-%m-%d'",
]


@pytest.mark.parametrize(("said", "shape"), tuple(zip(SHOWN, WORDS.shapes, strict=True)))
def test_refused_text_is_described_by_its_shape(said, shape):
    finding = telling_shape(Symptom(kind="parse error", text=f"E: {said}"), LINE)
    assert shape[1] in finding.because[0]


def test_ordinary_text_has_no_telling_shape():
    assert not telling_shape(
        Symptom(kind="parse error", text="E: invalid literal 'abc'"), LINE
    ).because
    assert not telling_shape(Symptom(kind="timeout", text="E: '12,90'"), LINE).because
