"""From an answer to a verdict: quotes are looked up, edits tried, the score computed by rules."""

import re
from collections.abc import Callable

from nightwatch_core import fixing, syntax
from nightwatch_core.agent.arguments import inside
from nightwatch_core.agent.quotes import verified
from nightwatch_core.models.analysis import Analysis, Answer, Confidence, Edit, Evidence
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.ports import CodeReader

_LONGEST_CAUSE = 8_000  # characters


def verdict(case: Case, answer: Answer, research: ResearchContext, code: CodeReader) -> Analysis:
    """What the answer is worth: evidence checked against the code, a fix only where it applies."""
    fix, why_not = sound_fix(answer.file_changes if answer.has_fix else (), code)
    draft = Analysis(
        case=case,
        title=_one_line(answer.title) or case.title,
        root_cause=answer.root_cause.strip()[:_LONGEST_CAUSE],
        confidence=answer.confidence,
        evidence=looked_up(answer.evidence, code),
        fix=fix,
        hypotheses=answer.hypotheses,
        suspects=research.suspects,
        suspect_commit=_commit(answer.suspect_commit),
        next_steps=answer.suggested_next_steps,
        learnings=answer.learnings[:3],
        tags=answer.tags,
        related_to=answer.related_to,
        commit=code.commit.sha,
        because=(why_not,) if why_not else (),
    )
    return scored(draft)


def looked_up(evidence: tuple[Evidence, ...], code: CodeReader) -> tuple[Evidence, ...]:
    """Every quote looked up in its file; a path that leaves the repository is not asked for."""
    paths = {path for one in evidence if (path := inside(one.path))}
    texts = {path: code.read_file(path) for path in sorted(paths)}
    return tuple(verified(one, texts.get(inside(one.path) or "")) for one in evidence)


def sound_fix(edits: tuple[Edit, ...], code: CodeReader) -> tuple[tuple[Edit, ...], str]:
    """The edits where all of them apply and what they leave parses; else none, and why."""
    if not edits:
        return (), ""
    outside = next((edit.path for edit in edits if not inside(edit.path)), None)
    if outside is not None:
        return (), f"the proposed fix names no file of the repository: {ascii(outside[:100])}"
    clean = tuple(edit.model_copy(update={"path": inside(edit.path)}) for edit in edits)
    applied = fixing.apply(clean, code.read_file, code.paths())
    if applied.refusal:
        return (), f"the proposed fix does not apply: {applied.refusal}"
    broken = (
        syntax.complaint(change.path, change.text, code.read_file(change.path))
        for change in applied.changes
        if change.text is not None
    )
    why = next((complaint for complaint in broken if complaint), "")
    return ((), f"the proposed fix cannot stand: {why}") if why else (clean, "")


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


def _commit(text: str) -> str:
    """The commit or pull request that is named; empty for prose.

    >>> _commit("commit 1a2b3c4d5e"), _commit("#12"), _commit("the last one")
    ('1a2b3c4d5e', '#12', '')
    """
    found = re.search(r"\b[0-9a-f]{7,40}\b|#\d{1,9}\b", text[:300].lower())
    return found.group() if found else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:120]
