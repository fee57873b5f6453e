"""Keep the report, show it in Prefect, send it to the team."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.events import emit_event
from prefect.settings import get_current_settings

from nightwatch_core.errors import NightWatchError, NotTonight
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.memory.rates import changes
from nightwatch_core.models.assignment import CauseFindings, PublishResult
from nightwatch_core.models.errors import Selection, Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import GateResult, Receipt
from nightwatch_core.models.report import Night, NightRecord, RunReport
from nightwatch_core.publish.blocks import BRIEF
from nightwatch_core.report import builder
from nightwatch_core.report.headline import headline
from nightwatch_core.report.health import CLAUDE, HealthFacts, health
from nightwatch_core.report.sections import report_files
from nightwatch_core.report.view import apps_of, as_markdown, title_of, view
from nightwatch_core.settings import settings
from nightwatch_core.text.escaping import is_web
from nightwatch_core.text.plain_text import shortened
from tasks.night import advice, banner, begin_night, name_run
from tasks.runner import Attempt, attempt, attempt_and_go_on, step
from tasks.wiring import masked, nights, publishing, reading, share
from tasks.wiring.local import records
from tasks.wiring.proxies import destinations, list_for, record_night
from tasks.wiring.services import alarms, code_reads, service_calls, state_of

# Health never fails a night.

log = logging.getLogger(__name__)
MARK = "health"  # of the record by which Prefect's store is tried
LAST = 7  # nights whose reports are still sent
# Characters: Prefect's page folds no cell and hides the rest.
ERROR_WIDTH, PLACE_WIDTH, RESULT_WIDTH = 32, 20, 22
NOTHING_KEPT = "results cannot be stored: a retry of the run would pay for its analyses again"


def with_health(report: RunReport) -> RunReport:
    """Add to a report how its services are, and what the code cache answered."""
    options, calls, key = report.options, service_calls(), f"{MARK}/{report.night.id}"
    unknown: tuple[NightRecord, ...] = ()
    history = attempt_and_go_on("reading the history", nights().history, otherwise=unknown)
    lessons = attempt_and_go_on("reading lessons", _count_lessons, options, otherwise=None)
    is_answering = any(call.service == CLAUDE and call.is_last_well for call in calls)
    note = Attempt("")
    if options.model != RULES and is_answering:
        note = attempt_and_go_on("reading the model's note", _model_note, options, otherwise="")
    records().put(key, report.night.id)
    is_kept = records().get(key) == report.night.id
    facts = HealthFacts(
        calls=calls,
        earlier=tuple(item for item in history.value if item.id != report.night.id),
        lessons=lessons.value,
        knowledge_trouble=lessons.trouble or lessons.stop,
        records_trouble=share() if is_kept else NOTHING_KEPT,
        model_note=note.value,
        state=state_of(),
        alarms=alarms(),
        left=destinations(get_current_settings().api.url or ""),
    )
    update = {"health": health(report, facts), "code_reads": code_reads()}
    return report.model_copy(update=update)


def _count_lessons(options: NightOptions) -> int | None:
    return len(reading(options).knowledge.index().solutions)


def _model_note(options: NightOptions) -> str:
    return reading(options).model.capabilities().note


def open_report(options: NightOptions, night: Night) -> RunReport:
    """Start the report that the night will fill."""
    now, at = reading(options).clock.now(), settings()
    return builder.start_report(night, options, banner(options), now).model_copy(
        update={"advice": advice(), "application": at.application, "command": at.command}
    )


@step("keep report")
def keep_report(report: RunReport) -> RunReport:
    """Write the report's files; returns the report, which now knows its folder."""
    folder = publishing(report.options).nights.keep(report)
    share()
    night = report.night.model_copy(update={"folder": folder})
    return report.model_copy(update={"night": night})


@step("show in Prefect")
def show_in_prefect(report: RunReport) -> None:
    """Show the table and the report as artifacts of this run."""
    shown = view(report, BRIEF)
    about = f"{shown.title}: {headline(report)}"
    create_table_artifact(
        key="nightwatch-errors",
        table=[
            {
                "times": row.count,
                "error": shortened(row.error, ERROR_WIDTH),
                "where": shortened(row.where, PLACE_WIDTH),
                "sure": row.sure,
                "result": shortened(row.done, RESULT_WIDTH),
            }
            for row in shown.rows
        ],
        description=about,
    )
    create_markdown_artifact(
        key="nightwatch-report", markdown=as_markdown(report), description=about
    )


@step("tell")
def notify(report: RunReport) -> str:
    """Send the report to the team; returns where to read it."""
    return publishing(report.options).notifier.publish(report)


def tell_earlier(report: RunReport) -> None:
    """Send the reports of the last nights that could not be sent, the oldest first."""
    nights = publishing(report.options).nights
    unsent = [report for report in islice(nights.reports(), LAST) if report.unsent]
    for late in reversed(unsent):
        if late.night.id != report.night.id:
            notify(late)
            nights.keep(late.model_copy(update={"unsent": False}))


def with_changes(report: RunReport) -> RunReport:
    """Add to a report what has changed since the newest night of its kind."""
    earlier = publishing(report.options).nights.reports()
    same = (item for item in islice(earlier, LAST) if item.night.kind.key == report.night.kind.key)
    before = next((item for item in same if item.night.id != report.night.id), None)
    found = changes(report, before) if before and report.night.kind.key else ()
    return report.model_copy(update={"changes": found})


