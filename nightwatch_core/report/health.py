"""Health of a night's services."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta

from nightwatch_core.intake.default_ports import ON_THIS_MACHINE, RULES
from nightwatch_core.intake.windows import HELD
from nightwatch_core.models.options import (
    Destination,
    Health,
    NightOptions,
    ServiceCalls,
    ServiceHealth,
    StateFolder,
)
from nightwatch_core.models.report import NightRecord, RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.publish import blocks
from nightwatch_core.publish.finding import NOT_RUN
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import plural, roughly

SOON = timedelta(days=14)  # a sign-in that ends within
OLD_PRICES = timedelta(days=120)
LEAST_FREE, LEAST_SHARE = 2**30, 0.03  # bytes, or share, of the disk that should be free

CLAUDE = "Claude"
NAMES: Mapping[str, str] = {"newrelic": "New Relic", "github": "GitHub", "gitlab": "GitLab"}
HERE = frozenset({*HELD, *ON_THIS_MACHINE, "local", ""})  # no services


class HealthFacts(Value):
    """Facts of this machine when the report is written."""

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
    """Return the state of each service of the night, and what somebody has to do."""
    calls = {call.service: call for call in facts.calls}
    names = dict.fromkeys((*_connected(report.options), *calls))
    lessons = "" if facts.lessons is None else plural(facts.lessons, "lesson")
    services = (
        *(_service(name, calls.get(name), facts.earlier) for name in names),
        _kept("knowledge", facts.knowledge_trouble, lessons),
        _kept("Prefect's store", facts.records_trouble),
    )
    return Health(
        services=services,
        due=tuple(_due(report, facts)),
        advice=tuple(_advice(report)),
        left=facts.left,
    )


def _advice(report: RunReport) -> Iterator[str]:
    """Say once why fixes were not tested, or not as they should be, and what to do."""
    gates = [analysis.gate for analysis in report.analyses if analysis.gate]
    reasons = Counter(gate.text for gate in gates if gate.kind in NOT_RUN and gate.text)
    for reason, count in reasons.items():
        yield f"{plural(count, 'fix was', 'fixes were')} not tested: {reason}"
    stale = (item.text for gate in gates for item in gate.checks if item.name == "profile")
    yield from (f"tests of a project: {text}" for text in dict.fromkeys(stale))
    passed = (gate.checks for gate in gates if gate.outcome == "passed")
    if cut := sum(any(item.outcome == "not finished" for item in checks) for checks in passed):
        many, now = plural(cut, "fix was", "fixes were"), report.options.gate_seconds
        yield f"{many} not tested by the whole suite: raise --gate-seconds (now {now})"


def _due(report: RunReport, facts: HealthFacts) -> Iterator[str]:
    """List what will fail or mislead unless somebody acts."""
    for alarm in facts.alarms:
        yield f"{alarm}: find its source, and replace the key if it is real"
    for call in facts.calls:
        if call.expires and (left := call.expires - report.finished) < SOON:
            verb = "expired" if left < timedelta() else "expire"
            yield (
                f"the credentials for {call.service} {verb} on {call.expires:%Y-%m-%d}: renew them"
            )
    if facts.model_note:
        yield f"{report.options.model} {facts.model_note}"
    free, size = facts.state.free, facts.state.size
    if size and free < max(LEAST_FREE, LEAST_SHARE * size):
        yield f"{free / 2**30:.1f} GiB are free on the disk of the state folder"
    if report.night.left_out:
        yield report.night.left_out
    if priced := report.usage.priced:
        age = report.finished.date() - date.fromisoformat(priced)
        if age > OLD_PRICES:
            yield f"prices are {roughly(age)} old ({priced}): costs may be wrong"


def _connected(options: NightOptions) -> tuple[str, ...]:
    """Names of the services that the night asks; who is told the result may not be asked yet."""
    ports = (*options.sources(), options.code, options.delivery)
    names = [NAMES.get(port, port.capitalize()) for port in ports if port not in HERE]
    by_model = options.model and options.model != RULES
    return (*names, CLAUDE) if by_model else tuple(names)


def _service(
    name: str, calls: ServiceCalls | None, earlier: Iterable[NightRecord]
) -> ServiceHealth:
    if calls is None:
        return ServiceHealth(name=name, state="not asked")
    failed = calls.unanswered + calls.refused
    if calls.requests and failed >= calls.requests:
        last = next((record.started for record in earlier if name in record.well), None)
        return ServiceHealth(
            name=name, state="away", calls=calls, detail=calls.trouble, last_well=last
        )
    if failed or calls.waits:  # something came, and something else did not, or not at once
        return ServiceHealth(name=name, state="troubled", calls=calls, detail=calls.trouble)
    return ServiceHealth(name=name, calls=calls)


def _kept(name: str, trouble: str, detail: str = "") -> ServiceHealth:
    """The health of something on this machine: it works, or `trouble` says why not."""
    return ServiceHealth(name=name, state="away" if trouble else "well", detail=trouble or detail)


def well_services(health: Health | None) -> tuple[str, ...]:
    """Return names of the services that answered, for the history."""
    services = health.services if health else ()
    return tuple(item.name for item in services if item.calls and item.state != "away")


# The health of a night's services, in words: one line where nobody has to do anything.

UNKNOWN = "no earlier night reached it"


def health_section(report: RunReport, limits: blocks.Limits) -> blocks.Section:
    """Return one line, or a line for each service that was not well, and what is due."""
    health = report.health
    if health is None or (health.is_good and not limits.good_health):
        return blocks.section("health", "")
    text = line(good_line(health), blocks.LONG)
    well = (blocks.Paragraphs(text=text),) if text else ()
    unwell = [service for service in health.services if service.state in ("troubled", "away")]
    advice = health.advice if limits.advice else ()
    named = (*(("Due", item) for item in health.due), *(("To set", item) for item in advice))
    due = (blocks.Entry(head=head, text=line(item, blocks.LONG)) for head, item in named)
    entries = blocks.cut(blocks.Entries, (*map(_entry, unwell), *due), limits.lines)
    return blocks.section("health", "Health", entries, well)


def good_line(health: Health) -> str:
    """Name the services that were well, and how much was asked of them.

    >>> calls = ServiceCalls(service="Slack", requests=3)
    >>> good_line(Health(services=(ServiceHealth(name="Slack", calls=calls),)))
    'All services answered: Slack (3 requests).'
    """
    well, unasked = [], []
    for service in health.services:
        counted = plural(service.calls.requests, "request") if service.calls else service.detail
        if service.state == "well":
            well.append(f"{service.name} ({counted})" if counted else service.name)
        elif service.state == "not asked":
            unasked.append(service.name)
    start = "All services answered" if health.is_good else "Services that answered"
    texts = (
        f"{start}: {', '.join(well)}." if well else "",
        f"Not used: {', '.join(unasked)}." if unasked else "",
    )
    return " ".join(filter(None, texts))


def left_sentence(health: Health | None, command: str = "nightwatch") -> str:
    """Return what was sent to which service; empty if it was not counted.

    >>> from nightwatch_core.models.options import Destination
    >>> left_sentence(Health(left=()))
    'none'
    >>> claude = Destination(service="Claude", host="api.anthropic.com", requests=1, bytes=3_000)
    >>> left_sentence(Health(left=(claude,)))
    '1 request, 3 kB for api.anthropic.com: `nightwatch manifest`'
    """
    if health is None or health.left is None:
        return ""
    parts = (
        f"{plural(item.requests, 'request')}, "
        f"{max(round(item.bytes / 1_000), 1):,} kB for {item.host}"
        if item.listed
        else f"run data for {item.service} at {item.host} (not listed)"
        for item in health.left
    )
    text = f"{'; '.join(parts)}: `{command} manifest`" if health.left else "none"
    return line(text, blocks.LONG)


def _entry(item: ServiceHealth) -> blocks.Entry:
    calls = item.calls or ServiceCalls(service=item.name)
    only_refused = calls.refused and not calls.unanswered
    if item.state == "away":
        how = "refused all requests" if only_refused else "did not answer"
    elif only_refused:
        how = "refused some requests"
    else:
        how = "answered after retries" if calls.is_last_well else "stopped answering"
    counts = (
        plural(calls.requests, "request"),
        f"{calls.unanswered:,} without an answer" if calls.unanswered else "",
        f"{calls.refused:,} refused" if calls.refused else "",
        f"{plural(calls.waits, 'wait')}, {calls.waited:,.0f} s in total" if calls.waits else "",
    )
    last = f"last worked on {item.last_well:%Y-%m-%d}" if item.last_well else UNKNOWN
    return blocks.Entry(
        head=line(f"{item.name} {how}", blocks.NAME),
        text=line(item.detail, blocks.LONG),
        small=line(", ".join(filter(None, counts)), blocks.LONG) if item.calls else "",
        more=(last,) if item.state == "away" and item.calls else (),
    )
