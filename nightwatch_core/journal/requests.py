"""What left the machine, and how services answered, read from the journal."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

from nightwatch_core.journal.reader import NightJournal
from nightwatch_core.models.journal import Event, SentRequest
from nightwatch_core.models.options import Destination, ServiceCalls

Outcome = Literal["answered", "unanswered", "refused", "waited", "expires"]
"""The call of an event about how a service took a request; `answer` names its JSON."""


def sent_requests(journal: NightJournal) -> tuple[SentRequest, ...]:
    """Return every request, in the order in which they were sent."""
    return tuple(
        SentRequest(
            at=event.at,
            service=event.port,
            method=event.call,
            to=event.to,
            bytes=event.sent,
            sha256=event.exact,
            masked=event.masked,
            text=event.asked,
        )
        for event in journal.events
        if event.to
    )


def body_of(journal: NightJournal, request: SentRequest) -> bytes | None:
    """Return the kept body of a request; None where there was none, or it is gone."""
    text = journal.texts.get(request.text)
    return None if text is None else str(json.loads(text)).encode("utf-8", "surrogateescape")


def destinations(events: Iterable[Event]) -> tuple[Destination, ...]:
    """Return the bytes that went to each host.

    >>> sent = Event(at=datetime(2026, 1, 1), port="Slack", call="POST", to="https://a/b", sent=3)
    >>> destinations((sent, sent))[0].bytes
    6
    """
    totals: dict[tuple[str, str], tuple[int, int]] = {}
    for event in events:
        if event.to:
            key = event.port, urlsplit(event.to).netloc
            count, size = totals.get(key, (0, 0))
            totals[key] = count + 1, size + event.sent
    return tuple(
        Destination(service=service, host=host, requests=count, bytes=size)
        for (service, host), (count, size) in sorted(totals.items())
    )


def service_calls(journal: NightJournal) -> tuple[ServiceCalls, ...]:
    """Return how each service answered the processes of a journal."""
    found: dict[str, ServiceCalls] = {}
    for event in journal.events:
        if event.call in ("answered", "unanswered", "refused", "waited", "expires"):
            text = journal.texts.get(event.answer, '""')
            calls = found.get(event.port) or ServiceCalls(service=event.port)
            found[event.port] = calls + _counted(event, str(json.loads(text)))
    return tuple(found.values())


def _counted(event: Event, text: str) -> ServiceCalls:
    if event.call == "waited":
        return ServiceCalls(service=event.port, waits=1, waited=event.ms / 1_000)
    if event.call == "expires":
        return ServiceCalls(service=event.port, expires=datetime.fromisoformat(text))
    failed = event.call != "answered"
    return ServiceCalls(
        service=event.port,
        requests=1,
        unanswered=event.call == "unanswered",
        refused=event.call == "refused",
        trouble=text if failed else "",
        is_last_well=not failed,
    )
