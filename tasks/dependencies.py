"""The ports that a night reads and writes through."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from nightwatch_core import ports
from nightwatch_core.models.report import Night


@dataclass(frozen=True)
class ReadingPorts:
    """Everything a night reads."""

    errors: ports.ErrorSource
    code: ports.CodeHost
    tracker: ports.Tracker
    knowledge: ports.KnowledgeReader
    agents: ports.AgentStore
    model: ports.Model
    clock: ports.Clock
    stand_in: ports.Model | None = None  # answers where `model` cannot be reached
    tasks: ports.TaskStore | None = None  # without it only lessons hold notes
    libraries: ports.LibraryReader | None = None  # without it only the repository is read
    source_maps: ports.SourceMaps | None = None  # without it frames of bundles stay where they are
    batches: ports.BatchModel | None = None  # without it nothing can be asked for half the price
    sandbox: ports.Sandbox | None = None  # without it no fix is run
    projects: ports.ProjectDocuments | None = None  # without it nothing is known of earlier runs


@dataclass(frozen=True)
class PublishingPorts:
    """Everything a night writes."""

    outbox: Callable[[Night], ports.Outbox]
    notifier: ports.Notifier
    knowledge: ports.KnowledgeWriter
    nights: ports.Nights
    batch_store: ports.BatchStore | None = None  # there where batches are


@dataclass(frozen=True)
class Dependencies:
    """Both, as a test or a replay puts them in."""

    reading: ReadingPorts
    publishing: PublishingPorts
    model_of: Callable[[str], ports.Model] | None = None  # by its name, instead of `reading.model`
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
