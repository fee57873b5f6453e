"""Choose the adapter behind each port.

`reading` never writes and leads up to the analysis (with `GITHUB_READ_TOKEN` it could not write);
`publishing` is for what happens after it. Both are made from the options and the settings alone, so
that a worker on another machine makes the same ones. Tests put others in with
`tasks.dependencies.using`.
"""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import IO

from filelock import FileLock

from nightwatch_core import ports
from nightwatch_core.adapters.files.source import keep_pasted, keep_stream
from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.local.delivery import QuietCopy, WorkingCopy
from nightwatch_core.adapters.local.quiet import (
    LocalNotifier,
    QuietKnowledge,
    QuietOutbox,
    SystemClock,
)
from nightwatch_core.adapters.mcp import server as mcp_server
from nightwatch_core.adapters.stores import atomic_files, state_folder
from nightwatch_core.adapters.stores.database import LedgerOutbox, NightStore
from nightwatch_core.adapters.stores.documents import IgnoreFile
from nightwatch_core.adapters.stores.project_documents import ProjectFiles
from nightwatch_core.adapters.stores.state_folder import Transcripts
from nightwatch_core.adapters.stores.state_folder import prune as prune
from nightwatch_core.adapters.stores.task_files import AgentFiles, TaskFiles
from nightwatch_core.analysis.agent_specs import BASE, agents_of, choose
from nightwatch_core.analysis.loop import unpriced
from nightwatch_core.code.failed_commit import Repository, opened
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.intake import default_ports
from nightwatch_core.intake.grouping import ManySources
from nightwatch_core.intake.windows import source_key
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.privacy import redaction
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.rules.engine import RulesModel
from nightwatch_core.settings import Settings, settings
from tasks.dependencies import PublishingPorts, ReadingPorts, replacement
from tasks.wiring import local, proxies, services

log = logging.getLogger(__name__)
DEFAULT_MODEL = "claude-opus-5-5"


def reading(options: NightOptions) -> ReadingPorts:
    """Return the ports to read through, the real ones unless `using` says otherwise."""
    instead, at = replacement(), settings()
    given = instead.reading if instead else _reading(options, at)
    if instead and instead.model_of:
        given = replace(given, model=instead.model_of(options.model))
    if not options.agents_enabled:
        given = replace(given, agents=AgentFiles(None))
    walled, recording = proxies.scrubbed_reading(given, at), proxies.current_recording()
    return recording.reading(walled, options.model) if recording else walled


def publishing(options: NightOptions) -> PublishingPorts:
    """Return the ports to write through, the real ones unless `using` says otherwise."""
    instead, at = replacement(), settings()
    given = instead.publishing if instead else _publishing(options, at)
    walled, recording = proxies.scrubbed_publishing(given, at), proxies.current_recording()
    return recording.publishing(walled) if recording else walled


def masked(report: RunReport) -> RunReport:
    """Return a report as its files have it: a model's own words are masked, too."""
    return redaction.scrubbed(report, proxies.scrubber(settings()).scrub)


def bare_code(options: NightOptions) -> ports.CodeHost:
    """Return the code unmasked: for the files of drafts, which people will merge."""
    instead = replacement()
    host = instead.reading.code if instead else services.bare_code(options, settings())
    return proxies.recorded(ports.CodeHost, "code", host)


def code_cache(options: NightOptions) -> ports.CodeCache | None:
    """Return what keeps code that was read; None in a replay, which has its answers."""
    instead = replacement()
    host = instead.reading.code if instead else _reading(options, settings()).code
    return host if isinstance(host, ports.CodeCache) else None


def testing(options: NightOptions) -> tuple[ports.CodeHost, ports.Sandbox, ports.ProjectDocuments]:
    """Return what `nightwatch prepare` needs: the code unmasked, the sandbox, and its documents."""
    at, instead = settings(), replacement()
    if instead:
        given = instead.reading
        if given.sandbox is None or given.projects is None:
            raise StopTheNight("there is no sandbox to run tests in, or no place for what it shows")
        return given.code, given.sandbox, given.projects
    return bare_code(options), services.sandbox(options, at), ProjectFiles(at.knowledge)


def shown_code(host: ports.CodeHost) -> ports.CodeHost:
    """Return the code of a host as a model may see it."""
    return redaction.redacted_host(host, proxies.scrubber(settings()))


def keep_output(name: str, text: str) -> str:
    """Keep what the tests of a project printed; returns the file's path."""
    path = settings().state / f"prepare-{name}.txt"
    with atomic_files.on_disk(path.parent):
        atomic_files.write(path, text.encode(errors="replace"))
    return str(path)


def nights() -> ports.Nights:
    """Return the store of nights, whatever the options."""
    instead = replacement()
    own = instead.publishing.nights if instead else _nights(settings())
    return proxies.recorded(ports.Nights, "nights", own)


def transcripts() -> Transcripts:
    """Return the transcript store."""
    at = settings()
    scrub = proxies.scrubber(at).scrub
    return Transcripts(at.state / "transcripts", SystemClock(), scrub=scrub)


