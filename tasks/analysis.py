"""Analyse cases: research, recall, one task for each, and a report where the night fails."""

import logging
from typing import Any

from prefect.context import TaskRunContext

from nightwatch_core.analysis import agent_specs, analyst
from nightwatch_core.analysis.analyst import RULES
from nightwatch_core.analysis.loop import ending_text
from nightwatch_core.analysis.research import gather, with_learnings
from nightwatch_core.analysis.second_look import allowance_of_lead
from nightwatch_core.analysis.tool_context import RunsLeft
from nightwatch_core.analysis.tools import ONE_BY_ONE
from nightwatch_core.analysis.waves import Prepared, Waves, third_wave, with_second_looks
from nightwatch_core.code.failed_commit import merged_before
from nightwatch_core.code.record_fit import with_doubts
from nightwatch_core.memory.prior_analyses import mark_fallback, merge_waves, unanswered_assignments
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import (
    AnalystTonight,
    Assignment,
    CodeTonight,
    UnansweredAssignment,
    UnexplainedCase,
    WaveResult,
)
from nightwatch_core.models.conversation import AgentSpec, AnalysisPlan, Capabilities
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import Model
from nightwatch_core.proof.crash import crash_of
from nightwatch_core.proof.gate import try_out
from tasks.code import bare_reader_of, commit_of_case, index_in, reader_of
from tasks.progress import ANALYSES
from tasks.runner import digest, each, settled, step
from tasks.wiring.opening import OpenNight
from tasks.workers import on_worker

# Tests and snippets that an analyst may run in the sandbox, at the commit that failed.

log = logging.getLogger(__name__)
_LOOK_AGAIN = "second look · {assignment.case.leader.short}"
SCHEMA = 2  # raised when Analysis changes its meaning, so that no older record is taken for one


def runs_for(
    assignment: Assignment, night: OpenNight, agent: AgentSpec, plan: AnalysisPlan
) -> RunsLeft | None:
    """Say what an analysis may run; None where it may not, or nothing can be run."""
    sandbox = night.reading.sandbox
    may = plan.model != RULES and not {*ONE_BY_ONE}.isdisjoint(agent.tools)
    if sandbox is None or not may:
        return None
    case = assignment.case
    frames = case.trace.in_app if case.trace else ()
    files = tuple(dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path))
    tree = bare_reader_of(night, assignment.commit)
    runner = try_out(files, tree, sandbox, night.options, night.projects, crash_of(case))
    if runner is None:
        return None
    prefix = f"runs/{assignment.night}/{assignment.commit.sha}/{runner.project}"
    return RunsLeft(runner, night.records, prefix, night.sandbox_lock())


def analysis_key(context: TaskRunContext, parameters: dict[str, Any]) -> str:
    """Name an analysis by its night, its case, its agent and tonight's research.

    Not by what earlier nights taught, nor by counts and allowances: whatever was learned or merged
    since the night began, a Retry of it and a night that is taken up find what was paid for. With
    `force` only the run itself finds it.
    """
    assignment, night = parameters["assignment"], parameters["night"]
    agent, plan = led_by(assignment, night)
    options = night.options
    case, first = assignment.case, assignment.first
    shaping = (
        *(str(SCHEMA), agent.digest, plan.model_dump_json(), assignment.commit.sha),
        *(group.fingerprint for group in case.groups),
        *assignment.research.leader_findings,
        first.model_dump_json() if first else "",
        *(str(options.cost_per_error), str(options.token_budget_per_error)),
        *(str(options.total_token_budget), str(options.cost_per_night)),
        str(context.task_run.flow_run_id) if options.force else "",
        *filter(None, (options.lead_model,)),
    )
    return f"analysis/{assignment.night}/{digest(*shaping)}"


@step("analyse", "{assignment.case.leader.short}", key=analysis_key)
def analyse(assignment: Assignment, night: OpenNight) -> Analysis:
    """Explain one case within its allowance."""
    with ANALYSES.analysing(assignment) as costs:
        analysis = on_worker(explain, night, assignment)
        costs.append(analysis.usage.cost or 0.0)
    cause = f"{analysis.title}, {analysis.confidence} confidence"
    log.info("%s: %s (%s)", assignment.case.leader.short, cause, ending_text(analysis))
    return analysis


def explain(night: OpenNight, assignment: Assignment) -> Analysis:
    """Explain one case in this process."""
    agent, plan = led_by(assignment, night)
    case, allowance, first = assignment.case, assignment.allowance, assignment.first
    lead_model = night.options.lead_model
    may_lead = lead_model and not first and plan.model not in (RULES, lead_model)
    half = allowance_of_lead(case, assignment.research, allowance) if may_lead else None
    if half:
        leads = assignment.model_copy(update={"allowance": half})
        other = plan.model_copy(update={"model": lead_model})
        lead = _asking(leads, night, agent, other)
        return analyst.analyse_led(lead, _asking(assignment, night, agent, plan))
    briefing = _asking(assignment, night, agent, plan)
    return analyst.look_again(briefing, first) if first else analyst.analyse(briefing)


