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
from nightwatch_core.models.proposals import GateResult, Receipt
from nightwatch_core.models.report import Night, NightRecord, RunReport
from nightwatch_core.publish.blocks import BRIEF
from nightwatch_core.report import builder
from nightwatch_core.report.headline import headline
from nightwatch_core.report.health import CLAUDE, HealthFacts, health
from nightwatch_core.report.sections import report_files
from nightwatch_core.report.view import apps_of, as_markdown, title_of, view
from nightwatch_core.text.escaping import is_web
from nightwatch_core.text.plain_text import shortened
from tasks.night import advice, banner, begin, name_run
from tasks.runner import Attempt, attempt, attempt_and_go_on, in_a_run, step
from tasks.wiring import share
from tasks.wiring.journals import forget_journals, unlisted
from tasks.wiring.opening import OpenNight
from tasks.wiring.services import code_reads, state_of

# Health never fails a night.

log = logging.getLogger(__name__)
MARK = "health"  # of the record by which Prefect's store is tried
LAST = 7  # nights whose reports are still sent
# Characters: Prefect's page folds no cell and hides the rest.
ERROR_WIDTH, PLACE_WIDTH, RESULT_WIDTH = 32, 20, 22
NOTHING_KEPT = "results cannot be stored: a retry of the run would pay for its analyses again"


def with_health(night: OpenNight, report: RunReport) -> RunReport:
    """Add to a report how its services are, and what the code cache answered."""
    calls, key = night.recording.service_calls(), f"{MARK}/{report.night.id}"
    unknown: tuple[NightRecord, ...] = ()
    history = attempt_and_go_on(
        "reading the history", night.publishing.nights.history, otherwise=unknown
    )
    lessons = attempt_and_go_on("reading lessons", _count_lessons, night, otherwise=None)
    is_answering = any(call.service == CLAUDE and call.is_last_well for call in calls)
    note = Attempt("")
    if night.options.model != RULES and is_answering:
        note = attempt_and_go_on("reading the model's note", _model_note, night, otherwise="")
    night.records.put(key, report.night.id)
    is_kept = night.records.get(key) == report.night.id
    facts = HealthFacts(
        calls=calls,
        earlier=tuple(item for item in history.value if item.id != report.night.id),
        lessons=lessons.value,
        knowledge_trouble=lessons.trouble or lessons.stop,
        records_trouble=share(night.settings) if is_kept else NOTHING_KEPT,
        model_note=note.value,
        state=state_of(night.settings),
        alarms=night.alarms(),
        left=(
            *night.recording.destinations(),
            *unlisted(night.settings, get_current_settings().api.url or ""),
        ),
    )
    update = {"health": health(report, facts), "code_reads": code_reads()}
    return report.model_copy(update=update)


def _count_lessons(night: OpenNight) -> int | None:
    return len(night.reading.knowledge.index().solutions)


def _model_note(night: OpenNight) -> str:
    return night.reading.model.capabilities().note


def open_report(night: OpenNight) -> RunReport:
    """Start the report that the night will fill."""
    now, at, options = night.reading.clock.now(), night.settings, night.options
    return builder.start_report(night.begun, options, banner(options), now).model_copy(
        update={"advice": advice(at), "application": at.application, "command": at.command}
    )


@step("keep report")
def keep_report(night: OpenNight, report: RunReport) -> RunReport:
    """Write the report's files; returns the report, which now knows its folder."""
    folder = night.publishing.nights.keep(report)
    share(night.settings)
    kept = report.night.model_copy(update={"folder": folder})
    return report.model_copy(update={"night": kept})


@step("show in Prefect")
def show_in_prefect(report: RunReport) -> None:
    """Show the table and the report as artifacts of this run, where there is one."""
    if not in_a_run():
        return
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
def notify(night: OpenNight, report: RunReport) -> str:
    """Send the report to the team; returns where to read it."""
    return night.publishing.notifier.publish(report)


def tell_earlier(night: OpenNight, report: RunReport) -> None:
    """Send the reports of the last nights that could not be sent, the oldest first."""
    nights = night.publishing.nights
    unsent = [report for report in islice(nights.reports(), LAST) if report.unsent]
    for late in reversed(unsent):
        if late.night.id != report.night.id:
            notify(night, late)
            nights.keep(late.model_copy(update={"unsent": False}))


def with_changes(night: OpenNight, report: RunReport) -> RunReport:
    """Add to a report what has changed since the newest night of its kind."""
    earlier = night.publishing.nights.reports()
    same = (item for item in islice(earlier, LAST) if item.night.kind.key == report.night.kind.key)
    before = next((item for item in same if item.night.id != report.night.id), None)
    found = changes(report, before) if before and report.night.kind.key else ()
    return report.model_copy(update={"changes": found})


def _finished(night: OpenNight, report: RunReport) -> RunReport:
    """The report as everybody sees it: in files, in Prefect, and on the terminal of its run."""
    return night.masked(report).model_copy(update={"finished": night.reading.clock.now()})


def _marked_unsent(report: RunReport, trouble: str) -> RunReport:
    """A report of which the team could not be told; the next night tells it."""
    return builder.degrade(report, trouble).model_copy(update={"unsent": True})


