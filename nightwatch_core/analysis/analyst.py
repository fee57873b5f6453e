"""One case, from what is known to a verdict; and a second look where that verdict is weak."""

from dataclasses import dataclass, replace

from nightwatch_core.analysis import (
    fix_alone,
    kept_back,
    limits,
    run_context,
    second_look,
    tools,
)
from nightwatch_core.analysis.answer_complaints import complaints, mend_request
from nightwatch_core.analysis.answer_reading import answer_schema
from nightwatch_core.analysis.conventions import conventions
from nightwatch_core.analysis.loop import converse
from nightwatch_core.analysis.loop_state import begin, bound_in_sight
from nightwatch_core.analysis.places_read import line_ranges, shown_again
from nightwatch_core.analysis.plans import RULES
from nightwatch_core.analysis.prompts import first_message
from nightwatch_core.analysis.runs_left import RunsLeft
from nightwatch_core.analysis.tool_calls import CallHistory
from nightwatch_core.analysis.tool_specs import TOLD_LIMITS
from nightwatch_core.code.taint import strangers, texts_of
from nightwatch_core.code.verdict import verdict
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.agent import AgentSpec, AnalysisPlan
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.code import LineRange
from nightwatch_core.models.conversation import Conversation, Effort, ToolCall, ToolResult, UserTurn
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.trace import Trace
from nightwatch_core.models.usage import Allowance, Usage
from nightwatch_core.ports import Clock, CodeReader, CountsReads, LibraryReader, Model

_HARDER: dict[Effort, Effort] = {"low": "medium", "medium": "high", "high": "high"}
_LIGHTER: dict[Effort, Effort] = {"low": "low", "medium": "low", "high": "medium"}


@dataclass(frozen=True)
class Briefing:
    """Everything one analysis is given."""

    case: Case
    traces: tuple[Trace, ...]
    research: ResearchContext
    code: CodeReader
    model: Model
    agent: AgentSpec
    plan: AnalysisPlan
    allowance: Allowance
    clock: Clock
    fence: str = ""  # the night's name for fences around what came from outside
    libraries: LibraryReader | None = None  # None: what is outside the repository is not known
    runs: RunsLeft | None = None  # None: nothing can be run


def analyse(briefing: Briefing) -> Analysis:
    """Explain one case; raises what loop, model and code reader raise.

    Where its cause is known and only the fix is owed, that alone is asked for.
    """
    lesson = fix_alone.owed(briefing.research)
    if lesson is None or briefing.plan.model == RULES:
        return _look(briefing, _allowance(briefing), opening(briefing))
    few = fix_alone.little_research(lesson, briefing.research.priors, briefing.code.read_file)
    briefing = replace(briefing, research=few)
    allowance = _allowance(briefing)
    turns = min(allowance.iterations, limits.FIX_TURNS)
    few_turns = allowance.model_copy(update={"iterations": turns})
    found = _look(briefing, few_turns, _asking_for_fix(briefing, lesson), lesson)
    return found.model_copy(update={"fix_alone": True})


def look_again(briefing: Briefing, first: Analysis) -> Analysis:
    """Give the better of a weak first verdict and a second one, which sees what the first read.

    Whatever goes wrong, the first is not lost.
    """
    if not (why := second_look.wanted(first)):
        return first
    try:
        able, allowance = briefing.model.capabilities(), _allowance(briefing)
        if able.local:
            return second_look.skipped(first, why, second_look.SAME_AGAIN)
        briefing = _with_what_was_read(briefing, first)
        conversation = opening(briefing, second_look.seed(first))
        state = begin(conversation, able, allowance)
        bound = state.budget.bound(concluding=True) or bound_in_sight(state, allowance.seconds)
        if bound:
            return second_look.skipped(first, why, second_look.NOT_ENOUGH.format(bound=bound))
        return second_look.better(first, _look(briefing, allowance, conversation), why)
    except NightWatchError as trouble:
        return second_look.failed(first, why, str(trouble), trouble.usage or Usage())


def _allowance(briefing: Briefing) -> Allowance:
    turns = min(briefing.plan.iterations, briefing.allowance.iterations)
    return briefing.allowance.model_copy(update={"iterations": turns})


def _with_what_was_read(briefing: Briefing, first: Analysis) -> Briefing:
    """The briefing, its first message showing what the first look read."""
    research = briefing.research
    again = shown_again(first, briefing.code.read_file, research.previews)
    previews = (*research.previews, *again)
    return replace(briefing, research=research.model_copy(update={"previews": previews}))


