"""A night without Prefect: the real steps one after another, with the enemy as the model."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from enemy.mind import Seen, obey
from enemy.table import heard
from enemy.world import Shop

from nightwatch_core.adapters.local.quiet import LocalNotifier, SystemClock
from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.analysis import analyst
from nightwatch_core.analysis.loop import failure
from nightwatch_core.analysis.waves import first_wave
from nightwatch_core.errors import NightWatchError
from nightwatch_core.memory.prior_analyses import lasting
from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import Assignment, CauseFindings, PublishResult, WaveResult
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Capabilities,
    Conversation,
    Reply,
    ResultsTurn,
    ToolCall,
    UserTurn,
)
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.report import builder
from nightwatch_core.report.builder import add_publications
from nightwatch_core.settings import settings
from nightwatch_core.text.plain_text import estimated_tokens
from tasks import analysis, code, errors, knowledge, publish
from tasks.dependencies import Dependencies, PublishingPorts, using
from tasks.wiring import _outbox, _reading, local, publishing, reading

MODEL = "claude-opus-5-5"
ABLE = Capabilities(model=MODEL, input_price=5.0, output_price=25.0, priced="2026-11-01")


@dataclass
class Enemy:
    """A Model that obeys; keeps which attacks reached it, and what it cost."""

    reached: set[str] = field(default_factory=set)
    spent: dict[str, int] = field(default_factory=dict)  # new tokens by error
    calls: int = 0

    def capabilities(self) -> Capabilities:
        return ABLE

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        answers = [
            result.text
            for turn in conversation.turns
            if isinstance(turn, ResultsTurn)
            for result in turn.results
        ]
        told = [turn.text for turn in conversation.turns if isinstance(turn, UserTurn)]
        turns = sum(bool(t.calls) for t in conversation.turns if isinstance(t, AssistantTurn))
        may = bool(conversation.tools) and not conversation.tools_off
        seen = Seen(conversation.system, [*told, *answers], answers, turns, may)
        self.reached |= {one.name for one in heard([seen.system, *seen.texts])}
        calls, text = obey(seen)
        self.calls += 1
        asked = tuple(
            ToolCall(id=f"{turns}_{n}", name=name, arguments=given)
            for n, (name, given) in enumerate(calls)
        )
        usage = Usage(
            calls=1,
            input_tokens=estimated_tokens("".join(seen.texts)) // max(turns, 1),
            output_tokens=min(estimated_tokens(text) + 100, conversation.max_tokens),
            cost=0.01,
        )
        name = conversation.case.fingerprint
        self.spent[name] = self.spent.get(name, 0) + usage.new_tokens
        turn = AssistantTurn(text=text, calls=asked)
        return Reply(turn=turn, stop="tools" if asked else "answer", usage=usage)


def choices(shop: Shop, errors: str) -> NightOptions:
    return NightOptions(
        source="file", code="checkout", model=MODEL, delivery="local", notify="local",
        errors=errors, repo=str(shop.repo), max_errors=200, max_issues=100,
        max_pull_requests=100, total_token_budget=100_000_000, cost_per_night=0, cost_per_error=0,
    )  # fmt: skip


def play(shop: Shop, day: int, enemy: Enemy) -> RunReport:
    """Read, select, trace, recall, research, analyse, publish, keep, learn; returns the report."""
    options, at = choices(shop, str(shop.records(day))), settings()
    ports = _reading(options.model_copy(update={"model": "rules"}), at)
    ports = replace(ports, code=shop.code(), model=enemy, libraries=None)

    def outbox(night: Night):  # type: ignore[no-untyped-def]
        return _outbox(options, at, night)

    writing = PublishingPorts(
        outbox=outbox,
        notifier=LocalNotifier(),
        knowledge=local.knowledge(options, at),
        nights=NightStore(at.state, SystemClock()),
    )
    with using(Dependencies(reading=ports, publishing=writing)):
        return _played(options, day)


def _played(options: NightOptions, day: int) -> RunReport:
    ports = reading(options)
    now = ports.clock.now()
    window = ports.errors.window(None, now)
    night = publishing(options).nights.begin(
        f"2026-01-{day:02}-abcd", lambda id, resumed: Night(id=id, window=window, now=window.until)
    )
    own = knowledge.read_outcomes.fn(options)
    fetched = errors.fetch_errors.fn(options, night)
    known = errors.known_errors.fn(options, night)
    selection = errors.select_groups.fn(options, fetched, known)
    report = builder.add_errors(builder.start_report(night, options, (), now), fetched, selection)
    at = code.pin_code.fn(options, night, selection)
    traced = tuple(errors.trace_group.fn(group, options, at) for group in selection.kept)
    cases = errors.make_cases.fn(traced)
    earlier = builder.follow_up_input(fetched, own)
    past = knowledge.follow_up.fn(options, night, at, selection, earlier, cases)
    memory = analysis.recall_cases.fn(options, night, at, cases, traced, past)
    narrowed = errors.narrow.fn(options, selection, memory)
    prepared = tuple(
        analysis.research_case.fn(one, options, at, narrowed.selection)
        for one in narrowed.memory.unknown
    )
    waves = first_wave(options, night, at, prepared, ABLE)
    ends = tuple(_analysed(options, waves.leaders))
    found = CauseFindings(
        selection=narrowed.selection,
        code=at,
        memory=narrowed.memory,
        waves=(
            WaveResult(
                analyses=tuple(one for one in ends if isinstance(one, Analysis)),
                failures=tuple(one for one in ends if isinstance(one, Failure)),
            ),
        ),
    )
    report = builder.add_findings(report, found, own)
    report = add_publications(report, _published(options, report, own))
    report = _learned(options, report)
    report = builder.finish_report(report, now)
    publishing(options).nights.keep(report)
    publishing(options).nights.finish(report)
    return report


def _analysed(
    options: NightOptions, assignments: tuple[Assignment, ...]
) -> Iterator[Analysis | Failure]:
    ports = reading(options)
    for assignment in assignments:
        agent, plan = analysis.led_by(assignment, options)
        briefing = analysis._briefing(assignment, options, ports.clock, ports.model, agent, plan)
        try:
            yield analyst.look_again(briefing, analyst.analyse(briefing))
        except NightWatchError as trouble:
            yield failure(assignment.case, trouble)


def _published(options: NightOptions, report: RunReport, own) -> PublishResult:  # type: ignore[no-untyped-def]
    planned = publish.plan_issues.fn(options, report, own)
    opened = tuple(publish.publish.fn(one, options, report.night) for one in planned.proposals)
    pulls = publish.plan_pulls.fn(options, report, own, opened)
    drafted = tuple(publish.publish.fn(one, options, report.night) for one in pulls.proposals)
    return PublishResult(receipts=(*opened, *drafted), skips=(*planned.skips, *pulls.skips))


def _learned(options: NightOptions, report: RunReport) -> RunReport:
    kept = tuple(knowledge.keep_lesson.fn(one, options, report) for one in lasting(report.analyses))
    index = knowledge.rebuild_index.fn(options)
    upkeep = knowledge.keep_up.fn(options, report, knowledge.read_lessons.fn(options, index))
    found = knowledge.detect_patterns.fn(options, report, upkeep.lessons)
    for one in found:
        knowledge.keep_pattern.fn(one, options)
    knowledge.relate_lessons.fn(options, upkeep.lessons)
    suggested = knowledge.suggest_ignores.fn(options, report, upkeep.lessons)
    knowledge.rebuild_index.fn(options)
    learned = builder.learning_result(report, kept, (), upkeep, found, suggested)
    return builder.add_learning(report, learned)
