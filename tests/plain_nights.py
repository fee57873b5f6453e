"""Nights made of the tasks' plain functions, in the order of the flows: no Prefect run, no server.

What a night keeps under its name for whoever takes it up again is kept in `records`, a dict.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nightwatch_core.analysis.loop import failure
from nightwatch_core.analysis.waves import first_wave, second_wave
from nightwatch_core.errors import NightWatchError, StopTheNight, TryLater
from nightwatch_core.memory.prior_analyses import lasting
from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.assignment import (
    Assignment,
    CauseFindings,
    PastOutcomes,
    PublishResult,
    UpdatedLessons,
    WaveResult,
)
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Proposal, Receipt
from nightwatch_core.models.report import LearningResult, Night, RunReport
from nightwatch_core.report import builder
from nightwatch_core.report.builder import add_publications
from tasks import analysis as analysis_tasks
from tasks import errors, knowledge, publish
from tasks.analysis import research_case
from tasks.code import commit_of_case, pin_code, with_base_branch_status
from tasks.night import open_night
from tasks.report import keep_report, open_report
from tasks.runner import PATIENTLY, Attempt, attempt
from tasks.wiring import publishing, reading

T = TypeVar("T")


@dataclass
class PlainNights:
    """Runs nights; whatever is not ours to raise comes out as it is."""

    records: dict[str, Any] = field(default_factory=dict)

    def run(self, options: NightOptions) -> RunReport:
        """One night from its window to its report."""
        own = attempt("reading outcomes", knowledge.read_outcomes.fn, options, otherwise=None)
        return self._until_morning(options, open_night.fn(options), own)

    def _until_morning(self, options: NightOptions, night: Night, own: Attempt[Any]) -> RunReport:
        fetched = errors.fetch_errors.fn(options, night)
        known = self._kept(errors.known_errors, options=options, night=night)
        selected = errors.select_groups.fn(options, fetched, known)
        report = builder.add_errors(open_report(options, night), fetched, selected)
        earlier = builder.follow_up_input(fetched, own.value)
        found = self._causes(options, night, selected, earlier)
        report = builder.add_findings(report, found, own.value or ())

        receipts: list[Receipt] = []
        acted = attempt("publishing", self._publish, report, own.value, receipts, otherwise=())
        published = PublishResult(receipts=tuple(receipts), skips=acted.value)
        report = keep_report.fn(add_publications(report, published))

        learned = attempt("learning", self._learn, report, otherwise=LearningResult())
        report = builder.add_learning(report, learned.value)
        report = builder.degrade(report, own.trouble, acted.trouble, learned.trouble)
        report = report.model_copy(update={"finished": reading(options).clock.now()})
        kept = keep_report.fn(report)
        publishing(options).nights.finish(kept)
        return kept

    def _kept(self, task: Any, **parameters: Any) -> Any:
        """A step's value as it was first, where the night is taken up again."""
        key = task.cache_policy.cache_key_fn(None, parameters)
        if key not in self.records:
            self.records[key] = task.fn(**parameters)
        return self.records[key]

    def _causes(
        self, options: NightOptions, night: Night, selected: Any, earlier: Any
    ) -> CauseFindings:
        code = pin_code.fn(options, night, selected)
        traced = tuple(errors.trace_group.fn(group, options, code) for group in selected.kept)
        cases = errors.make_cases.fn(traced, selected)
        past = attempt(
            "following up", self._kept, knowledge.follow_up, options=options, night=night,
            code=code, selection=selected, earlier=earlier, cases=cases, otherwise=PastOutcomes(),
        )  # fmt: skip
        memory = attempt(
            "recalling lessons", self._kept, knowledge.recall_cases, options=options, night=night,
            code=code, cases=cases, traced=traced, past=past.value, traffic=earlier.traffic,
            otherwise=knowledge.nothing_recalled(cases, traced, past.value),
        )  # fmt: skip
        tonight = errors.narrow.fn(options, selected, memory.value)
        prepared = tuple(research_case.fn(item, options, code) for item in tonight.memory.unknown)
        able = reading(options).model.capabilities()
        first = first_wave(options, night, code, prepared, able)
        leaders = self._explained(options, first.leaders)
        others = self._explained(options, second_wave(options, first, leaders, able))
        base = code.base or code.commit

        def compared(analysis: Analysis) -> Analysis:
            if commit_of_case(analysis.case, code).sha == base.sha:
                return analysis
            return with_base_branch_status.fn(analysis, options, code)

        known = tuple(map(compared, tonight.memory.known))
        waves = (
            wave.model_copy(update={"analyses": tuple(map(compared, wave.analyses))})
            for wave in (leaders, others)
        )
        return CauseFindings(
            selection=tonight.selection,
            code=code,
            memory=tonight.memory.model_copy(update={"known": known}),
            forecast=tonight.forecast,
            troubles=(code.trouble, past.trouble, memory.trouble),
        ).with_waves(*waves)

    def _explained(self, options: NightOptions, asked: Iterable[Assignment]) -> WaveResult:
        analyses: list[Analysis] = []
        failures: list[Failure] = []
        for item in asked:
            try:
                analyses.append(self._analysis(item, options))
            except StopTheNight:
                raise
            except NightWatchError as trouble:
                failures.append(failure(item.case, trouble))
        return WaveResult(analyses=tuple(analyses), failures=tuple(failures))

    def _analysis(self, assignment: Assignment, options: NightOptions) -> Analysis:
        if options.force:  # it is kept for Retries of its own run alone
            return analysis_tasks.analyse.fn(assignment, options)
        kept: Analysis = self._kept(analysis_tasks.analyse, assignment=assignment, options=options)
        return kept

    def _publish(self, report: RunReport, own: Any, receipts: list[Receipt]) -> tuple[Any, ...]:
        options, night = report.options, report.night
        planned = publish.plan_issues.fn(options, report, own)
        self._one_by_one(planned.proposals, options, night, receipts)
        pulls = publish.plan_pulls.fn(options, report, own, tuple(receipts))
        self._one_by_one(pulls.proposals, options, night, receipts)
        made = tuple(receipts)
        answers = publish.plan_answers.fn(options, report, own, made, pulls.skips)
        self._one_by_one(answers, options, night, receipts)
        return (*planned.skips, *pulls.skips)

    @staticmethod
    def _one_by_one(
        proposals: tuple[Proposal, ...],
        options: NightOptions,
        night: Night,
        receipts: list[Receipt],
    ) -> None:
        for proposal in proposals:
            receipts.append(_patiently(publish.publish.fn, proposal, options, night))

    def _learn(self, report: RunReport) -> LearningResult:
        options = report.options
        before = reading(options).knowledge.index()
        learned = lasting(report.analyses) if options.compound_enabled else ()
        kept = tuple(knowledge.keep_lesson.fn(item, options, report, before) for item in learned)
        lessons = knowledge.read_lessons.fn(options, knowledge.rebuild_index.fn(options))
        upkeep, found, suggested, troubles = UpdatedLessons(lessons=lessons), (), (), ()
        archived: tuple[str, ...] = ()
        if options.compound_enabled:
            upkeep = knowledge.keep_up.fn(options, report, lessons)
        if options.patterns_enabled:
            found = knowledge.detect_patterns.fn(options, report, upkeep.lessons)
            for one in found:
                knowledge.keep_pattern.fn(one, options)
            suggested = knowledge.suggest_ignores.fn(options, report, upkeep.lessons)
        if options.compound_enabled:
            if options.patterns_enabled:
                troubles = knowledge.relate_lessons.fn(options, upkeep.lessons)
            archived = knowledge.archive_lessons.fn(options, report, upkeep.lessons)
        knowledge.rebuild_index.fn(options)
        upkeep = upkeep.model_copy(update={"troubles": (*upkeep.troubles, *troubles)})
        return builder.learning_result(report, kept, archived, upkeep, found, suggested)


def _patiently(step: Callable[..., T], *given: Any) -> T:
    """Tried again as often as the tasks are."""
    for _ in range(PATIENTLY["retries"]):
        try:
            return step(*given)
        except TryLater:
            continue
    return step(*given)
