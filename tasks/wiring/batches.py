"""Batches: who answers many errors at once, and where they are kept from night to night."""

from nightwatch_core.adapters.local.clock import SystemClock
from nightwatch_core.adapters.local.quiet_batches import QuietBatches, QuietBatchStore
from nightwatch_core.adapters.stores.batch_files import BatchFiles
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import BatchModel, BatchStore
from nightwatch_core.settings import Settings, settings
from tasks.dependencies import replacement
from tasks.wiring import services


def kept_batches() -> BatchStore:
    """The batches that were submitted, whatever the options."""
    instead = replacement()
    return (instead and instead.publishing.batch_store) or BatchFiles(settings().state)


def model(options: NightOptions, at: Settings) -> BatchModel | None:
    """The service, quiet in a dry run; None without a language model."""
    if options.model == RULES:
        return None
    real = services.claude_batches(options, at, SystemClock())
    return QuietBatches(real) if options.dry_run else real


def store(options: NightOptions, at: Settings) -> BatchStore:
    """Files of the state folder, only read in a dry run."""
    files = BatchFiles(at.state)
    return QuietBatchStore(files) if options.dry_run else files
