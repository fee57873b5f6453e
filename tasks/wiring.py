"""The one place that says which adapter stands behind each port.

There are two worlds: `reading` holds no credential that can write, and leads up to the analysis;
`publishing` is for what happens after it. Both are made from the options and the settings alone, so
that a worker on another machine makes the same ones. Tests put other worlds in with `using`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nightwatch_core import choosing, sample
from nightwatch_core.adapters.agent_files import AgentFiles
from nightwatch_core.adapters.checkout import Checkout
from nightwatch_core.adapters.clock import SystemClock
from nightwatch_core.adapters.error_files import ErrorFiles
from nightwatch_core.adapters.knowledge_files import KnowledgeFiles
from nightwatch_core.adapters.ledger import LedgerOutbox
from nightwatch_core.adapters.local_delivery import LocalDelivery
from nightwatch_core.adapters.local_notifier import LocalNotifier
from nightwatch_core.adapters.many_sources import ManySources
from nightwatch_core.adapters.memory_keepers import MemoryKnowledge, QuietOutbox
from nightwatch_core.adapters.nights import NightStore
from nightwatch_core.adapters.pasted import keep_pasted
from nightwatch_core.adapters.rules import RulesModel
from nightwatch_core.adapters.sample_code import SampleCode
from nightwatch_core.adapters.sample_errors import sample_errors
from nightwatch_core.adapters.transcripts import Transcripts
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.models.report import Night
from nightwatch_core.ports import (
    AgentShelf,
    Clock,
    CodeHost,
    ErrorSource,
    KnowledgeReader,
    KnowledgeWriter,
    Model,
    Nights,
    Notifier,
    Outbox,
    Tracker,
)
from nightwatch_core.settings import Settings, settings


@dataclass(frozen=True)
class Reading:
    """Everything a night reads."""

    errors: ErrorSource
    code: CodeHost
    tracker: Tracker
    knowledge: KnowledgeReader
    agents: AgentShelf
    model: Model
    clock: Clock


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
DEFAULT_MODEL = "claude-opus-5-5"


def reading(options: NightOptions) -> Reading:
    """The world to read, the real one unless `using` says otherwise."""
    other = _other.get()
    return other.reading if other else _reading(options, settings())


def publishing(options: NightOptions) -> Publishing:
    """The world to write, the real one unless `using` says otherwise."""
    other = _other.get()
    return other.publishing if other else _publishing(options, settings())


def nights() -> Nights:
    """The nights that were, whatever the options."""
    other = _other.get()
    return other.publishing.nights if other else NightStore(settings().state, SystemClock())


def transcripts() -> Transcripts:
    """What was said between us and models, whatever the options."""
    return Transcripts(settings().state / "transcripts", SystemClock())


def shelf() -> AgentShelf:
    """The agent files."""
    return AgentFiles(settings().home / "agents")


def knowledge_of(options: NightOptions) -> KnowledgeReader:
    """What nights of this kind taught."""
    return _knowledge(options, settings())


def pasted(record: str) -> str:
    """Keep a pasted record as a file an error source can read; returns its path."""
    return str(keep_pasted(record, settings().state / "pasted"))


@contextmanager
def using(worlds: Worlds) -> Iterator[Worlds]:
    """Run a block in other worlds."""
    token = _other.set(worlds)
    try:
        yield worlds
    finally:
        _other.reset(token)


def forget() -> None:
    """Make worlds anew at the next call: files may have changed since the last night."""
    _reading.cache_clear()
    _publishing.cache_clear()


def chosen(options: NightOptions) -> NightOptions:
    """The options with every port filled; a test's world keeps what it was given."""
    if _other.get():
        return options.model_copy(update={"max_errors": options.max_errors or 5})
    return choosing.chosen(options, AVAILABLE, DEFAULT_MODEL)


AVAILABLE: Mapping[str, frozenset[str]] = {
    "source": frozenset({"file", "sample"}),
    "code": frozenset({"checkout", "sample"}),
    "model": frozenset({"rules"}),
    "delivery": frozenset({"local"}),
    "notify": frozenset({"local"}),
}


@lru_cache(maxsize=4)
def _reading(options: NightOptions, at: Settings) -> Reading:
    code = _code(options, at)
    return Reading(
        errors=_errors(options, at),
        code=code,
        tracker=_delivery(at, code, night="none"),
        knowledge=_knowledge(options, at),
        agents=AgentFiles(at.home / "agents" if options.agents_enabled else None),
        model=RulesModel(),
        clock=SystemClock(),
    )


@lru_cache(maxsize=4)
def _publishing(options: NightOptions, at: Settings) -> Publishing:
    code, quiet = _code(options, at), options.dry_run

    def outbox(night: Night) -> Outbox:
        if quiet:
            return QuietOutbox()
        delivery = _delivery(at, code, night.id)
        return LedgerOutbox(delivery, at.state / "nightwatch.db", night.id, SystemClock())

    return Publishing(
        outbox=outbox,
        notifier=LocalNotifier(),
        knowledge=MemoryKnowledge() if quiet else _knowledge(options, at),
        nights=NightStore(at.state, SystemClock()),
    )


def _errors(options: NightOptions, at: Settings) -> ErrorSource:
    own = listed(options.app_prefixes)
    sources: dict[str, Callable[[], ErrorSource]] = {
        "file": lambda: ErrorFiles(_paths(options.errors), app_prefixes=own, app=_app(options)),
        "sample": lambda: sample_errors(at.state / "sample"),
    }
    named = {name: sources[name]() for name in options.sources()}
    return next(iter(named.values())) if len(named) == 1 else ManySources(named)


def _paths(errors: str) -> tuple[Path, ...]:
    """One path, or several with commas between them."""
    whole = Path(errors).expanduser()
    named = (errors,) if whole.exists() else listed(errors)
    return tuple(Path(path).expanduser() for path in named)


def _app(options: NightOptions) -> str:
    """What records that name no application belong to."""
    return Path(options.repo).expanduser().resolve().name if options.repo else ""


def _code(options: NightOptions, at: Settings) -> Checkout | SampleCode:
    if options.code == choosing.SAMPLE:
        return SampleCode(sample.stream(), at.state / "sample" / sample.APPLICATION)
    return Checkout(Path(options.repo).expanduser(), options.base_branch)


def _delivery(at: Settings, code: Checkout | SampleCode, night: str) -> LocalDelivery:
    return LocalDelivery(at.state / "nights", night, code, SystemClock())


def _knowledge(options: NightOptions, at: Settings) -> KnowledgeFiles:
    ignore = at.home / "knowledge" / "ignore.yml"
    if choosing.is_sample(options):
        return KnowledgeFiles(at.state / "sample" / "knowledge", ignore)
    own = at.knowledge / "ignore.yml"
    return KnowledgeFiles(at.knowledge, own if own.is_file() else ignore)
