"""Open a night: its options, and the services behind them, each wrapped once.

A night is opened in one place and handed to what needs it. It is never a parameter of a flow, for
Prefect writes those down; a worker of a cluster gets a ticket and opens its own.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from filelock import FileLock

from nightwatch_core import ports
from nightwatch_core.adapters.stores.task_files import AgentFiles
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.journal import RunHeader
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.privacy import redaction
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.settings import Settings
from tasks.ports import Adapters, PublishingPorts, ReadingPorts
from tasks.wiring import masks
from tasks.wiring.journals import Recording, run_header


class Ticket(NamedTuple):
    """What another process needs to open the same night; holds no secret."""

    header: RunHeader
    options: NightOptions
    night: Night | None
    step: str  # that sends it


class OpenNight:
    """What the steps of a night need; holds clients and secrets."""

    def __init__(
        self,
        options: NightOptions,
        settings: Settings,
        adapters: Adapters,
        *,
        choices: Mapping[str, object] | None = None,
        header: RunHeader | None = None,
        step: Callable[[], str] | None = None,
    ) -> None:
        """Open over `adapters`; `choices` are what the run was given itself.

        `header` is of the run that this process works for, where another one began it; `step`
        names the step that asks.
        """
        self.options, self.settings, self.adapters = options, settings, adapters
        self.choices = {name: item for name, item in (choices or {}).items() if item is not None}
        masks.close_state(settings)
        masks.second_check(settings).reset()
        self.recording = Recording(
            header or run_header(options, settings), settings, step or current_step
        )
        self._models: dict[str, ports.Model] = {}
        self.night: Night | None = None

    @property
    def id(self) -> str:
        """Return the night's name; empty before it has begun."""
        return self.night.id if self.night else ""

    @property
    def begun(self) -> Night:
        """Return the night, which has begun."""
        assert self.night is not None, "the night has not begun"
        return self.night

    @cached_property
    def reading(self) -> ReadingPorts:
        """Return the ports to read through: they never write, and lead up to the analysis."""
        given = self._bare
        if not self.options.agents_enabled:
            given = replace(given, agents=AgentFiles(None))
        masked = masks.scrubbed_reading(given, self.settings)
        if not self.adapters.is_recorded:
            return masked
        return self.recording.reading(masked, self.options.model)

    @cached_property
    def _bare(self) -> ReadingPorts:
        return self.adapters.reading()

    @property
    def code_cache(self) -> ports.CodeCache | None:
        """Return what keeps code that was read; None in a replay, which has its answers."""
        code = self._bare.code
        return code if isinstance(code, ports.CodeCache) else None

    @cached_property
    def publishing(self) -> PublishingPorts:
        """Return the ports to write through."""
        masked = masks.scrubbed_publishing(self.adapters.publishing(), self.settings)
        return self.recording.publishing(masked) if self.adapters.is_recorded else masked

    @cached_property
    def bare_code(self) -> ports.CodeHost:
        """Return the code unmasked: for the files of drafts, which people will merge."""
        made: ports.CodeHost = self.recording.port(
            ports.CodeHost, "code", self.adapters.bare_code()
        )
        return made

    @cached_property
    def records(self) -> ports.Records:
        """Return records of this run, which may be taken up."""
        return self.adapters.records()

    @cached_property
    def projects(self) -> NightCache:
        """Return what was found out of projects this night."""
        return NightCache(self.reading.projects, self.begun.fence)

    def model_named(self, name: str) -> ports.Model:
        """Return a model by its name, masked and recorded."""
        if name == self.options.model:
            return self.reading.model
        if name not in self._models:
            bare = self.adapters.model_named(name)
            masked = redaction.redacted_model(
                bare, ports.Model, masks.scrubber(self.settings).scrub
            )
            recorded = self.recording.port(ports.Model, f"model@{name}", masked)
            self._models[name] = masked if name == RULES else recorded
        return self._models[name]

    def batches_named(self, name: str) -> ports.BatchModel | None:
        """Return the batches of a model, masked and recorded; None where it takes none."""
        bare = self.adapters.batches_named(name) if name != self.options.model else None
        if bare is None:
            return self.reading.batches
        scrub = masks.scrubber(self.settings).scrub
        masked = redaction.redacted_model(bare, ports.BatchModel, scrub)
        made: ports.BatchModel = self.recording.port(ports.BatchModel, "batches", masked)
        return made

    def begin(self, night: Night) -> Night:
        """Give this run, and all that it sends, to a night."""
        self.night = night
        self.recording.begin(night)
        _open[night.id] = self
        return night

    def join(self, night: Night) -> None:
        """Work for a night that another process has begun."""
        self.night = night
        self.recording.join(night.id)

    def masked(self, report: RunReport) -> RunReport:
        """Return a report as its files have it: a model's own words are masked, too."""
        return redaction.scrubbed(report, masks.scrubber(self.settings).scrub)

    def fence(self, night: str) -> str:
        """Return the fence name of a night."""
        return masks.night_fence(night, self.settings)

    def alarms(self) -> tuple[str, ...]:
        """Return what the second check found in what was published."""
        return masks.second_check(self.settings).alarms()

    def sandbox_lock(self) -> AbstractContextManager[object]:
        """Hold the sandbox: what is run would only slow what other processes run."""
        return FileLock(self.settings.state / "sandbox.lock")

    def ticket(self) -> Ticket:
        """Return what a worker needs to open the same night."""
        return Ticket(self.recording.header, self.options, self.night, current_step())

    def close(self) -> None:
        """Let the next run of this process open another one."""
        _open.pop(self.id, None)
        self.recording.pack()


_open: dict[str, OpenNight] = {}  # by name: a subflow finds the night that called it


def open_in_this_process(night: str) -> OpenNight | None:
    """Return the open night of that name; None where this process has none."""
    return _open.get(night)


_sender: ContextVar[str] = ContextVar("sender", default="")  # on a worker: the step that sent it


def current_step() -> str:
    """Return the step that runs now, as Prefect names its run; empty outside of one."""
    prefect = sys.modules.get("prefect.context")  # commands that run no night import no Prefect
    context = prefect.TaskRunContext.get() if prefect else None
    return context.task_run.name if context else _sender.get()


@contextmanager
def working_for(step: str) -> Iterator[None]:
    """Work for a step of another process while a block runs."""
    token = _sender.set(step)
    try:
        yield
    finally:
        _sender.reset(token)
