"""Put proxies around ports: they mask secrets, list what is sent, and record nights.

The recorder is outside the walls that mask, and redacts what it writes. A failure to write costs
the bundle, never the night.
"""

import hmac
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, get_args, get_type_hints
from urllib.parse import urlsplit

from pydantic import SecretStr

from nightwatch_core import ports
from nightwatch_core.adapters.local.quiet import LocalNotifier, SystemClock
from nightwatch_core.adapters.stores import state_folder
from nightwatch_core.adapters.stores.atomic_files import make_private
from nightwatch_core.adapters.stores.code_cache import READS
from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.adapters.stores.postgres import located
from nightwatch_core.adapters.stores.traffic import MANIFEST, METER, SentRequests, is_private
from nightwatch_core.errors import NightWatchError
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.options import Destination, NightOptions, ServiceCalls
from nightwatch_core.models.report import Bundle, Night, RunReport
from nightwatch_core.privacy import redaction
from nightwatch_core.privacy.scrubber import Masks, Scrub, Scrubber
from nightwatch_core.replay.player import ReplayClock, played_nights, player
from nightwatch_core.replay.record import Record
from nightwatch_core.replay.recorder import Recorder
from nightwatch_core.replay.sealing import RUN, Run, read_journal, sealed
from nightwatch_core.rules.engine import RulesModel
from nightwatch_core.settings import Settings, names, settings
from tasks.dependencies import Dependencies, PublishingPorts, ReadingPorts, replacement
from tasks.wiring.local import shared_folder

_LOGGERS = ("nightwatch_core", "tasks", "flows", "prefect")
# The bundle has the time; rules are our own; an outbox is made for each night.
NOT_RECORDED = ("clock", "stand_in", "outbox")
BUNDLE_DAYS = 30  # until a bundle is deleted
OURS = ("NIGHTWATCH_", "PREFECT_", *names())
T = TypeVar("T")
P = TypeVar("P", ReadingPorts, PublishingPorts)
log = logging.getLogger(__name__)


# Secrets are masked at every port.


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


def night_fence(night: str) -> str:
    """Return the night's fence name of 12 characters.

    Nobody can foresee it who does not know the state folder's key; a night that is taken up again
    has the same, so that what was paid for is found.
    """
    key = _mask_key(settings())
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


# The list of what left the machine, of this process and of earlier nights.


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
    at = settings()
    addresses = {"Prefect": prefect, "the shared folder": at.shared_url}
    if at.database_url:
        addresses["the database"] = f"postgresql://{located(at.database_url)[0]}"
    hosts = (urlsplit(address).netloc.rpartition("@")[2] for address in addresses.values())
    unlisted = (
        Destination(service=name, host=host, listed=False)
        for name, host in zip(addresses, hosts, strict=True)
        if host and not is_private(f"http://{host}")
    )
    return (*MANIFEST.destinations(), *unlisted)


# Nights are recorded while they run.


class Recording:
    """One run of a night; nothing is written before the night has a name."""

    def __init__(self, options: NightOptions, at: Settings, begun: Night | None = None) -> None:
        clock, scrub = SystemClock(), scrubber(at).scrub
        self.options, self.at, self.clock, self.began = options, at, clock, clock.now()
        self.recorder = Recorder(scrub, self._write, clock, self._seal)
        self.ports: tuple[str, ...] = ()
        self._scrub, self._files = scrub, bundles()
        self.night = begun  # by another process, whose journal this one goes on with
        self._lines = [] if begun else [RUN]

    def reading(self, given: ReadingPorts, model: str) -> ReadingPorts:
        """Return the ports, recorded; `model` names the model that is asked."""
        self.ports = tuple(field.name for field in fields(given) if getattr(given, field.name))
        excluded = ("model",) if model == RULES else ()
        return self._recorded(given, {"model": f"model@{model}"}, (*NOT_RECORDED, *excluded))

    def publishing(self, given: PublishingPorts) -> PublishingPorts:
        """Return the ports, recorded."""

        def outbox(night: Night) -> ports.Outbox:
            return recorded(ports.Outbox, "outbox", given.outbox(night))

        return replace(self._recorded(given, {"knowledge": "lessons"}, NOT_RECORDED), outbox=outbox)

    def _recorded(self, given: P, names: Mapping[str, str], excluded: tuple[str, ...]) -> P:
        kinds = get_type_hints(type(given))
        wrapped = {
            field.name: self.recorder.recorded(
                without_none(kinds[field.name]), names.get(field.name, field.name), inner
            )
            for field in fields(given)
            if field.name not in excluded and (inner := getattr(given, field.name))
        }
        return replace(given, **wrapped)

    def name(self, night: Night) -> None:
        """Begin the night's journal."""
        with self._costs_the_bundle():
            self.night = night
            self._write([])

    def _write(self, lines: list[str]) -> None:
        self._lines += lines
        if self.night:
            self._files.add(self.night.id, self._lines)
            self._lines = []

    @contextmanager
    def _costs_the_bundle(self) -> Iterator[None]:
        """Let the night go on without a bundle after a failure."""
        try:
            yield
        except (OSError, ValueError, TypeError, RecursionError, NightWatchError) as trouble:
            self.recorder.lose(trouble)

    def _seal(self, report: RunReport) -> None:
        with self._costs_the_bundle():
            if self.night and not self.recorder.lost:
                run = Run(
                    made=self.clock.now(),
                    began=self.began,
                    program=version("nightwatch"),
                    night=self.night,
                    options=self.options,
                    settings=recorded_settings(self.at),
                    ports=self.ports,
                )
                journal = read_journal(self._files.journal(self.night.id))
                lines = sealed(journal, run, report, self.recorder.writes, self._scrub)
                is_over = report.status != "failed"
                path = self._files.seal(self.night.id, lines, is_over=is_over)
                self._files.prune(BUNDLE_DAYS)
                log.info("bundle of the night: %s", path)
        if self.recorder.lost:
            log.warning("the night has no bundle: %s", self.recorder.lost)


