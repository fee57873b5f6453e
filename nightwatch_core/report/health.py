"""How well the services of a night were: put together from what was counted and what came of it."""

from collections.abc import Iterable, Mapping

from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.health import Health, ServiceCalls, ServiceHealth, StateFolder
from nightwatch_core.models.manifest import Destination
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import NightRecord, RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.report.health_due import due_sentences

SERVICES: Mapping[str, str] = {"newrelic": "New Relic", "github": "GitHub", "slack": "Slack"}
LOCAL: Mapping[str, str] = {
    "file": "files of errors",
    "sample": "the sample",
    "checkout": "the checkout",
    "local": "this machine",
}
CLAUDE = "Claude"


class HealthFacts(Value):
    """What was looked at on the night's own machine when its report was written."""

    calls: tuple[ServiceCalls, ...] = ()
    earlier: tuple[NightRecord, ...] = ()  # newest first
    lessons: int | None = None  # that are at hand; None: they cannot be read
    knowledge_trouble: str = ""
    records_trouble: str = ""  # why Prefect's store keeps nothing
    model_note: str = ""  # when the model retires, as its service says
    state: StateFolder = StateFolder()
    left: tuple[Destination, ...] | None = None
    alarms: tuple[str, ...] = ()  # of the second check before publications


def health(report: RunReport, facts: HealthFacts) -> Health:
    """Say of each service of the night how it was, and what somebody has to see to."""
    calls = {one.service: one for one in facts.calls}
    roles = {name: ("other",) for name in calls} | _roles(report.options)
    services = (
        *(
            _service(name, did, calls.get(name), report, facts.earlier)
            for name, did in sorted(roles.items(), key=lambda role: role[1] == ("other",))
        ),
        _knowledge(facts),
        _records(facts),
    )
    due = due_sentences(report, facts.calls, facts.state, facts.lessons, facts.model_note)
    alarms = (
        f"{alarm}: look where it comes from, and replace the key if it is one"
        for alarm in facts.alarms
    )
    return Health(services=services, due=(*alarms, *due), left=facts.left)


def _roles(options: NightOptions) -> dict[str, tuple[str, ...]]:
    """Services by name, with what they did; one may do several things.

    >>> night = NightOptions(source="newrelic", code="github", delivery="github", model="rules")
    >>> _roles(night)
    {'New Relic': ('errors',), 'GitHub': ('code', 'issues')}
    """
    model = "" if options.model == RULES else options.model and CLAUDE
    roles: dict[str, tuple[str, ...]] = {}
    for name, role in (
        *((source, "errors") for source in options.sources()),
        (options.code, "code"),
        (model, "model"),
        (options.delivery, "issues"),
        ("" if options.dry_run else options.notify, "news"),
    ):
        called = SERVICES.get(name) or LOCAL.get(name) or name
        if called:
            roles[called] = (*roles.get(called, ()), role)
    return roles


def _service(
    name: str,
    roles: tuple[str, ...],
    calls: ServiceCalls | None,
    report: RunReport,
    earlier: Iterable[NightRecord],
) -> ServiceHealth:
    if name not in (*SERVICES.values(), CLAUDE):
        return _local(name, roles, report)
    if calls is None:
        return ServiceHealth(name=name, roles=roles, state="not asked")
    state = _state(calls)
    last = next((one.started for one in earlier if name in one.well), None)
    return ServiceHealth.model_validate(
        {
            "name": name,
            "roles": roles,
            "state": state,
            "calls": calls,
            "detail": "" if state == "well" else calls.trouble,
            "last_well": last if state == "away" else None,
        }
    )


def _state(calls: ServiceCalls) -> str:
    """Away: nothing came. Troubled: something did, and something else did not, or not at once."""
    failed = calls.unanswered + calls.refused
    if calls.requests and failed >= calls.requests:
        return "away"
    return "troubled" if failed or calls.waits else "well"


def _local(name: str, roles: tuple[str, ...], report: RunReport) -> ServiceHealth:
    """What is on this machine was read where something came of it."""
    came: dict[str, bool] = {
        "errors": bool(report.errors or report.rejects or report.status != "failed"),
        "code": bool(report.commit or report.status != "failed"),
    }
    is_well = all(came.get(role, True) for role in roles)
    detail = "" if is_well else "nothing was read"
    state = "well" if is_well else "away"
    return ServiceHealth.model_validate(
        {"name": name, "roles": roles, "state": state, "detail": detail}
    )


def _knowledge(facts: HealthFacts) -> ServiceHealth:
    if facts.lessons is None:
        return ServiceHealth(
            name="knowledge", roles=("memory",), state="away", detail=facts.knowledge_trouble
        )
    count = f"{facts.lessons:,} lesson{'' if facts.lessons == 1 else 's'}"
    return ServiceHealth(name="knowledge", roles=("memory",), detail=count)


def _records(facts: HealthFacts) -> ServiceHealth:
    trouble = facts.records_trouble
    state = "away" if trouble else "well"
    return ServiceHealth.model_validate(
        {"name": "Prefect's store", "roles": ("records",), "state": state, "detail": trouble}
    )


def well_services(health: Health | None) -> tuple[str, ...]:
    """Names of the services that answered, for the history; local ones are always there."""
    services = health.services if health else ()
    return tuple(one.name for one in services if one.calls and one.state in ("well", "troubled"))
