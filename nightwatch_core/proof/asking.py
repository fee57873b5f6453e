"""Ask a model about one fix in a fresh conversation, and judge the edits of its answer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

from pydantic import BaseModel

from nightwatch_core.analysis import analyst, tools
from nightwatch_core.analysis.answers import complaints, mend_request
from nightwatch_core.analysis.loop import CallHistory, converse
from nightwatch_core.analysis.previews import WHOLE_FILE, window
from nightwatch_core.analysis.prompts import TEXTS
from nightwatch_core.analysis.second_look import left_of
from nightwatch_core.code.candidate_symbols import cut_out
from nightwatch_core.code.capabilities import new_capabilities
from nightwatch_core.code.edits import apply, fix_digest, grounds_of, judged, refused
from nightwatch_core.code.injected_instructions import injected_instructions, texts_of
from nightwatch_core.code.symptom_fixes import NEVER, symptom_fixes
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Allowance, Answer, Edit, Usage
from nightwatch_core.models.conversation import Conversation, ToolCall, ToolResult, UserTurn
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull, GateResult
from nightwatch_core.models.research import Preview, ResearchContext
from nightwatch_core.ports import Clock, CodeReader, Model, Sandbox
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.text.plain_text import one_line, shortened, text_lines

REASON = 600  # characters
_WHOLE, _LINES, _WINDOWS = 200, 60, 8  # lines of a file shown whole; of a window; windows


@dataclass(frozen=True)
class ProofBriefing:
    """One fix, the trees it is about, and the ports that proving it may use."""

    draft: DraftPull
    analysis: Analysis
    options: NightOptions
    base: CodeReader  # the commit that the edits are made on
    failing: CodeReader  # the commit that failed in production
    shown: CodeReader  # the base without its secrets, as a model may see it
    sandbox: Sandbox
    cache: NightCache
    clock: Clock
    allowance: Allowance  # for all questions about this fix
    story: Allowance | None = None  # for a fix made in several steps; None: none is made
    model: Model | None = None
    fence: str = ""  # the night's name for fences around untrusted text


Judge = Callable[[tuple[Edit, ...]], GateResult]  # runs the edits of a fix, given without the test


def prompt(name: str) -> str:
    """Read a prompt template; its fields are in braces."""
    file = files(__package__) / "prompts" / f"{name}.txt"
    return file.read_text(encoding="utf-8").rstrip()


def schema_of(name: str, kind: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of an answer whose only field of its own is a list."""
    fields = {
        **dict.fromkeys(("title", "root_cause"), {"type": "string"}),
        "confidence": Answer.model_json_schema()["properties"]["confidence"],
        name: {"type": "array", "items": kind.model_json_schema()},
    }
    return {"type": "object", "properties": fields, "required": [*fields]}


class Question(NamedTuple):
    """A question to the model, the code it may read, and what the answer may cost."""

    text: str
    previews: tuple[Preview, ...]
    code: CodeReader
    allowance: Allowance
    turns: int
    outside: tuple[str, ...]  # untrusted texts in the question
    unpaid: str  # the reason to give where the allowance is too small
    used: Usage = Usage()  # of the allowance, before


class Asked(NamedTuple):
    """An answer, else the reason why there is none."""

    answer: Answer | None = None
    because: str = ""
    read: tuple[str, ...] = ()  # files of which lines were shown
    usage: Usage = Usage()


def unasked(briefing: ProofBriefing, reason: str = "no model is available") -> str:
    """Return why a model gave no answer, for reviewers: what to set is told in the report."""
    return "the model answers no more tonight" if briefing.cache.silent else reason


