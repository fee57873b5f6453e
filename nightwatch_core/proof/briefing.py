"""What proving one fix is given."""

from dataclasses import dataclass

from nightwatch_core.gate.bench import Known
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import DraftPull
from nightwatch_core.models.usage import Allowance
from nightwatch_core.ports import Clock, CodeReader, Model, Sandbox


@dataclass(frozen=True)
class ProofBriefing:
    """One fix, the trees it is about, and who may be asked and run for it."""

    draft: DraftPull
    analysis: Analysis
    options: NightOptions
    base: CodeReader  # the commit that the edits are made on, its texts as they are
    failing: CodeReader  # the commit that failed in production, likewise
    shown: CodeReader  # the base without its secrets: what a model may see
    sandbox: Sandbox
    known: Known  # what the night has found out about its projects
    clock: Clock
    allowance: Allowance  # of all that is asked for this fix
    story: Allowance | None = None  # of a fix that is made in several steps; None: none is
    model: Model | None = None  # None: nobody can be asked
    fence: str = ""  # the night's name for fences around what came from outside
