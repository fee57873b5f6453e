"""Ask once for another fix after one that did not pass, and judge its edits before they are run.

The model is told the error, the cause, the first edits, what they failed with, and the files around
them; it may read on.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from nightwatch_core.analysis import analyst as fix_alone
from nightwatch_core.analysis import limits, tools
from nightwatch_core.analysis.answers import complaints, mend_request
from nightwatch_core.analysis.prompts import (
    cut_out,
    error_text,
    fenced,
    only_data,
    preview_text,
    window,
)
from nightwatch_core.analysis.second_look import left_of
from nightwatch_core.code import edits as fixing
from nightwatch_core.code.capabilities import new_capabilities
from nightwatch_core.code.code_view import halves
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import grounds_of, judged, refused
from nightwatch_core.code.injected_instructions import injected_instructions, texts_of
from nightwatch_core.code.symptom_fixes import NEVER, symptom_fixes
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.answer import Answer, Edit, Usage
from nightwatch_core.models.conversation import Conversation, UserTurn
from nightwatch_core.models.proposals import Correction, GateResult
from nightwatch_core.models.research import Preview, ResearchContext
from nightwatch_core.proof.asking import (
    Judge,
    ProofBriefing,
    conversed,
    files_seen,
    prompt,
    why_unanswered,
)
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import one_line, shortened, text_lines

TURNS = 4  # of the model, its answer included
_OUTPUT, _DIFF, _CAUSE, _REASON = 4_000, 12_000, 4_000, 600  # characters
_WHOLE, _LINES, _WINDOWS = 200, 60, 8  # lines of a file shown whole; of a window; windows
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


def corrected(briefing: ProofBriefing, failed: GateResult, judge: Judge) -> GateResult:
    """Ask once for a better fix than one that failed, and have it judged.

    Return what passed, with its edits; else `failed` with what was tried. Raises what `judge`
    raises, nothing of the model's.
    """
    if failed.outcome != "failed":
        return failed
    tried = Failing(briefing.analysis.fix, failed.text, _failed_output(failed), failed.usage)
    attempt = attempt_again(briefing, tried)
    failed = failed.model_copy(update={"usage": failed.usage + attempt.usage})
    if not attempt.edits:
        correction = Correction(
            outcome="failed" if attempt.was_answered else "not tried",
            because=attempt.because,
            first_failed=failed.text,
        )
        return failed.model_copy(update={"correction": correction})
    result = judge(attempt.edits)
    passed = result.outcome == "passed"
    update: dict[str, object] = {
        "correction": Correction(
            outcome="passed" if passed else "failed",
            because=attempt.because if passed else result.text,
            first_failed=failed.text,
            edits=attempt.edits,
            output=_failed_output(result),
        ),
        "usage": failed.usage + result.usage,
        "seconds": round(failed.seconds + result.seconds, 1),
    }
    if not passed:
        return failed.model_copy(update=update)
    published = result.edits or attempt.edits
    update |= {
        "edits": published,
        "changes": result.changes or file_diffs(published, briefing.base.read_file),
        "read": tuple(dict.fromkeys((*result.read, *attempt.read))),
    }
    return result.model_copy(update=update)


def _failed_output(result: GateResult) -> str:
    return next((item.output for item in result.checks if item.outcome == "failed"), "")


def attempt_again(briefing: ProofBriefing, failing: Failing) -> SecondAttempt:
    """Ask once for other edits on the same base than those that failed; judge them, run nothing.

    Raises what the code readers raise, nothing of the model's.
    """
    if briefing.model is None or briefing.known.silent:
        because = briefing.known.silent or "no model is asked for corrections"
        return SecondAttempt(because=because, was_answered=False)
    case, shown = briefing.analysis.case, briefing.shown
    research = ResearchContext(previews=shown_files(failing.edits, shown.read_file))
    opening = Conversation(
        system=fix_alone.SYSTEM,
        tools=tools.offered(fix_alone.TOOLS, None),
        answer_schema=fix_alone.schema(),
        turns=(UserTurn(text=_request(briefing, failing, research)),),
        case=case,
        research=research,
    )

    def complain(answer: Answer, seen: tuple[str, ...]) -> str:
        return mend_request(complaints(answer, case, shown, seen))

    allowance = left_of(briefing.allowance, failing.used)
    turns = {"iterations": min(allowance.iterations, TURNS)}
    allowance = allowance.model_copy(update=turns)
    outside = (failing.why, failing.output)
    try:
        asked = conversed(briefing, briefing.model, opening, shown, allowance, outside, complain)
    except NightWatchError as trouble:
        because = why_unanswered(briefing, trouble, _GONE)
        usage = trouble.usage or Usage()
        return SecondAttempt(because=because, usage=usage, was_answered=False)
    read = files_seen(briefing, opening, asked.state.calls)
    attempt = _judged(briefing, failing, asked.answer, read)
    return attempt._replace(usage=asked.state.budget.used, read=read)


def _judged(
    briefing: ProofBriefing, failing: Failing, answer: Answer, read: tuple[str, ...]
) -> SecondAttempt:
    """Return all of the answer's edits or none: half a correction is another fix."""
    analysis, said = briefing.analysis, shortened(one_line(answer.root_cause), _REASON)
    if not (answer.has_fix and answer.file_changes):
        return SecondAttempt(because=f"there is no better fix: {said}")
    texts = texts_of(analysis.case, ResearchContext(), (failing.why, failing.output))
    grounds = grounds_of(
        answer, analysis.case, analysis.evidence, read, injected_instructions(texts)
    )
    fix = judged(answer.file_changes, briefing.shown, grounds)
    if fix.refused:
        reason = f"{fix.refused[0].path}: {fix.refused[0].reason}"
    else:
        reason = refusal(fix.edits, failing.edits, briefing, read)
    if reason:
        return SecondAttempt(because=f"the next attempt may not be run: {reason}")
    return SecondAttempt(edits=fix.edits, because=said)


