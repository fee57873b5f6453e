"""The ports of a replay: a night's bundle in place of the world."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

from nightwatch_core.adapters.local.quiet import LocalNotifier
from nightwatch_core.adapters.stores.bundle_files import read_bundle
from nightwatch_core.adapters.stores.nights import NightStore
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.bundle import Bundle
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.ports import BatchStore, KnowledgeWriter, Model, Outbox
from nightwatch_core.privacy.scrubbed_reading import ScrubbedModel
from nightwatch_core.replay.players import PlayedModel, PlayedNights, ReplayClock, player
from nightwatch_core.replay.record import Record
from nightwatch_core.rules.model import RulesModel
from nightwatch_core.settings import settings
from tasks.dependencies import Dependencies, PublishingPorts, ReadingPorts
from tasks.wiring import privacy, services
from tasks.wiring.recording import bundles, without_none

Live = Callable[[str], Model]  # the model of that name
OURS = ("NIGHTWATCH_", "PREFECT_", "NEW_RELIC_", "GITHUB_", "SLACK_", "ANTHROPIC_")


def bundle_named(name: str) -> Bundle:
    """Read the bundle of that path or night; empty: the newest one. Raises `GiveUp`."""
    if not name:
        return read_bundle(bundles().newest())
    path = Path(name).expanduser()
    return read_bundle(path if path.is_file() else bundles().path(name))


def live_models(options: NightOptions) -> Live:
    """Models as the settings describe them now, asked with what these options allow."""
    at = settings()

    @lru_cache
    def model(name: str) -> Model:
        named = options.model_copy(update={"model": name})
        return ScrubbedModel(services.claude(named, at), privacy.scrubber(at).scrub)

    return model


@contextmanager
def elsewhere(bundle: Bundle) -> Iterator[Path]:
    """Give a replay a state folder of its own, and settings that are the night's; returns it."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(OURS)}
    with TemporaryDirectory(prefix="nightwatch-replay-") as folder:
        given = {
            "NIGHTWATCH_HOME": folder,
            "NIGHTWATCH_STATE": f"{folder}/state",
            "NIGHTWATCH_SCRUB_ADDRESSES": bundle.manifest.settings.get("scrub_addresses", "False"),
            "PREFECT_HOME": f"{folder}/prefect",
        }
        _set_only(given)
        try:
            yield settings().state
        finally:
            _set_only(kept)


def dependencies(
    bundle: Bundle, night: Night, live: Live | None, model: str
) -> tuple[Dependencies, Record]:
    """Return what a replay depends on, and the record, which knows what was missed."""
    at, manifest = settings(), bundle.manifest
    record = Record(bundle, privacy.scrubber(at).scrub)
    clock, rules = ReplayClock(manifest.began), RulesModel()

    def model_of(name: str) -> Model:
        if name == RULES:
            return rules
        return PlayedModel(name, record, clock, (lambda: live(name)) if live else None)

    reading = ReadingPorts(
        **_played(record, manifest.ports),
        clock=clock,
        model=model_of(model),
        stand_in=None if model == RULES else rules,
    )
    publishing = PublishingPorts(
        outbox=lambda _: player(Outbox, "outbox", record),
        notifier=LocalNotifier(),
        knowledge=player(KnowledgeWriter, "lessons", record),
        nights=PlayedNights(NightStore(at.state, clock), night, record),
        batch_store=player(BatchStore, "batch_store", record) if reading.batches else None,
    )
    return Dependencies(reading, publishing, model_of=model_of, recorded=True), record


def sealed_again(night: Night) -> Bundle:
    """Return the bundle that a replay left in its own state folder; raises `GiveUp`."""
    return read_bundle(bundles().path(night.id))


def _played(record: Record, there: tuple[str, ...]) -> dict[str, Any]:
    """A player for every port that the night had, but for its time and its models."""
    kinds = get_type_hints(ReadingPorts)
    return {
        one.name: player(without_none(kinds[one.name]), one.name, record)
        for one in fields(ReadingPorts)
        if one.name in there and one.name not in ("clock", "model", "stand_in")
    }


def _set_only(values: Mapping[str, str]) -> None:
    """Have no other settings of ours in the environment than these."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(values)
