"""Lessons kept, updated and archived after a night."""

from prefect import task

from nightwatch_core.memory.lessons.maker import lesson_from
from nightwatch_core.memory.lessons.merge import (
    entries_of_former_names,
    legacy_names,
    merge_lessons,
)
from nightwatch_core.memory.lessons.upkeep import apply_news, is_its_own, to_archive, update_lesson
from nightwatch_core.memory.recall.seed_score import names, own_entry
from nightwatch_core.memory.sightings import night_date
from nightwatch_core.memory.unsettled import watched_files
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import UpdatedLessons
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Index, Lesson
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport, WrittenLesson
from nightwatch_core.text.plain_text import digest
from tasks.code import reader_of
from tasks.futures import attempt
from tasks.policies import PATIENTLY
from tasks.wiring import publishing, reading


@task(name="keep lesson", task_run_name="keep lesson · {analysis.case.leader.short}")
def keep_lesson(analysis: Analysis, options: NightOptions, report: RunReport) -> WrittenLesson:
    """Write one case's lesson, with the history of the one there was, or of all there were."""
    writer = publishing(options).knowledge
    earlier, former = _earlier_lesson(analysis.case, options, report)
    earlier, twins = _united(earlier, analysis.case, options, report)
    digests = _digests(options, report, analysis)
    lesson = lesson_from(analysis, report.night, digests, report.receipts, earlier, report.traffic)
    file = _written(options, lesson)
    if former:
        writer.archive((former,))
    for twin in twins:
        gone = twin.model_copy(update={"superseded_by": lesson.fingerprint})
        writer.archive((writer.write(gone),))
    if not lesson.has_cause:
        return WrittenLesson(file=file, what="unknown")
    if earlier is None or {seen.night for seen in earlier.nights} == {report.night.id}:
        return WrittenLesson(file=file, what="new")
    return WrittenLesson(
        file=file, what="reused" if analysis.ending.kind == "reused" else "refreshed"
    )


def _earlier_lesson(
    case: Case, options: NightOptions, report: RunReport
) -> tuple[Lesson | None, str]:
    """The case's lesson, told what tonight brought; and a document of an older form it replaces."""
    knowledge = reading(options).knowledge
    entries = knowledge.index().solutions
    entry = own_entry(case, entries)
    lesson = knowledge.read(entry.file) if entry else knowledge.archived_lesson(names(case))
    if lesson and not is_its_own(lesson, case, report):
        return None, ""
    if lesson:
        news = next((one for one in report.followed if one.file == lesson.file), None)
        return (apply_news(lesson, news) if news else lesson), ""
    older = next((e for e in entries if e.fingerprint in legacy_names(case)), None)
    lesson = knowledge.read(older.file) if older else None
    if older is None or lesson is None:
        return None, ""
    adopted = {"fingerprint": case.fingerprint, "file": ""}
    return lesson.model_copy(update=adopted), older.file


def _united(
    lesson: Lesson | None, case: Case, options: NightOptions, report: RunReport
) -> tuple[Lesson | None, tuple[Lesson, ...]]:
    """The lesson with the histories of those that it takes the place of, and those."""
    if lesson is None:
        return None, ()
    knowledge = reading(options).knowledge
    entries = entries_of_former_names(case, lesson, knowledge.index().solutions)
    read = (knowledge.read(entry.file) for entry in entries)
    others = tuple(one for one in read if one and is_its_own(one, case, report))
    if not others:
        return lesson, ()
    news = {one.file: one for one in report.followed}
    told = (apply_news(one, news[one.file]) if one.file in news else one for one in others)
    whole = merge_lessons((lesson, *told))
    return whole, tuple(one for one in (lesson, *others) if one.file != whole.file)


def _written(options: NightOptions, lesson: Lesson) -> str:
    """Write a lesson, and have the search know it; returns its file."""
    file, recall = publishing(options).knowledge.write(lesson), reading(options).recall
    if recall:
        attempt("searching the lesson that was written", recall.refresh, file, otherwise=None)
    return file


@task(name="keep lessons up", task_run_name="keep lessons up to date")
def keep_up(
    options: NightOptions, report: RunReport, lessons: tuple[Lesson, ...]
) -> UpdatedLessons:
    """What tonight brought for lessons besides its own errors'; one that fails stops no other."""
    kept = tuple(update_lesson(lesson, report) for lesson in lessons)
    changed = [after for before, after in zip(lessons, kept, strict=True) if before != after]
    ends = [
        attempt(f"keeping {one.file} up", _written, options, one, otherwise="") for one in changed
    ]
    return UpdatedLessons(lessons=kept, troubles=tuple(end.trouble for end in ends if end.trouble))


@task(name="archive", task_run_name="archive the least useful lessons")
def archive_lessons(
    options: NightOptions, report: RunReport, lessons: tuple[Lesson, ...]
) -> tuple[str, ...]:
    """Move what is above `max_lessons` out of the way; returns the new names."""
    spare = to_archive(lessons, options.max_lessons, night_date(report.night))
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
    paths = (*(one.path for one in analysis.evidence), *watched_files(analysis.case))
    return {path: digest(read(path)) for path in dict.fromkeys(paths)}
