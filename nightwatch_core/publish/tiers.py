"""Tiers of findings: report, issue or draft; and the reason for stopping there.

Decided here: by what is verified, how sure it is, what running its fix showed, whom it hurts, and
the night's cap. What is known, settled, forbidden or beyond tonight's limits is decided where
issues and drafts are planned (`issues.py`, `pulls.py`).
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.code.symptom_fixes import NEVER, Kind, SymptomFix, symptom_fixes
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Edit, Evidence
from nightwatch_core.models.options import NightOptions, Tier
from nightwatch_core.models.proposals import FileChange, GateResult
from nightwatch_core.publish import finding as parts
from nightwatch_core.publish.expected_value import (
    PROOF_WORDS,
    Proof,
    Reason,
    expected_value,
    proof_of,
)
from nightwatch_core.publish.overlap import taken
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
    for most, rule in RULES:
        if reason := rule(candidate):
            return most, reason
    return "draft", None


def _unknown(candidate: Candidate) -> Reason | None:
    if candidate.analysis.has_cause or candidate.options.issues_for_unknown:
        return None
    return Reason("unknown", "cause unknown: only in the report")


def _capped_at_report(candidate: Candidate) -> Reason | None:
    most, by = candidate.options.highest_tier()
    return Reason("choice", f"nothing is published by choice ({by})") if most == "report" else None


def _neither_sure_nor_mended(candidate: Candidate) -> Reason | None:
    of = candidate.analysis
    if not of.has_cause or of.confidence != "low" or of.has_fix:
        return None
    return Reason("weak", "low confidence and no fix: only in the report")


def _capped_at_issue(candidate: Candidate) -> Reason | None:
    most, by = candidate.options.highest_tier()
    return Reason("choice", f"no pull requests by choice ({by})") if most == "issue" else None


def _no_fix(candidate: Candidate) -> Reason | None:
    of = candidate.analysis
    if of.has_fix and of.has_cause:
        return None
    return Reason("no fix", f"no fix is proposed{_because(of)}")


def _because(analysis: Analysis) -> str:
    edit = next(iter(analysis.refused), None)
    if edit:
        return f": its change of {edit.path} may not stand, {edit.reason}"
    if analysis.question:
        return ": what should happen instead is for the team to say"
    return "" if analysis.has_cause else ": cause unknown"


def _other_code(candidate: Candidate) -> Reason | None:
    if awaited := parts.awaited(candidate.analysis):
        return Reason("settled", awaited)
    misfit = parts.misfit(candidate.analysis).rstrip(".")
    return Reason("refused", misfit) if misfit else None


def _overtaken(candidate: Candidate) -> Reason | None:
    return next(filter(None, map(taken, candidate.members)), None)


def _did_not_pass(candidate: Candidate) -> Reason | None:
    gate = candidate.analysis.gate
    if gate is None:
        return None
    if gate.outcome == "failed":
        return Reason("refused", f"it was run and did not pass: {gate.text}")
    if gate.outcome == "passed" and not _is_what_passed(gate, candidate.analysis.fix):
        return Reason("refused", "what would be published is not what passed")
    return Reason("limit", gate.text) if gate.kind == "enough" else None


def _is_what_passed(gate: GateResult, fix: tuple[Edit, ...]) -> bool:
    return gate.fix in ("", fix_digest(fix)) and (not gate.edits or gate.edits == fix)


def _unsure(candidate: Candidate) -> Reason | None:
    """A doubtful fix is a draft only where running showed that the crash is gone with it."""
    of, proof = candidate.analysis, candidate.proof
    if proof == "reproduced":
        return None
    fresh = of.ending.kind != "reused"  # a lesson's quotes were looked up when it was taken
    doubts = (
        (of.confidence == "low", "low confidence in the cause"),
        (of.fix_confidence == "low", "low confidence in what should happen instead"),
        (fresh and not any(e.verified for e in of.evidence), "nothing it quotes is in the code"),
    )
    doubt = next((text for is_so, text in doubts if is_so), "")
    return Reason("weak", f"{doubt}, and no test reproduces the crash") if doubt else None


def _not_worth_a_review(candidate: Candidate) -> Reason | None:
    value = expected_value(candidate.members)._replace(proof=candidate.proof)
    if value.minutes > 0:
        return None
    seen = plural(sum(member.case.occurrences for member in candidate.members), "time")
    sure = f"{candidate.analysis.confidence} confidence, {PROOF_WORDS[candidate.proof]}"
    return Reason("worth", f"seen {seen}, {sure}: not worth a review by itself ({value})")


Rule = Callable[[Candidate], Reason | None]
RULES: tuple[tuple[Tier, Rule], ...] = (
    ("report", _unknown),
    ("report", _capped_at_report),
    ("report", _neither_sure_nor_mended),
    ("issue", _capped_at_issue),
    ("issue", _no_fix),
    ("issue", _other_code),
    ("issue", _overtaken),
    ("issue", _did_not_pass),
    ("issue", _unsure),
    ("issue", _not_worth_a_review),
)
"""Asked in this order; the first that has a reason says how far a finding goes at most."""

# Fixes that keep a crash away and leave its cause: published as what they are.

DOES: dict[Kind, str] = {
    "guard_only": "passes over a value that is not there",
    "swallowed_exception": "catches an exception, and nobody hears of it",
    "widened_exception": "catches more than what is known to happen",
    "masking_default": "puts a made-up value in the place of one that is missing",
    "timeout_inflation": "waits longer",
    "retry_inflation": "tries more often",
    "lowered_log_level": "logs a failure at a lower level",
    "silenced_report": "no longer reports a failure",
    "widened_ignore": "ignores more failures",
    "weakened_test": "weakens a test",
    "skipped_test": "skips a test",
    "deleted_test": "takes a test away",
    "weakened_validation": "checks less than before",
    "commented_out": "turns code into a comment",
    "cast": "casts a value, whatever it is",
    "ignored_warning": "switches a check off",
}
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
