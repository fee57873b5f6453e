"""Our design: research, waves, agent files, loop and adapter as the night runs them."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from threading import Barrier

from benchmarks.tokens.designs import DAY, MODEL, OPTIONS, Outcome, case_of, code_of, priors_of
from benchmarks.tokens.rounds import Held
from benchmarks.tokens.service import Service
from benchmarks.tokens.words import Night
from pydantic import SecretStr

from nightwatch_core.adapters.claude.cache_gate import Gate
from nightwatch_core.adapters.claude.model import Claude
from nightwatch_core.adapters.local.clock import SystemClock
from nightwatch_core.adapters.stores.agent_files import AgentFiles
from nightwatch_core.analysis import agent_specs, plans
from nightwatch_core.analysis.analyst import Briefing, analyse
from nightwatch_core.analysis.research import gather
from nightwatch_core.analysis.waves import Prepared, first_wave, second_wave
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.assignment import Assignment, CodeTonight, UnexplainedCase, WaveResult
from nightwatch_core.models.error import Case, Window
from nightwatch_core.models.report import Night as NightId
from nightwatch_core.models.trace import Trace
from nightwatch_core.models.usage import Usage
from nightwatch_core.ports import CodeReader, Model
from nightwatch_core.traces.path_index import PathIndex

TONIGHT = NightId(id="2026-11-20-bench", window=Window(since=DAY, until=DAY), now=DAY)
AGENTS = Path(__file__).resolve().parents[3] / "agents"


def ours(night: Night, service: Service) -> Sequence[Outcome]:
    """Leaders side by side, then siblings who are told, within the night's allowances."""
    code = code_of(night)
    cases = cases_of(night, code)
    known = tuple(
        UnexplainedCase(case=case, traces=_traces(case), priors=priors_of(scenario))
        for scenario, case in zip(night.scenarios, cases, strict=True)
    )
    return outcomes(night, analysed(known, code, service))


def cases_of(night: Night, code: CodeReader) -> tuple[Case, ...]:
    """The night's errors, in the order of its scenarios."""
    return tuple(case_of(scenario, code, night.app_prefixes) for scenario in night.scenarios)


def analysed(
    unknown: Sequence[UnexplainedCase], code: CodeReader, service: Service
) -> list[tuple[Analysis | Failure, float]]:
    """What comes of these cases, and the seconds each took."""
    index = PathIndex(code.paths())
    prepared = tuple(
        Prepared(
            unknown=one,
            research=gather(
                one.case, index=index, read=code.read_file, priors=one.priors, search=code.search
            ),
        )
        for one in unknown
    )
    tonight = CodeTonight(commit=code.commit)
    gate = Gate(event=lambda: Held(service.rounds))
    model = Claude(SecretStr(service.key), MODEL, service.url, gate=gate)
    able = model.capabilities()
    waves = first_wave(OPTIONS, TONIGHT, tonight, prepared, able)
    first = _mapped(waves.leaders, code, model, service)
    found = tuple(one for one, _ in first if isinstance(one, Analysis))
    failed = tuple(one for one, _ in first if isinstance(one, Failure))
    siblings = second_wave(OPTIONS, waves, WaveResult(analyses=found, failures=failed), able)
    return [*first, *_mapped(siblings, code, model, service)]


def outcomes(night: Night, found: Sequence[tuple[Analysis | Failure, float]]) -> Sequence[Outcome]:
    """What was found, by the keys of the scenarios."""
    cases = cases_of(night, code_of(night))
    keys = {case.fingerprint: one.key for case, one in zip(cases, night.scenarios, strict=True)}
    return [_outcome(one, keys[one.case.fingerprint], spent) for one, spent in found]


def _traces(case: Case) -> tuple[Trace, ...]:
    return (case.trace,) if case.trace else ()


def _mapped(
    assignments: Sequence[Assignment], code: CodeReader, model: Model, service: Service
) -> list[tuple[Analysis | Failure, float]]:
    """As many at once as the options allow."""
    workers = min(OPTIONS.concurrency, len(assignments))
    todo: Queue[Assignment] = Queue()
    for assignment in assignments[workers:]:
        todo.put(assignment)

    def work(number: int) -> list[tuple[Analysis | Failure, float]]:
        done, assignment = [], assignments[number]
        with service.rounds:
            ready.wait()
            before = service.rounds.number
            service.rounds.wait_for(number, before)
            while True:
                began = time.perf_counter()
                done.append((_analysed(assignment, code, model), time.perf_counter() - began))
                try:
                    assignment = todo.get_nowait()
                except Empty:
                    return done

    if not workers:
        return []
    ready = Barrier(workers)
    with ThreadPoolExecutor(workers) as pool:
        return [one for found in pool.map(work, range(workers)) for one in found]


def _analysed(assignment: Assignment, code: CodeReader, model: Model) -> Analysis | Failure:
    case = assignment.case
    shelved = agent_specs.agents_of(AgentFiles(AGENTS))
    agent = agent_specs.choose(shelved, case.trace.language if case.trace else "")
    plan = plans.plan(case, agent, OPTIONS, assignment.given)
    try:
        return analyse(
            Briefing(
                case=case,
                traces=assignment.traces,
                research=assignment.research,
                code=code,
                model=model,
                agent=agent,
                plan=plan,
                allowance=assignment.allowance,
                clock=SystemClock(),
            )
        )
    except NightWatchError as trouble:
        return Failure(case=case, reason=str(trouble), usage=trouble.usage or Usage())


def _outcome(one: Analysis | Failure, key: str, seconds: float) -> Outcome:
    if isinstance(one, Failure):
        return Outcome(key, usage=one.usage, seconds=seconds, trouble=one.reason)
    quotes = tuple(evidence.quote for evidence in one.evidence if evidence.verified)
    return Outcome(key, quotes, one.root_cause, one.usage, seconds)
