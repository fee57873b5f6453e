"""The ports that a night reads and writes through."""

from collections.abc import Callable
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
class Adapters:
    """What stands behind the ports of a night, before anything is wrapped around it."""

    reading: Callable[[], ReadingPorts]
    publishing: Callable[[], PublishingPorts]
    bare_code: Callable[[], ports.CodeHost]  # unmasked: for the files of drafts
    few_files: Callable[[], ports.CodeHost]  # the code without cloning, where that can be
    model_named: Callable[[str], ports.Model]
    batches_named: Callable[[str], ports.BatchModel | None]
    records: Callable[[], ports.Records]  # of this run, while it may be taken up
    pause: Callable[[float], None]  # between two looks at a service, in seconds
    is_recorded: bool = True  # whether a night over them leaves a journal
