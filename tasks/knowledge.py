"""Keep, update and archive lessons; detect patterns; follow up on earlier proposals."""

from typing import Any

from nightwatch_core import patterns
from nightwatch_core.analysis.agent_specs import agents_of
from nightwatch_core.analysis.analyst import RULES
from nightwatch_core.analysis.forecast import experience
from nightwatch_core.analysis.research import PromptLearnings
from nightwatch_core.memory.follow_up import (
    cites_other_code,
    confirmed_by_tracker,
    follow_lessons,
    merged_pulls,
    with_standing_patches,
    without_unconfirmed_watch,
)
from nightwatch_core.memory.lesson_text import lessons_in
from nightwatch_core.memory.lessons import (
    LOOKED_AGAIN,
    apply_news,
    is_its_own,
    lesson_from,
    to_archive,
    update_lesson,
)
from nightwatch_core.memory.note_reader import as_task
from nightwatch_core.memory.occurrences import night_date, watched_files
from nightwatch_core.memory.open_work import merged_fixes, unanswered_rejections
from nightwatch_core.memory.outcomes import Tonight
from nightwatch_core.memory.prior_analyses import CaseTonight, Memory, lasting, recall_case
from nightwatch_core.memory.rates import ENDED
from nightwatch_core.memory.recall import LessonSearch, own_lessons
from nightwatch_core.memory.recall import names_of_case as names
from nightwatch_core.memory.scoreboard import scoreboard
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import (
    CodeTonight,
    FollowUpInput,
    PastOutcomes,
    RecallResult,
    Traced,
    UnexplainedCase,
    UpdatedLessons,
)
from nightwatch_core.models.errors import Case, Selection
from nightwatch_core.models.knowledge import IgnoreAdvice, Index, Lesson, Pattern
from nightwatch_core.models.options import LESSON_DAYS, MAX_LESSONS
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import SINGLE_RUN, RunReport, WrittenLesson
from nightwatch_core.patterns.ignore_suggestions import advise
from nightwatch_core.patterns.nights import comparable_nights
from nightwatch_core.text.plain_text import digest
from tasks.code import Trees, commit_of_case, reader_of
from tasks.runner import attempt, key_by_night, one_by_one, step
from tasks.wiring import share
from tasks.wiring.opening import OpenNight

NO_PAST, NO_LEARNINGS = PastOutcomes(), PromptLearnings()


def keep_lessons(night: OpenNight, report: RunReport) -> tuple[WrittenLesson, ...]:
    """Write the lessons of a night, one after the other."""
    before = night.reading.knowledge.index()
    return one_by_one(keep_lesson, lasting(report.analyses), night, report, before)


@step("keep lesson", "{analysis.case.leader.short}")
def keep_lesson(
    analysis: Analysis, night: OpenNight, report: RunReport, before: Index
) -> WrittenLesson:
    """Write one case's lesson with the history of the one that was there `before`."""
    earlier = _earlier_lesson(analysis.case, night, report, before)
    commit, is_reused = analysis.case.commit or report.commit, analysis.ending.kind == "reused"
    read = reader_of(night, commit).read_file if commit else None
    quoted = [evidence.path for evidence in analysis.evidence]
    cited = [line.path for line in earlier.evidence] if earlier else []
    paths = dict.fromkeys((*quoted, *cited, *watched_files(analysis.case)))
    lesson = lesson_from(
        *(analysis, report.night, {path: digest(read(path)) for path in paths} if read else {}),
        *(report.receipts, earlier, report.traffic),
        is_other_code=bool(earlier and read and cites_other_code(earlier, read)),
    )
    is_by_model = analysis.model != RULES or lesson.model == RULES  # whose lesson it is
    if not is_reused and is_by_model and not analysis.fix_alone:
        lesson = lesson.model_copy(update={"analyst": _analyst(night)})
    file = night.publishing.knowledge.write(lesson)
    verdicts = {seen.night: seen.verdict for seen in lesson.nights}
    if verdicts.get(report.night.id) == LOOKED_AGAIN:
        return WrittenLesson(file=file, what="kept")
    if not lesson.has_cause:
        return WrittenLesson(file=file, what="unknown")
    if earlier is None or {seen.night for seen in earlier.nights} == {report.night.id}:
        return WrittenLesson(file=file, what="new")
    return WrittenLesson(file=file, what="reused" if is_reused else "refreshed")


