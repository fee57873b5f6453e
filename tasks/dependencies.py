"""The ports that a night reads and writes through."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from nightwatch_core.models.report import Night
from nightwatch_core.ports import (
    AgentStore,
    BatchModel,
    BatchStore,
    Clock,
    CodeHost,
    ErrorSource,
    KnowledgeReader,
    KnowledgeWriter,
    LibraryReader,
    Model,
    Nights,
    Notifier,
    Outbox,
    Sandbox,
    SourceMaps,
    TaskStore,
    Tracker,
)


@dataclass(frozen=True)
class ReadingPorts:
    """Everything a night reads."""

    errors: ErrorSource
    code: CodeHost
    tracker: Tracker
    knowledge: KnowledgeReader
    agents: AgentStore
    model: Model
    clock: Clock
    stand_in: Model | None = None  # answers where `model` cannot be reached
    tasks: TaskStore | None = None  # without it only lessons hold notes
    libraries: LibraryReader | None = None  # without it nothing outside the repository is read
    source_maps: SourceMaps | None = None  # without it frames of bundles stay where they are
    batches: BatchModel | None = None  # without it nothing can be asked for half the price
    sandbox: Sandbox | None = None  # without it no fix is run


@dataclass(frozen=True)
class PublishingPorts:
    """Everything a night writes."""

    outbox: Callable[[Night], Outbox]
    notifier: Notifier
    knowledge: KnowledgeWriter
    nights: Nights
    batch_store: BatchStore | None = None  # there where batches are


@dataclass(frozen=True)
class Dependencies:
    """Both, as a test or a replay puts them in."""

    reading: ReadingPorts
    publishing: PublishingPorts
    model_of: Callable[[str], Model] | None = None  # by its name; else all are `reading.model`
    recorded: bool = False  # whether a night over them leaves a bundle


_replacement: ContextVar[Dependencies | None] = ContextVar("replacement", default=None)


def replacement() -> Dependencies | None:
    """Return what a test or a replay has put in; None otherwise."""
    return _replacement.get()


@contextmanager
def using(dependencies: Dependencies) -> Iterator[Dependencies]:
    """Run a block with other dependencies."""
    token = _replacement.set(dependencies)
    try:
        yield dependencies
    finally:
        _replacement.reset(token)
