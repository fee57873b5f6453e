"""Analyse one case: brief the model, lead the conversation, judge its answer, look again."""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from nightwatch_core.analysis import prompts, second_look, tools
from nightwatch_core.analysis.answers import complaints, mend_request
from nightwatch_core.analysis.budget import TIERS, tier_of
from nightwatch_core.analysis.loop import DETAIL, CallHistory, Talk, begin, converse
from nightwatch_core.analysis.previews import preview_text, window
from nightwatch_core.analysis.tool_context import RunsLeft
from nightwatch_core.analysis.tools import LIMITS_TEXT
from nightwatch_core.code import injected_instructions as injected
from nightwatch_core.code.verdict import verdict
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models import conversation as chat
from nightwatch_core.models.analysis import Analysis, Lead, Quarantined
from nightwatch_core.models.answer import Allowance, Answer, Evidence, Learning, Usage
from nightwatch_core.models.errors import Case, Trace
from nightwatch_core.models.knowledge import Lesson, PriorAnalysis
from nightwatch_core.models.options import MAX_TURNS, NightOptions
from nightwatch_core.models.research import Preview, ResearchContext
from nightwatch_core.ports import Clock, CodeReader, LibraryReader, Model, Records
from nightwatch_core.text.escaping import block, line

ANSWER_TOKENS = 32_000  # of one reply, thinking included, where nobody says
FIX_TURNS, FIX_WINDOWS = 5, 4  # of a fix asked for alone: turns; windows of source
FIX_LINES, QUOTED_LINES = 20, 5  # of a window: where it is to be made; around another quote
OWED_CAUSE = 4_000  # characters of its cause

_EFFORTS: tuple[chat.Effort, ...] = ("low", "medium", "high")

# How an error is analysed: model, effort, turns and tokens, each chosen by the first who says.
#
# The order is the run's own parameter, the agent file, the setting, the tier of the error's class.

_SCHEMA = Answer.model_json_schema()
RULES = "rules"  # the model that needs no agent: no file can choose another one in its place


def effort_for(thinking_budget: int) -> chat.Effort:
    """Name the effort that a number of thinking tokens stands for.

    >>> [effort_for(tokens) for tokens in (2_000, 4_000, 8_000, 12_000)]
    ['low', 'low', 'medium', 'high']
    """
    return "low" if thinking_budget <= 4_000 else "medium" if thinking_budget <= 8_000 else "high"


def plan(
    case: Case, agent: chat.AgentSpec, options: NightOptions, given: Collection[str] = ()
) -> chat.AnalysisPlan:
    """Choose for one case; `given` are the options that were given for this run by name."""
    tier, budget = TIERS[tier_of(case)], agent.thinking_budget
    is_fixed = options.model == RULES or ("model" in given and options.model)
    return chat.AnalysisPlan(
        model=options.model if is_fixed else agent.model or options.model,
        effort=agent.effort or (effort_for(budget) if budget else tier.effort),
        iterations=min(agent.max_iterations or tier.turns, options.max_iterations or MAX_TURNS),
        max_tokens=agent.max_tokens or ANSWER_TOKENS,
        thinking_budget=budget,
        is_usual_effort=not (agent.effort or budget),
    )


def plan_text(plan: chat.AnalysisPlan, allowance: Allowance) -> str:
    """Describe for the log what was planned, and the bounds."""
    cost = "" if allowance.cost is None else f", ${allowance.cost:.2f}"
    return (
        f"{plan.model}, effort {plan.effort}, {plan.iterations} turns, answers of "
        f"{plan.max_tokens:,} tokens; at most {allowance.tokens:,} new tokens{cost}, "
        f"{allowance.seconds} s"
    )


# A fix asked for alone: the cause is proved, and what was proposed for it came to nothing.
#
# Only the cause, its quotes with the lines around them, and the comments on that fix are sent. Of
# the answer only the fix counts; but after a rejection it may doubt the cause.

TOOLS = frozenset({"read_file", "search_code"})
_FIELDS = (
    "title", "root_cause", "confidence", "fix_confidence", "question", "has_fix", "file_changes",
)  # fmt: skip


