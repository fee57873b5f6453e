"""Analyse cases: research, recall, one task for each, and a report where the night fails."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import Any

from prefect import task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.context import TaskRunContext

from nightwatch_core.analysis import agent_specs, analyst
from nightwatch_core.analysis import analyst as plans
from nightwatch_core.analysis.analyst import RULES
from nightwatch_core.analysis.budget import KeptRuns, RunsLeft
from nightwatch_core.analysis.loop import ending_text
from nightwatch_core.analysis.model_wrappers import ResumableModel, TranscribedModel
from nightwatch_core.analysis.research import PromptLearnings, gather, with_learnings
from nightwatch_core.analysis.tools import ONE_BY_ONE
from nightwatch_core.analysis.waves import Prepared, Waves, third_wave, with_second_looks
from nightwatch_core.code.base_branch import base_branch_status, without_later_change
from nightwatch_core.code.failed_commit import merged_before
from nightwatch_core.code.record_fit import with_doubts
from nightwatch_core.errors import NightWatchError, NotTonight
from nightwatch_core.memory.follow_up import without_unconfirmed_watch
from nightwatch_core.memory.lesson_text import lessons_in
from nightwatch_core.memory.lessons import apply_news
from nightwatch_core.memory.note_reader import as_task
from nightwatch_core.memory.prior_analyses import (
    Memory,
    mark_fallback,
    merge_waves,
    recall_case,
    unanswered_assignments,
)
from nightwatch_core.memory.recall import LessonSearch
from nightwatch_core.memory.reuse import CaseTonight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import (
    AnalystTonight,
    Assignment,
    CauseFindings,
    CodeTonight,
    PastOutcomes,
    PublishResult,
    RecallResult,
    Traced,
    UnansweredAssignment,
    UnexplainedCase,
    WaveResult,
)
from nightwatch_core.models.code import OtherPull
from nightwatch_core.models.conversation import AgentSpec, AnalysisPlan, Capabilities
from nightwatch_core.models.errors import Case, Selection, Window
from nightwatch_core.models.knowledge import Lesson, TaskFile
from nightwatch_core.models.options import LESSON_DAYS, NightOptions
from nightwatch_core.models.proposals import GateResult, OwnItem, Receipt
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.ports import Clock, Model
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.gate import try_out
from nightwatch_core.publish.overlap import Overlaps, overlaps, paths_of_fixes, with_overlaps
from nightwatch_core.report import builder
from nightwatch_core.report.builder import add_publications
from tasks.code import Trees, bare_reader_of, commit_of_case, index_in, reader_of, reads_of
from tasks.night import banner, begin_night
from tasks.records import records
from tasks.report import notify, with_health
from tasks.runner import (
    KEPT,
    PATIENTLY,
    Attempt,
    attempt,
    attempt_and_go_on,
    digest,
    each,
    kept_by_night,
    same,
    settled,
)
from tasks.wiring import publishing, reading, transcripts
from tasks.wiring.privacy import list_for
from tasks.wiring.recording import record_night

# Tests and snippets that an analyst may run in the sandbox, at the commit that failed.

_TURN = Lock()  # of this machine: what is run would only slow what runs beside it


def runs_for(
    assignment: Assignment, options: NightOptions, agent: AgentSpec, plan: AnalysisPlan
) -> RunsLeft | None:
    """Say what an analysis may run; None where it may not, or nothing can be run."""
    sandbox = reading(options).sandbox
    may = plan.model != RULES and not {*ONE_BY_ONE}.isdisjoint(agent.tools)
    if sandbox is None or not may:
        return None
    case, night = assignment.case, assignment.night
    frames = case.trace.in_app if case.trace else ()
    files = tuple(dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path))
    tree = bare_reader_of(options, assignment.commit)
    runner = try_out(files, tree, sandbox, options, _night_cache(night))
    if runner is None:
        return None
    prefix = f"runs/{night}/{assignment.commit.sha}/{runner.project}"
    return RunsLeft(KeptRuns(runner, records(), prefix, _TURN))


@lru_cache(maxsize=4)
def _night_cache(_night: str) -> NightCache:
    return NightCache()


log = logging.getLogger(__name__)
_LOOK_AGAIN = "look again · {assignment.case.leader.short}"
SCHEMA = 2  # raised when Analysis changes its meaning, so that no older record is taken for one


def analysis_key(context: TaskRunContext, parameters: dict[str, Any]) -> str:
    """Name an analysis by its night, its case, its agent and tonight's research.

    Not by what earlier nights taught, nor by counts and allowances: whatever was learned or merged
    since the night began, a Retry of it and a night that is taken up find what was paid for. With
    `force` only the run itself finds it.
    """
    assignment, options = parameters["assignment"], parameters["options"]
    agent, plan = led_by(assignment, options)
    case, first = assignment.case, assignment.first
    shaping = (
        *(str(SCHEMA), agent.digest, plan.model_dump_json(), assignment.commit.sha),
        *(group.fingerprint for group in case.groups),
        *assignment.research.leader_findings,
        *(fact.text for fact in assignment.research.run_facts),
        first.model_dump_json() if first else "",
        str(options.cost_per_error),
        *(str(options.total_token_budget), str(options.cost_per_night)),
        str(context.task_run.flow_run_id) if options.force else "",
    )
    return f"analysis/{assignment.night}/{digest(*shaping)}"


@task(
    name="analyse",
    task_run_name="analyse · {assignment.case.leader.short}",
    cache_policy=CacheKeyFnPolicy(cache_key_fn=analysis_key),
    **KEPT,
    **PATIENTLY,
)
def analyse(assignment: Assignment, options: NightOptions) -> Analysis:
    """Explain one case within its allowance."""
    agent, plan = led_by(assignment, options)
    ports = reading(options.model_copy(update={"model": plan.model}))
    first = assignment.first
    looks = first.passes if first else 0
    transcribed = TranscribedModel(ports.model, transcripts(), assignment.night, looks)
    model = ResumableModel(transcribed, records(), f"turns/{assignment.night}/{plan.model}")
    log.info("%s: %s", assignment.case.leader.short, plans.plan_text(plan, assignment.allowance))
    briefing = _briefing(assignment, options, ports.clock, model, agent, plan)
    analysis = analyst.look_again(briefing, first) if first else analyst.analyse(briefing)
    log.info("%s: %s", assignment.case.leader.short, ending_text(analysis))
    return analysis


@task(name="ask the analyst", task_run_name="ask the analyst", **PATIENTLY)
def ask_analyst(options: NightOptions) -> AnalystTonight:
    """Return the model's capabilities and the unusable agent files.

    Raises `StopTheNight` where the model is retired or the key is not accepted.
    """
    ports = reading(options)
    able = ports.model.capabilities()
    return AnalystTonight(able=able, complaints=agent_specs.agents_of(ports.agents).complaints)


@task(name="answer by rules", task_run_name="answer by rules · {left.assignment.case.leader.short}")
def answer_by_rules(left: UnansweredAssignment, options: NightOptions) -> Analysis:
    """Explain a case whose model was away; never kept, so that the model is asked next time."""
    ports, assignment = reading(options), left.assignment
    plan = plans.plan(assignment.case, agent_specs.BUILT_IN, NightOptions())
    model, agent = ports.stand_in or ports.model, agent_specs.BUILT_IN
    analysis = analyst.analyse(_briefing(assignment, options, ports.clock, model, agent, plan))
    return mark_fallback(analysis, left.failure)


def explained(options: NightOptions, assignments: tuple[Assignment, ...]) -> WaveResult:
    """Explain cases side by side; the rules answer where the model could not be reached."""
    wave = settled(analyse.map(each(assignments), same(options)), assignments)
    stand_in = None if wave.stopped else reading(options).stand_in
    left = unanswered_assignments(wave, assignments) if stand_in else ()
    asked = tuple(item.assignment for item in left)
    return merge_waves(wave, settled(answer_by_rules.map(each(left), same(options)), asked))


def looked_again(
    options: NightOptions, waves: Waves, results: tuple[WaveResult, ...], able: Capabilities | None
) -> tuple[WaveResult, ...]:
    """Look again at what stayed weak, side by side; the better verdict of each error is kept."""
    wave = third_wave(options, waves, results, able)
    second = analyse.with_options(name="look again", task_run_name=_LOOK_AGAIN)
    runs = second.map(each(wave.assignments), same(options)) if wave.assignments else []
    return with_second_looks(results, wave, settled(runs, wave.assignments))


def led_by(assignment: Assignment, options: NightOptions) -> tuple[AgentSpec, AnalysisPlan]:
    """Choose the agent for a case, and the plan: by run, agent file, settings and tier."""
    agent = agent_for(assignment, options)
    return agent, plans.plan(assignment.case, agent, options, assignment.given)


def agent_for(assignment: Assignment, options: NightOptions) -> AgentSpec:
    """Return the agent that was chosen, else the one for the trace's language."""
    if options.model == "rules":
        return agent_specs.BUILT_IN
    trace = assignment.case.trace
    agents = agent_specs.agents_of(reading(options).agents)
    return agent_specs.choose(agents, trace.language if trace else "", options.agent)


