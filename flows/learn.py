"""Learn: the downstream subflow that turns a kept night into lessons, patterns and suggestions."""

from typing import Any

from prefect import flow

from nightwatch_core.memory.fallback import lasting
from nightwatch_core.models.report import LearningResult
from nightwatch_core.report.builder import learning_result
from tasks.futures import one_by_one
from tasks.knowledge import archive_lessons, keep_lesson, keep_up, rebuild_index
from tasks.night import reopened_report
from tasks.parameters import takes_options
from tasks.patterns import detect_patterns, keep_pattern, read_lessons, suggest_ignores
from tasks.runner import NightRunner


@flow(name="learn", flow_run_name="learn-{night}", task_runner=NightRunner())
@takes_options
def learn(night: str, **choices: Any) -> LearningResult:
    """Keep what a night taught. It reads the night's report, so it can be run again alone.

    Args:
        night: Name of the night, as `nightwatch history` lists it.
    """
    report = reopened_report(night, choices)
    options = report.options
    if not options.compound_enabled:
        return LearningResult()
    kept = one_by_one(keep_lesson, lasting(report.analyses), options, report)
    upkeep = keep_up(options, report, read_lessons(options, rebuild_index(options)))
    lessons = upkeep.lessons
    archived = archive_lessons(options, report, lessons)
    if not options.patterns_enabled:
        rebuild_index(options)
        return learning_result(report, kept, archived, upkeep)
    found = detect_patterns(options, report, lessons)
    one_by_one(keep_pattern, found, options)
    rebuild_index(options)
    suggestions = suggest_ignores(options, report, lessons)
    return learning_result(report, kept, archived, upkeep, found, suggestions)
