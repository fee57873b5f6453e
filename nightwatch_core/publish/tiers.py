"""Tiers of findings: report, issue or draft; and the reason for stopping there.

Decided here: by evidence, confidence, what running the fix showed, impact, and the night's cap.
What is already known or over the night's limits is decided in `plan.py`.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.code.symptom_fixes import NEVER, Kind, SymptomFix, symptom_fixes
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.options import NightOptions, Tier
from nightwatch_core.models.proposals import FileChange
from nightwatch_core.publish import finding as parts
from nightwatch_core.publish.expected_value import Proof, Reason, expected_value, proof_of
from nightwatch_core.publish.overlap import taken
from nightwatch_core.publish.words import WORDS
from nightwatch_core.text.plain_text import plural


class Candidate(NamedTuple):
    """Errors with one cause that may become an issue and a draft; the first speaks for all."""

    members: tuple[Analysis, ...]
    options: NightOptions
    to_run: bool = False  # before the gate: what may still be proved counts as proved

    @property
    def analysis(self) -> Analysis:
        """Return the one that speaks."""
        return self.members[0]

    @property
    def proof(self) -> Proof:
        """Return how far its fix is proved or may still be."""
        if self.to_run and self.analysis.gate is None:
            return "reproduced" if self.options.reproduce else "green"
        return proof_of(self.analysis.gate)


def tier_of(candidate: Candidate) -> tuple[Tier, Reason | None]:
    """Return the most that comes of a finding, and why no more; None where it may be a draft."""
    return next(_lowered(candidate), ("draft", None))


def _lowered(candidate: Candidate) -> Iterator[tuple[Tier, Reason]]:
    """Every rule that lowers the tier; the first decides."""
    of, options = candidate.analysis, candidate.options
    most, setting = options.highest_tier()
    if not of.has_cause and not options.issues_for_unknown:
        yield "report", Reason("unknown", "cause unknown: listed in the report only")
    if most == "report":
        yield "report", Reason("choice", f"publishing is switched off ({setting})")
    if of.has_cause and of.confidence == "low" and not of.has_fix:
        yield "report", Reason("weak", "low confidence and no fix: listed in the report only")
    if most == "issue":
        yield "issue", Reason("choice", f"pull requests are switched off ({setting})")
    if not of.has_fix or not of.has_cause:
        yield "issue", Reason("no fix", f"no fix is proposed{_because(of)}")
    if awaited := parts.awaited(of):
        yield "issue", Reason("settled", awaited)
    if misfit := parts.misfit(of).rstrip("."):
        yield "issue", Reason("refused", misfit)
    for reason in filter(None, map(taken, candidate.members)):
        yield "issue", reason
    if gate := of.gate:
        if gate.outcome == "failed":
            yield "issue", Reason("refused", f"the fix failed its checks: {gate.text}")
        is_other = gate.fix not in ("", fix_digest(of.fix)) or gate.edits not in ((), of.fix)
        if gate.outcome == "passed" and is_other:
            yield (
                "issue",
                Reason("refused", "the fix to publish is not the fix that passed its checks"),
            )
        if gate.kind == "enough":
            yield "issue", Reason("limit", gate.text)
    enough = ("reproduced",) if options.reproduce else ("reproduced", "green")
    if options.publish == "proved" and candidate.proof not in enough:
        yield "issue", Reason("choice", f"{WORDS['proofs'][candidate.proof]} ({setting})")
    if doubt := _doubt(candidate):
        yield "issue", Reason("weak", f"{doubt}, and no test reproduces the crash")
    value = expected_value(candidate.members)._replace(proof=candidate.proof)
    if value.minutes <= 0:
        seen = plural(sum(member.case.occurrences for member in candidate.members), "time")
        sure = f"{of.confidence} confidence, {WORDS['proofs'][candidate.proof]}"
        text = f"seen {seen}, {sure}: not worth a review ({value})"
        yield "issue", Reason("worth", text)


def _because(analysis: Analysis) -> str:
    edit = next(iter(analysis.refused), None)
    if edit:
        return f": the edit of {edit.path} was rejected: {edit.reason}"
    if analysis.question:
        return ": the team must decide the expected behaviour"
    return "" if analysis.has_cause else ": cause unknown"


def _doubt(candidate: Candidate) -> str:
    """A doubtful fix is a draft only where running showed that the crash is gone with it."""
    of = candidate.analysis
    if candidate.proof == "reproduced":
        return ""
    if of.confidence == "low":
        return "low confidence in the cause"
    if of.fix_confidence == "low":
        return "low confidence in the fix"
    fresh = of.ending.kind != "reused"  # a lesson's quotes were looked up when it was taken
    is_quoted = any(evidence.verified for evidence in of.evidence)
    return "none of its quotes was found in the code" if fresh and not is_quoted else ""


# Fixes that keep a crash away and leave its cause: published as what they are.

DOES = WORDS["effects"]
_GUARDS: tuple[Kind, ...] = ("guard_only", "masking_default")
# Code that says itself that there may be nothing: what it gives back, or how it is declared.
_ANSWER = re.compile(
    r"\breturn (?:None|nil|null|undefined)\b|\|\s*None\b|\bOptional\b|@(?:CheckForNull|Nullable)\b"
    r"|\|\s*(?:null|undefined)\b|\bdefault\s*=\s*None\b|\bnull\s*=\s*True\b|\w\?\s*:\s*\w|\w\?\s+\w+\("
)


def mitigations_in(
    changes: tuple[FileChange, ...],
    before: Callable[[str], str | None],
    evidence: tuple[Evidence, ...] = (),
) -> tuple[SymptomFix, ...]:
    """List what a set of changes does instead of mending the cause; nothing where that is allowed.

    What `evidence` shows to answer with nothing on purpose may be asked for nothing.
    """
    texts = ((change.path, before(change.path) or "", change.text or "") for change in changes)
    listed = tuple(fix for path, old, new in texts if old for fix in symptom_fixes(path, old, new))
    passed = (
        _GUARDS if any(item.verified and _ANSWER.search(item.quote) for item in evidence) else ()
    )
    return tuple(item for item in listed if item.kind in NEVER or item.kind not in passed)


def not_wanted(mitigations: tuple[SymptomFix, ...]) -> Reason | None:
    """Return the reason a fix is refused: it weakens a test."""
    weakens = next((mitigation for mitigation in mitigations if mitigation.kind in NEVER), None)
    if weakens:
        return Reason("refused", f"the change to {weakens.path} {DOES[weakens.kind]}")
    return None