_current: list[Recording] = []  # of this process: one night at a time


def begin_recording(options: NightOptions) -> None:
    """Start to record, unless a test has put ports in."""
    instead = replacement()
    if instead is None or instead.recorded:
        _current[:] = [Recording(options, settings())]


def end_recording() -> None:
    """Stop recording."""
    _current.clear()


def current_recording() -> Recording | None:
    """Return the recording of this night; None if nothing is recorded."""
    return _current[-1] if _current else None


def shared() -> tuple[str, NightOptions | None, Night | None]:
    """Return what another process has to know to work for this night."""
    recording = current_recording()
    return (MANIFEST.night, *((recording.options, recording.night) if recording else (None, None)))


def join(name: str, options: NightOptions | None, night: Night | None) -> None:
    """Work for a night of another process: what is sent and what is answered belong to it."""
    MANIFEST.belongs_to(name)
    _current[:] = [Recording(options, settings(), night)] if options and night else []
    if night and _current and next(bundles().journal(night.id), "") != RUN:
        elsewhere = NightWatchError("a worker of the cluster has a state folder of its own")
        _current[0].recorder.lose(elsewhere)


def take_in(
    process: str, calls: tuple[ServiceCalls, ...], reads: CodeReads, unrecorded: str
) -> None:
    """Count what another process did; where it could not record, the night has no bundle."""
    METER.count_elsewhere(process, calls)
    READS.count_elsewhere(process, reads)
    if unrecorded and (recording := current_recording()):
        recording.recorder.lose(NightWatchError(unrecorded))


def recorded(port: Any, name: str, inner: T) -> T:
    """Return the port, recorded under that name if a night is being recorded."""
    recording = current_recording()
    made: T = recording.recorder.recorded(port, name, inner) if recording else inner
    return made


def record_night(night: Night) -> None:
    """Give the recording to this night."""
    if recording := current_recording():
        recording.name(night)


def bundle_of(night: str) -> str:
    """Return the path of a night's bundle; empty where it has none."""
    path = bundles().path(night)
    return str(path) if path.is_file() else ""


def bundles() -> state_folder.BundleFiles:
    """Return the bundles of the state folder."""
    return state_folder.BundleFiles(settings().state / "bundles")


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
        return state_folder.read_bundle(bundles().newest())
    path = Path(name).expanduser()
    return state_folder.read_bundle(path if path.is_file() else bundles().path(name))


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


def _set_only(values: Mapping[str, str]) -> None:
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(values)


def dependencies(bundle: Bundle, night: Night, model: str) -> tuple[Dependencies, Record]:
    """Return the ports of a replay, and the record, which lists new questions."""
    at, manifest = settings(), bundle.manifest
    record = Record(bundle, scrubber(at).scrub)
    clock, rules = ReplayClock(manifest.began), RulesModel()

    def model_of(name: str) -> ports.Model:
        if name == RULES:
            return rules
        played: ports.Model = player(ports.Model, f"model@{name}", record, wait=clock.wait)
        return played

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
        outbox=lambda _: player(ports.Outbox, "outbox", record),
        notifier=LocalNotifier(),
        knowledge=player(ports.KnowledgeWriter, "lessons", record),
        nights=played_nights(NightStore(at.state, clock), night, record),
        batch_store=player(ports.BatchStore, "batch_store", record) if reading.batches else None,
    )
    return Dependencies(reading, publishing, model_of=model_of, recorded=True), record
