"""Build what `nightwatch try` reads: files, clock, prices, and a checkout if any."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.code.failed_commit import Repository, opened
from nightwatch_core.intake import default_ports
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import Clock, FileSource
from nightwatch_core.privacy.redaction import redacted_files, redacted_host
from nightwatch_core.privacy.scrubber import REMOVAL
from tasks.wiring import DEFAULT_MODEL, local, services


class Neighbours(NamedTuple):
    """The inputs of a first look besides the repository."""

    errors: FileSource
    clock: Clock
    model: str  # that an estimate is made for
    price: Callable[[str, Usage], Usage]


def neighbours(options: NightOptions) -> Neighbours:
    """Return the named files, and the prices of the model that a night would ask."""
    named = options.model if options.model not in ("", default_ports.RULES) else DEFAULT_MODEL
    errors = redacted_files(local.error_files(options), REMOVAL.scrub)
    return Neighbours(errors, SystemClock(), named, services.priced)


def repository(options: NightOptions) -> Repository | None:
    """Return the named checkout, read without keeping anything; None without one."""
    if not options.repo:
        return None
    host = redacted_host(Checkout(Path(options.repo).expanduser(), options.base_branch), REMOVAL)
    return opened(host, options, local.source_maps(options))
