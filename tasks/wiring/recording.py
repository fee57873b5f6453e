"""A night is written down while it runs: every question to a port with its answer, then a bundle.

This stands outside the walls of `privacy.py`: what is written down is masked. What cannot be
written costs the bundle, never the night.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import SecretStr

from nightwatch_core.adapters.local.quiet import LocalNotifier, SystemClock
from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.adapters.stores.state_folder import BundleFiles, read_bundle
from nightwatch_core.errors import NightWatchError
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Bundle, Night, RunReport
from nightwatch_core.ports import BatchStore, CodeHost, KnowledgeWriter, Model, Nights, Outbox
from nightwatch_core.privacy.proxies import ScrubbedModel
from nightwatch_core.replay.listening import Listener
from nightwatch_core.replay.players import PlayedModel, PlayedNights, ReplayClock, player
from nightwatch_core.replay.record import Record
from nightwatch_core.replay.sealing import RUN, Run, read_journal, sealed
from nightwatch_core.rules.model import RulesModel
from nightwatch_core.settings import Settings, settings
from tasks.dependencies import Dependencies, PublishingPorts, ReadingPorts, replacement
from tasks.wiring import privacy, services

APART = ("clock", "stand_in", "outbox")  # time is in the bundle, rules are our own, one a night
P = TypeVar("P", ReadingPorts, PublishingPorts)
log = logging.getLogger(__name__)


class Recording:
    """One run of a night; nothing is written before the night has a name."""

    def __init__(self, options: NightOptions, at: Settings) -> None:
        """Listen to nothing yet."""
        clock, scrub = SystemClock(), privacy.scrubber(at).scrub
        self.options, self.at, self.clock, self.began = options, at, clock, clock.now()
        self.listener = Listener(scrub, self._write, clock, self._finished)
        self.ports: tuple[str, ...] = ()
        self._scrub, self._files = scrub, bundles()
        self._night: Night | None = None
        self._lines = [RUN]

    def reading(self, ports: ReadingPorts, model: str) -> ReadingPorts:
        """Return the ports, listened to; `model` is who is asked."""
        self.ports = tuple(field.name for field in fields(ports) if getattr(ports, field.name))
        names = {"model": f"model@{model}"}
        apart = ("model",) if model == RULES else ()
        return self._heard(ports, names, (*APART, *apart))

    def publishing(self, ports: PublishingPorts) -> PublishingPorts:
        """Return the ports, listened to."""

        def outbox(night: Night) -> Outbox:
            box: Outbox = self.listener.heard(Outbox, "outbox", ports.outbox(night))
            return box

        return replace(self._heard(ports, {"knowledge": "lessons"}, APART), outbox=outbox)

    def nights(self, nights: Nights) -> Nights:
        """Return the nights that were, listened to."""
        heard: Nights = self.listener.heard(Nights, "nights", nights)
        return heard

    def code(self, host: CodeHost) -> CodeHost:
        """Return the code as it is, listened to: masked in the bundle, not for the caller."""
        heard: CodeHost = self.listener.heard(CodeHost, "code", host)
        return heard

    def _heard(self, ports: P, names: Mapping[str, str], apart: tuple[str, ...]) -> P:
        kinds = get_type_hints(type(ports))
        heard = {
            field.name: self.listener.heard(
                without_none(kinds[field.name]), names.get(field.name, field.name), inner
            )
            for field in fields(ports)
            if field.name not in apart and (inner := getattr(ports, field.name))
        }
        return replace(ports, **heard)

    def name(self, night: Night) -> None:
        """Begin the night's journal."""
        with self._costs_the_bundle():
            self._night = night
            self._write([])

    def _write(self, lines: list[str]) -> None:
        self._lines += lines
        if self._night:
            self._files.add(self._night.id, self._lines)
            self._lines = []

    def _finished(self, report: RunReport) -> None:
        with self._costs_the_bundle():
            self._seal(report)
        if self.listener.lost:
            log.warning("the night has no bundle: %s", self.listener.lost)

    @contextmanager
    def _costs_the_bundle(self) -> Iterator[None]:
        """Whatever goes wrong here, the night goes on."""
        try:
            yield
        except (OSError, ValueError, TypeError, RecursionError, NightWatchError) as trouble:
            self.listener.lose(trouble)

    def _seal(self, report: RunReport) -> None:
        if self._night is None or self.listener.lost:
            return
        journal = read_journal(self._files.journal(self._night.id))
        run = Run(
            made=self.clock.now(),
            began=self.began,
            program=version("nightwatch"),
            night=self._night,
            options=self.options,
            settings=told_settings(self.at),
            ports=self.ports,
        )
        lines = sealed(journal, run, report, self.listener.writes, self._scrub)
        path = self._files.seal(self._night.id, lines, is_over=report.status != "failed")
        self._files.prune(BUNDLE_DAYS)
        log.info("what the night was told and decided: %s", path)


BUNDLE_DAYS = 30  # that bundles of nights are kept
_current: list[Recording] = []  # of this process: one night at a time


def begin_recording(options: NightOptions) -> None:
    """Listen from here on, unless no bundles are wanted, or a test has put ports in."""
    instead, at = replacement(), settings()
    if instead is None or instead.recorded:
        _current[:] = [Recording(options, at)]


def end_recording() -> None:
    """Listen no more."""
    _current.clear()


def current_recording() -> Recording | None:
    """Return what listens to this night; None where nothing does."""
    return _current[-1] if _current else None


def record_night(night: Night) -> None:
    """Write down what is heard as this night's."""
    if listening := current_recording():
        listening.name(night)


def bundle_of(night: str) -> str:
    """Return the path of a night's bundle; empty where it has none."""
    path = bundles().path(night)
    return str(path) if path.is_file() else ""


def bundles() -> BundleFiles:
    """Return the bundles of the state folder."""
    return BundleFiles(settings().state / "bundles")


def told_settings(at: Settings) -> dict[str, str]:
    """Return folders and addresses; of a secret only whether it was set."""
    told = {name: getattr(at, name) for name in type(at).model_fields}
    return {
        name: "set" if isinstance(value, SecretStr) else str(value)
        for name, value in told.items()
        if value not in (None, "")
    }


def without_none(kind: Any) -> type:
    """Return the port itself of `Port | None`."""
    port: type = next((item for item in get_args(kind) if item is not type(None)), kind)
    return port


# The ports of a replay: a night's bundle in place of the world.

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
        field.name: player(without_none(kinds[field.name]), field.name, record)
        for field in fields(ReadingPorts)
        if field.name in there and field.name not in ("clock", "model", "stand_in")
    }


def _set_only(values: Mapping[str, str]) -> None:
    """Have no other settings of ours in the environment than these."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(values)
