"""What analysts may run: tests and snippets in the sandbox, at the commit that failed."""

from functools import lru_cache
from threading import Lock

from nightwatch_core.analysis.analyst import RULES
from nightwatch_core.analysis.budget import KeptRuns, RunsLeft
from nightwatch_core.analysis.tools import ONE_BY_ONE
from nightwatch_core.models.assignment import Assignment
from nightwatch_core.models.conversation import AgentSpec, AnalysisPlan
from nightwatch_core.models.options import NightOptions
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.gate import try_out
from tasks.records import bare_reader_of, records
from tasks.wiring import reading

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
    runner = try_out(files, tree, sandbox, options, _known(night))
    if runner is None:
        return None
    prefix = f"runs/{night}/{assignment.commit.sha}/{runner.project}"
    return RunsLeft(KeptRuns(runner, records(), prefix, _TURN))


@lru_cache(maxsize=4)
def _known(_night: str) -> NightCache:
    """What a night's analyses have found out about its projects."""
    return NightCache()
