"""The worlds a night lives in: everything it reads, and everything it writes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from nightwatch_core.models.report import Night
from nightwatch_core.ports import (
    AgentStore,
    Clock,
    CodeHost,
    ErrorSource,
    KnowledgeReader,
    KnowledgeWriter,
    Model,
    Nights,
    Notifier,
    Outbox,
    Recall,
    TaskStore,
    Tracker,
)


@dataclass(frozen=True)
class Reading:
    """Everything a night reads."""

    errors: ErrorSource
    code: CodeHost
    tracker: Tracker
    knowledge: KnowledgeReader
    agents: AgentStore
    model: Model
    clock: Clock
    stand_in: Model | None = None  # answers where `model` cannot be reached
    recall: Recall | None = None  # without it the index is read through
    tasks: TaskStore | None = None  # without it only lessons hold notes


@dataclass(frozen=True)
class Publishing:
    """Everything a night writes."""

    outbox: Callable[[Night], Outbox]
    notifier: Notifier
    knowledge: KnowledgeWriter
    nights: Nights


@dataclass(frozen=True)
class Worlds:
    """Both worlds, as a test puts them in."""

    reading: Reading
    publishing: Publishing


_other: ContextVar[Worlds | None] = ContextVar("other_worlds", default=None)


def other() -> Worlds | None:
    """The worlds that a test has put in; None outside of tests."""
    return _other.get()


@contextmanager
def using(worlds: Worlds) -> Iterator[Worlds]:
    """Run a block in other worlds."""
    token = _other.set(worlds)
    try:
        yield worlds
    finally:
        _other.reset(token)
