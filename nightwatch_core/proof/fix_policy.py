"""What no fix that is made here may do, asked before it is run; drafts are asked the same again."""

from nightwatch_core.code import edits as fixing
from nightwatch_core.code.band_aids.detection import band_aids
from nightwatch_core.code.band_aids.values import NEVER
from nightwatch_core.code.edit_policy import refused
from nightwatch_core.code.new_powers import powers_gained
from nightwatch_core.models.answer import Edit
from nightwatch_core.privacy.masks import holds_mask
from nightwatch_core.proof.briefing import ProofBriefing


def refusal(edits: tuple[Edit, ...], before: tuple[Edit, ...], briefing: ProofBriefing) -> str:
    """Say why edits are not worth running after those of `before`; empty where they are."""
    read, options = briefing.base.read_file, briefing.options
    digest, paths = fixing.fix_digest(edits), briefing.base.paths()
    if digest == fixing.fix_digest(before):
        return "it is the same again"
    if digest in briefing.analysis.rejected:
        return "this very fix was turned down, or did not help, before"
    if masked := next((e.path for e in edits if holds_mask(f"{e.old}\n{e.new}")), ""):
        return f"its change of {masked} repeats a mask: nobody was shown the value"
    applied = fixing.apply(edits, read, paths)
    if why := applied.refusal or refused(applied.changes, read, paths):
        return why
    if options.risky_fixes == "refuse" and (risk := powers_gained(applied.changes, read)):
        return risk
    texts = ((one.path, read(one.path), one.text or "") for one in applied.changes)
    aids = [aid for path, old, new in texts if old for aid in band_aids(path, old, new)]
    if weakens := next((aid.path for aid in aids if aid.kind in NEVER), ""):
        return f"it weakens a test in {weakens}"
    if aids and options.band_aids == "refuse":
        return f"it only keeps the crash away in {aids[0].path}"
    return ""
