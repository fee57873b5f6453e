"""A fix on its way to a draft: reproduced, run, and where it does not pass, mended once."""

from nightwatch_core.gate.gate import gated
from nightwatch_core.models.gate import GateResult
from nightwatch_core.proof.briefing import ProofBriefing


def proved(briefing: ProofBriefing) -> GateResult:
    """Say what came of running a fix; never raises for what the fix or the project does."""
    return gated(briefing.draft, briefing.base, briefing.sandbox, briefing.options, briefing.known)
