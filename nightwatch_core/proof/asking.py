"""A conversation about one fix, in a context of its own: what it may read, and what it is told."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files

from nightwatch_core.analysis import analyst as kept_back
from nightwatch_core.analysis import tools
from nightwatch_core.analysis.loop import CallHistory, Conclusion, converse
from nightwatch_core.code.injected_instructions import injected_instructions, texts_of
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Allowance, Answer, Edit, Usage
from nightwatch_core.models.conversation import Conversation, ToolCall, ToolResult
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull, GateResult, Reproduction
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock, CodeReader, Model, Sandbox
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.text.plain_text import one_line, shortened

# What proving one fix is given.


@dataclass(frozen=True)
class ProofBriefing:
    """One fix, the trees it is about, and who may be asked and run for it."""

    draft: DraftPull
    analysis: Analysis
    options: NightOptions
    base: CodeReader  # the commit that the edits are made on, its texts as they are
    failing: CodeReader  # the commit that failed in production, likewise
    shown: CodeReader  # the base without its secrets: what a model may see
    sandbox: Sandbox
    known: NightCache  # what the night has found out about its projects
    clock: Clock
    allowance: Allowance  # of all that is asked for this fix
    story: Allowance | None = None  # of a fix that is made in several steps; None: none is
    model: Model | None = None  # None: nobody can be asked
    fence: str = ""  # the night's name for fences around what came from outside


_REASON = 600  # characters


def prompt(name: str) -> str:
    """Read what a model is told; its fields are in braces."""
    file = files(__package__) / "prompts" / f"{name}.txt"
    return file.read_text(encoding="utf-8").rstrip()


Complain = Callable[[Answer, tuple[str, ...]], str]  # told the answer and the files seen


def conversed(
    briefing: ProofBriefing,
    model: Model,
    opening: Conversation,
    code: CodeReader,
    allowance: Allowance,
    outside: Iterable[str],
    complain: Complain,
) -> Conclusion:
    """Lead a conversation in which `code` may be read; `outside` is text from outside it holds.

    An answer that `complain` objects to is sent back once. Raises what the loop raises, and the
    code reader.
    """
    case = briefing.analysis.case
    told = injected_instructions(texts_of(case, opening.research, outside))

    def run_tool(call: ToolCall, known: frozenset[str]) -> ToolResult:
        if order := kept_back.order_of_call(call, case, told):
            why = kept_back.refusal(order)
            return ToolResult(id=call.id, name=call.name, text=why, is_error=True)
        return tools.run(call, code, case, (), known, fence=briefing.fence)

    def objection(answer: Answer, calls: CallHistory) -> str:
        return complain(answer, files_seen(briefing, opening, calls))

    return converse(opening, model, run_tool, allowance, briefing.clock, objection)


def why_unanswered(briefing: ProofBriefing, trouble: NightWatchError, poor: str) -> str:
    """Say why a conversation came to no answer; `poor` where too little may be used.

    That no model can be asked any more tonight is noted in `briefing.known`.
    """
    if isinstance(trouble, StopTheNight):
        briefing.known.silent = str(trouble)
    is_poor = trouble.ending is not None and trouble.ending.kind == "budget gone"
    return shortened(poor if is_poor else one_line(str(trouble)), _REASON)


def files_seen(
    briefing: ProofBriefing, opening: Conversation, calls: CallHistory
) -> tuple[str, ...]:
    """Return files of which lines were shown, to whoever found the cause or now."""
    previews = (item.path for item in opening.research.previews)
    return tuple(dict.fromkeys((*briefing.analysis.read, *previews, *calls.read)))


# What whoever looks for a reproduction gives back, and what a judge of fixes is.


class Attempt(Value):
    """A reproduction, or why there is none, and what asking for it took."""

    reproduction: Reproduction
    usage: Usage = Usage()


Judge = Callable[[tuple[Edit, ...]], GateResult]  # told the edits of a fix, without the test
Corrector = Callable[[ProofBriefing, GateResult, Judge], GateResult]