@step("ask the analyst")
def ask_analyst(night: OpenNight) -> AnalystTonight:
    """Return the model's capabilities and the unusable agent files.

    Raises `StopTheNight` where the model is retired or the key is not accepted.
    """
    ports = night.reading
    able = ports.model.capabilities()
    return AnalystTonight(able=able, complaints=agent_specs.agents_of(ports.agents).complaints)


@step("answer by rules", "{left.assignment.case.leader.short}")
def answer_by_rules(left: UnansweredAssignment, night: OpenNight) -> Analysis:
    """Explain a case whose model was away; never kept, so that the model is asked next time."""
    return mark_fallback(on_worker(explain_by_rules, night, left.assignment), left.failure)


def explain_by_rules(night: OpenNight, assignment: Assignment) -> Analysis:
    """Explain one case by rules in this process."""
    ports = night.reading
    plan = analyst.plan(assignment.case, agent_specs.BUILT_IN, NightOptions())
    model, agent = ports.stand_in or ports.model, agent_specs.BUILT_IN
    return analyst.analyse(_briefing(assignment, night, model, agent, plan))


def explained(night: OpenNight, assignments: tuple[Assignment, ...]) -> WaveResult:
    """Explain cases side by side; the rules answer where the model could not be reached."""
    ANALYSES.begin(assignments, night.options)
    wave = settled(each(analyse, assignments, night), assignments)
    stand_in = None if wave.stopped else night.reading.stand_in
    left = unanswered_assignments(wave, assignments) if stand_in else ()
    asked = tuple(item.assignment for item in left)
    return merge_waves(wave, settled(each(answer_by_rules, left, night), asked))


def looked_again(
    night: OpenNight,
    waves: Waves,
    results: tuple[WaveResult, ...],
    capabilities: Capabilities | None,
) -> tuple[WaveResult, ...]:
    """Look again at what stayed weak, side by side; the better verdict of each error is kept."""
    wave = third_wave(night.options, waves, results, capabilities)
    ANALYSES.begin(wave.assignments, night.options)
    second = analyse.with_options(name="second look", task_run_name=_LOOK_AGAIN)
    runs = each(second, wave.assignments, night)
    return with_second_looks(results, wave, settled(runs, wave.assignments))


def led_by(assignment: Assignment, night: OpenNight) -> tuple[AgentSpec, AnalysisPlan]:
    """Choose the agent for a case, and the plan: by run, agent file, settings and tier."""
    agent = agent_for(assignment, night)
    return agent, analyst.plan(assignment.case, agent, night.options, assignment.given)


def agent_for(assignment: Assignment, night: OpenNight) -> AgentSpec:
    """Return the agent that was chosen, else the one for the trace's language."""
    if night.options.model == "rules":
        return agent_specs.BUILT_IN
    trace = assignment.case.trace
    agents = agent_specs.agents_of(night.reading.agents)
    return agent_specs.choose(agents, trace.language if trace else "", night.options.agent)


def _asking(
    assignment: Assignment, night: OpenNight, agent: AgentSpec, plan: AnalysisPlan
) -> analyst.Briefing:
    """Brief the plan's model."""
    model = night.model_named(plan.model)
    log.debug("%s: %s", assignment.case.leader.short, analyst.plan_text(plan, assignment.allowance))
    return _briefing(assignment, night, model, agent, plan)


def _briefing(
    assignment: Assignment, night: OpenNight, model: Model, agent: AgentSpec, plan: AnalysisPlan
) -> analyst.Briefing:
    return analyst.Briefing(
        case=assignment.case,
        traces=assignment.traces,
        research=assignment.research,
        code=reader_of(night, assignment.commit),
        model=model,
        agent=agent,
        plan=plan,
        allowance=assignment.allowance,
        clock=night.reading.clock,
        fence=assignment.fence,
        libraries=night.reading.libraries,
        runs=runs_for(assignment, night, agent, plan),
        records=night.records,
        talk=f"talks/{assignment.night}/{plan.model}/{agent.digest}/{assignment.case.fingerprint}",
    )


@step("research", "{unknown.case.leader.short}")
def research_case(unknown: UnexplainedCase, night: OpenNight, code: CodeTonight) -> Prepared:
    """Find likely files, previews, suspects and earlier cases for one error."""
    return on_worker(researched, night, unknown, code)


def researched(night: OpenNight, unknown: UnexplainedCase, code: CodeTonight) -> Prepared:
    """Gather what is known of one error in this process."""
    commit = commit_of_case(unknown.case, code)
    tree = reader_of(night, commit)
    case = with_doubts(unknown.case, tree.read_file)
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
    return Prepared(unknown=unknown, research=with_learnings(research, unknown))