def schema() -> dict[str, Any]:
    """Return the answer's schema without what is not asked for."""
    whole = Answer.model_json_schema()
    fields = {name: whole["properties"][name] for name in _FIELDS}
    del whole["description"]
    return {**whole, "properties": fields, "$defs": {"Edit": whole["$defs"]["Edit"]}}


def owed(research: ResearchContext) -> Lesson | None:
    """Give the case's own lesson where only its fix is asked for; None where all is to be asked."""
    if research.misfit:
        return None
    own = (prior for prior in research.priors if prior.match.is_same and prior.match.fix_alone)
    return next((item.lesson for item in own), None)


def little_research(
    lesson: Lesson, priors: Iterable[PriorAnalysis], read: Callable[[str], str | None]
) -> ResearchContext:
    """Cut out the lines around the lesson's quotes; `read` gives a text.

    The places of a fix that people turned down come first, with more lines.
    """
    edited = [
        (edit.path, text.count("\n", 0, text.index(edit.old)) + 1, FIX_LINES)
        for edit in lesson.edits
        if edit.old and (text := read(edit.path)) and edit.old in text
    ]
    lines = QUOTED_LINES if edited else FIX_LINES
    quoted = [(cited.path, cited.line, lines) for cited in lesson.evidence]
    shown: list[Preview] = []
    for path, number, size in (*edited, *quoted):
        text = read(path)
        is_shown = any(p.path == path and p.start <= number <= p.end for p in shown)
        if text and not is_shown and len(shown) < FIX_WINDOWS:
            shown.append(window(path, text, number, size, "failing"))
    own = tuple(prior for prior in priors if prior.lesson.fingerprint == lesson.fingerprint)
    return ResearchContext(previews=tuple(shown), priors=own)


def request(case: Case, lesson: Lesson, research: ResearchContext, fence: str = "") -> str:
    """Write the message that asks for the fix; `fence` is the night's name for fences."""
    code = (prompts.fenced(preview_text(preview), fence) for preview in research.previews)
    failed = [*filter(None, map(prompts.failed_fix, lesson.outcomes[-prompts.OUTCOME_EVENTS :]))]
    past = (line(lesson.fix_owed, 300), *failed, prompts.turned_down(lesson))
    return prompts.TEXTS["fix_request"].format(
        data=prompts.only_data(fence),
        why=prompts.TEXTS["fix_broken" if lesson.fix_owed else "fix_rejected"],
        error=prompts.fenced(prompts.error_text(case), fence),
        cause=prompts.fenced(block(lesson.root_cause, OWED_CAUSE), fence),
        past=prompts.fenced("\n".join(filter(None, past)), fence),
        code="\n\n".join(("## Source around its quotes", *code)),
        turns=FIX_TURNS,
        doubt=prompts.TEXTS["fix_doubt"] if any(map(prompts.failed_fix, lesson.outcomes)) else "",
    )


def completed(answer: Answer, lesson: Lesson) -> Answer:
    """Add the answer's fix to the cause of the lesson, or its doubt of that cause."""
    is_rejected = any(map(prompts.failed_fix, lesson.outcomes))
    doubts = answer.confidence == "low" and not answer.has_fix and is_rejected
    return Answer(
        title=lesson.title or answer.title,
        root_cause=lesson.root_cause,
        confidence="low" if doubts else lesson.confidence,
        fix_confidence=answer.fix_confidence,
        question=answer.question or lesson.question,
        suspect_commit="",
        has_fix=answer.has_fix,
        file_changes=answer.file_changes,
        evidence=tuple(Evidence(path=c.path, line=c.line, quote=c.quote) for c in lesson.evidence),
        tags=lesson.tags,
        learnings=tuple(Learning(fact=fact) for fact in lesson.learnings),
        related_to=lesson.related,
        suggested_next_steps=lesson.next_steps,
    )


# Parts of an answer, and tool calls, that repeat an order from outside: kept back, and said.

# Tools that tell strangers' text: what people wrote to commits, and what production sent.
_TELLS = frozenset({"show_commit", "blame", "history", "get_error_traces"})