def agent_store() -> ports.AgentStore:
    """Return the agent files."""
    return AgentFiles(settings().agents)


def knowledge_of(options: NightOptions) -> ports.KnowledgeReader:
    """Return the knowledge of these options."""
    at = settings()
    lessons: ports.KnowledgeReader = local.knowledge(options, at)
    return redaction.redacted(lessons, ports.KnowledgeReader, proxies.scrubber(at).scrub)


def task_store() -> ports.TaskStore:
    """Return the task files that hold notes, whatever the options."""
    at = settings()
    files = TaskFiles(at.tasks, at.state / "tasks.lock")
    return redaction.redacted(files, ports.TaskStore, proxies.scrubber(at).scrub)


def ignore_file(options: NightOptions) -> IgnoreFile:
    """Return the ignore.yml that nights of this kind read."""
    return local.ignore_file(options, settings())


def working_copy(options: NightOptions) -> WorkingCopy:
    """Return the working tree of the checkout that was named."""
    return (QuietCopy if options.dry_run else WorkingCopy)(Path(options.repo).expanduser())


def serve_library(library: ports.LessonLibrary) -> None:
    """Answer a coding agent over standard input and output until it goes away."""
    mcp_server.serve(library)


def keep_pasted_record(record: str) -> str:
    """Keep a pasted record as a file an error source can read; returns its path."""
    return str(keep_pasted(record, settings().state / "pasted"))


def keep_piped_input(stream: IO[bytes]) -> str:
    """Keep all of a stream as a file an error source can read; returns its path."""
    return str(keep_stream(stream, settings().state / "input"))


@contextmanager
def one_night() -> Iterator[None]:
    """Wait until no other process runs a night in the state folder, and hold it."""
    # Said on standard error: the terminal of a quiet night shows no log.
    say = partial(print, file=sys.stderr, flush=True)
    with state_folder.one_night(settings().state, say), shared_files():
        yield


@contextmanager
def shared_files() -> Iterator[None]:
    """Begin with the files that all workers share, and share what was changed."""
    fetch()
    try:
        yield
    finally:
        share()


def fetch() -> None:
    """Get what other workers shared; raises `TryLater` where the shared folder does not answer."""
    if files := local.shared_files(settings()):
        files.fetch()


def share(*names: str) -> str:
    """Share what was changed, of all folders unless some are named; returns what went wrong."""
    try:
        if files := local.shared_files(settings()):
            files.send(*names)
    except (NightWatchError, OSError) as trouble:
        log.warning("other workers do not see what is new here: %s", trouble)
        return f"other workers do not see what is new here: {trouble}"
    return ""


def free_space(results: Path, *, dry: bool) -> tuple[str, ...]:
    """Delete what nobody used for long; returns a line on each kind. Call it within `one_night`.

    Raises `GiveUp` where something cannot be deleted.
    """
    at = settings()
    places = {"state": at.state, "knowledge": at.knowledge, "sandbox": services.sandbox_place(at)}
    try:
        pruned = state_folder.free_space(places, results, dry=dry)
    except OSError as error:
        raise GiveUp(f"{error.filename} cannot be deleted: {error.strerror}") from error
    verb = "would be deleted" if dry else "deleted"
    return tuple(
        f"{what}: {item.deleted} {verb} ({item.freed / 2**20:.1f} MiB), "
        f"{item.left} kept ({item.bytes / 2**20:.1f} MiB)"
        for what, item in pruned.items()
    )


@lru_cache(maxsize=4)
def night_cache(fence: str, options: NightOptions) -> NightCache:
    """Return what this process has found out of projects in a night."""
    return NightCache(reading(options).projects, fence)


def one_run() -> AbstractContextManager[object]:
    """Hold the sandbox: what is run would only slow what other processes run beside it."""
    return FileLock(settings().state / "sandbox.lock")


def reset_ports() -> None:
    """Make all ports anew at the next call: files may have changed since the last night."""
    proxies.end_recording()
    proxies.close_state(settings())
    _reading.cache_clear()
    _publishing.cache_clear()
    services.bare_code.cache_clear()
    services.code_memory.cache_clear()
    night_cache.cache_clear()


def with_default_ports(options: NightOptions) -> NightOptions:
    """Return the options with every port filled; a test's options stay as they are."""
    if replacement():
        return options.model_copy(update={"max_errors": options.max_errors or 5})
    at = settings()
    known = services.available(at), DEFAULT_MODEL, services.lacking(at), services.PRICES
    filled = default_ports.fill_ports(options, *known)
    services.check_installed(filled, at)
    return filled


def check_inputs(options: NightOptions) -> None:
    """Raise an error where files, checkout or agent that were named are not there."""
    if replacement():
        return
    if options.errors and "file" in (options.sources() or ("file",)):
        local.error_files(options).check_names()
    if options.repo and options.code in ("", "checkout"):
        local.checkout(options, settings()).head()
    check_agent(options)