def keep_and_show(night: OpenNight, report: RunReport) -> RunReport:
    """Keep and show a report that is not sent to the team; the night is over."""
    kept = keep_report(night, _finished(night, report))
    attempt("showing the report in Prefect", show_in_prefect, kept, otherwise=None)
    night.publishing.nights.finish(kept)
    return kept


def tell_the_team(night: OpenNight, report: RunReport) -> RunReport:
    """Keep, show and send the report; a failed delivery degrades the night, and the report says so.

    Reports of earlier nights that could not be sent go first.
    """
    compared = attempt(
        "comparing with earlier nights", with_changes, night, report, otherwise=report
    )
    kept = keep_report(night, with_health(night, _finished(night, compared.value)))
    shown = attempt("showing the report in Prefect", show_in_prefect, kept, otherwise=None)
    late = attempt("sending earlier reports", tell_earlier, night, kept, otherwise=None)
    delivered = attempt("notifying the team", notify, night, kept, otherwise="")
    if delivered.trouble:
        kept = _marked_unsent(kept, delivered.trouble)
    whole = with_health(night, kept)  # now with how notifying the team went
    if shown.trouble or delivered.trouble or late.trouble or whole.health != kept.health:
        kept = keep_report(night, builder.degrade(whole, shown.trouble, late.trouble))
    night.publishing.nights.finish(kept)
    _announce(kept)
    log.info("%s: %s (%s)", title_of(kept), headline(kept), delivered.value)
    return kept


def _announce(report: RunReport) -> None:
    """Tell Prefect's automations how a night ended, where they can hear of it."""
    if not in_a_run():
        return
    resource = {
        "prefect.resource.id": f"nightwatch.night.{report.night.id}",
        "prefect.resource.name": f"{title_of(report)}: {headline(report)}",
        "nightwatch.application": report.application,
    }
    emit_event(event=f"nightwatch.night.{report.status}", resource=resource)


# How far a night has come, and the report that it leaves where it fails.


@dataclass
class Progress:
    """Hold what a night has found so far, for the report if it fails."""

    opened: OpenNight
    night: Night | None = None
    selection: Selection = Selection()
    report: RunReport | None = None
    waveless: RunReport | None = None  # the same before any wave
    receipts: list[Receipt] = field(default_factory=list)
    gates: dict[str, GateResult] = field(default_factory=dict)  # by fingerprint

    def begin(self, night: Night) -> Night:
        """Remember the night that began; what is sent belongs to it."""
        forget_journals(self.opened.settings)
        name_run(self.opened.settings.application, night.id)
        self.night = self.opened.begin(night)
        return night

    def select(self, selection: Selection) -> Selection:
        """Remember which groups are to be analysed; the run is named after their application."""
        self.selection = selection
        if self.night:
            apps = apps_of(group.app for group in selection.tonight)
            name_run(apps or self.opened.settings.application, self.night.id)
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
def report_on_failure(night: OpenNight) -> Iterator[Progress]:
    """Keep and send a report of what was found, and why it ends there, before the flow fails."""
    progress = Progress(night)
    try:
        yield progress
    except NotTonight:
        raise
    except NightWatchError as trouble:
        trouble.add_note(_report_failure(night, progress, str(trouble)))
        raise
    except Exception as bug:  # ours: reported like any failure, and raised again
        why = f"unforeseen {type(bug).__name__}: {bug}"[:1_000]
        bug.add_note(_report_failure(night, progress, why))
        raise


def _report_failure(night: OpenNight, progress: Progress, why: str) -> str:
    try:
        return f"Report: {_keep_and_tell(night, progress, why)}"
    except NightWatchError as trouble:
        return f"No report could be written: {trouble}"


def _keep_and_tell(night: OpenNight, progress: Progress, why: str) -> str:
    """Keep and send what was found and why the night failed; returns its file, and who was told."""
    report = with_health(night, _failed_report(night, progress, why))
    nights = night.publishing.nights
    folder = nights.keep(report)
    kept = report.night.model_copy(update={"folder": folder})
    report = report.model_copy(update={"night": kept})
    delivered = attempt("notifying the team", notify, night, report, otherwise="")
    if delivered.trouble:
        report = _marked_unsent(report, delivered.trouble)
        nights.keep(report)
    attempt("showing the report in Prefect", show_in_prefect, report, otherwise=None)
    nights.finish(report)
    _announce(report)
    page = report_files(report)[0]
    return f"{page}, sent to {delivered.value}" if is_web(delivered.value) else page


def _failed_report(night: OpenNight, progress: Progress, why: str) -> RunReport:
    now = night.reading.clock.now()
    if progress.night is None:
        progress.begin(begin(night, Window(since=now, until=now)))
    report = progress.report or open_report(night)
    unsent = any(
        analysis.gate is None and analysis.fingerprint in progress.gates
        for analysis in report.analyses
    )
    if unsent or len(report.receipts) < len(progress.receipts):
        report = builder.add_publications(report, progress.published(PublishResult()))
    return builder.fail_report(report, why, now, progress.selection)
