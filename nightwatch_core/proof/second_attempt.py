"""Other edits for a fix that did not pass, asked for in a context of their own.

The model is told the error, the cause, the first edits, what they failed with, and the files around
them; it may read on. Its edits are judged before anybody runs them.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from nightwatch_core.analysis import analyst as fix_alone
from nightwatch_core.analysis import tools
from nightwatch_core.analysis.answers import complaints, mend_request
from nightwatch_core.analysis.loop import Conclusion
from nightwatch_core.analysis.prompts import function_rows
from nightwatch_core.analysis.second_look import left_of
from nightwatch_core.code import edits as fixing
from nightwatch_core.code.capabilities import powers_gained
from nightwatch_core.code.edits import grounds_of, judged, refused
from nightwatch_core.code.injected_instructions import strangers, texts_of
from nightwatch_core.code.symptom_fixes import NEVER, symptom_fixes
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.answer import Answer, Edit, Usage
from nightwatch_core.models.conversation import Conversation, UserTurn
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.ports import Model
from nightwatch_core.proof.asking import ProofBriefing, conversed, files_seen, why_unanswered
from nightwatch_core.proof.correction_texts import TURNS, correction_request, shown_files
from nightwatch_core.proof.recorders import Crash, Place
from nightwatch_core.text.plain_text import one_line, shortened, text_lines

# How far out a test for a crash has to enter, so that it is about the crash and about its fix.

Read = Callable[[str], str | None]
_REFUSAL = re.compile(r"^\s*(?:raise|throw|fail|abort)\b")


def least_places(crash: Crash, fix: tuple[Edit, ...], read: Read) -> int:
    """Count the places that a test comes through: all that the fix changes, at least one.

    What only refuses what it is given has to be called as production called it. `read` gives the
    files that failed.
    """
    changed = [
        number
        for number, place in enumerate(crash.places, start=1)
        if any(_lies_in(edit, place, read) for edit in fix)
    ]
    top = crash.places[0]
    lines = text_lines(read(top.path) or "")
    number = min(top.lines, default=0)
    refuses = 0 < number <= len(lines) and bool(_REFUSAL.match(lines[number - 1]))
    return min(len(crash.places), max(1 + refuses, *changed, 1))


def _lies_in(edit: Edit, place: Place, read: Read) -> bool:
    """Whether an edit changes the function of a place."""
    text = read(place.path) if edit.path == place.path else None
    if not text or not edit.old or edit.old not in text or not place.lines:
        return False
    first, last = function_rows(place.path, text, min(place.lines))
    start = text.count("\n", 0, text.index(edit.old)) + 1
    return not first or (start <= last and start + edit.old.count("\n") >= first)


# What no fix that is made here may do, asked before it is run; drafts are asked the same again.


def refusal(
    edits: tuple[Edit, ...],
    before: tuple[Edit, ...],
    briefing: ProofBriefing,
    seen: tuple[str, ...] | None = None,
) -> str:
    """Say why edits are not worth running after those of `before`; empty where they are.

    `seen` are the files that whoever made them was shown; None: that is asked elsewhere.
    """
    read = briefing.base.read_file
    digest, paths = fixing.fix_digest(edits), briefing.base.paths()
    if digest == fixing.fix_digest(before):
        return "it is the same again"
    if digest in briefing.analysis.rejected:
        return "this very fix was turned down, or did not help, before"
    applied = fixing.apply(edits, read, paths)
    shown = paths if seen is None else seen
    if why := refused(edits, applied, shown, read, paths):
        return why
    if risk := powers_gained(applied.changes, read, paths):
        return risk
    texts = ((one.path, read(one.path), one.text or "") for one in applied.changes)
    aids = [aid for path, old, new in texts if old for aid in symptom_fixes(path, old, new)]
    if weakens := next((aid.path for aid in aids if aid.kind in NEVER), ""):
        return f"it weakens a test in {weakens}"
    return ""


_REASON = 600  # characters
_NOBODY = "no model is asked for corrections"
_GONE = (
    "what is left does not pay for one call: "
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
