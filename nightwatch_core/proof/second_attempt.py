"""Other edits for a fix that did not pass, asked for in a context of their own.

The model is told the error, the cause, the first edits, what they failed with, and the files around
them; it may read on. Its edits are judged before anybody runs them.
"""

from typing import NamedTuple

from nightwatch_core.analysis import fix_alone, tools
from nightwatch_core.analysis.answer_complaints import complaints, mend_request
from nightwatch_core.analysis.loop import Conclusion
from nightwatch_core.analysis.second_look import left_of
from nightwatch_core.code.edit_grounds import grounds_of
from nightwatch_core.code.edit_rules import judged
from nightwatch_core.code.taint import strangers, texts_of
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.answer import Answer, Edit
from nightwatch_core.models.conversation import Conversation, UserTurn
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.usage import Usage
from nightwatch_core.ports import Model
from nightwatch_core.proof.asking import conversed, files_seen, why_unanswered
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.correction_texts import TURNS, correction_request, shown_files
from nightwatch_core.proof.fix_policy import refusal
from nightwatch_core.text.plain_text import one_line, shortened

_REASON = 600  # characters
_NOBODY = "no model is asked for corrections"
_GONE = (
    "what is left does not pay for one call: NIGHTWATCH_PROOF_BUDGET is for one fix, "
    "NIGHTWATCH_TOTAL_TOKEN_BUDGET and NIGHTWATCH_COST_PER_NIGHT are for the night"
)


class Failing(NamedTuple):
    """An attempt at a fix, and what it did not pass: here, or where its branch was built."""

    edits: tuple[Edit, ...]
    why: str  # in a sentence; untrusted
    output: str = ""  # the end of what was printed; untrusted
    used: Usage = Usage()  # of the allowance, before


class SecondAttempt(NamedTuple):
    """Other edits; or none, and why."""

    edits: tuple[Edit, ...] = ()
    because: str = ""  # what is different now, or why there are none; untrusted
    read: tuple[str, ...] = ()  # files of which lines were shown
    usage: Usage = Usage()
    was_answered: bool = True


def attempt_again(briefing: ProofBriefing, failing: Failing) -> SecondAttempt:
    """Ask once for other edits on the same base than those that failed; judges them, runs nothing.

    Never raises what the model raises: that no model can be asked any more is noted in
    `briefing.known`. Raises what the code readers raise.
    """
    if briefing.model is None or briefing.known.silent:
        return SecondAttempt(because=briefing.known.silent or _NOBODY, was_answered=False)
    previews = shown_files(failing.edits, briefing.shown.read_file)
    opening = _opening(briefing, failing, ResearchContext(previews=previews))
    try:
        conclusion = _conversed(briefing, failing, opening, briefing.model)
    except NightWatchError as trouble:
        why = why_unanswered(briefing, trouble, _GONE)
        usage = trouble.usage or Usage()
        return SecondAttempt(because=why, usage=usage, was_answered=False)
    read = files_seen(briefing, opening, conclusion.state.calls)
    attempt = _judged(briefing, failing, conclusion.answer, read)
    return attempt._replace(usage=conclusion.state.budget.used, read=read)


def _opening(briefing: ProofBriefing, failing: Failing, research: ResearchContext) -> Conversation:
    ask = correction_request(
        briefing.analysis, failing.edits, failing.why, failing.output, research, briefing.fence
    )
    return Conversation(
        system=fix_alone.SYSTEM,
        tools=tools.offered(fix_alone.TOOLS, None),
        answer_schema=fix_alone.schema(),
        turns=(UserTurn(text=ask),),
        case=briefing.analysis.case,
        research=research,
    )


def _conversed(
    briefing: ProofBriefing, failing: Failing, opening: Conversation, model: Model
) -> Conclusion:
    """Raises what the loop raises, and the code readers."""
    case, shown = briefing.analysis.case, briefing.shown

    def complain(answer: Answer, seen: tuple[str, ...]) -> str:
        return mend_request(complaints(answer, case, shown, seen))

    allowance = left_of(briefing.allowance, failing.used)
    turns = min(allowance.iterations, TURNS)
    allowance = allowance.model_copy(update={"iterations": turns})
    outside = (failing.why, failing.output)
    return conversed(briefing, model, opening, shown, allowance, outside, complain)


def _judged(
    briefing: ProofBriefing, failing: Failing, answer: Answer, read: tuple[str, ...]
) -> SecondAttempt:
    """The answer's edits, all of them or none: half a correction is another fix."""
    analysis, said = briefing.analysis, shortened(one_line(answer.root_cause), _REASON)
    if not (answer.has_fix and answer.file_changes):
        return SecondAttempt(because=f"there is no better fix: {said}")
    texts = texts_of(analysis.case, ResearchContext(), (failing.why, failing.output))
    grounds = grounds_of(answer, analysis.case, analysis.evidence, read, strangers(texts))
    fix = judged(answer.file_changes, briefing.shown, grounds)
    if fix.refused:
        why = f"{fix.refused[0].path}: {fix.refused[0].reason}"
    else:
        why = refusal(fix.edits, failing.edits, briefing, read)
    if why:
        return SecondAttempt(because=f"the next attempt may not be run: {why}")
    return SecondAttempt(edits=fix.edits, because=said)
