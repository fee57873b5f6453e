"""Publications of an error, skipped ones, and their commands."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Literal, get_args

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.assignment import BatchTriage, Sighting
from nightwatch_core.models.batch import ResultKind, Severity
from nightwatch_core.models.code import CiState, DraftCi
from nightwatch_core.models.proposals import Receipt, Skip
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.publish.finding_parts import short_handover
from nightwatch_core.report.excerpts import LONG, NAME, TEXT, TITLE
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
        """Tell whether it can be read where it was published."""
        return self.state == "published"


def published_for(report: RunReport, names: Iterable[str]) -> tuple[Publication, ...]:
    """Return publications of an error known by `names`, then skips with reasons."""
    ours = frozenset(names)
    return (
        *(_receipt(receipt, report) for receipt in report.receipts if ours & receipt.names),
        *(_checks(item) for item in report.ci if item.fingerprint in ours),
        *(_skip(skip, report) for skip in report.skips if skip.fingerprint in ours),
    )


def published_elsewhere(report: RunReport, findings: Iterable[Analysis]) -> tuple[Publication, ...]:
    """Receipts and skips of errors without a finding: nothing published goes unsaid.

    What was not published for an error that is but a line stands in that line.
    """
    shown, listed = _names(findings), _names(report.analyses)
    receipts = tuple(receipt for receipt in report.receipts if shown.isdisjoint(receipt.names))
    skips = tuple(skip for skip in report.skips if skip.fingerprint not in listed)
    return (
        *(_receipt(receipt, report) for receipt in receipts),
        *(_checks(item) for item in report.ci if item.fingerprint not in shown),
        *(_skip(skip, report) for skip in skips),
    )


def name_of(kind: str, report: RunReport) -> str:
    """Return the name of a publication's kind under the night's options."""
    if kind == "pull" and report.options.publish == "patches":
        return PATCH
    return NAMES.get(kind, line(kind, 40))


def capture_command(analysis: Analysis, report: RunReport) -> str:
    """Return the command that captures the lesson; empty where nothing was opened."""
    names = frozenset((analysis.case.fingerprint, *analysis.case.aliases))
    opened = any(
        receipt.kind in ("issue", "pull") and receipt.status in PUBLISHED and names & receipt.names
        for receipt in report.receipts
    )
    learned = opened and analysis.has_cause
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


# The table of errors: an analysis in one line.

NO_CAUSE = "No cause was found."
_SHORT = ("draft pull request", "draft PR")
_SENTENCE = re.compile(r"(.{20,}?[.!?])\s")


class Row(Value):
    """A line of the table of errors; `anchor` names the finding."""

    rank: int
    anchor: str
    error: str
    where: str
    count: int
    cause: str
    confidence: Confidence
    done: str
    known: bool = False
    unknown: bool = False  # cause unknown, and so nothing to be sure of

    @property
    def sure(self) -> str:
        """Return the confidence in the cause in one word."""
        return "–" if self.unknown else self.confidence


def error_row(rank: int, analysis: Analysis, publications: tuple[Publication, ...]) -> Row:
    """Return the analysis in one line."""
    known = known_since(analysis)
    back = "regression" if analysis.case.regressed else ""
    by_state = {
        state: ", ".join(
            publication.text for publication in publications if publication.state == state
        )
        for state in ("published", "waits")
    }
    # of a known error it goes without saying that nothing was published
    undone = "" if known else ", ".join(publication.text for publication in publications)
    published = by_state["published"] or by_state["waits"] or undone
    return Row(
        rank=rank,
        anchor=f"error-{rank}",
        error=line(analysis.case.leader.error_class, NAME),
        where=line(analysis.case.leader.transaction, NAME),
        count=analysis.case.occurrences,
        cause=_cause(analysis),
        confidence=analysis.confidence,
        done=line("; ".join(filter(None, (back, known, published))), TITLE).replace(*_SHORT) or "–",
        known=bool(known),
        unknown=not analysis.has_cause,
    )


def _cause(analysis: Analysis) -> str:
    if analysis.handover is not None:
        return line(short_handover(analysis.handover), TITLE)
    return first_sentence(analysis.root_cause) or line(analysis.title, TITLE) or NO_CAUSE


def known_since(analysis: Analysis) -> str:
    """Since when a reused finding is known; empty for a fresh one."""
    if analysis.ending.kind != "reused":
        return ""
    return line(analysis.known_since, NAME) or "known"


def first_sentence(text: str) -> str:
    """Return the first sentence.

    >>> first_sentence("The rate is missing in rates.py. So the sum fails.")
    'The rate is missing in rates.py.'
    """
    flat = line(text, 2 * TEXT)
    match = _SENTENCE.match(flat)
    return line(match.group(1) if match else flat, TITLE)


# The table of batch triage: one line an error.

_ORDER: tuple[str, ...] = get_args(Severity)
_NO_WORD = "–"
# What came of an error that was not judged.
UNJUDGED: dict[ResultKind, str] = {
    "answered": "",
    "refused": "refused by the model",
    "errored": "not answered: the service refused it",
    "expired": "expired before it was answered: it is asked again",
    "canceled": "not answered: the batch was canceled",
    "unreadable": "answered, but not readably: it is asked again",
    "missing": "not answered: no result came for it",
}


class SightRow(Value):
    """One line of the table of batch triage."""

    error: str
    where: str
    count: int
    severity: str
    category: str
    cause: str
    result: str
    flagged: bool = False  # it deserves an analysis


def sight_rows(report: RunReport) -> tuple[SightRow, ...]:
    """One line for every error that was judged, or was to be, tonight or before; worst first."""
    triage, came = report.batch_triage, dict(_came_of(report))
    every = sorted(_each_once(triage), key=_place)
    earlier = {item.group.fingerprint for item in (*triage.kept, *triage.waiting)}
    return tuple(_row(item, came, item.group.fingerprint in earlier) for item in every)


def _each_once(triage: BatchTriage) -> Iterable[Sighting]:
    every = chain(triage.kept, triage.waiting, triage.judged)
    return {item.group.fingerprint: item for item in every}.values()


def _place(sighting: Sighting) -> tuple[int, bool, int]:
    worst = _ORDER.index(sighting.first_sight.severity) if sighting.first_sight else len(_ORDER)
    return worst, not sighting.flagged, sighting.rank


def _row(sighting: Sighting, came: dict[str, str], is_earlier: bool) -> SightRow:
    sight, group = sighting.first_sight, sighting.group
    result = came.get(group.fingerprint, "")
    when = f" (judged {sighting.at:%Y-%m-%d})" if is_earlier else ""
    return SightRow(
        error=line(group.error_class, NAME),
        where=line(group.transaction, NAME),
        count=group.occurrences,
        severity=sight.severity if sight else _NO_WORD,
        category=sight.category.replace("_", " ") if sight else _NO_WORD,
        cause=line(sight.likely_cause, TEXT) if sight else _NO_WORD,
        result=line(f"{_came(sighting, result)}{when}", TITLE),
        flagged=sighting.flagged,
    )


def _came(sighting: Sighting, result: str) -> str:
    if sighting.result and not sighting.first_sight:
        reason = f" ({sighting.result.reason})" if sighting.result.reason else ""
        return f"{UNJUDGED[sighting.result.kind]}{reason}"
    if result:
        return result
    if sighting.taken:
        return "analysed since"
    return "to be analysed on a later night" if sighting.flagged else "nothing further"


def _came_of(report: RunReport) -> Iterator[tuple[str, str]]:
    for dropped in report.dropped:
        if dropped.kind == "ignored":
            yield dropped.group.fingerprint, "ignored by now"
    for failure in report.failures:
        for group in failure.case.groups:
            yield group.fingerprint, "its analysis failed: see above"
    for rank, analysis in enumerate(report.analyses, start=1):
        verb = "known already" if analysis.ending.kind == "reused" else "analysed"
        for group in analysis.case.groups:
            yield group.fingerprint, f"{verb}: error {rank} above"
