"""The health of a night's services, in words: one line where nobody has to do anything."""

from collections.abc import Iterator

from nightwatch_core.models.health import Health, ServiceCalls, ServiceHealth
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.blocks import Entries, Entry, Paragraphs, Section, cut, section
from nightwatch_core.report.limits import LONG, NAME, Limits
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import plural

UNKNOWN = "no earlier night is known to have reached it"


def health_section(report: RunReport, limits: Limits) -> Section:
    """One line, or a line for each service that was not well, and what is due."""
    health = report.health
    if health is None:
        return section("health", "")
    well = Paragraphs(text=line(good_line(health), LONG))
    if health.is_good:
        return section("health", "Health", (well,) if limits.good_health else ())
    unwell = [one for one in health.services if one.state in ("troubled", "away")]
    due = (Entry(head="Due", text=line(each, LONG)) for each in health.due)
    entries = cut(Entries, (*map(_entry, unwell), *due), limits.lines)
    return section("health", "Health", entries, (well,) if well.text else ())


def good_line(health: Health) -> str:
    """Name the services that were well, and how much was asked of them.

    >>> calls = ServiceCalls(service="Slack", requests=3)
    >>> good_line(Health(services=(ServiceHealth(name="Slack", calls=calls),)))
    'All well: Slack (3 requests).'
    """
    well = [one for one in health.services if one.state == "well"]
    # who is told is told last, and may not have been yet
    unasked = [
        one.name for one in health.services if one.state == "not asked" and one.roles != ("news",)
    ]
    names = ", ".join(map(_named, well))
    start = ("All well" if health.is_good else "Well") if well else ""
    rest = f" Not asked: {', '.join(unasked)}." if unasked else ""
    return (f"{start}: {names}." if names else "") + rest


def left_sentence(health: Health | None) -> str:
    """Say how much left the machine for whom; empty where nobody looked.

    >>> from nightwatch_core.models.manifest import Destination
    >>> left_sentence(Health(left=()))
    'nothing'
    >>> claude = Destination(service="Claude", host="api.anthropic.com", requests=1, bytes=3_000)
    >>> left_sentence(Health(left=(claude,)))
    '1 request, 3 kB for api.anthropic.com: `nightwatch manifest`'
    """
    if health is None or health.left is None:
        return ""
    parts = (
        f"{plural(one.requests, 'request')}, {max(round(one.bytes / 1_000), 1):,} kB for {one.host}"
        if one.listed
        else f"{one.service}'s record of the run, which is not listed, for {one.host}"
        for one in health.left
    )
    return line(f"{'; '.join(parts)}: `nightwatch manifest`" if health.left else "nothing", LONG)


def _named(one: ServiceHealth) -> str:
    counted = plural(one.calls.requests, "request") if one.calls else one.detail
    return f"{one.name} ({counted})" if counted else one.name


def _entry(one: ServiceHealth) -> Entry:
    small = ", ".join(_counts(one.calls)) if one.calls else ""
    return Entry(
        head=line(f"{one.name} {_how(one)}", NAME),
        text=line(one.detail, LONG),
        small=line(small, LONG),
        more=tuple(_last(one)),
    )


def _how(one: ServiceHealth) -> str:
    """What became of a service that was not well.

    >>> refused = ServiceCalls(service="GitHub", requests=9, refused=2)
    >>> _how(ServiceHealth(name="GitHub", state="troubled", calls=refused))
    'refused something'
    """
    calls = one.calls or ServiceCalls(service=one.name)
    if one.state == "away":
        return "refused everything" if calls.refused and not calls.unanswered else "did not answer"
    if calls.refused and not calls.unanswered:
        return "refused something"
    return "answered in the end" if calls.is_last_well else "stopped answering"


def _counts(calls: ServiceCalls) -> Iterator[str]:
    yield plural(calls.requests, "request")
    for count, text in (
        (calls.unanswered, "without an answer"),
        (calls.refused, "refused"),
    ):
        if count:
            yield f"{count:,} {text}"
    if calls.waits:
        yield f"{plural(calls.waits, 'wait')} of {calls.waited:,.0f} s in all"


def _last(one: ServiceHealth) -> Iterator[str]:
    if one.state == "away" and one.calls:
        at = one.last_well
        yield f"last worked on {at:%Y-%m-%d}" if at else UNKNOWN
