"""Learn: the downstream subflow that turns a kept night into lessons, patterns and suggestions."""

from typing import Any

from prefect import flow

from nightwatch_core.models.assignment import UpdatedLessons
from nightwatch_core.models.knowledge import IgnoreAdvice, Pattern
from nightwatch_core.models.report import LearningResult, RunReport, WrittenLesson
from nightwatch_core.report.builder import learning_result
from tasks import knowledge
from tasks.night import reopened
from tasks.parameters import takes_options, with_short_form
from tasks.runner import one_by_one
from tasks.wiring.opening import OpenNight
from tasks.workers import NightRunner


@with_short_form
@flow(name="learn", flow_run_name="learn-{night}", task_runner=NightRunner())
@takes_options
def learn(night: str, **choices: Any) -> LearningResult:
    """Keep lessons and patterns of a night. It reads the kept report, so it can be run again alone.

    Args:
        night: Name of the night, as `nightwatch history` lists it.
    """
    with reopened(night, choices) as (opened, report):
        return learn_from(opened, report)


def learn_from(night: OpenNight, report: RunReport) -> LearningResult:
    """Keep lessons and patterns of a report."""
    options = night.options
    kept: tuple[WrittenLesson, ...] = ()
    found: tuple[Pattern, ...] = ()
    advice = IgnoreAdvice()
    unrelated: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()

    if options.compound_enabled:
        kept = knowledge.keep_lessons(night, report)
    lessons = knowledge.read_lessons(night, knowledge.rebuild_index(night))
    upkeep = UpdatedLessons(lessons=lessons)
    if options.compound_enabled:
        upkeep = knowledge.keep_up(night, report, lessons)

    if options.patterns_enabled:
        found = knowledge.detect_patterns(night, report, upkeep.lessons)
        one_by_one(knowledge.keep_pattern, found, night)
        advice = knowledge.suggest_ignores(night, report, upkeep.lessons)

    if options.compound_enabled:
        if options.patterns_enabled:
            unrelated = knowledge.relate_lessons(night, upkeep.lessons)
        archived = knowledge.archive_lessons(night, report, upkeep.lessons)
    knowledge.rebuild_index(night)
    upkeep = upkeep.model_copy(update={"troubles": (*upkeep.troubles, *unrelated)})
    return learning_result(report, kept, archived, upkeep, found, advice)
