"""Learn: the downstream subflow that turns a kept night into lessons, patterns and suggestions."""

from typing import Any

from prefect import flow

from nightwatch_core.memory.prior_analyses import lasting
from nightwatch_core.models.assignment import UpdatedLessons
from nightwatch_core.models.knowledge import IgnoreSuggestion, Lesson, Pattern
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import LearningResult, RunReport, WrittenLesson
from nightwatch_core.report.builder import learning_result
from tasks.knowledge import (
    archive_lessons,
    detect_patterns,
    keep_lesson,
    keep_pattern,
    keep_up,
    read_lessons,
    rebuild_index,
    relate_lessons,
    suggest_ignores,
)
from tasks.night import reopened_report
from tasks.parameters import takes_options
from tasks.runner import NightRunner, one_by_one


@flow(name="learn", flow_run_name="learn-{night}", task_runner=NightRunner())
@takes_options
def learn(night: str, **choices: Any) -> LearningResult:
    """Keep lessons and patterns of a night. It reads the kept report, so it can be run again alone.

    Args:
        night: Name of the night, as `nightwatch history` lists it.
    """
    report = reopened_report(night, choices)
    options = report.options
    kept, upkeep = _keep(options, report)
    found, suggestions, unrelated = _compare(options, report, upkeep.lessons)
    archived = archive_lessons(options, report, upkeep.lessons)
    rebuild_index(options)
    upkeep = upkeep.model_copy(update={"troubles": (*upkeep.troubles, *unrelated)})
    return learning_result(report, kept, archived, upkeep, found, suggestions)


def _keep(
    options: NightOptions, report: RunReport
) -> tuple[tuple[WrittenLesson, ...], UpdatedLessons]:
    """Keep tonight's lessons; return them and all there are."""
    kept = one_by_one(keep_lesson, lasting(report.analyses), options, report)
    return kept, keep_up(options, report, read_lessons(options, rebuild_index(options)))


def _compare(
    options: NightOptions, report: RunReport, lessons: tuple[Lesson, ...]
) -> tuple[tuple[Pattern, ...], tuple[IgnoreSuggestion, ...], tuple[str, ...]]:
    found = detect_patterns(options, report, lessons)
    one_by_one(keep_pattern, found, options)
    troubles = relate_lessons(options, lessons) if lessons else ()
    return found, suggest_ignores(options, report, lessons), troubles
