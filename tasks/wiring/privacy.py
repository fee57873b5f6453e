"""Mask secrets at every port, and list what is sent."""

import hmac
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from nightwatch_core.adapters.stores.atomic_files import make_private
from nightwatch_core.adapters.stores.state_folder import check_room_for_a_night, mask_key
from nightwatch_core.adapters.stores.traffic import MANIFEST, SentRequests
from nightwatch_core.models.options import Destination
from nightwatch_core.models.report import Night
from nightwatch_core.ports import Outbox
from nightwatch_core.privacy.masks import Masks, Scrub
from nightwatch_core.privacy.redaction import (
    Before,
    checked_knowledge,
    checked_outbox,
    redacted_batches,
    redacted_host,
    redacted_knowledge,
    redacted_lessons,
    redacted_model,
    redacted_nights,
    redacted_notifier,
    redacted_outbox,
    redacted_sandbox,
    redacted_source,
    redacted_tasks,
)
from nightwatch_core.privacy.scrubber import Scrubber
from nightwatch_core.privacy.second_check import SecondCheck
from nightwatch_core.settings import Settings, settings
from tasks.dependencies import PublishingPorts, ReadingPorts

_LOGGERS = ("nightwatch_core", "tasks", "flows", "prefect")


def scrubber(at: Settings) -> Scrubber:
    """Return the scrubber of a state folder, which masks our own secrets too."""
    return _scrubber(at.state, _own(at), at.scrub_addresses)


def second_check(at: Settings) -> SecondCheck:
    """Return the check that looks for our own keys in what is published."""
    return _second_check(_own(at))


def _own(at: Settings) -> tuple[str, ...]:
    values = (getattr(at, name) for name in type(at).model_fields)
    return tuple(value.get_secret_value() for value in values if isinstance(value, SecretStr))


@lru_cache(maxsize=4)
def _scrubber(state: Path, own: tuple[str, ...], addresses: bool) -> Scrubber:
    return Scrubber(Masks(partial(mask_key, state)), own, addresses=addresses)


def night_fence(night: str) -> str:
    """Return the night's fence name of 12 characters.

    Nobody can foresee it who does not know the state folder's key; a night that is taken up again
    has the same, so that what was paid for is found.
    """
    key = mask_key(settings().state)
    return hmac.new(key, f"fence {night}".encode(), "sha256").hexdigest()[:12]


@lru_cache(maxsize=4)
def _second_check(own: tuple[str, ...]) -> SecondCheck:
    return SecondCheck(own)


def scrubbed_reading(ports: ReadingPorts, at: Settings) -> ReadingPorts:
    """Return the ports, which give and get no secrets."""
    by = scrubber(at)
    return replace(
        ports,
        errors=redacted_source(ports.errors, by.scrub),
        code=redacted_host(ports.code, by),
        knowledge=redacted_lessons(ports.knowledge, by.scrub),
        model=redacted_model(ports.model, by.scrub),
        tasks=redacted_tasks(ports.tasks, by.scrub) if ports.tasks else None,
        batches=redacted_batches(ports.batches, by.scrub) if ports.batches else None,
        sandbox=redacted_sandbox(ports.sandbox, by.scrub) if ports.sandbox else None,
    )


def scrubbed_publishing(ports: PublishingPorts, at: Settings, before: Before) -> PublishingPorts:
    """Return the ports, which get no secrets; `before` reads the files that drafts change."""
    scrub, check = scrubber(at).scrub, second_check(at)

    def outbox(night: Night) -> Outbox:
        return redacted_outbox(checked_outbox(ports.outbox(night), check, before), scrub)

    return replace(
        ports,
        outbox=outbox,
        notifier=redacted_notifier(ports.notifier, scrub),
        knowledge=redacted_knowledge(checked_knowledge(ports.knowledge, check), scrub),
        nights=redacted_nights(ports.nights, scrub),
    )


def close_state(at: Settings) -> None:
    """Make the state folder private, and scrub log messages from now on."""
    check_room_for_a_night(at.state)
    make_private(at.state)
    current = logging.getLogRecordFactory()
    factory = current.factory if isinstance(current, _ScrubbedRecords) else current
    logging.setLogRecordFactory(_ScrubbedRecords(factory, scrubber(at).scrub))


class _ScrubbedRecords:
    """Makes records of our loggers and Prefect's with a message that is scrubbed."""

    def __init__(self, factory: Callable[..., logging.LogRecord], scrub: Scrub) -> None:
        self.factory, self._scrub = factory, scrub

    def __call__(self, *arguments: object, **named: object) -> logging.LogRecord:
        record = self.factory(*arguments, **named)
        if record.name.partition(".")[0] in _LOGGERS:
            record.msg, record.args = self._scrub(record.getMessage()), ()
            if record.exc_info:
                record.exc_text = self._scrub(logging.Formatter().formatException(record.exc_info))
        return record


# The list of what left the machine, of this process and of nights that were.


def open_list(at: Settings) -> None:
    """List what this process sends in the state folder; call it before clients are made."""
    MANIFEST.open(at.state / "sent", scrubber(at).scrub)


def list_for(night: str) -> None:
    """Assign what this run sends to a night; deletes the lists of deleted nights."""
    MANIFEST.belongs_to(night)
    sent_requests().forget_old(settings().state / "nights")


def sent_requests() -> SentRequests:
    """Return the sent requests."""
    return SentRequests(settings().state / "sent")


def destinations(prefect: str) -> tuple[Destination, ...]:
    """Return the bytes per destination; `prefect` is its API address, empty if embedded."""
    host = urlsplit(prefect).netloc.rpartition("@")[2]
    server = Destination(service="Prefect", host=host, listed=False)
    is_here = (urlsplit(prefect).hostname or "localhost") in ("localhost", "127.0.0.1", "::1")
    return (*MANIFEST.destinations(), *(() if is_here else (server,)))
