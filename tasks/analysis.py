"""Door to the analysis: one case, one task, one verdict."""

import hashlib
from datetime import timedelta
from typing import Any

from prefect import Task, task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.context import TaskRunContext

from nightwatch_core.agent import analysing, specs
from nightwatch_core.agent.resuming import ResumableModel
from nightwatch_core.models.agent import AgentSpec
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import Assignment, Unanswered, Wave
from nightwatch_core.models.options import NightOptions
from nightwatch_core.standing_in import marked, together, unanswered
from tasks.code import reader_of
from tasks.policies import PATIENTLY
from tasks.records import records
from tasks.settle import fan_out, settled
from tasks.wiring import reading

SCHEMA = 1  # raised when Analysis changes its meaning, so that no older record is taken for one


def analysis_key(_context: TaskRunContext, parameters: dict[str, Any]) -> str:
    """Names an analysis by everything that shapes it, so that a resumed night finds it again."""
    assignment, options = parameters["assignment"], parameters["options"]
    agent = agent_for(assignment, options)
    said = (str(SCHEMA), agent.digest, options.model, assignment.model_dump_json())
    digest = hashlib.sha256("\0".join(said).encode()).hexdigest()[:24]
    return f"analysis/{assignment.night}/{digest}"


@task(
    name="analyse",
    task_run_name="analyse · {assignment.case.leader.short}",
    cache_policy=CacheKeyFnPolicy(cache_key_fn=analysis_key),
    cache_expiration=timedelta(hours=20),
    persist_result=True,
    result_serializer="json",
    **PATIENTLY,
)
def analyse(assignment: Assignment, options: NightOptions) -> Analysis:
    """Explain one case within its allowance."""
    world, agent = reading(options), agent_for(assignment, options)
    prefix = f"turns/{assignment.night}/{options.model}"
    return analysing.analyse(
        assignment.case,
        assignment.traces,
        assignment.research,
        reader_of(options, assignment.commit),
        ResumableModel(world.model, records(), prefix),
        agent,
        analysing.allowance(assignment.case, agent, assignment.allowance),
        world.clock,
    )


def analyst(options: NightOptions) -> Task[[Assignment, NightOptions], Analysis]:
    """The analysis as a task; with `force` it takes no earlier result."""
    return analyse.with_options(refresh_cache=True) if options.force else analyse


@task(name="answer by rules", task_run_name="answer by rules · {left.assignment.case.leader.short}")
def answer_by_rules(left: Unanswered, options: NightOptions) -> Analysis:
    """Explain a case whose model was away; never kept, so that the model is asked next time."""
    world, assignment = reading(options), left.assignment
    analysis = analysing.analyse(
        assignment.case,
        assignment.traces,
        assignment.research,
        reader_of(options, assignment.commit),
        world.stand_in or world.model,
        specs.BUILT_IN,
        analysing.allowance(assignment.case, specs.BUILT_IN, assignment.allowance),
        world.clock,
    )
    return marked(analysis, left.failure)


def explained(options: NightOptions, assignments: tuple[Assignment, ...]) -> Wave:
    """Explain cases side by side; the rules answer where the model could not be reached."""
    wave = settled(fan_out(analyst(options), assignments, options), assignments)
    left = unanswered(wave, assignments) if reading(options).stand_in else ()
    asked = tuple(one.assignment for one in left)
    return together(wave, settled(fan_out(answer_by_rules, left, options), asked))


def agent_for(assignment: Assignment, options: NightOptions) -> AgentSpec:
    """The agent that was chosen, else the one for the trace's language."""
    shelf = reading(options).agents
    if not options.agents_enabled or options.model == "rules":
        return specs.BUILT_IN
    trace = assignment.case.trace
    shelved = tuple(shelf.agent(name) for name in shelf.names())
    return specs.choose(shelved, trace.language if trace else "", options.agent)
