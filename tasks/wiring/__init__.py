"""Choose the adapter behind each port.

`reading` never writes and leads up to the analysis (with `GITHUB_READ_TOKEN` it could not write);
`publishing` is for what happens after it. Both are made from the options and the settings alone, so
that a worker on another machine makes the same ones. Tests put others in with
`tasks.dependencies.using`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import IO

from nightwatch_core.adapters.files.source import keep_pasted, keep_stream
from nightwatch_core.adapters.local.delivery import QuietCopy, WorkingCopy
from nightwatch_core.adapters.local.quiet import (
    LocalNotifier,
    QuietKnowledge,
    QuietOutbox,
    SystemClock,
)
from nightwatch_core.adapters.mcp import server as mcp_server
from nightwatch_core.adapters.stores.database import LedgerOutbox, NightStore
from nightwatch_core.adapters.stores.documents import IgnoreFile
from nightwatch_core.adapters.stores.state_folder import Transcripts
from nightwatch_core.adapters.stores.task_files import AgentFiles
from nightwatch_core.intake import default_ports
from nightwatch_core.intake.grouping import ManySources
from nightwatch_core.intake.windows import is_live, source_key
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.ports import (
    AgentStore,
    CodeHost,
    ErrorSource,
    KnowledgeReader,
    LessonLibrary,
    Nights,
    Outbox,
    TaskStore,
    Tracker,
)
from nightwatch_core.privacy.redaction import redacted_lessons
from nightwatch_core.rules.engine import RulesModel
from nightwatch_core.settings import Settings, settings
from tasks.dependencies import PublishingPorts, ReadingPorts, replacement
from tasks.wiring import local, privacy, services
from tasks.wiring.recording import current_recording, end_recording

DEFAULT_MODEL = "claude-opus-5-5"


def reading(options: NightOptions) -> ReadingPorts:
    """Return the ports to read through, the real ones unless `using` says otherwise."""
    instead, at = replacement(), settings()
    ports = instead.reading if instead else _reading(options, at)
    if instead and instead.model_of:
        ports = replace(ports, model=instead.model_of(options.model))
    walled, listening = privacy.scrubbed_reading(ports, at), current_recording()
    return listening.reading(walled, options.model) if listening else walled


def publishing(options: NightOptions) -> PublishingPorts:
    """Return the ports to write through, the real ones unless `using` says otherwise."""
    instead, at = replacement(), settings()
    ports = instead.publishing if instead else _publishing(options, at)
    before = partial(services.text_at, partial(bare_code, options))
    walled, listening = privacy.scrubbed_publishing(ports, at, before), current_recording()
    return listening.publishing(walled) if listening else walled


def bare_code(options: NightOptions) -> CodeHost:
    """Return the code unmasked: for the files of drafts, which people will merge."""
    instead, listening = replacement(), current_recording()
    host = instead.reading.code if instead else services.bare_code(options, settings())
    return listening.code(host) if listening else host


def nights() -> Nights:
    """Return the store of nights, whatever the options."""
    instead, listening = replacement(), current_recording()
    own = instead.publishing.nights if instead else NightStore(settings().state, SystemClock())
    return listening.nights(own) if listening else own


def transcripts() -> Transcripts:
    """Return the transcript store."""
    return local.transcripts(settings())


def agent_store() -> AgentStore:
    """Return the agent files."""
    return AgentFiles(settings().home / "agents")


def knowledge_of(options: NightOptions) -> KnowledgeReader:
    """Return the knowledge of these options."""
    at = settings()
    return redacted_lessons(local.knowledge(options, at), privacy.scrubber(at).scrub)


def task_store() -> TaskStore:
    """Return the task files that hold notes, whatever the options."""
    return local.task_files(settings())


def ignore_file(options: NightOptions) -> IgnoreFile:
    """Return the ignore.yml that nights of this kind read."""
    return local.ignore_file(options, settings())


def working_copy(options: NightOptions) -> WorkingCopy:
    """Return the working tree of the checkout that was named."""
    return (QuietCopy if options.dry_run else WorkingCopy)(Path(options.repo).expanduser())


def serve_library(library: LessonLibrary) -> None:
    """Answer a coding agent over standard input and output until it goes away."""
    mcp_server.serve(library)


def keep_pasted_record(record: str) -> str:
    """Keep a pasted record as a file an error source can read; returns its path."""
    return str(keep_pasted(record, settings().state / "pasted"))


def keep_piped_input(stream: IO[bytes]) -> str:
    """Keep all of a stream as a file an error source can read; returns its path."""
    return str(keep_stream(stream, settings().state / "input"))


def reset_ports() -> None:
    """Make all ports anew at the next call: files may have changed since the last night."""
    end_recording()
    privacy.close_state(settings())
    _reading.cache_clear()
    _publishing.cache_clear()
    services.bare_code.cache_clear()


def with_default_ports(options: NightOptions) -> NightOptions:
    """Return the options with every port filled; a test's options stay as they are."""
    if replacement():
        return options.model_copy(update={"max_errors": options.max_errors or 5})
    at = settings()
    return default_ports.fill_ports(
        options, services.available(at), DEFAULT_MODEL, services.lacking(at)
    )


