"""Choose the adapter behind each port.

Ports to read through never write and lead up to the analysis (with `GITHUB_READ_TOKEN` they could
not); ports to publish through are for what happens after it. Both are made from the options and the
settings alone, so that a worker on another machine makes the same ones.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

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
from nightwatch_core.adapters.stores.state_folder import prune as prune
from nightwatch_core.adapters.stores.task_files import AgentFiles, TaskFiles
from nightwatch_core.analysis.agent_specs import BASE, agents_of, choose
from nightwatch_core.analysis.loop import unpriced
from nightwatch_core.code import failed_commit
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.intake import default_ports
from nightwatch_core.intake.grouping import ManySources
from nightwatch_core.intake.windows import source_key
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.privacy import redaction
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.rules.engine import RulesModel
from nightwatch_core.settings import Settings
from tasks.ports import Adapters, PublishingPorts, ReadingPorts
from tasks.wiring import local, masks, services
from tasks.wiring.local import share as share
from tasks.wiring.opening import OpenNight

log = logging.getLogger(__name__)
DEFAULT_MODEL = "claude-opus-5-5"


def adapters(options: NightOptions, at: Settings) -> Adapters:
    """Return what stands behind the ports of a night with these options and settings."""
    services.bare_code.cache_clear()  # files may have changed since the last night
    services.code_memory.cache_clear()
    return Adapters(
        reading=lambda: _reading(options, at),
        publishing=lambda: _publishing(options, at),
        bare_code=lambda: services.bare_code(options, at),
        few_files=lambda: services.few_files(options, at),
        model_named=lambda name: _model(options.model_copy(update={"model": name}), at),
        batches_named=lambda name: services.batch_model(
            options.model_copy(update={"model": name}), at
        ),
        records=lambda: local.records(at),
        pause=local.pace.pause,
    )


def opened(options: NightOptions, at: Settings, **given: Any) -> OpenNight:
    """Open a night over the services of the settings; every port of `options` has to be filled."""
    return OpenNight(options, at, adapters(options, at), **given)


def for_a_command(options: NightOptions, at: Settings) -> OpenNight:
    """Return the services for a command: of its calls only what left the machine is written."""
    return OpenNight(options, at, replace(adapters(options, at), is_recorded=False))


def _keep_output(at: Settings, name: str, text: str) -> str:
    path = at.state / f"prepare-{name}.txt"
    with atomic_files.on_disk(path.parent):
        atomic_files.write(path, text.encode(errors="replace"))
    return str(path)


def nights(at: Settings) -> ports.Nights:
    """Return the store of nights, whatever the options."""
    return _nights(at)


class Harness(NamedTuple):
    """What `nightwatch prepare` needs to find out how a repository is tested."""

    code: ports.CodeHost  # unmasked
    sandbox: ports.Sandbox
    documents: ports.ProjectDocuments
    clock: ports.Clock
    keep_output: Callable[[str, str], str]  # of a project's name and what was printed; the file


def testing(options: NightOptions, at: Settings) -> Harness:
    """Return what stands on this machine to run the tests of a repository."""
    host, sandbox = services.bare_code(options, at), services.sandbox(options, at)
    keep = partial(_keep_output, at)
    return Harness(host, sandbox, project_documents(at), SystemClock(), keep)


def project_documents(at: Settings) -> ports.ProjectDocuments:
    """Return the pages that say how projects are tested."""
    return ProjectFiles(at.knowledge)


def shown_code(host: ports.CodeHost, at: Settings) -> ports.CodeHost:
    """Return the code of a host as a model may see it."""
    return redaction.redacted_host(host, masks.scrubber(at))


def knowledge_of(options: NightOptions, at: Settings) -> ports.KnowledgeReader:
    """Return the knowledge of these options."""
    lessons: ports.KnowledgeReader = local.knowledge(options, at)
    return redaction.redacted(lessons, ports.KnowledgeReader, masks.scrubber(at).scrub)


def agent_store(at: Settings, options: NightOptions) -> ports.AgentStore:
    """Return the agent files; none where they are switched off."""
    return AgentFiles(at.agents if options.agents_enabled else None)


def task_store(at: Settings) -> ports.TaskStore:
    """Return the task files that hold notes."""
    files = TaskFiles(at.tasks, at.state / "tasks.lock")
    return redaction.redacted(files, ports.TaskStore, masks.scrubber(at).scrub)


def ignore_file(options: NightOptions, at: Settings) -> IgnoreFile:
    """Return the ignore.yml that nights of this kind read."""
    return local.ignore_file(options, at)


def working_copy(options: NightOptions) -> WorkingCopy:
    """Return the working tree of the checkout that was named."""
    return (QuietCopy if options.dry_run else WorkingCopy)(Path(options.repo).expanduser())


def serve_library(library: ports.LessonLibrary) -> None:
    """Answer a coding agent over standard input and output until it goes away."""
    mcp_server.serve(library)


def keep_pasted_record(at: Settings, record: str) -> str:
    """Keep a pasted record as a file an error source can read; returns its path."""
    return str(keep_pasted(record, at.state / "pasted"))


def keep_piped_input(at: Settings, stream: IO[bytes]) -> str:
    """Keep all of a stream as a file an error source can read; returns its path."""
    return str(keep_stream(stream, at.state / "input"))


@contextmanager
def one_night(at: Settings) -> Iterator[None]:
    """Wait until no other process runs a night in the state folder, and hold it."""
    # Said on standard error: the terminal of a quiet night shows no log.
    say = partial(print, file=sys.stderr, flush=True)
    with state_folder.one_night(at.state, say), shared_files(at):
        yield


@contextmanager
def shared_files(at: Settings) -> Iterator[None]:
    """Begin with the files that all workers share, and share what was changed."""
    fetch(at)
    try:
        yield
    finally:
        share(at)


def fetch(at: Settings) -> None:
    """Get what other workers shared; raises `TryLater` where the shared folder does not answer."""
    if files := local.shared_files(at):
        files.fetch()


def free_space(at: Settings, results: Path, *, dry: bool) -> tuple[str, ...]:
    """Delete what was not used for long; returns a line on each kind. Call it within `one_night`.

    Raises `GiveUp` where something cannot be deleted.
    """
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


def with_default_ports(options: NightOptions, at: Settings) -> NightOptions:
    """Return the options with every port filled."""
    known = services.available(at), DEFAULT_MODEL, services.lacking(at), services.PRICES
    filled = default_ports.fill_ports(options, *known)
    services.check_installed(filled, at)
    return filled


def check_inputs(options: NightOptions, at: Settings) -> None:
    """Raise an error where files, checkout or agent that were named are not there."""
    if options.errors and "file" in (options.sources() or ("file",)):
        local.error_files(options).check_names()
    if options.repo and options.code in ("", "checkout"):
        local.checkout(options, at).head()
    check_agent(options, agent_store(at, options))


def check_agent(options: NightOptions, agents: ports.AgentStore) -> None:
    """Raise `StopTheNight` where the agent that was named cannot lead."""
    if options.agent and not options.agents_enabled:
        raise StopTheNight(
            f"agent {options.agent[:60]!r} was named, and agent files are off: leave --agent out, "
            "or set NIGHTWATCH_AGENTS_ENABLED=true"
        )
    if options.agent:
        choose(agents_of(agents), "", options.agent)


def check_prices(
    options: NightOptions, agents: ports.AgentStore, *, by_agents: bool = True
) -> None:
    """Raise `StopTheNight` where USD are limited and a model's price is not known.

    Asks nobody. Without `by_agents` the models that agent files name lead no analysis.
    """
    if options.model == default_ports.RULES or not options.cost_per_night:
        return
    specs = agents_of(agents).specs if by_agents else ()
    leading = (a for a in specs if a.name == (options.agent or BASE) or a.languages)
    models = (options.model, options.lead_model, *(agent.model for agent in leading))
    if missing := [name for name in models if name and name not in services.PRICES]:
        raise unpriced(missing[0])


def _model(options: NightOptions, at: Settings) -> ports.Model:
    return RulesModel() if options.model == default_ports.RULES else services.claude(options, at)


def _reading(options: NightOptions, at: Settings) -> ReadingPorts:
    if host := services.HOSTS.get(options.delivery):
        tracker = host.tracker(at)
    else:
        tracker = local.delivery(options, at, "none", masks.scrubber(at).scrub)
    return ReadingPorts(
        errors=_errors(options, at),
        code=services.recorded_code(options, at),
        tracker=tracker,
        knowledge=local.knowledge(options, at),
        agents=AgentFiles(at.agents),
        model=_model(options, at),
        clock=SystemClock(),
        stand_in=None if options.model == default_ports.RULES else RulesModel(),
        tasks=None if default_ports.is_sample(options) else task_store(at),
        libraries=local.libraries(options, at),
        source_maps=local.source_maps(options),
        batches=services.batch_model(options, at),
        sandbox=services.sandbox(options, at),
        projects=None if default_ports.is_sample(options) else ProjectFiles(at.knowledge),
    )


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


def watermark_key(options: NightOptions, at: Settings) -> str:
    """Name what a night reads, so that only nights over the same share a watermark."""
    live = (services.LIVE[name] for name in options.sources() if name in services.LIVE)
    return source_key(options, *(getattr(at, place) for source in live for place in source.places))


def _live(name: str, options: NightOptions, at: Settings) -> ports.ErrorSource:
    watermark = _nights(at).watermark(watermark_key(options, at))
    return services.LIVE[name].make(options, at, watermark, SystemClock())


def _nights(at: Settings) -> NightStore:
    return NightStore(at.state, SystemClock(), at.database)


def _outbox(options: NightOptions, at: Settings, night: Night) -> ports.Outbox:
    scrub = masks.scrubber(at).scrub
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


def first_repository(options: NightOptions) -> failed_commit.Repository | None:
    """Return the named checkout, read without keeping anything; None without one."""
    if not options.repo:
        return None
    checkout = Checkout(Path(options.repo).expanduser(), options.base_branch)
    host = redaction.redacted_host(checkout, REMOVAL)
    return failed_commit.opened(host, options, local.source_maps(options))
