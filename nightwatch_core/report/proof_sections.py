"""What running a fix showed, and what was checked where there is none, as sections of a finding."""

from collections.abc import Iterator

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.proposal import Skip
from nightwatch_core.publish.checked_section import FAILED, NO_DRAFT, NO_FIX
from nightwatch_core.publish.expected_value import expected_value
from nightwatch_core.publish.finding_parts import sentence
from nightwatch_core.publish.proof_parts import (
    checked_lines,
    correction_quotes,
    crash_quotes,
    failure_quotes,
    proof_lines,
)
from nightwatch_core.report.blocks import Bullets, Fact, Section, Verbatim, cut, section
from nightwatch_core.report.limits import LONG, MESSAGE, Limits
from nightwatch_core.text.escaping import block, line

_QUOTES = 4 * MESSAGE  # characters of what a run printed
_DOUBTS = ("weak", "worth", "refused", "no fix")  # for which a fix is no draft, whatever the night


def proof_section(analysis: Analysis, skips: tuple[Skip, ...], limits: Limits) -> Section:
    """Make the one section: what proves the fix, or why there is no draft and what was checked."""
    ours = [one for one in skips if one.kind == "pull" and one.fingerprint == analysis.fingerprint]
    why = next((one.reason for one in ours if one.cause in _DOUBTS), "")
    name = _missing(analysis, why)
    lines = checked_lines(analysis) if name else proof_lines(analysis.gate) * bool(analysis.gate)
    told = (*((sentence(f"Why no draft: {why}"),) if why else ()), *lines)
    gate = analysis.gate
    quotes = (*crash_quotes(gate), *failure_quotes(gate), *correction_quotes(gate))
    runs = (Verbatim(name=line(q.name), text=block(q.output, _QUOTES, code=True)) for q in quotes)
    bullets = cut(Bullets, (line(each, LONG) for each in told), 2 * limits.texts)
    return section("proof", name or "Proof", bullets, runs)


def _missing(analysis: Analysis, why: str) -> str:
    if analysis.gate is not None and analysis.gate.outcome == "failed":
        return FAILED
    return NO_FIX if not analysis.has_fix else NO_DRAFT if why else ""


def worth(members: tuple[Analysis, ...]) -> Iterator[Fact]:
    """What a draft of the first one's fix is worth: those worth most come first."""
    if members[0].has_fix:
        yield Fact(name="Expected value", text=f"{expected_value(members)}")
