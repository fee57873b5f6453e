"""What we ask of the world: `reading` up to the analysis, `writing` for what comes of it.

Every method may raise `TryLater`, `GiveUp` or `StopTheNight` (errors.py) and nothing else. `probe`
returns a sentence that says what was reached, for `nightwatch check`.
"""

from nightwatch_core.ports.code import (
    CodeHost,
    CodeReader,
    CountsReads,
    KeepsFiles,
    LaysOut,
    LibraryReader,
)
from nightwatch_core.ports.reading import (
    AgentStore,
    BatchModel,
    Clock,
    ErrorSource,
    FileSource,
    KnowledgeReader,
    Model,
    Recall,
    SourceMaps,
    Tracker,
)
from nightwatch_core.ports.sandbox import Sandbox
from nightwatch_core.ports.writing import (
    BatchStore,
    KnowledgeWriter,
    Nights,
    Notifier,
    Outbox,
    Records,
    TaskStore,
)

__all__ = [
    "AgentStore",
    "BatchModel",
    "BatchStore",
    "Clock",
    "CodeHost",
    "CodeReader",
    "CountsReads",
    "ErrorSource",
    "FileSource",
    "KeepsFiles",
    "KnowledgeReader",
    "KnowledgeWriter",
    "LaysOut",
    "LibraryReader",
    "Model",
    "Nights",
    "Notifier",
    "Outbox",
    "Recall",
    "Records",
    "Sandbox",
    "SourceMaps",
    "TaskStore",
    "Tracker",
]