def _briefing(
    assignment: Assignment,
    options: NightOptions,
    clock: Clock,
    model: Model,
    agent: AgentSpec,
    plan: AnalysisPlan,
) -> analyst.Briefing:
    return analyst.Briefing(
        case=assignment.case,
        traces=assignment.traces,
        research=assignment.research,
        code=reader_of(options, assignment.commit),
        model=model,
        agent=agent,
        plan=plan,
        allowance=assignment.allowance,
        clock=clock,
        fence=assignment.fence,
        libraries=reading(options).libraries,
        runs=runs_for(assignment, options, agent, plan),
    )


# How far a night has come, and the report that it leaves where it fails.

log_progress = logging.getLogger(__name__)


@dataclass
class Progress:
    """Hold what a night has found so far, for the report if it fails."""

    night: Night | None = None
    selection: Selection = Selection()
    report: RunReport | None = None
    waveless: RunReport | None = None  # the same before any wave
    receipts: list[Receipt] = field(default_factory=list)
    gates: dict[str, GateResult] = field(default_factory=dict)  # by fingerprint

    def begin(self, night: Night) -> Night:
        """Remember the night that began; what is sent belongs to it."""
        list_for(night.id)
        record_night(night)
        self.night = night
        return night

    def select(self, selection: Selection) -> Selection:
        """Remember which groups were to be analysed."""
        self.selection = selection
        return selection

    def update(self, report: RunReport) -> RunReport:
        """Remember the report as far as it has come."""
        self.report = self.waveless = report
        return report

    def hear_findings(self, findings: CauseFindings) -> CauseFindings:
        """Remember what the waves have brought and cost so far."""
        if self.waveless:
            self.report = builder.with_waves(self.waveless, findings)
        return findings

    def hear_receipt(self, receipt: Receipt) -> None:
        """Remember what was published."""
        self.receipts.append(receipt)

    def hear_gate(self, fingerprint: str, gate: GateResult) -> None:
        """Remember what was run of a fix, and what it took."""
        self.gates[fingerprint] = gate

    def published(self, acted: PublishResult) -> PublishResult:
        """Return what was run and published, also by a step that did not come to its end."""
        gates = acted.gates or tuple(self.gates.items())
        update = {"receipts": tuple(self.receipts), "gates": gates}
        return acted.model_copy(update=update)


