"""What became of our issues and pull requests, and of the errors they were about."""

from typing import Any

from prefect import task

from nightwatch_core.memory.lessons.all_lessons import lessons_in
from nightwatch_core.memory.outcomes.fix_watch import Tonight
from nightwatch_core.memory.outcomes.follow_up import (
    confirmed_by_tracker,
    follow_lessons,
    merged_pulls,
    with_standing_patches,
)
from nightwatch_core.memory.outcomes.scoreboard import scoreboard
from nightwatch_core.models.assignment import CodeTonight, FollowUpInput, PastOutcomes
from nightwatch_core.models.error import Case, Selection
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.models.report import Night
from tasks.code import reader_of, reads_of
from tasks.policies import KEPT, PATIENTLY, kept_by_night
from tasks.wiring import nights, reading


@task(name="read outcomes", task_run_name="read outcomes", **PATIENTLY)
def read_outcomes(options: NightOptions) -> tuple[OwnItem, ...]:
    """All our issues and pull requests, as they stand tonight."""
    return reading(options).tracker.own_items()


def _followed(told: dict[str, Any]) -> tuple[str, ...]:
    """What shapes following up, besides lessons and the nights that were."""
    own, groups = told["earlier"].own, told["selection"].kept
    return (
        *(told["options"].model_dump_json(), told["code"].commit.sha),
        "unread" if own is None else "read",
        *(group.fingerprint for group in groups),
    )


@task(
    name="follow up",
    task_run_name="follow up",
    cache_policy=kept_by_night("followed", _followed),
    **KEPT,
    **PATIENTLY,
)
def follow_up(
    options: NightOptions,
    night: Night,
    code: CodeTonight,
    selection: Selection,
    earlier: FollowUpInput,
    cases: tuple[Case, ...] = (),
) -> PastOutcomes:
    """What became of earlier proposals, and whether the fixes that were merged have helped."""
    if not options.compound_enabled:
        return PastOutcomes()
    lessons = lessons_in(reading(options).knowledge)
    if earlier.own is None:
        return PastOutcomes(board=scoreboard(lessons))
    own = earlier.own
    if any(item.as_patch for item in own):
        base = reader_of(options, code.base or code.commit)
        own = with_standing_patches(own, lessons, base.read_file)
    board = scoreboard(confirmed_by_tracker(lesson, own) for lesson in lessons)
    tonight = Tonight(
        night=night,
        groups=selection.tonight,
        read_whole=earlier.whole,
        traffic=earlier.traffic,
        commit=code.commit,
        releases=code.releases,
        records=nights().history(),
    )
    tree = reader_of(options, code.commit)
    told = follow_lessons(lessons, own, tonight, cases, code.pulls, tree)
    return PastOutcomes(
        followed=told, board=board, merged=merged_pulls(own), code_reads=reads_of(tree)
    )
