"""A night is written down while it runs: every question to a port with its answer, then a bundle.

This stands outside the walls of `privacy.py`: what is written down is masked. What cannot be
written costs the bundle, never the night.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from importlib.metadata import version
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import SecretStr

from nightwatch_core.adapters.local.clock import SystemClock
from nightwatch_core.adapters.stores.bundle_files import BundleFiles
from nightwatch_core.errors import NightWatchError
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.ports import CodeHost, Nights, Outbox
from nightwatch_core.replay.listening import Listener
from nightwatch_core.replay.sealing import RUN, Run, read_journal, sealed
from nightwatch_core.settings import Settings, settings
from tasks.dependencies import PublishingPorts, ReadingPorts, replacement
from tasks.wiring import privacy

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
        self.ports = tuple(one.name for one in fields(ports) if getattr(ports, one.name))
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
            one.name: self.listener.heard(
                without_none(kinds[one.name]), names.get(one.name, one.name), inner
            )
            for one in fields(ports)
            if one.name not in apart and (inner := getattr(ports, one.name))
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
        self._files.prune(self.at.bundle_days)
        log.info("what the night was told and decided: %s", path)


_current: list[Recording] = []  # of this process: one night at a time


def begin_recording(options: NightOptions) -> None:
    """Listen from here on, unless no bundles are wanted, or a test has put ports in."""
    instead, at = replacement(), settings()
    if at.bundle_days and (instead is None or instead.recorded):
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
    port: type = next((one for one in get_args(kind) if one is not type(None)), kind)
    return port
