"""From an answer to a verdict: quotes looked up, edits tried, worth computed by visible rules."""

import re
from collections.abc import Callable, Collection
from functools import cache

from nightwatch_core.code.cited_steps import unseen_step
from nightwatch_core.code.code_view import inside
from nightwatch_core.code.edit_grounds import NOBODY, grounds_of
from nightwatch_core.code.edit_rules import judged, reasons
from nightwatch_core.code.failing_place import Read, Search
from nightwatch_core.code.file_diffs import file_diffs
from nightwatch_core.code.handover import completed, handover_of
from nightwatch_core.code.limits import QUESTION, ROOT_CAUSE
from nightwatch_core.code.named_change import named_change
from nightwatch_core.code.quotes import verified
from nightwatch_core.code.record_fit import objection
from nightwatch_core.code.taint import Strangers
from nightwatch_core.models.analysis import FELL_BACK, Analysis, RefusedEdit
from nightwatch_core.models.answer import Answer, Confidence, Evidence
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.plain_text import one_line, shortened

Rule = Callable[[Analysis], bool]
_RANKS: dict[Confidence, int] = {"low": 0, "medium": 1, "high": 2}


def has_verified_evidence(analysis: Analysis) -> bool:
    """Tell whether a quoted line was found in the code."""
    return any(one.verified for one in analysis.evidence)


def _is_all_verified(analysis: Analysis) -> bool:
    return bool(analysis.evidence) and all(one.verified for one in analysis.evidence)


def _reaches_top_frame(analysis: Analysis) -> bool:
    top = analysis.case.trace.top if analysis.case.trace else None
    quoted = {one.path for one in analysis.evidence if one.verified}
    return top is not None and top.repo_path in quoted


def _names_a_place(analysis: Analysis) -> bool:
    return bool(re.search(r"\w\.\w+:\d+", analysis.root_cause))


def _was_read(analysis: Analysis) -> bool:
    quoted = {one.path for one in analysis.evidence if one.verified}
    return bool(quoted) and quoted <= set(analysis.read)


def _says_what_is_open(analysis: Analysis) -> bool:
    standings = [one.standing for one in analysis.hypotheses]
    return bool(standings) and ("open" not in standings or analysis.confidence != "high")


SCORE: tuple[tuple[float, str, Rule], ...] = (
    (0.25, "a quoted line was found in the code", has_verified_evidence),
    (0.10, "every quoted line was found", _is_all_verified),
    (0.15, "the evidence reaches the top frame's file", _reaches_top_frame),
    (0.10, "the cause names a place", _names_a_place),
    (0.10, "the files quoted from were read", _was_read),
    (0.15, "a fix is proposed and applies", lambda analysis: analysis.has_fix),
    (0.10, "no explanation is open, or the confidence allows for it", _says_what_is_open),
    (0.05, "a suspect change is named", lambda analysis: bool(analysis.suspect_commit)),
)

# Why one verdict is better than another, the weightiest first; the larger value wins.
BETTER: tuple[tuple[str, Callable[[Analysis], float]], ...] = (
    (
        "a fix with verified evidence",
        lambda analysis: analysis.has_fix and has_verified_evidence(analysis),
    ),
    ("a known cause", lambda analysis: analysis.has_cause),
    ("confidence", lambda analysis: _RANKS[analysis.confidence]),
    ("score", lambda analysis: analysis.score),
)


def scored(analysis: Analysis) -> Analysis:
    """Give the analysis with its score and confidence, and the rules that gave them."""
    held = [(points, reason) for points, reason, rule in SCORE if rule(analysis)]
    confidence, why = _confidence(analysis)
    return analysis.model_copy(
        update={
            "score": round(sum(points for points, _ in held), 2),
            "confidence": confidence,
            "doubt": why or analysis.doubt,
            "because": (
                *analysis.because,
                *(f"{reason} (+{points:.2f})" for points, reason in held),
                *((why,) if why else ()),
            ),
        }
    )


def advantage(first: Analysis, second: Analysis) -> str:
    """Name by what the second is better than the first; empty where it is not."""
    for name, value in BETTER:
        if value(first) != value(second):
            return name if value(second) > value(first) else ""
    return ""


def _confidence(analysis: Analysis) -> tuple[Confidence, str]:
    if not has_verified_evidence(analysis) and analysis.confidence != "low":
        return "low", f"said {analysis.confidence}, but no quoted line was found in the code"
    if analysis.misfit and analysis.confidence != "low":
        return "low", f"said {analysis.confidence}, but {analysis.misfit}"
    return analysis.confidence, ""


