"""Small things a card adds: what its confidence is worth here, and the commands it offers."""

import re

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.proposal import Receipt

PUBLISHED = ("done", "already there")  # the second: by this night, before it was taken up again
_PROVED = re.compile(r"findings said (high|medium|low) proved right ([\d.,]+ of [\d,]+ times) here")


def proved(analysis: Analysis) -> str:
    """How often as sure a finding proved right here, as calibration said; empty before it does."""
    if analysis.chance is None:
        return ""
    found = [hit for hit in map(_PROVED.match, analysis.because) if hit]
    if not found:
        return ""
    lowered = f", lowered from {analysis.said}" if analysis.said else ""
    return f"proved right here {found[-1][2]} when said {found[-1][1]}{lowered}"


def capture(analysis: Analysis, receipts: tuple[Receipt, ...]) -> str:
    """How to keep what was learned; empty where no issue or pull request was opened for it."""
    names = frozenset((analysis.case.fingerprint, *analysis.case.aliases))
    opened = any(
        each.kind in ("issue", "pull") and each.status in PUBLISHED and each.fingerprint in names
        for each in receipts
    )
    return command(analysis.case.fingerprint, "compound") if opened else ""


def command(fingerprint: str, verb: str = "one") -> str:
    """A command for one error, to run it again or else; empty for a name no shell should see.

    >>> command("v1:ab12"), command("v1:ab12", "compound"), command("v1:$(reboot)")
    ('nightwatch one v1:ab12', 'nightwatch compound v1:ab12', '')
    """
    safe = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9:._-]{0,99}", fingerprint)
    return f"nightwatch {verb} {fingerprint}" if safe else ""
