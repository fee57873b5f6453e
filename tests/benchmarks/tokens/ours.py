"""Our design: research, waves, agent files, loop and adapter as the night runs them."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from threading import Barrier

from benchmarks.tokens.designs import DAY, MODEL, OPTIONS, Outcome, case_of, code_of, priors_of
from benchmarks.tokens.service import Held, Service
from benchmarks.tokens.words import Night
from pydantic import SecretStr
from twins.reading import MemoryRecords

from nightwatch_core.adapters.claude.model import Claude
from nightwatch_core.adapters.claude.request import Gate
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.task_files import AgentFiles
from nightwatch_core.analysis import agent_specs
from nightwatch_core.analysis import analyst as plans
from nightwatch_core.analysis.analyst import Briefing, analyse, look_again
from nightwatch_core.analysis.research import gather
from nightwatch_core.analysis.waves import Prepared, first_wave, second_wave
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import Assignment, CodeTonight, UnexplainedCase, WaveResult
from nightwatch_core.models.errors import Case, Trace, Window
from nightwatch_core.models.report import Night as NightId
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.ports import CodeReader, Model
from nightwatch_core.traces.placing import PathIndex

TONIGHT = NightId(id="2026-11-20-bench", window=Window(since=DAY, until=DAY), now=DAY)
AGENTS = Path(__file__).resolve().parents[3] / "agents"


@dataclass(frozen=True)
class Features:
    """What a night does beyond asking; each can be switched off to see what it gives."""

    previews: bool = True  # what is gathered of the code stands in the first message
    priors: bool = True  # so does what an earlier night said of a like error
    agents: bool = True  # agent files lead, by language; else the short built-in prompt
    sharing: bool = True  # siblings come second and are told what their leader found
    agent: Mapping[str, object] = field(default_factory=dict)  # fields that every agent file gets
    again: bool = False  # weak verdicts are looked at once more


EVERYTHING = Features()


def ours(night: Night, service: Service, features: Features = EVERYTHING) -> Sequence[Outcome]:
    """Leaders side by side, then siblings who are told, within the night's allowances."""
    code = code_of(night)
    cases = cases_of(night, code)
    known = tuple(
        UnexplainedCase(
            case=case, traces=_traces(case), priors=priors_of(scenario) if features.priors else ()
        )
        for scenario, case in zip(night.scenarios, cases, strict=True)
    )
    return outcomes(night, analysed(known, code, service, features))


def cases_of(night: Night, code: CodeReader) -> tuple[Case, ...]:
    """The night's errors, in the order of its scenarios."""
    return tuple(case_of(scenario, code, night.app_prefixes) for scenario in night.scenarios)


def analysed(
    unknown: Sequence[UnexplainedCase],
    code: CodeReader,
    service: Service,
    features: Features = EVERYTHING,
) -> list[Analysis | Failure]:
    """Analyse these cases in two waves."""
    index = PathIndex(code.paths())
    prepared = tuple(
        Prepared(unknown=item, research=_research(item, index, code, features)) for item in unknown
    )
    tonight = CodeTonight(commit=code.commit)
    gate = Gate(event=lambda: Held(service.rounds))
    model = Claude(SecretStr(service.key), MODEL, service.url, gate=gate)
    desk = _Desk(model, code, features)
    able = desk.model.capabilities()
    waves = first_wave(OPTIONS, TONIGHT, tonight, prepared, able)
    if not features.sharing:
        nothing = WaveResult(analyses=(), failures=())
        others = second_wave(OPTIONS, waves, nothing, able)
        return _mapped((*waves.leaders, *others), desk, service)
    first = _mapped(waves.leaders, desk, service)
    found = tuple(end for end in first if isinstance(end, Analysis))
    failed = tuple(end for end in first if isinstance(end, Failure))
    result = WaveResult(analyses=found, failures=failed)
    siblings = second_wave(OPTIONS, waves, result, able)
    return [*first, *_mapped(siblings, desk, service)]


@dataclass(frozen=True)
class _Desk:
    """What every analysis of a night works with."""

    model: Model
    code: CodeReader
    features: Features


def _research(
    one: UnexplainedCase, index: PathIndex, code: CodeReader, features: Features
) -> ResearchContext:
    if not features.previews:
        return ResearchContext(priors=one.priors)
    return gather(one.case, index=index, read=code.read_file, priors=one.priors, search=code.search)


def outcomes(night: Night, found: Sequence[Analysis | Failure]) -> Sequence[Outcome]:
    """What was found, by the keys of the scenarios."""
    cases = cases_of(night, code_of(night))
    keys = {case.fingerprint: one.key for case, one in zip(cases, night.scenarios, strict=True)}
    return [_outcome(end, keys[end.case.fingerprint]) for end in found]


def _traces(case: Case) -> tuple[Trace, ...]:
    return (case.trace,) if case.trace else ()


def _mapped(
    assignments: Sequence[Assignment], desk: _Desk, service: Service
) -> list[Analysis | Failure]:
    """As many at once as the options allow."""
    workers = min(OPTIONS.concurrency, len(assignments))
    todo: Queue[Assignment] = Queue()
    for assignment in assignments[workers:]:
        todo.put(assignment)

    def work(number: int) -> list[Analysis | Failure]:
        done, assignment = [], assignments[number]
        with service.rounds:
            ready.wait()
            before = service.rounds.number
            service.rounds.wait_for(number, before)
            while True:
                done.append(_analysed(assignment, desk))
                try:
                    assignment = todo.get_nowait()
                except Empty:
                    return done

    if not workers:
        return []
    ready = Barrier(workers)
    with ThreadPoolExecutor(workers) as pool:
        return [end for ends in pool.map(work, range(workers)) for end in ends]


def _analysed(assignment: Assignment, desk: _Desk) -> Analysis | Failure:
    case = assignment.case
    agent = agent_specs.BUILT_IN
    if desk.features.agents:
        shelved = agent_specs.agents_of(AgentFiles(AGENTS))
        agent = agent_specs.choose(shelved, case.trace.language if case.trace else "")
    agent = agent.model_copy(update=dict(desk.features.agent))
    plan = plans.plan(case, agent, OPTIONS, assignment.given)
    briefing = Briefing(
        case=case,
        traces=assignment.traces,
        research=assignment.research,
        code=desk.code,
        model=desk.model,
        agent=agent,
        plan=plan,
        allowance=assignment.allowance,
        clock=SystemClock(),
        records=MemoryRecords() if desk.features.again else None,
    )
    try:
        first = analyse(briefing)
        return look_again(briefing, first) if desk.features.again else first
    except NightWatchError as trouble:
        return Failure(case=case, reason=str(trouble), usage=trouble.usage or Usage())


def _outcome(end: Analysis | Failure, key: str) -> Outcome:
    if isinstance(end, Failure):
        return Outcome(key, usage=end.usage, trouble=end.reason)
    quotes = tuple(evidence.quote for evidence in end.evidence if evidence.verified)
    return Outcome(key, quotes, end.root_cause, end.usage, confidence=end.confidence)
