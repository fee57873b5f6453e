"""Records a night while it runs, and sets up its replay.

The recorder is outside the walls of `privacy.py` and redacts what it writes. A failure to write
costs the bundle, never the night.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
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
from nightwatch_core.replay.player import ReplayClock, played_nights, player
from nightwatch_core.replay.record import Record
from nightwatch_core.replay.recorder import Recorder
from nightwatch_core.replay.sealing import RUN, Run, read_journal, sealed
from nightwatch_core.rules.engine import RulesModel
from nightwatch_core.settings import Settings, settings
from tasks.dependencies import Dependencies, PublishingPorts, ReadingPorts, replacement
from tasks.wiring import privacy

NOT_RECORDED = (
    "clock",
    "stand_in",
    "outbox",
)  # the bundle has the time; rules are our own; an outbox is made for each night
P = TypeVar("P", ReadingPorts, PublishingPorts)
log = logging.getLogger(__name__)
BUNDLE_DAYS = 30  # until a bundle is deleted
OURS = ("NIGHTWATCH_", "PREFECT_", "NEW_RELIC_", "GITHUB_", "SLACK_", "ANTHROPIC_")


class Recording:
    """One run of a night; nothing is written before the night has a name."""

    def __init__(self, options: NightOptions, at: Settings) -> None:
        clock, scrub = SystemClock(), privacy.scrubber(at).scrub
        self.options, self.at, self.clock, self.began = options, at, clock, clock.now()
        self.recorder = Recorder(scrub, self._write, clock, self._finished)
        self.ports: tuple[str, ...] = ()
        self._scrub, self._files = scrub, bundles()
        self._night: Night | None = None
        self._lines = [RUN]

    def reading(self, ports: ReadingPorts, model: str) -> ReadingPorts:
        """Return the ports, recorded; `model` names the model that is asked."""
        self.ports = tuple(field.name for field in fields(ports) if getattr(ports, field.name))
        names = {"model": f"model@{model}"}
        excluded = ("model",) if model == RULES else ()
        return self._recorded(ports, names, (*NOT_RECORDED, *excluded))

    def publishing(self, ports: PublishingPorts) -> PublishingPorts:
        """Return the ports, recorded."""

        def outbox(night: Night) -> Outbox:
            box: Outbox = self.recorder.recorded(Outbox, "outbox", ports.outbox(night))
            return box

        return replace(self._recorded(ports, {"knowledge": "lessons"}, NOT_RECORDED), outbox=outbox)

    def nights(self, nights: Nights) -> Nights:
        """Return the past nights, recorded."""
        recorded: Nights = self.recorder.recorded(Nights, "nights", nights)
        return recorded

    def code(self, host: CodeHost) -> CodeHost:
        """Return the code, recorded: redacted in the bundle, not for the caller."""
        recorded: CodeHost = self.recorder.recorded(CodeHost, "code", host)
        return recorded

    def _recorded(self, ports: P, names: Mapping[str, str], excluded: tuple[str, ...]) -> P:
        kinds = get_type_hints(type(ports))
        recorded = {
            field.name: self.recorder.recorded(
                without_none(kinds[field.name]), names.get(field.name, field.name), inner
            )
            for field in fields(ports)
            if field.name not in excluded and (inner := getattr(ports, field.name))
        }
        return replace(ports, **recorded)

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
        if self.recorder.lost:
            log.warning("the night has no bundle: %s", self.recorder.lost)

    @contextmanager
    def _costs_the_bundle(self) -> Iterator[None]:
        """Let the night go on without a bundle after a failure."""
        try:
            yield
        except (OSError, ValueError, TypeError, RecursionError, NightWatchError) as trouble:
            self.recorder.lose(trouble)

    def _seal(self, report: RunReport) -> None:
        if self._night is None or self.recorder.lost:
            return
        journal = read_journal(self._files.journal(self._night.id))
        run = Run(
            made=self.clock.now(),
            began=self.began,
            program=version("nightwatch"),
            night=self._night,
            options=self.options,
            settings=recorded_settings(self.at),
            ports=self.ports,
        )
        lines = sealed(journal, run, report, self.recorder.writes, self._scrub)
        path = self._files.seal(self._night.id, lines, is_over=report.status != "failed")
        self._files.prune(BUNDLE_DAYS)
        log.info("bundle of the night: %s", path)


_current: list[Recording] = []  # of this process: one night at a time


def begin_recording(options: NightOptions) -> None:
    """Start to record, unless a test has put ports in."""
    instead, at = replacement(), settings()
    if instead is None or instead.recorded:
        _current[:] = [Recording(options, at)]


def end_recording() -> None:
    """Stop recording."""
    _current.clear()


def current_recording() -> Recording | None:
    """Return the recording of this night; None if nothing is recorded."""
    return _current[-1] if _current else None


def record_night(night: Night) -> None:
    """Give the recording to this night."""
    if recording := current_recording():
        recording.name(night)


def bundle_of(night: str) -> str:
    """Return the path of a night's bundle; empty where it has none."""
    path = bundles().path(night)
    return str(path) if path.is_file() else ""


