"""What whoever looks for a reproduction gives back, and what a judge of fixes is."""

from collections.abc import Callable

from nightwatch_core.models.answer import Edit
from nightwatch_core.models.gate import GateResult, Reproduction
from nightwatch_core.models.usage import Usage
from nightwatch_core.models.value import Value
from nightwatch_core.proof.briefing import ProofBriefing


class Attempt(Value):
    """A reproduction, or why there is none, and what asking for it took."""

    reproduction: Reproduction
    usage: Usage = Usage()


Reproducer = Callable[[ProofBriefing], Attempt]
Judge = Callable[[tuple[Edit, ...]], GateResult]  # told the edits of a fix, without the test
Corrector = Callable[[ProofBriefing, GateResult, Judge], GateResult]