def _analyst(night: OpenNight) -> str:
    agents = agents_of(night.reading.agents)
    return digest(f"{night.options.model} {night.options.agent} {agents.model_dump_json()}")[:16]


def _earlier_lesson(
    case: Case, night: OpenNight, report: RunReport, before: Index
) -> Lesson | None:
    knowledge = night.reading.knowledge
    own = own_lessons(case, before.solutions)
    lesson = knowledge.read(own[0][0].file) if own else knowledge.archived_lesson(names(case))
    if lesson is None or not is_its_own(lesson, case, report):
        return None
    news = next((update for update in report.followed if update.file == lesson.file), None)
    return apply_news(lesson, news) if news else lesson


@step("keep lessons up to date")
def keep_up(night: OpenNight, report: RunReport, lessons: tuple[Lesson, ...]) -> UpdatedLessons:
    """Update lessons with tonight's news; a failing one does not stop the others."""
    kept = tuple(update_lesson(lesson, report) for lesson in lessons)
    changed = [after for before, after in zip(lessons, kept, strict=True) if before != after]
    write = night.publishing.knowledge.write
    ends = [attempt(f"updating {item.file}", write, item, otherwise="") for item in changed]
    return UpdatedLessons(lessons=kept, troubles=tuple(end.trouble for end in ends if end.trouble))


@step("archive the least useful lessons")
def archive_lessons(
    night: OpenNight, report: RunReport, lessons: tuple[Lesson, ...]
) -> tuple[str, ...]:
    """Move the least useful lessons above `MAX_LESSONS` out of the way; return the new names."""
    spare = to_archive(lessons, MAX_LESSONS, night_date(report.night))
    files = tuple(lesson.file for lesson, _ in spare)
    return night.publishing.knowledge.archive(files) if files else ()


@step("rebuild index")
def rebuild_index(night: OpenNight) -> Index:
    """Read all documents and write index.yml."""
    index = night.publishing.knowledge.rebuild_index()
    share(night.settings, "knowledge")
    return index


# Patterns and ignore suggestions.


@step("read lessons")
def read_lessons(night: OpenNight, index: Index) -> tuple[Lesson, ...]:
    """Read every lesson at hand."""
    read = (night.reading.knowledge.read(entry.file) for entry in index.solutions)
    return tuple(filter(None, read))


@step("detect patterns")
def detect_patterns(
    night: OpenNight, report: RunReport, lessons: tuple[Lesson, ...]
) -> tuple[Pattern, ...]:
    """Find patterns: what several errors or nights have in common."""
    earlier, on = night.reading.knowledge.read_patterns(), night_date(report.night)
    kept = {pattern.title: pattern for pattern in earlier}
    nights = comparable_nights(report, night.publishing.nights.reports())
    dropped = (item.group.fingerprint for item in report.dropped if item.kind == "ignored")
    found = patterns.detect(report.analyses, lessons, earlier, on, nights, frozenset(dropped))
    return tuple(patterns.merge_pattern(item, kept.get(item.title)) for item in found)


@step("keep pattern", "{pattern.title}")
def keep_pattern(pattern: Pattern, night: OpenNight) -> str:
    """Write a pattern's document; returns its file."""
    return night.publishing.knowledge.write_pattern(pattern)