def refusal(
    edits: tuple[Edit, ...],
    before: tuple[Edit, ...],
    briefing: ProofBriefing,
    seen: tuple[str, ...] | None = None,
) -> str:
    """Say why edits may not be run after those of `before`; empty where they may.

    Drafts are asked the same once more. `seen` are the files that the model was shown; None: that
    is checked elsewhere.
    """
    read = briefing.base.read_file
    digest, paths = fixing.fix_digest(edits), briefing.base.paths()
    if digest == fixing.fix_digest(before):
        return "it is the same again"
    if digest in briefing.analysis.rejected:
        return "this very fix was turned down, or did not help, before"
    applied = fixing.apply(edits, read, paths)
    if reason := refused(edits, applied, paths if seen is None else seen, read, paths):
        return reason
    if risk := new_capabilities(applied.changes, read, paths):
        return risk
    texts = ((item.path, read(item.path), item.text or "") for item in applied.changes)
    aids = [aid for path, old, new in texts if old for aid in symptom_fixes(path, old, new)]
    if weakened := next((aid.path for aid in aids if aid.kind in NEVER), ""):
        return f"it weakens a test in {weakened}"
    return ""


def _request(briefing: ProofBriefing, failing: Failing, research: ResearchContext) -> str:
    """Write the message; of what a run printed the end says most."""
    fence, output = briefing.fence, block(failing.output[-_OUTPUT:], _OUTPUT, code=True)
    return prompt("correction").format(
        data=only_data(fence),
        error=fenced(error_text(briefing.analysis.case), fence),
        cause=fenced(block(briefing.analysis.root_cause, _CAUSE), fence),
        diff=fenced(halves(fixing.diff(failing.edits), _DIFF), fence),
        failed=fenced(f"{line(failing.why, _REASON)}\n{output}".rstrip(), fence),
        code="\n\n".join(fenced(preview_text(item), fence) for item in research.previews),
        turns=TURNS,
    )


def shown_files(edits: Iterable[Edit], read: Callable[[str], str | None]) -> tuple[Preview, ...]:
    """Show files that are edited, whole or around each edit; `read` gives a text."""
    shown: dict[tuple[str, int], Preview] = {}
    for edit in edits:
        text = read(edit.path) if edit.action != "create" else None
        if not text or len(shown) >= _WINDOWS:
            continue
        lines = text_lines(text)
        at = text.count("\n", 0, max(text.find(edit.old), 0)) + 1
        if len(lines) <= _WHOLE and len(text) <= limits.WHOLE_FILE * 2:
            cut = cut_out(edit.path, lines, 1, len(lines), "failing", "")
        else:
            cut = window(edit.path, text, at, _LINES, "failing")
        seen = any(p.path == cut.path and p.start <= at <= p.end for p in shown.values())
        if not seen:
            shown[cut.path, cut.start] = cut
    return tuple(shown.values())