def without_orders(
    answer: Answer, orders: injected.InjectedInstructions
) -> tuple[Answer, tuple[Quarantined, ...]]:
    """Return the answer without the parts that repeat an injected instruction, and those parts.

    Its edits are judged where all edits are.
    """
    parts: dict[Quarantined, None] = {}

    def stays(part: str, text: str) -> bool:
        if order := injected.repeated_instruction(text, orders):
            parts[Quarantined.model_validate({"part": part, "order": order})] = None
        return not order

    def kept(part: str, text: str) -> str:
        return text if stays(part, text) else ""

    steps, learnings = answer.suggested_next_steps, answer.learnings
    update = {
        "suggested_next_steps": tuple(step for step in steps if stays("next step", step)),
        "learnings": tuple(
            item for item in learnings if stays("learning", f"{item.path}\n{item.fact}")
        ),
        "tags": tuple(tag for tag in answer.tags if stays("tag", tag)),
        "question": kept("question", answer.question),
        "file_changes": tuple(
            edit.model_copy(update={"description": kept("description", edit.description)})
            for edit in answer.file_changes
        ),
    }
    return answer.model_copy(update=update), tuple(parts)


def order_of_call(call: chat.ToolCall, case: Case, orders: injected.InjectedInstructions) -> str:
    """Give the order from outside that a call repeats; empty where it may be run."""
    frames = [frame.path for frame in (case.trace.frames if case.trace else ())]
    repeated, arguments = injected.repeated_in_argument, call.arguments.items()
    found = (repeated(name, value, orders, frames) for name, value in arguments)
    return next(filter(None, found), "")


def refusal(order: str) -> str:
    """Tell the model why its call was not run."""
    why = injected.quarantine_reason("the call", order)
    return f"Not run: {why}. Ask for what the error itself asks for."


@dataclass(frozen=True)
class Briefing:
    """Everything one analysis is given."""

    case: Case
    traces: tuple[Trace, ...]
    research: ResearchContext
    code: CodeReader
    model: Model
    agent: chat.AgentSpec
    plan: chat.AnalysisPlan
    allowance: Allowance
    clock: Clock
    fence: str = ""  # the night's name for fences around what came from outside
    libraries: LibraryReader | None = None  # None: what is outside the repository is not known
    runs: RunsLeft | None = None  # None: nothing can be run
    records: Records | None = None  # where a weak first look is kept, for the second to go on in
    talk: str = ""  # its key
    quoted: tuple[str, ...] = ()  # files of which an earlier look's quotes are shown


def analyse(briefing: Briefing) -> Analysis:
    """Explain one case; raises what loop, model and code reader raise.

    Where its cause is known and only the fix is owed, that alone is asked for.
    """
    lesson, plan = owed(briefing.research), briefing.plan
    if lesson is None or plan.model == RULES:
        return _look(briefing, _allowance(briefing), opening(briefing))
    few = little_research(lesson, briefing.research.priors, briefing.code.read_file)
    briefing = replace(briefing, research=few)
    allowance = _allowance(briefing)
    turns = min(allowance.iterations, FIX_TURNS)
    few_turns = allowance.model_copy(update={"iterations": turns})
    update = {
        "system": prompts.TEXTS["fix_system"],
        "tools": tools.offered(TOOLS & set(briefing.agent.tools), None),
        "answer_schema": schema(),
        "turns": (chat.UserTurn(text=request(briefing.case, lesson, few, briefing.fence)),),
        "effort": _effort(plan, -1),  # the cause needs no more thought
    }
    asking = opening(briefing).model_copy(update=update)
    found = _look(briefing, few_turns, asking, lesson)
    return found.model_copy(update={"fix_alone": True})


def analyse_led(lead: Briefing, briefing: Briefing) -> Analysis:
    """Explain one case as a cheaper model does, or look again where that does not stand.

    The other model begins afresh: told an answer that cannot be trusted, it would be led astray to
    save a few turns. Its requests are those of a night without a lead, cache and records, too.
    """
    try:
        first = _look(lead, _allowance(lead), opening(lead))
        used, doubt = first.usage, second_look.doubt_of(first)
    except (GiveUp, TryLater) as trouble:
        first, used, doubt = None, trouble.usage or Usage(), line(str(trouble), DETAIL)
    told = Lead(model=lead.plan.model, doubt=doubt, cost=used.cost)
    if first and not doubt:
        return first.model_copy(update={"lead": told})
    left = second_look.left_of(briefing.allowance, used)
    try:
        found = analyse(replace(briefing, allowance=left))
    except NightWatchError as trouble:
        trouble.usage = used + (trouble.usage or Usage())
        raise
    counts = ("tool_calls", "missed_calls")
    calls = {n: getattr(found, n) + (getattr(first, n) if first else 0) for n in counts}
    return found.model_copy(update={"lead": told, "usage": used + found.usage, **calls})


