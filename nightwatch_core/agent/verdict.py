"""From an answer to a verdict: quotes are looked up, edits tried, the score computed by rules."""

import re
from collections.abc import Callable

from nightwatch_core import fixing
from nightwatch_core.models.analysis import Analysis, Answer, Confidence, Evidence
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.ports import CodeReader

_NEAR = 3  # lines a quote may be off and still be the same place


def verified(evidence: Evidence, text: str | None) -> Evidence:
    """The evidence with `verified` set, and its line put right, where the quote is found there."""
    quote = " ".join(evidence.quote.split())
    if text is None or not quote:
        return evidence.model_copy(update={"verified": False})
    lines = [" ".join(line.split()) for line in text.splitlines()]
    nearby = sorted(range(len(lines)), key=lambda at: abs(at + 1 - evidence.line))
    for at in nearby[: 2 * _NEAR + 1]:
        if lines[at] and (quote in lines[at] or lines[at] in quote):
            return evidence.model_copy(update={"line": at + 1, "verified": True})
    return evidence.model_copy(update={"verified": False})


def verdict(case: Case, answer: Answer, research: ResearchContext, code: CodeReader) -> Analysis:
    """What the answer is worth: evidence checked against the code, a fix only where it applies."""
    evidence = tuple(verified(one, code.read_file(one.path)) for one in answer.evidence)
    edits = answer.file_changes if answer.has_fix else ()
    refusal = fixing.apply(edits, code.read_file).refusal if edits else ""
    draft = Analysis(
        case=case,
        title=_one_line(answer.title) or case.title,
        root_cause=answer.root_cause.strip(),
        confidence=answer.confidence,
        evidence=evidence,
        fix=() if refusal else edits,
        hypotheses=answer.hypotheses,
        suspects=research.suspects,
        suspect_commit=answer.suspect_commit,
        next_steps=answer.suggested_next_steps,
        learnings=answer.learnings[:3],
        tags=answer.tags,
        related_to=answer.related_to,
        commit=code.commit.sha,
        because=(f"the proposed fix does not apply: {refusal}",) if refusal else (),
    )
    return scored(draft)


def scored(analysis: Analysis) -> Analysis:
    """The analysis with its score and confidence, and the rules that gave them."""
    held = [(points, reason) for points, reason, rule in SCORE if rule(analysis)]
    confidence, why = _confidence(analysis)
    return analysis.model_copy(
        update={
            "score": round(sum(points for points, _ in held), 2),
            "confidence": confidence,
            "because": (
                *analysis.because,
                *(f"{reason} (+{points:.2f})" for points, reason in held),
                *((why,) if why else ()),
            ),
        }
    )


def _reaches_top_frame(analysis: Analysis) -> bool:
    top = analysis.case.trace.top if analysis.case.trace else None
    return top is not None and any(
        e.verified and e.path == top.repo_path for e in analysis.evidence
    )


SCORE: tuple[tuple[float, str, Callable[[Analysis], bool]], ...] = (
    (0.30, "a quoted line was found in the code", lambda a: any(e.verified for e in a.evidence)),
    (
        0.10,
        "every quoted line was found",
        lambda a: bool(a.evidence) and all(e.verified for e in a.evidence),
    ),
    (0.15, "the evidence reaches the top frame's file", _reaches_top_frame),
    (0.10, "the cause names a place", lambda a: bool(re.search(r"\w\.\w+:\d+", a.root_cause))),
    (0.15, "a fix is proposed and applies", lambda a: a.has_fix),
    (
        0.10,
        "no explanation is left open",
        lambda a: bool(a.hypotheses) and all(h.standing != "open" for h in a.hypotheses),
    ),
    (0.10, "a suspect change is named", lambda a: bool(a.suspect_commit)),
)


def _confidence(analysis: Analysis) -> tuple[Confidence, str]:
    if not any(e.verified for e in analysis.evidence) and analysis.confidence != "low":
        return "low", f"said {analysis.confidence}, but no quoted line was found in the code"
    return analysis.confidence, ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:120]
