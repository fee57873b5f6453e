"""Write the journal of a night, and read journals and bundles again."""

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints
from urllib.parse import urlsplit
from uuid import uuid4

from pydantic import SecretStr

from nightwatch_core import ports
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.bundle_files import read_bundle, write_bundle
from nightwatch_core.adapters.stores.code_cache import READS
from nightwatch_core.adapters.stores.journal_files import JournalFile, JournalFiles, NightAnswers
from nightwatch_core.adapters.stores.postgres import located
from nightwatch_core.adapters.stores.traffic import MANIFEST, METER, is_private
from nightwatch_core.errors import GiveUp
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.journal import requests
from nightwatch_core.journal.reader import NightJournal
from nightwatch_core.journal.recorder import Recorder
from nightwatch_core.journal.sealing import Begun, bundle_of, sealed, write_begun, write_decisions
from nightwatch_core.journal.transcripts import find_transcript
from nightwatch_core.journal.writer import Journal
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.conversation import Transcript
from nightwatch_core.models.journal import Bundle, RunHeader
from nightwatch_core.models.options import Destination, NightOptions, ServiceCalls
from nightwatch_core.models.report import SINGLE_RUN, Night, RunReport
from nightwatch_core.settings import Settings
from tasks.ports import PublishingPorts, ReadingPorts
from tasks.wiring.local import share
from tasks.wiring.masks import scrubber

# The journal has the time; rules are our own; an outbox is made for each night.
NOT_RECORDED = ("clock", "stand_in", "outbox")
FOLDER = "journal"  # of the state folder
P = TypeVar("P", ReadingPorts, PublishingPorts)


def run_header(options: NightOptions, at: Settings) -> RunHeader:
    """Return the header of a run that begins now."""
    return RunHeader(
        run=uuid4().hex,
        began=SystemClock().now(),
        process=f"{socket.gethostname()}-{os.getpid()}",
        program=version("nightwatch"),
        options=options,
        settings=recorded_settings(at),
    )


class Recording:
    """The journal that this process writes for one run, and the ports that are recorded in it."""

    def __init__(self, header: RunHeader, at: Settings, step: Callable[[], str]) -> None:
        """Begin a file without a night; `step` names the step that asks now."""
        self.header, self._clock = header, SystemClock()
        self._scrub, self._folder = scrubber(at).scrub, at.state / FOLDER
        self._file = JournalFile(self._folder)
        self._unseen: list[str] | None = None  # lines for a sender that does not see this folder
        self._others: dict[str, JournalFile] = {}  # of such workers
        self._ports: tuple[str, ...] = ()
        self.journal = Journal(self._write, header)
        MANIFEST.begin(self.journal.add, self._scrub)
        METER.reset()
        READS.reset()
        self.recorder = Recorder(
            self.journal,
            self._scrub,
            self._clock,
            step,
            NightAnswers(self._folder, lambda: self._file.night),
            self._finish,
            lambda: share(at, FOLDER),  # a worker that goes on elsewhere need not pay again
        )

    @property
    def night(self) -> str:
        """Return the night that is written down; empty before it has a name."""
        return self._file.night

    def join(self, night: str) -> None:
        """Work for a night of another process, whose journal has to be seen from here."""
        if self._file.night != night:
            self._file.belongs_to(night)
            is_seen = JournalFiles(self._folder).read(night, self.header.run).runs
            self._unseen = None if is_seen else []

    def hand_over(self) -> tuple[str, ...]:
        """Return the lines that the sender of work cannot see, once."""
        lines, self._unseen = self._unseen or [], None if self._unseen is None else []
        return tuple(lines)

    def take_in(self, process: str, reads: CodeReads, lines: tuple[str, ...], lost: str) -> None:
        """Count a worker's reads, and write down what it has written in a folder of its own.

        `lost` says why its journal has gaps.
        """
        READS.count_elsewhere(process, reads)
        if lines:
            file = self._others.setdefault(process, JournalFile(self._folder, self.night))
            file.write(list(lines))
        if lost:
            self.journal.lose(GiveUp(lost))

    def _write(self, lines: list[str]) -> None:
        if self._unseen is None:
            self._file.write(lines)
        else:
            self._unseen += lines

    def begin(self, night: Night) -> None:
        """Write down which night it is."""
        self._file.belongs_to(night.id)
        begun = Begun(night=night, ports=self._ports)
        write_begun(self.journal, begun, self._clock.now(), self._scrub)

    def reading(self, given: ReadingPorts, model: str) -> ReadingPorts:
        """Return the ports, recorded; `model` names the model that is asked."""
        self._ports = tuple(field.name for field in fields(given) if getattr(given, field.name))
        excluded = ("model",) if model == RULES else ()
        return self._recorded(given, {"model": f"model@{model}"}, (*NOT_RECORDED, *excluded))

    def publishing(self, given: PublishingPorts) -> PublishingPorts:
        """Return the ports, recorded."""

        def outbox(night: Night) -> ports.Outbox:
            made: ports.Outbox = self.port(ports.Outbox, "outbox", given.outbox(night))
            return made

        return replace(self._recorded(given, {"knowledge": "lessons"}, NOT_RECORDED), outbox=outbox)

    def port(self, port: type, name: str, inner: Any) -> Any:
        """Return one port, recorded."""
        return self.recorder.recorded(port, name, inner)

    def destinations(self) -> tuple[Destination, ...]:
        """Return the bytes that this run has sent to each host, those of its workers too."""
        own = {(item.service, item.host): item for item in MANIFEST.destinations()}
        for item in requests.destinations(self._workers().events):
            own[item.service, item.host] = item + own.get((item.service, item.host))
        return tuple(own[key] for key in sorted(own))

    def service_calls(self) -> tuple[ServiceCalls, ...]:
        """Return how every service answered this run, its workers too."""
        found = dict(METER.calls())
        for calls in requests.service_calls(self._workers()):
            ours = found.get(calls.service) or ServiceCalls(service=calls.service)
            found[calls.service] = ours + calls
        return tuple(found.values())

    def _workers(self) -> NightJournal:
        return JournalFiles(self._folder).read(self.night, self.header.run, but=self._file.path)

    def pack(self) -> None:
        """Pack the file: the run is over. A full disk leaves it as it is."""
        try:
            for file in (self._file, *self._others.values()):
                file.pack()
        except OSError as trouble:
            self.journal.lose(trouble)

    def _recorded(self, given: P, names: Mapping[str, str], excluded: tuple[str, ...]) -> P:
        kinds = get_type_hints(type(given))
        wrapped = {
            field.name: self.port(
                without_none(kinds[field.name]), names.get(field.name, field.name), inner
            )
            for field in fields(given)
            if field.name not in excluded and (inner := getattr(given, field.name))
        }
        return replace(given, **wrapped)

    def _finish(self, report: RunReport) -> None:
        writes = self.recorder.writes
        write_decisions(self.journal, report, writes, self._clock.now(), self._scrub)


