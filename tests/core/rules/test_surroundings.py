"""Tests of clues that messages hold, and of the changes that brought a line."""

from datetime import UTC, datetime

import pytest
from small_repo import case, opening

from nightwatch_core.code.languages import PYTHON
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.code import Blame, MergedPull, Suspect
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.rules.engine import SHAPES, telling_shape
from nightwatch_core.rules.findings import Context, FailingLine, KnownCode

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


@pytest.mark.parametrize(("said", "shape"), tuple(zip(SHOWN, SHAPES, strict=True)))
def test_refused_text_is_described_by_its_shape(said, shape):
    finding = telling_shape(Symptom(kind="parse error", text=f"E: {said}"), LINE)
    assert shape[1] in finding.because[0]


def test_ordinary_text_has_no_telling_shape():
    assert not telling_shape(
        Symptom(kind="parse error", text="E: invalid literal 'abc'"), LINE
    ).because
    assert not telling_shape(Symptom(kind="timeout", text="E: '12,90'"), LINE).because


@pytest.mark.parametrize(
    ("sha", "number"),
    [
        ("1" * 10, 1),  # a squashed pull request is the commit
        ("2" * 10, 2),  # a merge may have written the line itself
        ("9" * 10, 2),  # a commit that the merge took along
        ("8" * 10, None),  # touching the file is no proof
    ],
)
def test_a_line_came_with_the_pull_request_that_took_it_along(sha, number):
    at = datetime(2026, 2, 2, tzinfo=UTC)
    told = {"title": "t", "merged_at": at, "files": ("a.py",)}
    suspects = (
        Suspect(pull=MergedPull(number=2, sha="2" * 40, commits=("9" * 40,), **told), score=0.5),
        Suspect(pull=MergedPull(number=1, sha="1" * 40, **told), score=0.5),
    )
    research = ResearchContext(suspects=suspects)
    context = Context(case("E", "m"), research, KnownCode(opening(case("E", "m"))))
    at = datetime(2026, 2, 1, tzinfo=UTC)
    blame = Blame(sha=sha, author="Ann", at=at, subject="Change", line=1, text="x")
    found = context.suspect_of(blame)
    assert (found.pull.number if found else None) == number
