"""What no fix that is made here may do, asked before it is run; drafts are asked the same again."""

from nightwatch_core.code import edits as fixing
from nightwatch_core.code.band_aids.detection import band_aids
from nightwatch_core.code.band_aids.values import NEVER
from nightwatch_core.code.fix_policy import refused
from nightwatch_core.code.new_powers import powers_gained
from nightwatch_core.models.answer import Edit
from nightwatch_core.proof.briefing import ProofBriefing


def refusal(
    edits: tuple[Edit, ...],
    before: tuple[Edit, ...],
    briefing: ProofBriefing,
    seen: tuple[str, ...] | None = None,
) -> str:
    """Say why edits are not worth running after those of `before`; empty where they are.

    `seen` are the files that whoever made them was shown; None: that is asked elsewhere.
    """
    read, options = briefing.base.read_file, briefing.options
    digest, paths = fixing.fix_digest(edits), briefing.base.paths()
    if digest == fixing.fix_digest(before):
        return "it is the same again"
    if digest in briefing.analysis.rejected:
        return "this very fix was turned down, or did not help, before"
    applied = fixing.apply(edits, read, paths)
    shown = paths if seen is None else seen
    if why := refused(edits, applied, shown, read, paths):
        return why
    if options.risky_fixes == "refuse" and (risk := powers_gained(applied.changes, read, paths)):
        return risk
    texts = ((one.path, read(one.path), one.text or "") for one in applied.changes)
    aids = [aid for path, old, new in texts if old for aid in band_aids(path, old, new)]
    if weakens := next((aid.path for aid in aids if aid.kind in NEVER), ""):
        return f"it weakens a test in {weakens}"
    if aids and options.band_aids == "refuse":
        return f"it only keeps the crash away in {aids[0].path}"
    return ""
