"""One case, from what is known to a verdict, looked at a second time where that is weak."""

from dataclasses import dataclass

from nightwatch_core.analysis import plans, second_look, tools
from nightwatch_core.analysis.answers import answer_schema
from nightwatch_core.analysis.call_budget import CONCLUDING
from nightwatch_core.analysis.conventions import conventions
from nightwatch_core.analysis.loop import begun, bound_in_sight, converse
from nightwatch_core.analysis.prompts import first_message
from nightwatch_core.code.verdict import verdict
from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.models.agent import AgentSpec, AnalysisPlan
from nightwatch_core.models.analysis import Allowance, Analysis
from nightwatch_core.models.conversation import (
    Capabilities,
    Conversation,
    Effort,
    ToolCall,
    ToolResult,
    UserTurn,
)
from nightwatch_core.models.error import Case, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.ports import Clock, CodeReader, CountsReads, Model

_HARDER: dict[Effort, Effort] = {"low": "medium", "medium": "high", "high": "high"}


@dataclass(frozen=True)
class Look:
    """Everything that looking at one case takes, however often it is looked at."""

    case: Case
    traces: tuple[Trace, ...]
    research: ResearchContext
    code: CodeReader
    agent: AgentSpec
    plan: AnalysisPlan
    clock: Clock

    def once(self, model: Model, may: Allowance, opening: Conversation) -> Analysis:
        """One conversation and its verdict; raises what the loop, model and code reader raise."""
        conclusion = converse(opening, model, self._run, may, self.clock)
        talk = conclusion.talk
        read = _seen(self.research, talk.calls.read)
        found = verdict(self.case, conclusion.answer, self.research, self.code, read)
        return found.model_copy(
            update={
                "ending": conclusion.ending,
                "iterations": talk.iterations,
                "usage": talk.usage,
                "missed": talk.calls.missed,
                "truncated": talk.calls.truncated,
                "recalled": len(self.research.priors),
                "code_reads": self.code.code_reads if isinstance(self.code, CountsReads) else None,
                "model": talk.able.model,
            }
        )

    def opening(self, seed: str = "") -> Conversation:
        """What the model is told first; with a `seed` it thinks harder, where only the tier said.

        Raises what the code reader raises.
        """
        effort = self.plan.effort
        if seed and self.plan.because.get("effort", "").startswith("tier"):
            effort = _HARDER[effort]
        return Conversation(
            system=self.agent.prompt,
            tools=tuple(spec for spec in tools.SPECS if spec.name in self.agent.tools),
            answer_schema=answer_schema(),
            turns=(UserTurn(text=first_message(self.case, self.traces, self._told(), seed)),),
            case=self.case,
            research=self.research,
            effort=effort,
            max_tokens=self.plan.max_tokens,
            thinking_budget=self.plan.thinking_budget,
        )

    def _told(self) -> ResearchContext:
        top = self.case.trace.top if self.case.trace else None
        quoted = conventions(self.code, top.repo_path if top else "")
        return self.research.model_copy(update={"conventions": quoted})

    def _run(self, call: ToolCall) -> ToolResult:
        return tools.run(call, self.code, self.case, self.traces)


def analyse(
    case: Case,
    traces: tuple[Trace, ...],
    research: ResearchContext,
    code: CodeReader,
    model: Model,
    agent: AgentSpec,
    allowance: Allowance,
    clock: Clock,
    plan: AnalysisPlan | None = None,
) -> Analysis:
    """Explain one case, at most twice; raises what the loop, the model and the code reader raise.

    Without a `plan` agent file and tiers choose.
    """
    chosen = plan or plans.plan(case, agent, NightOptions())
    turns = min(chosen.iterations, allowance.iterations)
    may = allowance.model_copy(update={"iterations": turns})
    look, begin = Look(case, traces, research, code, agent, chosen, clock), clock.monotonic()
    first = look.once(model, may, look.opening())
    if not (why := second_look.wanted(first)):
        return first
    left = second_look.left_of(may, first.usage, clock.monotonic() - begin)
    scarce = "time" if left.seconds < CONCLUDING * may.seconds else ""
    return _again(look, model, first, why, left, scarce)


def _again(
    look: Look, model: Model, first: Analysis, why: str, left: Allowance, scarce: str
) -> Analysis:
    """The better of the first verdict and a second; whatever goes wrong, the first is not lost."""
    try:
        able, opening = model.capabilities(), look.opening(second_look.seed(first))
        hindered = second_look.repeats(able) or second_look.unpaid(
            scarce or _scarce(opening, able, left)
        )
        if hindered:
            return second_look.skipped(first, why, hindered)
        return second_look.better(first, look.once(model, left, opening), why)
    except NightWatchError as trouble:
        return second_look.failed(first, why, trouble)


def _scarce(opening: Conversation, able: Capabilities, left: Allowance) -> str:
    """The bound that would end a conversation before it read anything; empty where none would."""
    try:
        return bound_in_sight(begun(opening, able, left), left, left.seconds)
    except GiveUp as gone:
        return gone.ending.detail if gone.ending else str(gone)


def _seen(research: ResearchContext, read: tuple[str, ...]) -> tuple[str, ...]:
    """Files the model has seen: those it was shown first, then those it read."""
    shown = (preview.path for preview in research.previews)
    return tuple(dict.fromkeys((*shown, *read)))
