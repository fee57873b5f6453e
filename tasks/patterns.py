"""Patterns and ignore suggestions."""

from prefect import task

from nightwatch_core import patterns
from nightwatch_core.memory.sightings import night_date
from nightwatch_core.models.knowledge import Index, Lesson
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.pattern import IgnoreSuggestion, Pattern
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.ignore_suggestions.backtest import comparable_nights
from nightwatch_core.patterns.ignore_suggestions.suggestions import suggest_rules
from tasks.futures import attempt
from tasks.wiring import publishing, reading


@task(name="read lessons", task_run_name="read lessons")
def read_lessons(options: NightOptions, index: Index) -> tuple[Lesson, ...]:
    """Every lesson there is."""
    knowledge = reading(options).knowledge
    read = (knowledge.read(entry.file) for entry in index.solutions)
    return tuple(lesson for lesson in read if lesson is not None)


@task(name="detect patterns", task_run_name="detect patterns")
def detect_patterns(
    options: NightOptions, report: RunReport, lessons: tuple[Lesson, ...]
) -> tuple[Pattern, ...]:
    """What several errors, or several nights, have in common; known patterns are recognised."""
    known, on = reading(options).knowledge.read_patterns(), night_date(report.night)
    kept = {pattern.title: pattern for pattern in known}
    found = patterns.detect(report.analyses, lessons, known, on)
    return tuple(patterns.merge_pattern(one, kept.get(one.title)) for one in found)


@task(name="keep pattern", task_run_name="keep pattern · {pattern.title}")
def keep_pattern(pattern: Pattern, options: NightOptions) -> str:
    """Write a pattern's document; returns its file."""
    return publishing(options).knowledge.write_pattern(pattern)


@task(name="relate lessons", task_run_name="relate lessons to patterns")
def relate_lessons(options: NightOptions, lessons: tuple[Lesson, ...]) -> tuple[str, ...]:
    """Write into lessons which patterns they belong to today; returns what could not be written."""
    knowledge = reading(options).knowledge
    files = {entry.title: entry.file for entry in knowledge.index().patterns}
    there = {files[one.title]: one for one in knowledge.read_patterns() if one.title in files}
    changed = patterns.related_to_patterns(lessons, there)
    writer = publishing(options).knowledge
    ends = [attempt(f"relating {one.file}", writer.write, one, otherwise="") for one in changed]
    return tuple(end.trouble for end in ends if end.trouble)


@task(name="suggest ignore rules", task_run_name="suggest ignore rules")
def suggest_ignores(
    options: NightOptions, report: RunReport, lessons: tuple[Lesson, ...]
) -> tuple[IgnoreSuggestion, ...]:
    """Rules a person might add, tried on the nights that were."""
    rules = reading(options).knowledge.ignore_rules()
    nights = comparable_nights(report, publishing(options).nights.reports())
    return suggest_rules(report, lessons, rules, nights)