@step("relate lessons to patterns")
def relate_lessons(night: OpenNight, lessons: tuple[Lesson, ...]) -> tuple[str, ...]:
    """Write into lessons which patterns they belong to today; returns what could not be written."""
    knowledge = night.reading.knowledge
    files = {entry.title: entry.file for entry in knowledge.index().patterns}
    known = (pattern for pattern in knowledge.read_patterns() if pattern.title in files)
    existing = {files[pattern.title]: pattern for pattern in known}
    changed = patterns.related_to_patterns(lessons, existing)
    writer = night.publishing.knowledge
    ends = [attempt(f"relating {item.file}", writer.write, item, otherwise="") for item in changed]
    return tuple(end.trouble for end in ends if end.trouble)


@step("suggest ignore rules")
def suggest_ignores(
    night: OpenNight, report: RunReport, lessons: tuple[Lesson, ...]
) -> IgnoreAdvice:
    """Suggest ignore rules, tried on earlier nights."""
    rules = night.reading.knowledge.ignore_rules()
    nights = comparable_nights(report, night.publishing.nights.reports())
    return advise(report, lessons, rules, nights)


# What became of our issues and pull requests, and of the errors they were about.


@step("read outcomes")
def read_outcomes(night: OpenNight) -> tuple[OwnItem, ...]:
    """Read all our issues and pull requests as they are tonight."""
    return night.reading.tracker.own_items()


def _followed(parameters: dict[str, Any]) -> tuple[str, ...]:
    own, groups = parameters["earlier"].own, parameters["selection"].kept
    return (
        *(parameters["night"].options.model_dump_json(), parameters["code"].commit.sha),
        "unread" if own is None else "read",
        *(group.fingerprint for group in groups),
    )


@step("follow up", key=key_by_night("followed", _followed))
def follow_up(
    night: OpenNight,
    code: CodeTonight,
    selection: Selection,
    earlier: FollowUpInput,
    cases: tuple[Case, ...] = (),
) -> PastOutcomes:
    """Return the outcomes of earlier proposals and the effect of merged fixes.

    Without lessons nothing is known of either.
    """
    lessons = lessons_in(night.reading.knowledge) if night.options.compound_enabled else ()
    records = night.publishing.nights.history()
    known = experience(records, lessons, night.options.analysts)
    if not night.options.compound_enabled:
        return PastOutcomes(known=known)
    if earlier.own is None:
        return PastOutcomes(board=scoreboard(lessons), known=known)
    own = earlier.own
    if any(item.as_patch for item in own):
        base = reader_of(night, code.base or code.commit)
        own = with_standing_patches(own, lessons, base.read_file)
    board = scoreboard(confirmed_by_tracker(lesson, own) for lesson in lessons)
    tonight = Tonight(
        night=night.begun,
        groups=selection.tonight,
        read_whole=earlier.whole,
        traffic=earlier.traffic,
        commit=code.commit,
        releases=code.releases,
        records=records,
    )
    tree = reader_of(night, code.commit)
    updates = follow_lessons(lessons, own, tonight, cases, code.pulls, tree)
    news = {update.file: update for update in updates}
    now = tuple(apply_news(it, news[it.file]) if it.file in news else it for it in lessons)
    return PastOutcomes(
        followed=updates,
        board=board,
        merged=merged_pulls(own),
        known=known,
        fixes=merged_fixes(now, own),
        rejections=unanswered_rejections(now, own, tonight),
    )


# Memory before an analysis: what lessons still explain, and what resembles the rest.


def _recalled(parameters: dict[str, Any]) -> tuple[str, ...]:
    code, cases = parameters["code"], parameters["cases"]
    return (
        *(parameters["night"].options.model_dump_json(), parameters["past"].model_dump_json()),
        *(f"{case.fingerprint} {commit_of_case(case, code).sha}" for case in cases),
        *(group.fingerprint for case in cases for group in case.groups),
    )