@contextmanager
def report_on_failure(options: NightOptions) -> Iterator[Progress]:
    """Keep and send a report of what was found, and why it ends there, before the flow fails."""
    progress = Progress()
    try:
        yield progress
    except NotTonight:
        raise
    except NightWatchError as trouble:
        trouble.add_note(_report_failure(options, progress, str(trouble)))
        raise
    except Exception as bug:  # ours: reported like any failure, and raised again
        why = f"unforeseen {type(bug).__name__}: {bug}"[:1_000]
        bug.add_note(_report_failure(options, progress, why))
        raise


def _report_failure(options: NightOptions, progress: Progress, why: str) -> str:
    try:
        return f"Report: {_keep_and_tell(options, progress, why)}"
    except NightWatchError as trouble:
        made = ", ".join(
            f"{receipt.kind} {receipt.url or receipt.number}" for receipt in progress.receipts
        )
        published = f"\nPublished before that, as the next night will find: {made}" if made else ""
        return f"No report could be written: {trouble}{published}"


def _keep_and_tell(options: NightOptions, progress: Progress, why: str) -> str:
    """Keep and send what was found and why the night failed; returns where to read it."""
    report = with_health(_failed_report(options, progress, why))
    nights = publishing(options).nights
    folder = nights.keep(report)
    night = report.night.model_copy(update={"folder": folder})
    report = report.model_copy(update={"night": night})
    delivered = attempt("telling the team", notify, report, otherwise=folder)
    if delivered.trouble:
        report = builder.leave_untold(report, delivered.trouble)
        nights.keep(report)
    nights.finish(report)
    return delivered.value