def _finished(report: RunReport) -> RunReport:
    """The report as everybody sees it: in files, in Prefect, and on the terminal of its run."""
    return masked(report).model_copy(update={"finished": reading(report.options).clock.now()})


def _marked_unsent(report: RunReport, trouble: str) -> RunReport:
    """A report of which the team could not be told; the next night tells it."""
    return builder.degrade(report, trouble).model_copy(update={"unsent": True})


def keep_and_show(report: RunReport) -> RunReport:
    """Keep and show a report that is not sent to the team; the night is over."""
    kept = keep_report(_finished(report))
    attempt("showing the report in Prefect", show_in_prefect, kept, otherwise=None)
    publishing(kept.options).nights.finish(kept)
    return kept


def tell_the_team(report: RunReport) -> RunReport:
    """Keep, show and send the report; a failed delivery degrades the night, and the report says so.

    Reports of earlier nights that could not be sent go first.
    """
    compared = attempt("comparing with earlier nights", with_changes, report, otherwise=report)
    kept = keep_report(with_health(_finished(compared.value)))
    shown = attempt("showing the report in Prefect", show_in_prefect, kept, otherwise=None)
    late = attempt("sending earlier reports", tell_earlier, kept, otherwise=None)
    delivered = attempt("notifying the team", notify, kept, otherwise="")
    if delivered.trouble:
        kept = _marked_unsent(kept, delivered.trouble)
    whole = with_health(kept)  # now with how notifying the team went
    if shown.trouble or delivered.trouble or late.trouble or whole.health != kept.health:
        kept = keep_report(builder.degrade(whole, shown.trouble, late.trouble))
    publishing(kept.options).nights.finish(kept)
    _announce(kept)
    log.info("%s: %s (%s)", title_of(kept), headline(kept), delivered.value)
    return kept


def _announce(report: RunReport) -> None:
    """Tell Prefect's automations how a night ended."""
    resource = {
        "prefect.resource.id": f"nightwatch.night.{report.night.id}",
        "prefect.resource.name": f"{title_of(report)}: {headline(report)}",
        "nightwatch.application": settings().application,
    }
    emit_event(event=f"nightwatch.night.{report.status}", resource=resource)


# How far a night has come, and the report that it leaves where it fails.


@dataclass
class Progress:
    """Hold what a night has found so far, for the report if it fails."""

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
        name_run("", night.id)
        self.night = night
        return night

    def select(self, selection: Selection) -> Selection:
        """Remember which groups are to be analysed; the run is named after their application."""
        self.selection = selection
        if self.night:
            name_run(apps_of(group.app for group in selection.tonight), self.night.id)
        return selection

    def update(self, report: RunReport) -> RunReport:
        """Remember the report as far as it has come."""
        self.report = self.waveless = report
        return report

    def on_findings(self, findings: CauseFindings) -> CauseFindings:
        """Remember what the waves have brought and cost so far."""
        if self.waveless and findings.waves:
            outcomes = self.waveless.outcomes
            self.report = builder.add_findings(self.waveless, findings, outcomes)
        return findings

    def on_receipt(self, receipt: Receipt) -> None:
        """Remember what was published."""
        self.receipts.append(receipt)

    def on_gate(self, fingerprint: str, gate: GateResult) -> None:
        """Remember what was run of a fix, and what it took."""
        self.gates[fingerprint] = gate

    def published(self, acted: PublishResult) -> PublishResult:
        """Return what was run and published, also by a step that did not come to its end."""
        gates = acted.gates or tuple(self.gates.items())
        update = {"receipts": tuple(self.receipts), "gates": gates}
        return acted.model_copy(update=update)


@contextmanager
def report_on_failure(options: NightOptions) -> Iterator[Progress]:
    """Keep and send a report of what was found, and why it ends there, before the flow fails."""
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
        return f"No report could be written: {trouble}"


def _keep_and_tell(options: NightOptions, progress: Progress, why: str) -> str:
    """Keep and send what was found and why the night failed; returns its file, and who was told."""
    report = with_health(_failed_report(options, progress, why))
    nights = publishing(options).nights
    folder = nights.keep(report)
    night = report.night.model_copy(update={"folder": folder})
    report = report.model_copy(update={"night": night})
    delivered = attempt("notifying the team", notify, report, otherwise="")
    if delivered.trouble:
        report = _marked_unsent(report, delivered.trouble)
        nights.keep(report)
    attempt("showing the report in Prefect", show_in_prefect, report, otherwise=None)
    nights.finish(report)
    _announce(report)
    page = report_files(report)[0]
    return f"{page}, sent to {delivered.value}" if is_web(delivered.value) else page


def _failed_report(options: NightOptions, progress: Progress, why: str) -> RunReport:
    now = reading(options).clock.now()
    night = progress.night or progress.begin(begin_night(options, Window(since=now, until=now)))
    report = progress.report or open_report(options, night)
    unsent = any(
        analysis.gate is None and analysis.fingerprint in progress.gates
        for analysis in report.analyses
    )
    if unsent or len(report.receipts) < len(progress.receipts):
        report = builder.add_publications(report, progress.published(PublishResult()))
    return builder.fail_report(report, why, now, progress.selection)
