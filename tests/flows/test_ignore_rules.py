"""The doors to ignore rules: those that are over are told, and suggestions see the nights kept."""

from datetime import UTC, date, datetime, timedelta

from core.lesson_shapes import group, lesson, seen
from night_world import worlds

from nightwatch_core.models.errors import DroppedGroup, Fetched, Window
from nightwatch_core.models.knowledge import IgnoreRule, IgnoreRules
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.report import builder
from tasks.dependencies import using
from tasks.errors import select_groups
from tasks.knowledge import suggest_ignores

OPTIONS = NightOptions(source="file")


def report_of(day: int, **fields: object) -> RunReport:
    until = datetime(2031, 3, day, 4, tzinfo=UTC)
    window = Window(since=until - timedelta(days=1), until=until)
    night = Night(id=f"n{day}", window=window, now=until)
    return RunReport.model_validate(
        {"night": night, "options": OPTIONS, "started": until, "finished": until, **fields}
    )


def test_a_rule_that_is_over_hides_nothing_and_is_told_in_the_report() -> None:
    tonight = report_of(3)
    loud, quiet, old = (
        group(f"v1:{name}", message=name, occurrences=count)
        for name, count in (("loud", 90), ("quiet", 2), ("old", 1))
    )
    rules = IgnoreRules(
        rules=(
            IgnoreRule(pattern="loud", line=2, unless_rate_above=50),
            IgnoreRule(pattern="quiet", line=3, unless_rate_above=50, expires=date(2031, 3, 3)),
            IgnoreRule(pattern="old", line=4, expires=date(2031, 3, 2)),
        )
    )
    world = worlds()
    world.reading.knowledge.rules = rules  # type: ignore[attr-defined]
    fetched = Fetched(groups=(loud, quiet, old), window=tonight.night.window)
    with using(world):
        selection = select_groups.fn(OPTIONS, fetched)
    assert selection.kept == (loud, old)
    assert [dropped.reason for dropped in selection.dropped] == [
        "ignored: contains 'quiet' (ignore.yml line 3, until 2031-03-03)"
    ]
    told = builder.add_errors(tonight, fetched, selection).complaints
    assert [each.split(",")[0] for each in told] == ["ignore.yml line 2", "ignore.yml line 4"]


def test_suggestions_are_tried_on_the_nights_that_were_kept() -> None:
    one = lesson("v1:a", message="the printer ran out of paper", nights=seen(1, 2, 3))
    low = tuple(each.model_copy(update={"confidence": "low"}) for each in one.nights)
    lessons = (one.model_copy(update={"nights": low}),)
    dropped = (DroppedGroup(group=group("v1:a", message=one.message), reason="rank 9 of 9"),)
    nights = [report_of(day, dropped=dropped) for day in (1, 2, 3)]
    world = worlds()
    for each in nights[:2]:
        world.publishing.nights.keep(each)
    with using(world):
        (found,) = suggest_ignores.fn(OPTIONS, nights[2], lessons)
        assert suggest_ignores.fn(OPTIONS, nights[1], lessons) == ()
    assert (found.backtest.nights, found.backtest.groups, found.backtest.occurrences) == (3, 1, 21)
    assert found.expires == date(2031, 4, 2)