def verdict(
    case: Case,
    answer: Answer,
    research: ResearchContext,
    code: CodeReader,
    read: tuple[str, ...] = (),
    lines: Collection[str] | None = None,
    orders: Strangers = NOBODY,
) -> Analysis:
    """Say what the answer is worth: evidence checked against the code, only edits that may stand.

    `read` are the files the model has seen, `lines` what it was shown of them (`path:line`); None:
    not known, then no step is asked for its line. No edit may repeat `orders` from outside.
    """
    evidence = looked_up(answer.evidence, code, case)
    unknown = _knows_no_cause(answer, evidence)
    with_fix = answer.has_fix and not unknown
    draft = _draft(case, answer, evidence, code, read, orders, with_fix=with_fix)
    if unknown:
        draft = _handed_over(draft, answer, code, fits=not research.misfit)
    if research.misfit:
        return scored(unfit(draft, research.misfit))
    return scored(_as_sure_as_shown(draft, lines))


def _draft(
    case: Case,
    answer: Answer,
    evidence: tuple[Evidence, ...],
    code: CodeReader,
    read: tuple[str, ...],
    orders: Strangers,
    *,
    with_fix: bool,
) -> Analysis:
    """What an answer says, as far as it may stand."""
    change = named_change(answer.suspect_commit, code)
    grounds = grounds_of(answer, case, evidence, read, orders)
    fix = judged(answer.file_changes if with_fix else (), code, grounds)
    return Analysis(
        case=case,
        title=shortened(one_line(answer.title), 120) or case.title,
        root_cause=answer.root_cause.strip()[:ROOT_CAUSE],
        confidence=answer.confidence,
        evidence=evidence,
        fix=fix.edits,
        changes=file_diffs(fix.edits, code.read_file),
        refused=fix.refused,
        hypotheses=answer.hypotheses,
        suspects=change.suspects,
        suspect_commit=change.commit,
        next_steps=answer.suggested_next_steps,
        learnings=answer.learnings[:3],
        tags=tuple(tag for tag in answer.tags if tag != FELL_BACK),  # ours alone
        related_to=answer.related_to,
        read=read,
        commit=code.commit.sha,
        fix_confidence=answer.fix_confidence if fix.edits else None,
        question=" ".join(answer.question.split())[:QUESTION],
        because=(*reasons(fix.refused), *change.because),
    )


def _handed_over(draft: Analysis, answer: Answer, code: CodeReader, *, fits: bool) -> Analysis:
    """Of an analysis that knows no cause what is known, and no suspicion."""
    handover = completed(handover_of(answer), draft.case, code, fits=fits)
    none = {"confidence": "low", "suspects": (), "suspect_commit": "", "learnings": ()}
    return draft.model_copy(update={**none, "handover": handover})


def _knows_no_cause(answer: Answer, evidence: tuple[Evidence, ...]) -> bool:
    """Whether an answer says so, or claims nothing that could be looked up or tried.

    What was said with more confidence, and quotes nothing that is there, is weak: it claims.
    """
    claims = answer.confidence != "low" or answer.has_fix or any(one.verified for one in evidence)
    return answer.handover is not None or not claims


def _as_sure_as_shown(draft: Analysis, lines: Collection[str] | None) -> Analysis:
    """High confidence is kept where every step of the cause cites a line that was shown."""
    place = unseen_step(draft, lines) if lines is not None and draft.confidence == "high" else ""
    if not place:
        return draft
    why = f"said high, but {ascii(place)[1:-1]}, which the cause rests on, was not read"
    because = (*draft.because, why)
    return draft.model_copy(update={"confidence": "medium", "doubt": why, "because": because})


def looked_up(
    evidence: tuple[Evidence, ...], code: CodeReader, case: Case | None = None
) -> tuple[Evidence, ...]:
    """Look up every quote in its file; a path that leaves the repository is not asked for.

    What the record of `case` excludes as the line of a frame is not verified, and its note says
    why.
    """
    read = cache(code.read_file)
    paths = {path for one in evidence if (path := inside(one.path))}
    texts = {path: read(path) for path in sorted(paths)}
    quotes = (verified(one, texts.get(inside(one.path) or "")) for one in evidence)
    return tuple(_unless_excluded(one, case, read, code.search) if case else one for one in quotes)


def _unless_excluded(evidence: Evidence, case: Case, read: Read, search: Search) -> Evidence:
    why = objection(evidence, case, read, search) if evidence.verified else ""
    if not why:
        return evidence
    note = f"{evidence.note}; not where it failed: {why}".removeprefix("; ")
    return evidence.model_copy(update={"verified": False, "note": note})


def unfit(analysis: Analysis, why: str) -> Analysis:
    """Take back what an analysis says of places and changes: the record is of other code."""
    refused = (RefusedEdit(path=edit.path, reason=why) for edit in analysis.fix)
    return analysis.model_copy(
        update={
            "evidence": tuple(
                one.model_copy(update={"verified": False}) for one in analysis.evidence
            ),
            "fix": (),
            "changes": (),
            "fix_confidence": None,
            "refused": (*analysis.refused, *refused),
            "suspects": (),
            "suspect_commit": "",
            "confidence": "low",
            "misfit": why,
            "because": (*analysis.because, why),
        }
    )