def half_described() -> Mapping[str, tuple[str, ...]]:
    """Return services that are half set up, with the missing settings."""
    return {} if replacement() else services.half_described(settings())


@lru_cache(maxsize=4)
def _reading(options: NightOptions, at: Settings) -> ReadingPorts:
    rules = RulesModel()
    is_local = options.model == default_ports.RULES
    return ReadingPorts(
        errors=_errors(options, at),
        code=services.recorded_code(options, at),
        tracker=_tracker(options, at),
        knowledge=local.knowledge(options, at),
        agents=AgentFiles(at.home / "agents"),
        model=rules if is_local else services.claude(options, at),
        clock=SystemClock(),
        stand_in=None if is_local else rules,
        tasks=None if default_ports.is_sample(options) else task_store(),
        libraries=local.libraries(options, at),
        source_maps=local.source_maps(options),
        batches=services.batch_model(options, at),
        sandbox=services.sandbox(options, at),
    )


@lru_cache(maxsize=4)
def _publishing(options: NightOptions, at: Settings) -> PublishingPorts:
    quiet = options.dry_run

    def outbox(night: Night) -> Outbox:
        if quiet:
            return QuietOutbox()
        delivery = _outbox(options, at, night)
        return LedgerOutbox(delivery, at.state / "nightwatch.db", night.id, SystemClock())

    to_slack = options.notify == "slack" and not options.dry_run
    notifier = services.slack(at, SystemClock()) if to_slack else LocalNotifier()
    return PublishingPorts(
        outbox=outbox,
        notifier=notifier,
        knowledge=QuietKnowledge() if quiet else local.knowledge(options, at),
        nights=NightStore(at.state, SystemClock()),
        batch_store=services.batch_store(options, at),
    )


def _errors(options: NightOptions, at: Settings) -> ErrorSource:
    sources: dict[str, Callable[[], ErrorSource]] = {
        "file": lambda: local.error_files(options),
        "sample": lambda: local.sample_records(at),
        "newrelic": lambda: _new_relic(options, at),
    }
    named = {name: sources[name]() for name in options.sources()}
    return next(iter(named.values())) if len(named) == 1 else ManySources(named)


def watermark_key(options: NightOptions) -> str:
    """Name what a night reads, so that only nights over the same share a watermark."""
    return _watermark_key(options, settings())


def _watermark_key(options: NightOptions, at: Settings) -> str:
    if not is_live(options):
        return source_key(options)
    return source_key(options, at.new_relic_account_id, at.new_relic_app_name)


def _new_relic(options: NightOptions, at: Settings) -> ErrorSource:
    clock, key = SystemClock(), _watermark_key(options, at)
    return services.new_relic(options, at, NightStore(at.state, clock).watermark(key), clock)


def _tracker(options: NightOptions, at: Settings) -> Tracker:
    if options.delivery == "github":
        return services.github_tracker(at)
    return local.delivery(options, at, "none", privacy.scrubber(at).scrub)


def _outbox(options: NightOptions, at: Settings, night: Night) -> Outbox:
    scrub = privacy.scrubber(at).scrub
    if options.delivery == "github":
        folder = at.state / "nights" / night.id / "patches"
        return services.github_outbox(options, at, SystemClock(), folder, scrub)
    return local.delivery(options, at, night.id, scrub)