def opening(briefing: Briefing, seed: str = "") -> Conversation:
    """What the model is told first; with a `seed` it thinks harder, where only the tier said.

    Raises what the code reader raises.
    """
    case, agent, plan = briefing.case, briefing.agent, briefing.plan
    top = case.trace.top if case.trace else None
    quoted = conventions(briefing.code, top.repo_path if top else "")
    research = briefing.research.model_copy(update={"conventions": quoted})
    text = first_message(case, briefing.traces, research, seed, briefing.fence)
    by_tier = plan.chosen_by.get("effort") == "tier"
    return Conversation(
        system=f"{agent.prompt}\n\n{TOLD_LIMITS}" if agent.tools else agent.prompt,
        tools=tools.offered(agent.tools, briefing.libraries, runs=briefing.runs is not None),
        answer_schema=answer_schema(),
        turns=(UserTurn(text=text),),
        case=case,
        research=research,
        effort=_HARDER[plan.effort] if seed and by_tier else plan.effort,
        max_tokens=plan.max_tokens,
        thinking_budget=plan.thinking_budget,
    )


def _asking_for_fix(briefing: Briefing, lesson: Lesson) -> Conversation:
    """What the model is told where only the fix is asked for; raises what the code reader does.

    The cause needs no more thought: it thinks less, where only the tier said how much.
    """
    plan = briefing.plan
    by_tier = plan.chosen_by.get("effort") == "tier"
    ask = fix_alone.request(briefing.case, lesson, briefing.research, briefing.fence)
    may = fix_alone.TOOLS & set(briefing.agent.tools)
    update = {
        "system": fix_alone.SYSTEM,
        "tools": tools.offered(may, None),
        "answer_schema": fix_alone.schema(),
        "turns": (UserTurn(text=ask),),
        "effort": _LIGHTER[plan.effort] if by_tier else plan.effort,
    }
    return opening(briefing).model_copy(update=update)


def _look(
    briefing: Briefing, allowance: Allowance, first: Conversation, known: Lesson | None = None
) -> Analysis:
    """One conversation and its verdict; raises what the loop, model and code reader raise.

    `known` holds the cause where only the fix is asked for.
    """

    told = strangers(texts_of(briefing.case, first.research))

    def run_tool(call: ToolCall, shown: frozenset[str]) -> ToolResult:
        if order := kept_back.order_of_call(call, briefing.case, told):
            why = kept_back.refusal(order)
            return ToolResult(id=call.id, name=call.name, text=why, is_error=True)
        at = (briefing.code, briefing.case, briefing.traces, shown, briefing.libraries)
        return tools.run(call, *at, fence=briefing.fence, runs=briefing.runs)

    def complain(answer: Answer, calls: CallHistory) -> str:
        if model.capabilities().local:  # it would answer the same again
            return ""
        return mend_request(
            complaints(answer, briefing.case, briefing.code, _files_seen(briefing, calls))
        )

    model, clock = briefing.model, briefing.clock
    conclusion = converse(first, model, run_tool, allowance, clock, complain)
    budget, calls = conclusion.state.budget, conclusion.state.calls
    read = _files_seen(briefing, calls)
    answer = fix_alone.completed(conclusion.answer, known) if known else conclusion.answer
    if not budget.able.local:  # it is never asked for one
        answer = answer.model_copy(update={"handover": None})
    shown = None if known else calls.shown  # its steps were seen when it was found
    turns = conclusion.state.conversation.turns
    heard = kept_back.heard_in(turns)
    orders = strangers(texts_of(briefing.case, first.research, heard))
    answer, parts = kept_back.without_orders(answer, orders)
    found = verdict(briefing.case, answer, briefing.research, briefing.code, read, shown, orders)
    handed = () if budget.able.local else run_context.handed(briefing.research, found)
    counted = briefing.code.code_reads if isinstance(briefing.code, CountsReads) else None
    return found.model_copy(
        update={
            "ending": conclusion.ending,
            "iterations": conclusion.state.iterations,
            "usage": budget.used,
            "lines_read": _lines_seen(briefing, calls),
            "missed": calls.missed,
            "truncated": calls.truncated,
            "recalled": len(briefing.research.priors),
            "code_reads": counted,
            "handed": handed,
            "model": budget.able.model,
            "kept_back": (*kept_back.calls_kept_back(turns, briefing.case, told), *parts),
        }
    )


def _lines_seen(briefing: Briefing, calls: CallHistory) -> tuple[LineRange, ...]:
    return line_ranges(calls.shown, set(briefing.code.paths()))


def _files_seen(briefing: Briefing, calls: CallHistory) -> tuple[str, ...]:
    """Files of which the first message or a tool showed lines, in that order, each once."""
    shown = (preview.path for preview in briefing.research.previews)
    lines = (one.path for one in _lines_seen(briefing, calls))
    return tuple(dict.fromkeys((*shown, *calls.read, *lines)))
