"""Memory before an analysis: what lessons still explain, and what resembles the rest."""

from typing import Any

from prefect import task

from nightwatch_core.analysis.research import PromptLearnings
from nightwatch_core.memory.lessons.all_lessons import lessons_in
from nightwatch_core.memory.lessons.upkeep import apply_news
from nightwatch_core.memory.notes.lesson_notes import as_task
from nightwatch_core.memory.outcomes.follow_up import without_unconfirmed_watch
from nightwatch_core.memory.prior_analyses import Memory, Similar, recall_case
from nightwatch_core.memory.reuse import RULES, CaseTonight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import (
    CodeTonight,
    PastOutcomes,
    RecallResult,
    Traced,
    UnexplainedCase,
)
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson, TaskFile
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from tasks.code import Trees, commit_of_case
from tasks.futures import attempt
from tasks.policies import KEPT, PATIENTLY, kept_by_night
from tasks.wiring import reading

NO_PAST, NO_LEARNINGS = PastOutcomes(), PromptLearnings()


def _recalled(told: dict[str, Any]) -> tuple[str, ...]:
    """What shapes a recall, besides lessons, notes and patterns."""
    code, cases = told["code"], told["cases"]
    return (
        *(told["options"].model_dump_json(), told["past"].model_dump_json()),
        *(f"{case.fingerprint} {commit_of_case(case, code).sha}" for case in cases),
        *(group.fingerprint for case in cases for group in case.groups),
    )


@task(
    name="recall",
    task_run_name="recall",
    cache_policy=kept_by_night("recalled", _recalled),
    **KEPT,
    **PATIENTLY,
)
def recall_cases(
    options: NightOptions,
    night: Night,
    code: CodeTonight,
    cases: tuple[Case, ...],
    traced: tuple[Traced, ...],
    past: PastOutcomes = NO_PAST,
    traffic: int | None = None,
) -> RecallResult:
    """Split cases into those a lesson still explains and those to analyse."""
    if not options.compound_enabled:
        return _with_learnings(options, nothing_recalled(cases, traced, past))
    knowledge = reading(options).knowledge
    index = knowledge.index()
    search = attempt("searching lessons", _search, options, otherwise=None)
    news = {one.file: one for one in past.followed}

    def with_news(lesson: Lesson) -> Lesson:
        lesson = apply_news(lesson, news[lesson.file]) if lesson.file in news else lesson
        return without_unconfirmed_watch(lesson, past.merged)

    memory = Memory(
        index=index,
        read=knowledge.read,
        similar=search.value,
        archived=knowledge.archived_lesson,
        with_news=with_news,
    )
    tonights = (
        CaseTonight(
            case=case,
            night=night,
            traffic=traffic,
            lesson_days=options.lesson_days,
            by_rules=options.model == RULES,
        )
        for case in cases
    )
    trees = Trees(options)
    ends = [
        recall_case(one, memory, trees.at(commit_of_case(one.case, code)), options.force)
        for one in tonights
    ]
    recalled = RecallResult(
        known=tuple(end for end in ends if isinstance(end, Analysis)),
        unknown=tuple(
            _with_traces(end, traced) for end in ends if isinstance(end, UnexplainedCase)
        ),
        complaints=(*index.quarantined, *filter(None, (search.trouble,))),
        past=past,
        code_reads=trees.code_reads,
    )
    return _with_learnings(options, recalled)


def _with_learnings(options: NightOptions, recalled: RecallResult) -> RecallResult:
    """What was recalled, with notes and patterns for each case, and what is wrong with rules."""
    rules = reading(options).knowledge.ignore_rules()
    learnings = attempt(
        "reading notes and patterns", _learnings, options, recalled.unknown, otherwise=NO_LEARNINGS
    )
    wrong = (*rules.complaints, *learnings.value.complaints, *filter(None, (learnings.trouble,)))
    unknown = tuple(learnings.value.add_to(one) for one in recalled.unknown)
    update = {"unknown": unknown, "complaints": (*recalled.complaints, *wrong)}
    return recalled.model_copy(update=update)


def _learnings(options: NightOptions, unknown: tuple[UnexplainedCase, ...]) -> PromptLearnings:
    """Notes of people and agents, and patterns, as far as they are on; nothing for known cases."""
    if not unknown:
        return NO_LEARNINGS
    knowledge, store = reading(options).knowledge, reading(options).tasks
    if not options.learnings_enabled:
        store = None
    own = lessons_in(knowledge) if options.learnings_enabled and options.compound_enabled else ()
    return PromptLearnings(
        tasks=(
            *(store.tasks() if store else ()),
            *(_noted(lesson) for lesson in own if lesson.notes or lesson.related),
        ),
        patterns=knowledge.read_patterns() if options.patterns_enabled else (),
        complaints=store.complaints() if store else (),
    )


def _noted(lesson: Lesson) -> TaskFile:
    """A lesson's notes and links; what it says itself is told as an earlier case, not again."""
    task = as_task(lesson)
    return task if lesson.notes else task.model_copy(update={"notes": ()})


def _search(options: NightOptions) -> Similar | None:
    """The search over lessons, brought up to date; None where the index is read through."""
    recall = reading(options).recall
    if recall is None:
        return None
    recall.compare()
    return recall.similar


def nothing_recalled(
    cases: tuple[Case, ...], traced: tuple[Traced, ...], past: PastOutcomes = NO_PAST
) -> RecallResult:
    """Every case as a new one: without knowledge, or where it cannot be read."""
    unknown = tuple(_with_traces(UnexplainedCase(case=case), traced) for case in cases)
    return RecallResult(unknown=unknown, past=past)


def _with_traces(unknown: UnexplainedCase, traced: tuple[Traced, ...]) -> UnexplainedCase:
    names = {group.fingerprint for group in unknown.case.groups}
    own = [one for one in traced if one.group.fingerprint in names]
    at, here = unknown.case.commit, [one for one in own if one.commit and one.traces]
    placed = [one for one in here if at and one.commit and one.commit.sha == at.sha]
    traces = tuple(trace for one in placed or own for trace in one.traces)
    return unknown.model_copy(update={"traces": traces[:3]})