def ask(
    briefing: ProofBriefing,
    question: Question,
    complain: Callable[[Answer, tuple[str, ...]], str],
    system: str = TEXTS["fix_system"],
    schema: dict[str, Any] | None = None,
) -> Asked:
    """Ask a question; never raises. An answer that `complain` objects to is sent back once."""
    if briefing.model is None or briefing.cache.silent:
        return Asked(because=unasked(briefing))
    case, research = briefing.analysis.case, ResearchContext(previews=question.previews)
    orders = injected_instructions(texts_of(case, research, question.outside))
    opening = Conversation(
        system=system,
        tools=tools.offered(analyst.TOOLS, None),
        answer_schema=schema or analyst.schema(),
        turns=(UserTurn(text=question.text),),
        case=case,
        research=research,
    )

    def seen(calls: CallHistory) -> tuple[str, ...]:
        previews = (item.path for item in question.previews)
        return tuple(dict.fromkeys((*briefing.analysis.read, *previews, *calls.read)))

    def run_tool(call: ToolCall, shown: frozenset[str]) -> ToolResult:
        if order := analyst.order_of_call(call, case, orders):
            text = analyst.refusal(order)
            return ToolResult(id=call.id, name=call.name, text=text, is_error=True)
        return tools.run(call, question.code, case, (), shown, fence=briefing.fence)

    def objection(answer: Answer, calls: CallHistory) -> str:
        return complain(answer, seen(calls))

    allowance = left_of(question.allowance, question.used)
    turns = {"iterations": min(allowance.iterations, question.turns)}
    allowance = allowance.model_copy(update=turns)
    try:
        ended = converse(opening, briefing.model, run_tool, allowance, briefing.clock, objection)
    except NightWatchError as trouble:
        if isinstance(trouble, StopTheNight):
            briefing.cache.silent = str(trouble)
        is_unpaid = trouble.ending is not None and trouble.ending.kind == "budget gone"
        because = question.unpaid if is_unpaid else unasked(briefing, one_line(str(trouble)))
        return Asked(because=shortened(because, REASON), usage=trouble.usage or Usage())
    return Asked(ended.answer, "", seen(ended.state.calls), ended.state.budget.used)


class ProposedEdits(NamedTuple):
    """Edits that may be made, else the reason why there are none."""

    edits: tuple[Edit, ...] = ()
    because: str = ""  # what the edits do, or why there are none; untrusted
    read: tuple[str, ...] = ()
    usage: Usage = Usage()
    was_answered: bool = True


def propose_edits(briefing: ProofBriefing, question: Question) -> ProposedEdits:
    """Ask for edits; return all of the answer's edits or none, and run nothing."""
    analysis = briefing.analysis

    def complain(answer: Answer, seen: tuple[str, ...]) -> str:
        return mend_request(complaints(answer, analysis.case, question.code, seen))

    asked = ask(briefing, question, complain)
    proposed = ProposedEdits((), asked.because, asked.read, asked.usage)
    if asked.answer is None:
        return proposed._replace(was_answered=False)
    because = shortened(one_line(asked.answer.root_cause), REASON)
    if not (asked.answer.has_fix and asked.answer.file_changes):
        return proposed._replace(because=f"the model proposes no edits: {because}")
    texts = texts_of(analysis.case, ResearchContext(), question.outside)
    orders = injected_instructions(texts)
    grounds = grounds_of(asked.answer, analysis.case, analysis.evidence, asked.read, orders)
    fix = judged(asked.answer.file_changes, question.code, grounds)
    if fix.refused:
        return proposed._replace(because=f"{fix.refused[0].path}: {fix.refused[0].reason}")
    return proposed._replace(edits=fix.edits, because=because)


def refusal(
    edits: tuple[Edit, ...],
    before: tuple[Edit, ...],
    briefing: ProofBriefing,
    seen: tuple[str, ...] | None = None,
) -> str:
    """Return the reason edits may not be run after those of `before`; empty where they may.

    `seen` are the files that the model was shown; None skips that check.
    """
    read = briefing.base.read_file
    digest, paths = fix_digest(edits), briefing.base.paths()
    if digest == fix_digest(before):
        return "the edits are the same as before"
    if digest in briefing.analysis.rejected:
        return "this fix was rejected before, or did not help"
    applied = apply(edits, read, paths)
    if reason := refused(edits, applied, paths if seen is None else seen, read, paths):
        return reason
    if reason := new_capabilities(applied.changes, read, paths, briefing.base.search):
        return reason
    texts = ((item.path, read(item.path), item.text or "") for item in applied.changes)
    fixes = (fix for path, old, new in texts if old for fix in symptom_fixes(path, old, new))
    weakened = next((fix.path for fix in fixes if fix.kind in NEVER), "")
    return f"it weakens a test in {weakened}" if weakened else ""


def shown_files(edits: Iterable[Edit], read: Callable[[str], str | None]) -> tuple[Preview, ...]:
    """Show files that are edited, whole or around each edit; `read` gives a text."""
    shown: dict[tuple[str, int], Preview] = {}
    for edit in edits:
        text = read(edit.path) if edit.action != "create" else None
        if not text or len(shown) >= _WINDOWS:
            continue
        lines = text_lines(text)
        row = text.count("\n", 0, max(text.find(edit.old), 0)) + 1
        if len(lines) <= _WHOLE and len(text) <= WHOLE_FILE * 2:
            cut = cut_out(edit.path, lines, 1, len(lines), "failing", "")
        else:
            cut = window(edit.path, text, row, _LINES, "failing")
        if not any(p.path == cut.path and p.start <= row <= p.end for p in shown.values()):
            shown[cut.path, cut.start] = cut
    return tuple(shown.values())