def _failed_report(options: NightOptions, progress: Progress, why: str) -> RunReport:
    now = reading(options).clock.now()
    night = progress.night or progress.begin(begin_night(options, Window(since=now, until=now)))
    report = progress.report or builder.start_report(night, options, banner(options), now)
    untold = any(
        analysis.gate is None and analysis.fingerprint in progress.gates
        for analysis in report.analyses
    )
    if untold or len(report.receipts) < len(progress.receipts):
        report = add_publications(report, progress.published(PublishResult()))
    return builder.fail_report(report, why, now, progress.selection)


# Research: what an analyst is told before it starts.


@task(name="research", task_run_name="research · {unknown.case.leader.short}", **KEPT, **PATIENTLY)
def research_case(unknown: UnexplainedCase, options: NightOptions, code: CodeTonight) -> Prepared:
    """Find likely files, previews, suspects and earlier cases for one error."""
    commit = commit_of_case(unknown.case, code)
    tree = reader_of(options, commit)
    case = with_doubts(unknown.case, tree.read_file, tree.search)
    unknown = unknown.model_copy(update={"case": case})
    research = gather(
        case,
        index=index_in(tree),
        read=tree.read_file,
        search=tree.search,
        code=tree,
        pulls=merged_before(code.pulls, commit),
        releases=code.releases,
        priors=unknown.priors,
    )
    return Prepared(
        unknown=unknown, research=with_learnings(research, unknown), code_reads=reads_of(tree)
    )


# Memory before an analysis: what lessons still explain, and what resembles the rest.

NO_PAST, NO_LEARNINGS = PastOutcomes(), PromptLearnings()


