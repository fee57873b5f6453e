"""One case, from what is known to a verdict."""

from nightwatch_core import complexity
from nightwatch_core.agent import tools
from nightwatch_core.agent.answers import answer_schema
from nightwatch_core.agent.arguments import inside
from nightwatch_core.agent.loop import converse
from nightwatch_core.agent.nearby import folders
from nightwatch_core.agent.verdict import verdict
from nightwatch_core.models.agent import AgentSpec
from nightwatch_core.models.analysis import Allowance, Analysis
from nightwatch_core.models.conversation import Conversation, ToolCall, ToolResult, UserTurn
from nightwatch_core.models.error import Case, Trace
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.ports import Clock, CodeReader, CountsReads, Model
from nightwatch_core.prompts import first_message


def analyse(
    case: Case,
    traces: tuple[Trace, ...],
    research: ResearchContext,
    code: CodeReader,
    model: Model,
    agent: AgentSpec,
    allowance: Allowance,
    clock: Clock,
) -> Analysis:
    """Explain one case; raises what the loop, the model and the code reader raise."""

    def run_tool(call: ToolCall) -> ToolResult:
        result = tools.run(call, code, case, traces)
        missing = result.is_error and _names_what_is_not_there(call, code)
        return result.model_copy(update={"missing": missing})

    opening = _opening(case, traces, research, agent)
    conclusion = converse(opening, model, run_tool, allowance, clock)
    talk = conclusion.talk
    return verdict(case, conclusion.answer, research, code).model_copy(
        update={
            "ending": conclusion.ending,
            "iterations": talk.iterations,
            "usage": talk.usage,
            "read": _seen(research, talk.read),
            "missed": talk.missed,
            "code_reads": code.code_reads if isinstance(code, CountsReads) else None,
            "model": model.capabilities().model,
        }
    )


def _names_what_is_not_there(call: ToolCall, code: CodeReader) -> bool:
    """Whether a call that failed named a file or folder that the tree does not have."""
    path = call.arguments.get("path")
    if not isinstance(path, str) or call.name not in ("read_file", "blame", "list_directory"):
        return False
    clean, paths = inside(path), code.paths()
    return clean is None or (clean not in paths and clean not in folders(paths))


def _seen(research: ResearchContext, read: tuple[str, ...]) -> tuple[str, ...]:
    """Files the model has seen: those it was shown first, then those it read."""
    shown = (preview.path for preview in research.previews)
    return tuple(dict.fromkeys((*shown, *read)))


def allowance(case: Case, agent: AgentSpec, night: Allowance) -> Allowance:
    """One error's allowance: iterations by the complexity of its class, the ceiling always wins."""
    wanted = agent.max_iterations or complexity.iterations(
        case.leader.error_class, night.iterations
    )
    return night.model_copy(update={"iterations": min(wanted, night.iterations)})


def _opening(
    case: Case, traces: tuple[Trace, ...], research: ResearchContext, agent: AgentSpec
) -> Conversation:
    return Conversation(
        system=agent.prompt,
        tools=tuple(spec for spec in tools.SPECS if spec.name in agent.tools),
        answer_schema=answer_schema(),
        turns=(UserTurn(text=first_message(case, traces, research)),),
        case=case,
        research=research,
        effort=agent.effort or complexity.effort(case.leader.error_class),
        max_tokens=agent.max_tokens or 32_000,
    )
