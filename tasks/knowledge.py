"""Keep, update and archive lessons; detect patterns; follow up on earlier proposals."""

from typing import Any

from prefect import task

from nightwatch_core import patterns
from nightwatch_core.memory.follow_up import (
    confirmed_by_tracker,
    follow_lessons,
    merged_pulls,
    with_standing_patches,
)
from nightwatch_core.memory.lesson_text import lessons_in
from nightwatch_core.memory.lessons import (
    apply_news,
    is_its_own,
    lesson_from,
    to_archive,
    update_lesson,
)
from nightwatch_core.memory.occurrences import night_date, watched_files
from nightwatch_core.memory.outcomes import Tonight
from nightwatch_core.memory.recall import names_of_case as names
from nightwatch_core.memory.recall import own_entry
from nightwatch_core.memory.scoreboard import scoreboard
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import (
    CodeTonight,
    FollowUpInput,
    PastOutcomes,
    UpdatedLessons,
)
from nightwatch_core.models.errors import Case, Selection
from nightwatch_core.models.knowledge import IgnoreSuggestion, Index, Lesson, Pattern
from nightwatch_core.models.options import MAX_LESSONS, NightOptions
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import Night, RunReport, WrittenLesson
from nightwatch_core.patterns.ignore_suggestions import comparable_nights, suggest_rules
from nightwatch_core.text.plain_text import digest
from tasks.code import reader_of, reads_of
from tasks.runner import KEPT, PATIENTLY, attempt, kept_by_night
from tasks.wiring import nights, publishing, reading


@task(name="keep lesson", task_run_name="keep lesson · {analysis.case.leader.short}")
def keep_lesson(analysis: Analysis, options: NightOptions, report: RunReport) -> WrittenLesson:
    """Write one case's lesson with the history of the earlier one."""
    earlier = _earlier_lesson(analysis.case, options, report)
    digests = _digests(options, report, analysis)
    lesson = lesson_from(analysis, report.night, digests, report.receipts, earlier, report.traffic)
    file = publishing(options).knowledge.write(lesson)
    if not lesson.has_cause:
        return WrittenLesson(file=file, what="unknown")
    if earlier is None or {seen.night for seen in earlier.nights} == {report.night.id}:
        return WrittenLesson(file=file, what="new")
    return WrittenLesson(
        file=file, what="reused" if analysis.ending.kind == "reused" else "refreshed"
    )


def _earlier_lesson(case: Case, options: NightOptions, report: RunReport) -> Lesson | None:
    knowledge = reading(options).knowledge
    entry = own_entry(case, knowledge.index().solutions)
    lesson = knowledge.read(entry.file) if entry else knowledge.archived_lesson(names(case))
    if lesson is None or not is_its_own(lesson, case, report):
        return None
    news = next((update for update in report.followed if update.file == lesson.file), None)
    return apply_news(lesson, news) if news else lesson


@task(name="keep lessons up", task_run_name="keep lessons up to date")
def keep_up(
    options: NightOptions, report: RunReport, lessons: tuple[Lesson, ...]
) -> UpdatedLessons:
    """Update lessons with tonight's news; a failing one does not stop the others."""
    kept = tuple(update_lesson(lesson, report) for lesson in lessons)
    changed = [after for before, after in zip(lessons, kept, strict=True) if before != after]
    write = publishing(options).knowledge.write
    ends = [attempt(f"updating {item.file}", write, item, otherwise="") for item in changed]
    return UpdatedLessons(lessons=kept, troubles=tuple(end.trouble for end in ends if end.trouble))


@task(name="archive", task_run_name="archive the least useful lessons")
def archive_lessons(
    options: NightOptions, report: RunReport, lessons: tuple[Lesson, ...]
) -> tuple[str, ...]:
    """Move the least useful lessons above `MAX_LESSONS` out of the way; return the new names."""
    spare = to_archive(lessons, MAX_LESSONS, night_date(report.night))
    files = tuple(lesson.file for lesson, _ in spare)
    return publishing(options).knowledge.archive(files) if files else ()


