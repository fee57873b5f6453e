"""Duplicate analyses: which repeat what an earlier night had found, and their share."""

from datetime import timedelta

import pytest
from core.report_fixture import analysis, empty, group
from night_world import worlds

from nightwatch_core.memory.scoreboard import duplicate_rate
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Evidence, Handover
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import Scoreboard
from nightwatch_core.models.options import NightOptions
from nightwatch_core.report.facts import sentences


def quoting(*lines: str, number: int = 1, **changes: object):
    """An analysis that quotes these lines of one file for its cause."""
    quotes = tuple(Evidence(path="a.py", line=1, quote=line, verified=True) for line in lines)
    return analysis(number, evidence=quotes, **changes)


def night(name: str, *analyses, **options):
    report = empty(analyses=analyses, options=NightOptions(**options))
    return report.model_copy(update={"night": report.night.model_copy(update={"id": name})})


FIRST = quoting("x = y", "z = x")
ALIAS = Case(leader=group(9), others=(group(1),))


@pytest.mark.parametrize(
    ("again", "duplicates"),
    [
        (FIRST, 1),
        (quoting("z  =  x", "other"), 1),  # any line, for the same error
        (quoting("z = x", case=ALIAS), 1),  # known by another name
        (quoting("x = y", number=2), 1),  # the first line, for another error
        (quoting("z = x", number=2), 0),
        (quoting("x = y + 1"), 0),  # the code was changed
        (FIRST.model_copy(update={"handover": Handover()}), 0),
        (FIRST.model_copy(update={"fix_alone": True}), 0),
        (FIRST.model_copy(update={"ending": Ending(kind="reused")}), 0),
    ],
)
def test_a_duplicate_repeats_a_cause_in_unchanged_lines(again, duplicates) -> None:
    rate = duplicate_rate((night("n2", again), night("n1", FIRST)))
    fresh = 1 + (again.ending.kind != "reused")
    assert (rate.nights, rate.analyses, rate.duplicates) == (2, fresh, duplicates)
    assert rate.share == duplicates / fresh


def test_what_repeats_on_purpose_does_not_count() -> None:
    for left_out in (
        night("n2", FIRST, force=True),
        night("n2", FIRST, dry_run=True),
        night("one-12345678-1", FIRST),
    ):
        rate = duplicate_rate((left_out, night("n1", FIRST)))
        assert (rate.nights, rate.analyses, rate.duplicates) == (1, 1, 0)


def test_errors_of_one_night_are_no_duplicates_of_each_other() -> None:
    assert duplicate_rate((night("n1", FIRST, quoting("x = y", number=2)),)).duplicates == 0


def test_the_scoreboard_says_what_it_counts() -> None:
    said = sentences(Scoreboard(duplicates=duplicate_rate((night("b", FIRST), night("a", FIRST)))))
    assert said[0].startswith(
        "Duplicate analyses: 1 of 2 (50 %) in 2 nights; the target is below 10 %. A duplicate names"
    )
    assert not any("Duplicate" in text for text in sentences(Scoreboard()))
    assert not any(
        "Duplicate" in text for text in sentences(Scoreboard(duplicates=duplicate_rate(())))
    )


@pytest.mark.parametrize(("compounds", "duplicates"), [(True, 0), (False, 2)])
def test_over_nights_it_is_the_memory_that_saves_them(compounds, duplicates) -> None:
    world = worlds()
    for _ in range(2):
        world.night(compound_enabled=compounds)
        world.reading.clock.pass_by(timedelta(days=1).total_seconds())
    rate = duplicate_rate(world.publishing.nights.reports())
    assert (rate.analyses, rate.duplicates) == (2 + duplicates, duplicates)
