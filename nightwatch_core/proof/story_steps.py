"""One step of a fix: its edits asked for in a fresh context, made on what the earlier ones left."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from nightwatch_core.analysis import fix_alone, tools
from nightwatch_core.analysis.answer_complaints import complaints, mend_request
from nightwatch_core.code.changed_code import ChangedCode
from nightwatch_core.code.edit_grounds import grounds_of
from nightwatch_core.code.edit_rules import judged
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.taint import strangers, texts_of
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Answer, Edit, PlannedStep
from nightwatch_core.models.conversation import Conversation, UserTurn
from nightwatch_core.models.research import Preview, ResearchContext
from nightwatch_core.models.usage import Allowance, Usage
from nightwatch_core.ports import Model
from nightwatch_core.proof.asking import conversed, files_seen
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.correction_texts import shown_files
from nightwatch_core.proof.story_plan import tests_of
from nightwatch_core.proof.story_texts import TURNS, note_of, step_request
from nightwatch_core.text.plain_text import one_line, shortened

_REASON = 600  # characters


class Ask(NamedTuple):
    """Which step is asked for, after what."""

    plan: Sequence[PlannedStep]
    number: int  # from 1
    before: tuple[Edit, ...]  # of the steps that were made
    notes: tuple[str, ...]  # of those
    failed: str = ""  # what the fix in one piece did not pass; untrusted


class Written(NamedTuple):
    """The edits of a step, on what the steps before left; or none, and why."""

    edits: tuple[Edit, ...] = ()
    because: str = ""
    note: str = ""  # for later steps; untrusted
    read: tuple[str, ...] = ()  # files of which lines were shown
    usage: Usage = Usage()


def written(briefing: ProofBriefing, model: Model, ask: Ask, allowance: Allowance) -> Written:
    """Have one step written; its edits are judged here, and run by whoever asked.

    Raises what the loop raises, and the code readers; `GiveUp` where the steps before cannot be
    made on what a model may see.
    """
    case = briefing.analysis.case
    code = ChangedCode(briefing.shown, ask.before)
    opening = _opening(briefing, ask, code.read_file)

    def complain(answer: Answer, seen: tuple[str, ...]) -> str:
        return mend_request(complaints(answer, case, code, seen))

    turns = min(allowance.iterations, TURNS)
    allowance = allowance.model_copy(update={"iterations": turns})
    asked = conversed(briefing, model, opening, code, allowance, (*ask.notes, ask.failed), complain)
    read = files_seen(briefing, opening, asked.state.calls)
    step = _judged(briefing, ask, asked.answer, code, read)
    return step._replace(read=read, usage=asked.state.budget.used)


def _opening(briefing: ProofBriefing, ask: Ask, read: Callable[[str], str | None]) -> Conversation:
    analysis, step = briefing.analysis, ask.plan[ask.number - 1]
    previews = _previews(analysis, step, briefing.base.paths(), read)
    told = (ask.plan, ask.number, ask.notes, ask.failed)
    text = step_request(analysis, *told, previews, briefing.fence)
    return Conversation(
        system=fix_alone.SYSTEM,
        tools=tools.offered(fix_alone.TOOLS, None),
        answer_schema=fix_alone.schema(learnings=True),
        turns=(UserTurn(text=text),),
        case=analysis.case,
        research=ResearchContext(previews=previews),
    )


def _previews(
    analysis: Analysis,
    step: PlannedStep,
    paths: tuple[str, ...],
    read: Callable[[str], str | None],
) -> tuple[Preview, ...]:
    """The step's files: around what was proposed for them, else from their beginning.

    Where it makes a new test, one that is there as an example.
    """
    proposed = [edit for edit in analysis.fix if edit.path in step.files and edit.old]
    rest = {*step.files} - {edit.path for edit in proposed}
    new = next((path for path in step.files if TEST.search(path) and path not in paths), "")
    example = _example(new, step.files, paths) if new else ()
    return shown_files((*proposed, *(Edit(path=path) for path in (*sorted(rest), *example))), read)


def _example(new: str, files: tuple[str, ...], paths: tuple[str, ...]) -> tuple[str, ...]:
    """A test of the same files, else the one beside the new one that is called most like it."""
    folder = new.rpartition("/")[0]
    beside = [p for p in paths if p.rpartition("/")[0] == folder and TEST.search(p)]
    return (*tests_of(files, paths), *get_close_matches(new, beside, 1, 0.0))[:1]


def _judged(
    briefing: ProofBriefing, ask: Ask, answer: Answer, code: ChangedCode, read: tuple[str, ...]
) -> Written:
    """The step's edits, all of them or none."""
    analysis, said = briefing.analysis, shortened(one_line(answer.root_cause), _REASON)
    if not (answer.has_fix and answer.file_changes):
        return Written(because=f"it was not made: {said}")
    orders = strangers(texts_of(analysis.case, ResearchContext(), ask.notes))
    grounds = grounds_of(answer, analysis.case, analysis.evidence, read, orders)
    step = judged(answer.file_changes, code, grounds)
    if step.refused:
        return Written(because=f"{step.refused[0].path}: {step.refused[0].reason}")
    facts = [one.fact for one in answer.learnings[:3]]
    note = note_of(ask.plan[ask.number - 1], step.edits, facts)
    return Written(step.edits, said, note)