def check_agent(options: NightOptions) -> None:
    """Raise `StopTheNight` where the agent that was named cannot lead."""
    if options.agent and not options.agents_enabled:
        raise StopTheNight(
            f"agent {options.agent[:60]!r} was named, and agent files are off: leave --agent out, "
            "or set NIGHTWATCH_AGENTS_ENABLED=true"
        )
    if options.agent:
        choose(agents_of(reading(options).agents), "", options.agent)


def check_prices(options: NightOptions, *, by_agents: bool = True) -> None:
    """Raise `StopTheNight` where USD are limited and a model's price is not known.

    Asks nobody. Without `by_agents` the models that agent files name lead no analysis.
    """
    if replacement() or options.model == default_ports.RULES or not options.cost_per_night:
        return
    agents = agents_of(reading(options).agents).specs if by_agents else ()
    leading = (a for a in agents if a.name == (options.agent or BASE) or a.languages)
    models = (options.model, options.lead_model, *(agent.model for agent in leading))
    if missing := [name for name in models if name and name not in services.PRICES]:
        raise unpriced(missing[0])


def half_described() -> Mapping[str, tuple[str, ...]]:
    """Return services that are half set up, with the missing settings."""
    return {} if replacement() else services.half_described(settings())


@lru_cache(maxsize=4)
def _reading(options: NightOptions, at: Settings) -> ReadingPorts:
    rules = RulesModel()
    is_local = options.model == default_ports.RULES
    if host := services.HOSTS.get(options.delivery):
        tracker = host.tracker(at)
    else:
        tracker = local.delivery(options, at, "none", proxies.scrubber(at).scrub)
    return ReadingPorts(
        errors=_errors(options, at),
        code=services.recorded_code(options, at),
        tracker=tracker,
        knowledge=local.knowledge(options, at),
        agents=AgentFiles(at.agents),
        model=rules if is_local else services.claude(options, at),
        clock=SystemClock(),
        stand_in=None if is_local else rules,
        tasks=None if default_ports.is_sample(options) else task_store(),
        libraries=local.libraries(options, at),
        source_maps=local.source_maps(options),
        batches=services.batch_model(options, at),
        sandbox=services.sandbox(options, at),
        projects=None if default_ports.is_sample(options) else ProjectFiles(at.knowledge),
    )


@lru_cache(maxsize=4)
def _publishing(options: NightOptions, at: Settings) -> PublishingPorts:
    quiet = options.dry_run

    def outbox(night: Night) -> ports.Outbox:
        if quiet:
            return QuietOutbox()
        delivery = _outbox(options, at, night)
        return LedgerOutbox(delivery, at.database, night.id, SystemClock())

    tellers = {} if quiet else {"slack": services.slack, "channels": services.channels}
    teller = tellers.get(options.notify)
    notifier = teller(at, SystemClock()) if teller else LocalNotifier()
    return PublishingPorts(
        outbox=outbox,
        notifier=notifier,
        knowledge=QuietKnowledge() if quiet else local.knowledge(options, at),
        nights=_nights(at),
        batch_store=services.batch_store(options, at),
    )


def _errors(options: NightOptions, at: Settings) -> ports.ErrorSource:
    sources: dict[str, Callable[[], ports.ErrorSource]] = {
        "file": lambda: local.error_files(options),
        "sample": lambda: local.sample_records(at),
        **{name: partial(_live, name, options, at) for name in services.LIVE},
    }
    named = {name: sources[name]() for name in options.sources()}
    return next(iter(named.values())) if len(named) == 1 else ManySources(named)


def watermark_key(options: NightOptions) -> str:
    """Name what a night reads, so that only nights over the same share a watermark."""
    return _watermark_key(options, settings())


def _watermark_key(options: NightOptions, at: Settings) -> str:
    live = (services.LIVE[name] for name in options.sources() if name in services.LIVE)
    return source_key(options, *(getattr(at, place) for source in live for place in source.places))


def _live(name: str, options: NightOptions, at: Settings) -> ports.ErrorSource:
    watermark = _nights(at).watermark(_watermark_key(options, at))
    return services.LIVE[name].make(options, at, watermark, SystemClock())


def _nights(at: Settings) -> NightStore:
    return NightStore(at.state, SystemClock(), at.database)


def _outbox(options: NightOptions, at: Settings, night: Night) -> ports.Outbox:
    scrub = proxies.scrubber(at).scrub
    if host := services.HOSTS.get(options.delivery):
        return host.outbox(options, at, SystemClock(), scrub)
    return local.delivery(options, at, night.id, scrub)


# What `nightwatch try` reads.


def now() -> datetime:
    """Return the time of this machine."""
    return SystemClock().now()


def first_files(options: NightOptions) -> ports.FileSource:
    """Return the named files, without secrets and with no mask told from another."""
    return redaction.redacted(local.error_files(options), ports.FileSource, REMOVAL.scrub)


def first_repository(options: NightOptions) -> Repository | None:
    """Return the named checkout, read without keeping anything; None without one."""
    if not options.repo:
        return None
    checkout = Checkout(Path(options.repo).expanduser(), options.base_branch)
    host = redaction.redacted_host(checkout, REMOVAL)
    return opened(host, options, local.source_maps(options))