@task(name="rebuild index", task_run_name="rebuild index", **PATIENTLY)
def rebuild_index(options: NightOptions) -> Index:
    """Read all documents and write index.yml."""
    return publishing(options).knowledge.rebuild_index()


def _digests(options: NightOptions, report: RunReport, analysis: Analysis) -> dict[str, str]:
    commit = analysis.case.commit or report.commit
    if commit is None:
        return {}
    read = reader_of(options, commit).read_file
    paths = (*(evidence.path for evidence in analysis.evidence), *watched_files(analysis.case))
    return {path: digest(read(path)) for path in dict.fromkeys(paths)}


# Patterns and ignore suggestions.


@task(name="read lessons", task_run_name="read lessons")
def read_lessons(options: NightOptions, index: Index) -> tuple[Lesson, ...]:
    """Read every lesson at hand."""
    knowledge = reading(options).knowledge
    read = (knowledge.read(entry.file) for entry in index.solutions)
    return tuple(lesson for lesson in read if lesson is not None)


@task(name="detect patterns", task_run_name="detect patterns")
def detect_patterns(
    options: NightOptions, report: RunReport, lessons: tuple[Lesson, ...]
) -> tuple[Pattern, ...]:
    """Find patterns: what several errors or nights have in common."""
    earlier, on = reading(options).knowledge.read_patterns(), night_date(report.night)
    kept = {pattern.title: pattern for pattern in earlier}
    found = patterns.detect(report.analyses, lessons, earlier, on)
    return tuple(patterns.merge_pattern(item, kept.get(item.title)) for item in found)


@task(name="keep pattern", task_run_name="keep pattern · {pattern.title}")
def keep_pattern(pattern: Pattern, options: NightOptions) -> str:
    """Write a pattern's document; returns its file."""
    return publishing(options).knowledge.write_pattern(pattern)


@task(name="relate lessons", task_run_name="relate lessons to patterns")
def relate_lessons(options: NightOptions, lessons: tuple[Lesson, ...]) -> tuple[str, ...]:
    """Write into lessons which patterns they belong to today; returns what could not be written."""
    knowledge = reading(options).knowledge
    files = {entry.title: entry.file for entry in knowledge.index().patterns}
    there = {
        files[pattern.title]: pattern
        for pattern in knowledge.read_patterns()
        if pattern.title in files
    }
    changed = patterns.related_to_patterns(lessons, there)
    writer = publishing(options).knowledge
    ends = [attempt(f"relating {item.file}", writer.write, item, otherwise="") for item in changed]
    return tuple(end.trouble for end in ends if end.trouble)


@task(name="suggest ignore rules", task_run_name="suggest ignore rules")
def suggest_ignores(
    options: NightOptions, report: RunReport, lessons: tuple[Lesson, ...]
) -> tuple[IgnoreSuggestion, ...]:
    """Suggest ignore rules, tried on earlier nights."""
    rules = reading(options).knowledge.ignore_rules()
    nights = comparable_nights(report, publishing(options).nights.reports())
    return suggest_rules(report, lessons, rules, nights)


# What became of our issues and pull requests, and of the errors they were about.


@task(name="read outcomes", task_run_name="read outcomes", **PATIENTLY)
def read_outcomes(options: NightOptions) -> tuple[OwnItem, ...]:
    """Read all our issues and pull requests as they are tonight."""
    return reading(options).tracker.own_items()


def _followed(parameters: dict[str, Any]) -> tuple[str, ...]:
    own, groups = parameters["earlier"].own, parameters["selection"].kept
    return (
        *(parameters["options"].model_dump_json(), parameters["code"].commit.sha),
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
    """Return the outcomes of earlier proposals and the effect of merged fixes."""
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
    updates = follow_lessons(lessons, own, tonight, cases, code.pulls, tree)
    return PastOutcomes(
        followed=updates, board=board, merged=merged_pulls(own), code_reads=reads_of(tree)
    )
