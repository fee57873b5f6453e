"""How far a night has come, and the report that it leaves where it fails."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nightwatch_core.errors import NightWatchError, NotTonight
from nightwatch_core.models.assignment import CauseFindings, PublishResult
from nightwatch_core.models.error import Selection, Window
from nightwatch_core.models.gate import GateResult
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.report import builder
from nightwatch_core.report.acted_builder import add_publications
from tasks.futures import attempt
from tasks.health import with_health
from tasks.night import banner, begin_night
from tasks.notify import notify
from tasks.wiring import publishing, reading
from tasks.wiring.manifest import list_for
from tasks.wiring.recording import record_night

log = logging.getLogger(__name__)


@dataclass
class Progress:
    """What a night has brought so far: whatever happens next, its report will say so."""

    night: Night | None = None
    selection: Selection = Selection()
    report: RunReport | None = None
    waveless: RunReport | None = None  # the same before any wave
    receipts: list[Receipt] = field(default_factory=list)
    gates: dict[str, GateResult] = field(default_factory=dict)  # by fingerprint

    def begin(self, night: Night) -> Night:
        """Remember the night that began; what is sent belongs to it."""
        list_for(night.id)
        record_night(night)
        self.night = night
        return night

    def select(self, selection: Selection) -> Selection:
        """Remember which groups were to be analysed."""
        self.selection = selection
        return selection

    def update(self, report: RunReport) -> RunReport:
        """Remember the report as far as it has come."""
        self.report = self.waveless = report
        return report

    def hear_findings(self, findings: CauseFindings) -> CauseFindings:
        """Remember what the waves have brought and cost so far."""
        if self.waveless:
            self.report = builder.with_waves(self.waveless, findings)
        return findings

    def hear_receipt(self, receipt: Receipt) -> None:
        """Remember what was published."""
        self.receipts.append(receipt)

    def hear_gate(self, fingerprint: str, gate: GateResult) -> None:
        """Remember what was run of a fix, and what it took."""
        self.gates[fingerprint] = gate

    def published(self, acted: PublishResult) -> PublishResult:
        """Return what was run and published, also by a step that did not come to its end."""
        gates = acted.gates or tuple(self.gates.items())
        update = {"receipts": tuple(self.receipts), "gates": gates}
        return acted.model_copy(update=update)


@contextmanager
def report_on_failure(options: NightOptions) -> Iterator[Progress]:
    """Keep and send a report of what is known and why it ends there, before the flow fails."""
    progress = Progress()
    try:
        yield progress
    except NotTonight:
        raise
    except NightWatchError as trouble:
        trouble.add_note(_report_failure(options, progress, str(trouble)))
        raise
    except Exception as bug:  # ours: reported like any failure, and raised again
        why = f"unforeseen {type(bug).__name__}: {bug}"[:1_000]
        bug.add_note(_report_failure(options, progress, why))
        raise


def _report_failure(options: NightOptions, progress: Progress, why: str) -> str:
    try:
        return f"Report: {_keep_and_tell(options, progress, why)}"
    except NightWatchError as trouble:
        made = ", ".join(f"{one.kind} {one.url or one.number}" for one in progress.receipts)
        published = f"\nPublished before that, as the next night will find: {made}" if made else ""
        return f"No report could be written: {trouble}{published}"


def _keep_and_tell(options: NightOptions, progress: Progress, why: str) -> str:
    """Keep what is known and why it ends there, and tell it; returns where it can be read."""
    report = with_health(_failed_report(options, progress, why))
    nights = publishing(options).nights
    folder = nights.keep(report)
    night = report.night.model_copy(update={"folder": folder})
    report = report.model_copy(update={"night": night})
    told = attempt("telling the team", notify, report, otherwise=folder)
    if told.trouble:
        report = builder.leave_untold(report, told.trouble)
        nights.keep(report)
    nights.finish(report)
    return told.value


def _failed_report(options: NightOptions, progress: Progress, why: str) -> RunReport:
    now = reading(options).clock.now()
    night = progress.night or progress.begin(begin_night(options, Window(since=now, until=now)))
    known = progress.report or builder.start_report(night, options, banner(options), now)
    untold = any(one.gate is None and one.fingerprint in progress.gates for one in known.analyses)
    if untold or len(known.receipts) < len(progress.receipts):
        known = add_publications(known, progress.published(PublishResult()))
    return builder.fail_report(known, why, now, progress.selection)