def bundles() -> BundleFiles:
    """Return the bundles of the state folder."""
    return BundleFiles(settings().state / "bundles")


def recorded_settings(at: Settings) -> dict[str, str]:
    """Return the settings; a secret is only `set`."""
    values = {name: getattr(at, name) for name in type(at).model_fields}
    return {
        name: "set" if isinstance(value, SecretStr) else str(value)
        for name, value in values.items()
        if value not in (None, "")
    }


def without_none(kind: Any) -> type:
    """Return the port itself of `Port | None`."""
    port: type = next((item for item in get_args(kind) if item is not type(None)), kind)
    return port


# The ports of a replay.


def bundle_named(name: str) -> Bundle:
    """Read the bundle of that path or night; empty: the newest one. Raises `GiveUp`."""
    if not name:
        return read_bundle(bundles().newest())
    path = Path(name).expanduser()
    return read_bundle(path if path.is_file() else bundles().path(name))


@contextmanager
def replay_environment(bundle: Bundle) -> Iterator[Path]:
    """Set the settings of the night and a temporary state folder; returns the folder."""
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


def dependencies(bundle: Bundle, night: Night, model: str) -> tuple[Dependencies, Record]:
    """Return the ports of a replay, and the record, which lists new questions."""
    at, manifest = settings(), bundle.manifest
    record = Record(bundle, privacy.scrubber(at).scrub)
    clock, rules = ReplayClock(manifest.began), RulesModel()

    def model_of(name: str) -> Model:
        if name == RULES:
            return rules
        recorded: Model = player(Model, f"model@{name}", record, wait=clock.wait)
        return recorded

    kinds = get_type_hints(ReadingPorts)
    played = {
        field.name: player(without_none(kinds[field.name]), field.name, record)
        for field in fields(ReadingPorts)
        if field.name in manifest.ports and field.name not in ("clock", "model", "stand_in")
    }
    reading = ReadingPorts(
        **played, clock=clock, model=model_of(model), stand_in=None if model == RULES else rules
    )
    publishing = PublishingPorts(
        outbox=lambda _: player(Outbox, "outbox", record),
        notifier=LocalNotifier(),
        knowledge=player(KnowledgeWriter, "lessons", record),
        nights=played_nights(NightStore(at.state, clock), night, record),
        batch_store=player(BatchStore, "batch_store", record) if reading.batches else None,
    )
    return Dependencies(reading, publishing, model_of=model_of, recorded=True), record


def sealed_again(night: Night) -> Bundle:
    """Return the bundle that a replay left in its own state folder; raises `GiveUp`."""
    return read_bundle(bundles().path(night.id))


def _set_only(values: Mapping[str, str]) -> None:
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(values)
