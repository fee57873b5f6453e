"""Mask secrets and personal data at every port, in the log, and in what is kept."""

import hmac
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from pydantic import SecretStr

from nightwatch_core import ports
from nightwatch_core.adapters.stores import state_folder
from nightwatch_core.adapters.stores.atomic_files import make_private
from nightwatch_core.adapters.stores.postgres import located
from nightwatch_core.models.report import Night
from nightwatch_core.privacy import redaction
from nightwatch_core.privacy.scrubber import Masks, Scrub, Scrubber
from nightwatch_core.settings import Settings
from tasks.ports import PublishingPorts, ReadingPorts
from tasks.wiring.local import shared_folder

_LOGGERS = ("nightwatch_core", "tasks", "flows", "prefect")


@lru_cache(maxsize=4)
def scrubber(at: Settings) -> Scrubber:
    """Return the scrubber of a state folder, which masks our own secrets too."""
    masks = Masks(partial(_mask_key, at))
    return Scrubber(masks, _own_secrets(at), addresses=at.scrub_addresses)


@lru_cache(maxsize=4)
def _mask_key(at: Settings) -> bytes:
    """All workers have one: what they ask a model is the same, and is paid for once."""
    own = state_folder.mask_key(at.state)
    return shared_folder(at.shared_url).create("mask-key", own) if at.shared_url else own


@lru_cache(maxsize=4)
def second_check(at: Settings) -> redaction.SecondCheck:
    """Return the check that looks for our own keys in what is published."""
    return redaction.SecondCheck(_own_secrets(at))


def _own_secrets(at: Settings) -> tuple[str, ...]:
    values = (getattr(at, name) for name in type(at).model_fields)
    whole = tuple(value.get_secret_value() for value in values if isinstance(value, SecretStr))
    return (*whole, *(located(at.database_url)[1] if at.database_url else ()))


def night_fence(night: str, at: Settings) -> str:
    """Return the night's fence name of 12 characters.

    Nobody can foresee it who does not know the state folder's key; a night that is taken up again
    has the same, so that what was paid for is found.
    """
    key = _mask_key(at)
    return hmac.new(key, f"fence {night}".encode(), "sha256").hexdigest()[:12]


def scrubbed_reading(given: ReadingPorts, at: Settings) -> ReadingPorts:
    """Return the ports, which give and get no secrets."""
    scrub = scrubber(at).scrub
    optional: dict[str, Any] = {}
    if given.tasks:
        optional["tasks"] = redaction.redacted(given.tasks, ports.TaskStore, scrub)
    if given.batches:
        optional["batches"] = redaction.redacted_model(given.batches, ports.BatchModel, scrub)
    if given.sandbox:
        optional["sandbox"] = redaction.redacted(given.sandbox, ports.Sandbox, scrub)
    return replace(
        given,
        errors=redaction.redacted(given.errors, ports.ErrorSource, scrub),
        code=redaction.redacted_host(given.code, scrubber(at)),
        knowledge=redaction.redacted(given.knowledge, ports.KnowledgeReader, scrub),
        model=redaction.redacted_model(given.model, ports.Model, scrub),
        **optional,
    )


def scrubbed_publishing(given: PublishingPorts, at: Settings) -> PublishingPorts:
    """Return the ports, which get no secrets."""
    scrub, check = scrubber(at).scrub, second_check(at)

    def outbox(night: Night) -> ports.Outbox:
        checked = redaction.checked_outbox(given.outbox(night), check)
        return redaction.redacted_outbox(checked, scrub)

    knowledge = redaction.checked_knowledge(given.knowledge, check)
    return replace(
        given,
        outbox=outbox,
        notifier=redaction.redacted(given.notifier, ports.Notifier, scrub),
        knowledge=redaction.redacted(knowledge, ports.KnowledgeWriter, scrub),
        nights=redaction.redacted(given.nights, ports.Nights, scrub),
    )


def close_state(at: Settings) -> None:
    """Make the state folder private, and scrub log messages from now on."""
    state_folder.check_room_for_a_night(at.state)
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