@step("recall", key=key_by_night("recalled", _recalled))
def recall_cases(
    night: OpenNight,
    code: CodeTonight,
    cases: tuple[Case, ...],
    traced: tuple[Traced, ...],
    past: PastOutcomes = NO_PAST,
    traffic: int | None = None,
) -> RecallResult:
    """Split cases into those a lesson still explains and those to analyse."""
    if not night.options.compound_enabled:
        return _with_learnings(night, nothing_recalled(cases, traced, past))
    knowledge = night.reading.knowledge
    complaints = knowledge.index().quarantined
    news = {update.file: update for update in past.followed}

    def with_news(lesson: Lesson) -> Lesson:
        lesson = apply_news(lesson, news[lesson.file]) if lesson.file in news else lesson
        return without_unconfirmed_watch(lesson, past.merged)

    memory = Memory(
        read=knowledge.read,
        similar=LessonSearch(lessons_in(knowledge) if cases else ()).similar,
        archived=knowledge.archived_lesson,
        with_news=with_news,
    )
    alike = tuple(
        item
        for item in night.publishing.nights.history()
        if item.night and item.night.kind.key == night.begun.kind.key
        if item.read_whole and item.status in ENDED and not item.id.startswith(SINGLE_RUN)
    )
    analyst = _analyst(night)
    tonights = (
        CaseTonight(
            case=case,
            night=night.begun,
            nights=alike,
            traffic=traffic,
            lesson_days=LESSON_DAYS,
            by_rules=night.options.model == RULES,
            analyst=analyst,
        )
        for case in cases
    )
    trees, force = Trees(night), night.options.force
    ends = [
        recall_case(tonight, memory, trees.at(commit_of_case(tonight.case, code)), force)
        for tonight in tonights
    ]
    unknown = (_with_traces(end, traced) for end in ends if isinstance(end, UnexplainedCase))
    recalled = RecallResult(
        known=tuple(end for end in ends if isinstance(end, Analysis)),
        unknown=tuple(unknown),
        complaints=complaints,
        past=past,
    )
    return _with_learnings(night, recalled)


def _with_learnings(night: OpenNight, recalled: RecallResult) -> RecallResult:
    rules = night.reading.knowledge.ignore_rules()
    learnings = attempt(
        "reading notes and patterns", _learnings, night, recalled.unknown, otherwise=NO_LEARNINGS
    )
    wrong = (*rules.complaints, *learnings.value.complaints, *filter(None, (learnings.trouble,)))
    unknown = tuple(learnings.value.add_to(case) for case in recalled.unknown)
    update = {"unknown": unknown, "complaints": (*recalled.complaints, *wrong)}
    return recalled.model_copy(update=update)


def _learnings(night: OpenNight, unknown: tuple[UnexplainedCase, ...]) -> PromptLearnings:
    """Notes and patterns for cases without a valid lesson."""
    if not unknown:
        return NO_LEARNINGS
    knowledge, store = night.reading.knowledge, night.reading.tasks
    own = lessons_in(knowledge) if night.options.compound_enabled else ()
    return PromptLearnings(
        tasks=(
            *(store.tasks() if store else ()),
            *(
                as_task(lesson)  # without notes, its cause is shown as an earlier case only
                if lesson.notes
                else as_task(lesson).model_copy(update={"notes": ()})
                for lesson in own
                if lesson.notes or lesson.related
            ),
        ),
        patterns=knowledge.read_patterns() if night.options.patterns_enabled else (),
        complaints=store.complaints() if store else (),
    )


def nothing_recalled(
    cases: tuple[Case, ...], traced: tuple[Traced, ...], past: PastOutcomes = NO_PAST
) -> RecallResult:
    """Return every case as a new one: without knowledge, or where it cannot be read."""
    unknown = tuple(_with_traces(UnexplainedCase(case=case), traced) for case in cases)
    return RecallResult(unknown=unknown, past=past)


def _with_traces(unknown: UnexplainedCase, traced: tuple[Traced, ...]) -> UnexplainedCase:
    names = {group.fingerprint for group in unknown.case.groups}
    own = [item for item in traced if item.group.fingerprint in names]
    at, here = unknown.case.commit, [item for item in own if item.commit and item.traces]
    placed = [item for item in here if at and item.commit and item.commit.sha == at.sha]
    traces = tuple(trace for item in placed or own for trace in item.traces)
    return unknown.model_copy(update={"traces": traces[:3]})
