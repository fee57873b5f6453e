"""A night run again from what was written down of it: nothing is asked, and nothing leaves."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

from nightwatch_core import ports
from nightwatch_core.adapters.local.quiet import LocalNotifier
from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.journal.player import ReplayClock, played_nights, player
from nightwatch_core.journal.record import Record
from nightwatch_core.models.journal import Bundle
from nightwatch_core.models.options import NightOptions
from nightwatch_core.rules.engine import RulesModel
from nightwatch_core.settings import Settings, names, settings
from tasks.ports import Adapters, PublishingPorts, ReadingPorts
from tasks.wiring import local
from tasks.wiring.journals import without_none
from tasks.wiring.masks import scrubber
from tasks.wiring.opening import OpenNight, current_step

OURS = ("NIGHTWATCH_", "PREFECT_", *names())


@contextmanager
def environment(bundle: Bundle) -> Iterator[Settings]:
    """Set the settings of the night over a temporary state folder; returns them."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(OURS)}
    with TemporaryDirectory(prefix="nightwatch-replay-") as folder:
        given = {
            "NIGHTWATCH_HOME": folder,
            "NIGHTWATCH_STATE": f"{folder}/state",
            "NIGHTWATCH_SCRUB_ADDRESSES": bundle.manifest.settings.get("scrub_addresses", "False"),
            "PREFECT_HOME": f"{folder}/prefect",
            "PREFECT_LOGGING_TO_API_ENABLED": "false",
        }
        _set_only(given)
        try:
            yield settings()
        finally:
            _set_only(kept)


def _set_only(values: Mapping[str, str]) -> None:
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(values)


def opened(bundle: Bundle, options: NightOptions, at: Settings) -> tuple[OpenNight, Record]:
    """Open a night over the record of another one; the record lists new questions."""
    record = Record(bundle, scrubber(at).scrub, current_step)
    return OpenNight(options, at, _played(bundle, options, at, record)), record


def _played(bundle: Bundle, options: NightOptions, at: Settings, record: Record) -> Adapters:
    manifest = bundle.manifest
    clock, rules = ReplayClock(manifest.began), RulesModel()

    def model_named(name: str) -> ports.Model:
        if name == RULES:
            return rules
        played: ports.Model = player(ports.Model, f"model@{name}", record, wait=clock.wait)
        return played

    def reading() -> ReadingPorts:
        kinds = get_type_hints(ReadingPorts)
        played: dict[str, Any] = {
            field.name: player(without_none(kinds[field.name]), field.name, record)
            for field in fields(ReadingPorts)
            if field.name in manifest.ports and field.name not in ("clock", "model", "stand_in")
        }
        stand_in = None if options.model == RULES else rules
        model = model_named(options.model)
        return ReadingPorts(**played, clock=clock, model=model, stand_in=stand_in)

    def publishing() -> PublishingPorts:
        has_batches = "batches" in manifest.ports
        return PublishingPorts(
            outbox=lambda _: player(ports.Outbox, "outbox", record),
            notifier=LocalNotifier(),
            knowledge=player(ports.KnowledgeWriter, "lessons", record),
            nights=played_nights(NightStore(at.state, clock), manifest.night, record),
            batch_store=player(ports.BatchStore, "batch_store", record) if has_batches else None,
        )

    def code() -> ports.CodeHost:
        host: ports.CodeHost = player(ports.CodeHost, "code", record)
        return host

    return Adapters(
        reading=reading,
        publishing=publishing,
        bare_code=code,
        few_files=code,
        model_named=model_named,
        batches_named=lambda _: player(ports.BatchModel, "batches", record),
        records=lambda: local.records(at),
        pause=lambda _: None,
    )
