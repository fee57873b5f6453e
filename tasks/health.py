"""The health of a night: how its services were, for the report; it never fails the night."""

import logging

from prefect.settings import get_current_settings

from nightwatch_core.errors import NightWatchError
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.health import ServiceCalls
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import NightRecord, RunReport
from nightwatch_core.report.health import CLAUDE, HealthFacts, health
from tasks.records import records
from tasks.wiring import nights, reading
from tasks.wiring.health import alarms, service_calls, state_of
from tasks.wiring.manifest import destinations

log = logging.getLogger(__name__)
MARK = "health"  # of the record by which Prefect's store is tried


def with_health(report: RunReport) -> RunReport:
    """The report, with how its services were up to now."""
    options, calls = report.options, service_calls()
    lessons, trouble = _lessons(options)
    facts = HealthFacts(
        calls=calls,
        earlier=_earlier(report),
        lessons=lessons,
        knowledge_trouble=trouble,
        records_trouble=_records_trouble(report),
        model_note=_model_note(options, calls),
        state=state_of(options),
        alarms=alarms(),
        left=destinations(get_current_settings().api.url or ""),
    )
    return report.model_copy(update={"health": health(report, facts)})


def _earlier(report: RunReport) -> tuple[NightRecord, ...]:
    try:
        return tuple(one for one in nights().history() if one.id != report.night.id)
    except NightWatchError as trouble:
        log.warning("the history cannot be read for the health section: %s", trouble)
        return ()


def _lessons(options: NightOptions) -> tuple[int | None, str]:
    """How many lessons are at hand, or why that cannot be said."""
    try:
        return len(reading(options).knowledge.index().solutions), ""
    except NightWatchError as trouble:
        return None, str(trouble)


def _records_trouble(report: RunReport) -> str:
    """Why Prefect's store keeps nothing; empty where it does."""
    key = f"{MARK}/{report.night.id}"
    records().put(key, report.night.id)
    kept = records().get(key) == report.night.id
    return "" if kept else "it keeps nothing: a Retry of the run would pay for its analyses again"


def _model_note(options: NightOptions, calls: tuple[ServiceCalls, ...]) -> str:
    """When the model retires; not asked where it was away, or where there is none."""
    answered = any(one.service == CLAUDE and one.is_last_well for one in calls)
    if options.model == RULES or not answered:
        return ""
    try:
        return reading(options).model.capabilities().note
    except NightWatchError:
        return ""  # it went away after its last answer: its own line says so