def _recalled(parameters: dict[str, Any]) -> tuple[str, ...]:
    code, cases = parameters["code"], parameters["cases"]
    return (
        *(parameters["options"].model_dump_json(), parameters["past"].model_dump_json()),
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
    knowledge = reading(options).knowledge
    index = knowledge.index()
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
    tonights = (
        CaseTonight(
            case=case,
            night=night,
            traffic=traffic,
            lesson_days=LESSON_DAYS,
            by_rules=options.model == RULES,
        )
        for case in cases
    )
    trees = Trees(options)
    ends = [
        recall_case(tonight, memory, trees.at(commit_of_case(tonight.case, code)), options.force)
        for tonight in tonights
    ]
    recalled = RecallResult(
        known=tuple(end for end in ends if isinstance(end, Analysis)),
        unknown=tuple(
            _with_traces(end, traced) for end in ends if isinstance(end, UnexplainedCase)
        ),
        complaints=index.quarantined,
        past=past,
        code_reads=trees.code_reads,
    )
    return _with_learnings(options, recalled)


def _with_learnings(options: NightOptions, recalled: RecallResult) -> RecallResult:
    rules = reading(options).knowledge.ignore_rules()
    learnings = attempt(
        "reading notes and patterns", _learnings, options, recalled.unknown, otherwise=NO_LEARNINGS
    )
    wrong = (*rules.complaints, *learnings.value.complaints, *filter(None, (learnings.trouble,)))
    unknown = tuple(learnings.value.add_to(case) for case in recalled.unknown)
    update = {"unknown": unknown, "complaints": (*recalled.complaints, *wrong)}
    return recalled.model_copy(update=update)


def _learnings(options: NightOptions, unknown: tuple[UnexplainedCase, ...]) -> PromptLearnings:
    """Notes and patterns for cases without a valid lesson."""
    if not unknown:
        return NO_LEARNINGS
    knowledge, store = reading(options).knowledge, reading(options).tasks
    own = lessons_in(knowledge)
    return PromptLearnings(
        tasks=(
            *(store.tasks() if store else ()),
            *(_noted(lesson) for lesson in own if lesson.notes or lesson.related),
        ),
        patterns=knowledge.read_patterns(),
        complaints=store.complaints() if store else (),
    )


def _noted(lesson: Lesson) -> TaskFile:
    """A lesson's notes and links; its cause is shown as an earlier case, not again."""
    task = as_task(lesson)
    return task if lesson.notes else task.model_copy(update={"notes": ()})


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


# Other pull requests beside ours: whether somebody has made a fix already, or turned it down.

LOOK_BACK = timedelta(days=90)


@task(name="read other pull requests", task_run_name="read other pull requests", **PATIENTLY)
def read_other_pulls(
    options: NightOptions, paths: tuple[str, ...], since: datetime
) -> tuple[OtherPull, ...]:
    """List everybody's pull requests that change one of these files."""
    return reading(options).tracker.pulls_changing(paths, since)


def beside_others(
    report: RunReport, own: tuple[OwnItem, ...] | None
) -> tuple[RunReport, Attempt[Overlaps]]:
    """Add the pull requests that its fixes overlap with to a report; returns both."""
    if own is None or not paths_of_fixes(report):
        return report, Attempt(())
    nothing: Overlaps = ()
    what = "comparing fixes with other pull requests"
    met = attempt(what, _compared, report, own, otherwise=nothing)
    return with_overlaps(report, met.value), met


def _compared(report: RunReport, own: tuple[OwnItem, ...]) -> Overlaps:
    options, base = report.options, report.base or report.commit
    since = report.night.window.until - LOOK_BACK
    pulls = read_other_pulls(options, paths_of_fixes(report), since)
    if base is None or not pulls:
        return ()
    read = bare_reader_of(options, base).read_file
    found = (
        (analysis.fingerprint, overlaps(analysis, pulls, own, options, base.repository, read))
        for analysis in report.analyses
    )
    return tuple((name, met) for name, met in found if met)


# Where the failing lines stand on the base branch, which fixes are made on.


@task(
    name="compare with the base",
    task_run_name="compare with the base · {analysis.case.leader.short}",
    **PATIENTLY,
)
def with_standing(analysis: Analysis, options: NightOptions, code: CodeTonight) -> Analysis:
    """Add to an analysis whether the base branch still has the failing lines."""
    then = reader_of(options, commit_of_case(analysis.case, code))
    now = reader_of(options, code.base or code.commit)
    stands = analysis.model_copy(update={"standing": base_branch_status(analysis, then, now)})
    return without_later_change(stands, then, now)


def compared_with_base(options: NightOptions, findings: CauseFindings) -> CauseFindings:
    """Compare each finding with the base branch, where that is not the code that failed."""
    code, troubles = findings.code, []
    base = code.base or code.commit

    def compared(analysis: Analysis) -> Analysis:
        if commit_of_case(analysis.case, code).sha == base.sha:
            return analysis
        title = analysis.case.leader.short
        end = attempt_and_go_on(
            f"comparing {title} with {base.branch or 'the base'}",
            *(with_standing, analysis, options, code),
            otherwise=analysis,
        )
        troubles.append(end.trouble or end.stop)
        return end.value

    remembered = tuple(map(compared, findings.memory.known))
    waves = tuple(
        wave.model_copy(update={"analyses": tuple(map(compared, wave.analyses))})
        for wave in findings.waves
    )
    return findings.model_copy(
        update={
            "memory": findings.memory.model_copy(update={"known": remembered}),
            "waves": waves,
            "troubles": (*findings.troubles, *troubles),
        }
    )