def _effort(plan: chat.AnalysisPlan, steps: int) -> chat.Effort:
    """The planned effort, raised or lowered by steps unless an agent chose it."""
    at = _EFFORTS.index(plan.effort) + (steps if plan.is_usual_effort else 0)
    return _EFFORTS[max(0, min(at, 2))]


def look_again(
    briefing: Briefing, first: Analysis, ways: second_look.Rules = second_look.WAYS
) -> Analysis:
    """Give the better of a weak first verdict and a second one, which sees what the first read.

    Whatever goes wrong, the first is not lost.
    """
    if not (why := second_look.weakness(first)):
        return first
    choice = None
    try:
        if briefing.model.capabilities().local:
            return second_look.skipped(first, why, second_look.SAME_AGAIN)
        before = _first_talk(briefing)
        choice = second_look.way_of(first, ways)
        if choice.way == "going on" and not before:
            choice = second_look.Choice("fresh", second_look.NOT_KEPT)
        fresh = opening(briefing, second_look.seed(first, choice))
        if choice.way == "fresh" and before and not _is_affordable(briefing, fresh):
            because = choice.because + second_look.NO_ROOM
            choice = second_look.Choice("going on", because)
        if choice.way == "fresh":
            before = None
        continued = _continued(briefing, before, why, choice) if before else fresh
        found = (item.path for item in first.evidence if item.verified)
        shown = tuple(found) if choice.way == "fresh" else ()
        briefing = replace(briefing, quoted=shown, records=None)  # the first look is what is kept
        second = _look(briefing, _allowance(briefing), continued, before=before)
        kept = {"snippet": second.snippet or first.snippet, "lead": first.lead}
        return second_look.better(first, second, why, choice).model_copy(update=kept)
    except NightWatchError as trouble:
        used = trouble.usage or Usage()
        return second_look.failed(first, why, str(trouble), used, choice)


def _is_affordable(briefing: Briefing, conversation: chat.Conversation) -> bool:
    """Check whether the allowance leaves a new conversation a call that reads, and the answer."""
    able = briefing.model.capabilities()
    return not begin(conversation, able, _allowance(briefing)).budget.bound(concluding=False)


def _first_talk(briefing: Briefing) -> Talk | None:
    """Return the first look's conversation where this model can go on in it."""
    text = briefing.records.get(briefing.talk) if briefing.records else None
    try:
        talk = Talk.model_validate(json.loads(text or ""))
    except (ValidationError, ValueError):  # there is none, or it is damaged
        return None
    able = briefing.model.capabilities()
    is_long = talk.prompt.whole > able.context_tokens // 2
    return talk if talk.model == able.model and not is_long else None


def _continued(
    briefing: Briefing, before: Talk, why: str, choice: second_look.Choice
) -> chat.Conversation:
    """The first conversation with a request to settle what is open, and what is new since."""
    rows = "\n".join(line(text, 500) for text in briefing.research.leader_findings)
    head = f"{prompts.SECTIONS['leader'].heading}\n\n{prompts.TEXTS['same_cause']}"
    news = f"\n\n{head}\n\n{prompts.fenced(rows, briefing.fence)}"
    reasons = f"{why}; {line(choice.because, 500)}"
    text = prompts.TEXTS["look_again"].format(why=reasons) + (news if rows else "")
    asked = chat.UserTurn(text=text, effort=_effort(briefing.plan, 1))
    return opening(briefing).model_copy(update={"turns": (*before.turns, asked)})


def _allowance(briefing: Briefing) -> Allowance:
    turns = min(briefing.plan.iterations, briefing.allowance.iterations)
    return briefing.allowance.model_copy(update={"iterations": turns})


