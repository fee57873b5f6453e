"""Duplicate analyses: judged on labelled nights, and at the edges of what counts."""

from itertools import combinations

import pytest
from core.report_fixture import analysis, group

from nightwatch_core.models.analysis import FELL_BACK, Ending
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import CitedLine, Lesson
from nightwatch_core.models.report import Accounts, Duplicate
from nightwatch_core.report.builder import accounts
from nightwatch_core.report.duplicates import duplicates
from nightwatch_core.report.scoreboard_text import accounts_facts, accounts_line
from tests.benchmarks.pattern_nights import night

SEEDS = range(0, 200, 4)
RATES = "`RateTable#fetch` knows no rates for LU since the import skips unchanged ones."
LABELS = "`LabelPrinter#render` runs out of paper sizes for the depot in Norway."


def _one(number, cause=RATES, **changes):
    own = {"case": Case(leader=group(number)), "root_cause": cause, "fix": ()}
    return analysis(number, **(own | changes))


def _lesson(cause, fingerprint="v1:old", **more):
    values = {"error_class": "KeyError", "first_detected": "2026-11-01", "file": "errors/a.md"}
    cited = (CitedLine(path="tidepool/rates.py", line=40),)
    return Lesson.model_validate(
        {"fingerprint": fingerprint, "root_cause": cause, "evidence": cited} | values | more
    )


@pytest.fixture(scope="module")
def labelled():
    """Pairs (night, one, other): that have one cause, and that are judged to have one."""
    true, judged = set(), set()
    for seed in SEEDS:
        one = night(seed)
        names = {each.fingerprint for each in one.analyses if each.confidence != "low"}
        for planted in one.planted:
            if planted.kind == "cause":
                members = sorted(planted.members & names)
                true |= {(seed, *pair) for pair in combinations(members, 2)}
        groups: dict[str, set[str]] = {}
        counted = duplicates(one.analyses)
        for each in counted.listed if counted else ():
            groups.setdefault(each.same_as, {each.same_as}).add(each.fingerprint)
        for members in groups.values():
            judged |= {(seed, *pair) for pair in combinations(sorted(members), 2)}
    return true, judged


def test_labelled_pairs_are_found_and_hardly_another(labelled):
    true, judged = labelled
    assert len(true) > 50
    assert len(true & judged) >= 0.85 * len(true)
    assert len(true & judged) >= 0.9 * len(judged)


def test_of_a_group_all_but_the_best_ranked_are_duplicates():
    counted = duplicates((_one(1), _one(2, LABELS), _one(3), _one(4)))
    assert (counted.judged, counted.count, counted.share) == (4, 2, 0.5)
    first = group(1).fingerprint
    assert counted.listed == tuple(
        Duplicate(fingerprint=group(number).fingerprint, same_as=first) for number in (3, 4)
    )


def test_a_lesson_on_another_error_told_it_before():
    counted = duplicates((_one(1), _one(2, LABELS)), (_lesson(RATES),))
    assert (counted.count, counted.of_lessons) == (1, 1)
    assert counted.listed[0].same_as == "errors/a.md"
    again = duplicates((_one(1), _one(2)), (_lesson(RATES),))
    assert (again.count, again.of_lessons) == (2, 1)  # the first as the lesson, the second as it


@pytest.mark.parametrize(
    "lesson",
    [
        _lesson(RATES, group(1).fingerprint),  # its own: something was new
        _lesson(RATES, stale="tidepool/rates.py was rewritten"),
        _lesson(RATES, superseded_by="v1:newer"),
        _lesson(LABELS),
        _lesson(""),
    ],
)
def test_other_lessons_did_not_tell_it(lesson):
    assert duplicates((_one(1),), (lesson,)).count == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"confidence": "low"},
        {"ending": Ending(kind="reused", detail="errors/a.md")},
        {"misfit": "the record is of other code"},
        {"root_cause": " "},
        {"by_fallback": True, "tags": (FELL_BACK,)},
    ],
)
def test_what_names_no_cause_of_tonight_is_no_duplicate(changes):
    assert duplicates((_one(1), _one(2, **changes))).judged == 1
    assert duplicates((_one(2, **changes),)) is None


def test_the_accounts_say_it():
    held = accounts((_one(1), _one(2), _one(3, LABELS)))
    (fact,) = (each for each in accounts_facts(held) if each.name == "Found twice")
    assert fact.text == "1 of 3 causes (33%): 1 of tonight's others"
    assert "33% found twice" in accounts_line(held)
    assert "found twice" not in accounts_line(Accounts(analysed=1))