def recorded_settings(at: Settings) -> dict[str, str]:
    """Return the settings, masked; a secret is only `set`."""
    values = {name: getattr(at, name) for name in type(at).model_fields}
    return {
        name: "set" if isinstance(value, SecretStr) else scrubber(at).scrub(str(value))
        for name, value in values.items()
        if value not in (None, "")
    }


def without_none(kind: Any) -> type:
    """Return the port itself of `Port | None`."""
    port: type = next((item for item in get_args(kind) if item is not type(None)), kind)
    return port


# Reading journals.


def forget_journals(at: Settings) -> None:
    """Delete the journals of nights that were deleted."""
    journals(at).delete_old(at.state / "nights")


def journals(at: Settings) -> JournalFiles:
    """Return the journals of the state folder."""
    return JournalFiles(at.state / FOLDER)


def journal_of(at: Settings, night: str) -> NightJournal:
    """Return the journal of a night; empty: of what was sent outside nights."""
    return journals(at).read(night)


def transcript(at: Settings, name: str, night: str) -> Transcript:
    """Return the newest conversation about an error; raises `StopTheNight` for none."""
    files = journals(at)
    return find_transcript(((item, files.read(item)) for item in files.nights()), name, night)


def unlisted(at: Settings, prefect: str) -> tuple[Destination, ...]:
    """Return the hosts of which no journal has the bytes; `prefect` is its API's address."""
    addresses = {"Prefect": prefect, "the shared folder": at.shared_url}
    if at.database_url:
        addresses["the database"] = f"postgresql://{located(at.database_url)[0]}"
    hosts = (urlsplit(address).netloc.rpartition("@")[2] for address in addresses.values())
    return tuple(
        Destination(service=name, host=host, listed=False)
        for name, host in zip(addresses, hosts, strict=True)
        if host and not is_private(f"http://{host}")
    )


# Bundles: a night sealed.


def bundle_named(at: Settings, name: str) -> Bundle:
    """Return the bundle in a file, or of a night's journal; empty: of the newest night.

    Raises `GiveUp` for none.
    """
    path = Path(name).expanduser()
    if name and path.is_file():
        return read_bundle(path)
    nights = (item for item in journals(at).nights() if not item.startswith(SINGLE_RUN))
    if not (night := name or next(nights, "")):
        raise GiveUp(f"no night is written down in {at.state}: run `nightwatch night` first")
    return bundle_of(sealed(journal_of(at, night)))


def export_bundle(at: Settings, name: str, path: Path) -> Bundle:
    """Write a night's journal, sealed, into a file; raises `GiveUp`."""
    lines = sealed(journal_of(at, name))
    write_bundle(path, lines)
    return bundle_of(lines)


def is_replayable(at: Settings, night: str) -> bool:
    """Tell whether a night was written down; a run of one error cannot be replayed."""
    return night in journals(at).nights() and not night.startswith(SINGLE_RUN)
