"""Fixes that keep a crash away and leave its cause: published as what they are."""

import re
from collections.abc import Callable

from nightwatch_core.code.band_aids.detection import band_aids
from nightwatch_core.code.band_aids.values import NEVER, BandAid, Kind
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.publish.candidates import Reason
from nightwatch_core.text.escaping import code_span
from nightwatch_core.text.plain_text import shortened

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
    "weakened_test": "lets a test ask for less",
    "skipped_test": "skips a test",
    "deleted_test": "takes a test away",
    "weakened_validation": "checks less than before",
    "commented_out": "turns code into a comment",
    "cast": "casts a value, whatever it is",
    "ignored_warning": "switches a check off",
}
_SHOWN = 3
_GUARDS: tuple[Kind, ...] = ("guard_only", "masking_default")
# Code that says itself that there may be nothing: what it gives back, or how it is declared.
_ANSWER = re.compile(
    r"\breturn (?:None|nil|null|undefined)\b|\|\s*None\b|\bOptional\b|@(?:CheckForNull|Nullable)\b"
    r"|\|\s*(?:null|undefined)\b|\bdefault\s*=\s*None\b|\bnull\s*=\s*True\b|\w\?\s*:\s*\w|\w\?\s+\w+\("
)


def mitigations_in(
    changes: tuple[FileChange, ...],
    before: Callable[[str], str | None],
    options: NightOptions,
    evidence: tuple[Evidence, ...] = (),
) -> tuple[BandAid, ...]:
    """List what a set of changes does instead of mending the cause; nothing where that may be.

    What `evidence` shows to answer with nothing on purpose may be asked for nothing.
    """
    texts = ((one.path, before(one.path) or "", one.text or "") for one in changes)
    listed = tuple(one for path, old, new in texts if old for one in band_aids(path, old, new))
    passed = _GUARDS if any(one.verified and _ANSWER.search(one.quote) for one in evidence) else ()
    is_fix = options.band_aids == "fix"
    return tuple(one for one in listed if one.kind in NEVER or not (is_fix or one.kind in passed))


def not_wanted(mitigations: tuple[BandAid, ...], options: NightOptions) -> Reason | None:
    """Why a fix is not proposed: it weakens a test, or only mends what shows and may not."""
    weakens = next((one for one in mitigations if one.kind in NEVER), None)
    if weakens:
        return Reason("refused", f"the change to {weakens.path} {DOES[weakens.kind]}")
    if mitigations and options.band_aids == "refuse":
        first = mitigations[0]
        return Reason("refused", f"it mitigates only: in {first.path} it {DOES[first.kind]}")
    return None


def told_as(mitigations: tuple[BandAid, ...]) -> str:
    """Say in Markdown that a change is no fix, and what it does instead; empty for a fix."""
    if not mitigations:
        return ""
    listed = "\n".join(
        f"- {code_span(f'{one.path}:{one.line}')} {DOES[one.kind]}: "
        f"{code_span(shortened(one.code, 100))}"
        for one in mitigations[:_SHOWN]
    )
    return (
        "**This is a mitigation, not the fix.** It keeps the error away; what brings the value or "
        f"the state about, below under *Root cause*, stays as it is.\n\n{listed}"
    )