def opening(briefing: Briefing, seed: str = "") -> chat.Conversation:
    """Return the opening conversation; with a `seed` the effort is raised unless it was chosen.

    Raises what the code reader raises.
    """
    case, agent, plan = briefing.case, briefing.agent, briefing.plan
    top = case.trace.top if case.trace else None
    quoted = prompts.conventions(briefing.code, top.repo_path if top else "")
    research = briefing.research.model_copy(update={"conventions": quoted})
    text = prompts.first_message(case, briefing.traces, research, seed, briefing.fence)
    return chat.Conversation(
        system=f"{agent.prompt}\n\n{LIMITS_TEXT}" if agent.tools else agent.prompt,
        tools=tools.offered(agent.tools, briefing.libraries, runs=briefing.runs is not None),
        answer_schema=_SCHEMA,
        turns=(chat.UserTurn(text=text),),
        case=case,
        research=research,
        effort=_effort(plan, 1 if seed else 0),
        max_tokens=plan.max_tokens,
        thinking_budget=plan.thinking_budget,
    )


def _look(
    briefing: Briefing,
    allowance: Allowance,
    first: chat.Conversation,
    lesson: Lesson | None = None,
    before: Talk | None = None,
) -> Analysis:
    """One conversation and its verdict; raises what the loop, model and code reader raise.

    `lesson` holds the cause where only the fix is asked for, `before` is what `first` goes on in.
    """
    case, code, research, model = briefing.case, briefing.code, briefing.research, briefing.model
    orders = injected.injected_instructions(injected.texts_of(case, first.research))

    def run_tool(call: chat.ToolCall, shown: frozenset[str]) -> chat.ToolResult:
        if order := order_of_call(call, case, orders):
            return chat.ToolResult(id=call.id, name=call.name, text=refusal(order), is_error=True)
        at = (code, case, briefing.traces, shown, briefing.libraries)
        return tools.run(call, *at, fence=briefing.fence, runs=briefing.runs)

    def complain(answer: Answer, calls: CallHistory) -> str:
        if model.capabilities().local:  # it would answer the same again
            return ""
        return mend_request(complaints(answer, case, code, _files_seen(briefing, calls)))

    conclusion = converse(first, model, run_tool, allowance, briefing.clock, complain, before)
    state = conclusion.state
    budget, calls, turns = state.budget, state.calls, state.conversation.turns
    answer = completed(conclusion.answer, lesson) if lesson else conclusion.answer
    if not budget.able.local:  # it is never asked for one
        answer = answer.model_copy(update={"handover": None})
    asked = [call for turn in turns if isinstance(turn, chat.AssistantTurn) for call in turn.calls]
    refused = {order: None for call in asked if (order := order_of_call(call, case, orders))}
    results = tuple(
        result.text if result.name in _TELLS else injected.comments_in(result.text)
        for turn in turns
        if isinstance(turn, chat.ResultsTurn)
        for result in turn.results
    )
    every_order = injected.injected_instructions(injected.texts_of(case, first.research, results))
    answer, parts = without_orders(answer, every_order)
    read = _files_seen(briefing, calls)
    found = verdict(case, answer, research, code, read, every_order)
    if briefing.records and not budget.able.local and second_look.weakness(found):
        talk = Talk(turns=turns, calls=calls, prompt=budget.prompt, model=budget.able.model)
        # in ASCII: what models say may hold half characters, which pydantic refuses
        briefing.records.put(briefing.talk, json.dumps(talk.model_dump(mode="json")))
    own = (turn for turn in turns[len(first.turns) :] if isinstance(turn, chat.ResultsTurn))
    called = [result for turn in own for result in turn.results]
    update = {
        "ending": conclusion.ending,
        "iterations": state.iterations,
        "tool_calls": len(called),
        "missed_calls": sum(result.missing for result in called),
        "usage": budget.used,
        "model": budget.able.model,
        "snippet": briefing.runs.showing if briefing.runs else "",
        "quarantined": (*(Quarantined(part="tool call", order=order) for order in refused), *parts),
    }
    return found.model_copy(update=update)


def _files_seen(briefing: Briefing, calls: CallHistory) -> tuple[str, ...]:
    """Files of which the first message or a tool showed lines, in that order, each once."""
    previews = (preview.path for preview in briefing.research.previews)
    return tuple(dict.fromkeys((*previews, *briefing.quoted, *calls.read)))
