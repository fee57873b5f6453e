"""What stands where a draft would: why there is none, what was checked, what would settle it."""

from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.publish.draft_sections import failed_runs
from nightwatch_core.publish.finding_parts import sentence
from nightwatch_core.publish.issue_sections import bulleted
from nightwatch_core.publish.proof_parts import checked_lines, proof_lines
from nightwatch_core.publish.told import Told

NO_FIX, NO_DRAFT = "No fix, and why", "No draft, and why"
FAILED = "The fix was tried, and did not pass"


def without_draft(told: Told) -> str:
    """Why no draft is made of a finding, and what was checked; what was run, where one is."""
    of = told.analysis
    name = heading(told)
    if not name:
        ran = of.gate is not None and of.gate.outcome == "passed"
        return bulleted("What was run", map(told.prose, proof_lines(of.gate))) if ran else ""
    why = f"**Why no draft:** {told.prose(sentence(told.no_draft))}" if told.no_draft else ""
    listed = "\n".join(f"- {told.prose(line)}" for line in checked_lines(of))
    checked = f"What was checked:\n\n{listed}" if listed else ""
    body = tuple(filter(None, (why, checked, failed_runs(told))))
    return "\n\n".join((f"## {name}", *body)) if body else ""


def checked(told: Told) -> str:
    """What was checked of an error whose cause is not known."""
    listed = bulleted("What was checked", map(told.prose, checked_lines(told.analysis)))
    return "\n\n".join(filter(None, (listed, failed_runs(told))))


def heading(told: Told) -> str:
    """Name what is missing; empty where a draft is made, or may yet be."""
    gate = told.analysis.gate
    if gate is not None and gate.outcome == "failed":
        return FAILED
    if not parts.shown_changes(told.analysis):
        return NO_FIX
    return NO_DRAFT if told.no_draft else ""
