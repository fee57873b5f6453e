"""What was published for an error, what was not, and the commands that go with it."""

import re
from collections.abc import Iterable
from typing import Any, Literal

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.proposal import Receipt, Skip
from nightwatch_core.models.pulls import CiState, DraftCi
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.report.limits import LONG, NAME, TEXT
from nightwatch_core.text.escaping import line

PUBLISHED = ("done", "already there")  # the second: by this night, before it was taken up again
NAMES = {
    "issue": "issue",
    "comment": "comment on issue",
    "reopen": "reopened issue",
    "pull": "draft pull request",
    "update": "correction of draft pull request",
}
PATCH = "patch"  # what a draft is called where it has no branch
_STATUSES = {  # what a receipt's status adds to its name
    "done": "",
    "already there": " (already there)",
    "refused": " refused",
    "unknown": " unconfirmed",
    "held back": " held back (dry run)",
}


class Publication(Value):
    """Something published, or why not; `address` is an http(s) address, a path, or empty."""

    text: str
    address: str = ""
    note: str = ""
    state: Literal["published", "waits", "failed", "skipped"] = "published"

    @property
    def ok(self) -> bool:
        """Whether it can be read where it was published."""
        return self.state == "published"


def published_for(report: RunReport, names: Iterable[str]) -> tuple[Publication, ...]:
    """What was published for an error known by `names`, then what was not, with reasons."""
    ours = frozenset(names)
    return (
        *(_receipt(each, report) for each in report.receipts if ours & each.names),
        *(_checks(each) for each in report.ci if each.fingerprint in ours),
        *(_skip(each, report) for each in report.skips if each.fingerprint in ours),
    )


def published_elsewhere(report: RunReport, findings: Iterable[Analysis]) -> tuple[Publication, ...]:
    """Receipts and skips of errors without a finding: nothing published goes unsaid.

    What was not published for an error that is but a line stands in that line.
    """
    shown, listed = _names(findings), _names(report.analyses)
    receipts = tuple(each for each in report.receipts if shown.isdisjoint(each.names))
    skips = tuple(each for each in report.skips if each.fingerprint not in listed)
    return (
        *(_receipt(one, report) for one in receipts),
        *(_checks(one) for one in report.ci if one.fingerprint not in shown),
        *(_skip(one, report) for one in skips),
    )


def name_of(kind: str, report: RunReport) -> str:
    """What is published under that kind, as the night's options would have it."""
    if kind == "pull" and report.options.drafts == "patch":
        return PATCH
    return NAMES.get(kind, line(kind, 40))


def capture_command(analysis: Analysis, report: RunReport) -> str:
    """How to keep what was learned; empty where nothing was, or nothing was opened for it.

    Empty as well where lessons or notes are off: there is nothing to note it in.
    """
    names = frozenset((analysis.case.fingerprint, *analysis.case.aliases))
    opened = any(
        each.kind in ("issue", "pull") and each.status in PUBLISHED and names & each.names
        for each in report.receipts
    )
    on = report.options.compound_enabled and report.options.learnings_enabled
    learned = on and opened and analysis.has_cause
    return one_command(analysis.case.fingerprint, "compound") if learned else ""


def one_command(fingerprint: str, verb: str = "one") -> str:
    """A command for one error, to run it again or else; empty for a name no shell should see.

    >>> one_command("v1:ab12"), one_command("v1:ab12", "compound"), one_command("v1:$(reboot)")
    ('nightwatch one v1:ab12', 'nightwatch compound v1:ab12', '')
    """
    safe = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9:._-]{0,99}", fingerprint)
    return f"nightwatch {verb} {fingerprint}" if safe else ""


def _names(analyses: Iterable[Analysis]) -> frozenset[str]:
    cases = (analysis.case for analysis in analyses)
    return frozenset(name for case in cases for name in (case.fingerprint, *case.aliases))


def _receipt(receipt: Receipt, report: RunReport) -> Publication:
    number = f" #{receipt.number}" if receipt.number is not None else ""
    name = name_of(receipt.kind, report)
    return Publication(
        text=f"{name}{number}{_STATUSES[receipt.status]}",
        address=line(receipt.url, LONG),
        note=line(receipt.reason or receipt.title, TEXT),
        state="published" if receipt.status in PUBLISHED else "failed",
    )


def _checks(draft: DraftCi) -> Publication:
    state: dict[CiState, Any] = {"passed": "published", "failed": "failed"}
    return Publication(
        text=line(f"checks of #{draft.number}", NAME),
        note=line(draft.text, TEXT),
        state=state.get(draft.state, "waits"),
    )


def _skip(skip: Skip, report: RunReport) -> Publication:
    name = name_of(skip.kind, report)
    waits = skip.cause == "limit"
    return Publication(
        text=f"{name} waits" if waits else f"no {name}",
        note=line(skip.reason, TEXT),
        state="waits" if waits else "skipped",
    )
