"""Build the adapters of this machine from options and settings."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from nightwatch_core import sample
from nightwatch_core.adapters.files.source import ErrorFiles, named_paths
from nightwatch_core.adapters.files.times import zone_named
from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.local.delivery import LocalDelivery
from nightwatch_core.adapters.local.libraries import InstalledLibraries, beside, standard_library
from nightwatch_core.adapters.local.quiet import SystemClock, pause
from nightwatch_core.adapters.source_maps.source_map_folder import SourceMapFolder
from nightwatch_core.adapters.stores.documents import IgnoreFile, KnowledgeFiles
from nightwatch_core.adapters.stores.shared_folder import SharedFiles, SharedFolder, SharedRecords
from nightwatch_core.adapters.stores.state_folder import (
    check_room_for_a_night as check_room_for_a_night,
)
from nightwatch_core.adapters.stores.state_folder import check_state_folder as check_state_folder
from nightwatch_core.errors import NightWatchError
from nightwatch_core.intake import default_ports
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.ports import ErrorSource, FileSource, Records, SourceMaps
from nightwatch_core.privacy.scrubber import Scrub
from nightwatch_core.sample.night import SampleCode, sample_errors
from nightwatch_core.settings import PACKAGED, Settings
from tasks.progress import new_listener

log = logging.getLogger(__name__)
NO_LIBRARIES = "none"  # instead of folders: nothing outside the repository is read


def error_files(options: NightOptions) -> FileSource:
    """Return the error files; records that name no application get the checkout's name."""
    app = Path(options.repo).expanduser().resolve().name if options.repo else ""
    return ErrorFiles(
        named_paths(options.errors),
        app_prefixes=listed(options.app_prefixes),
        app=app,
        zone=zone_named(options.timezone),
        listener=new_listener(),
    )


def source_maps(options: NightOptions) -> SourceMaps:
    """Return the source maps of the named folder; the repository's are read in any case."""
    return SourceMapFolder(Path(options.source_maps).expanduser() if options.source_maps else None)


def sample_records(at: Settings) -> ErrorSource:
    """Return the sample's errors."""
    return sample_errors(at.state / "sample")


def checkout(options: NightOptions, at: Settings) -> Checkout | SampleCode:
    """Return the sample application, or the checkout that was named."""
    if options.code == default_ports.SAMPLE:
        return SampleCode(sample.stream(), at.state / "sample" / sample.APPLICATION)
    return Checkout(Path(options.repo).expanduser(), options.base_branch)


def delivery(options: NightOptions, at: Settings, night: str, scrub: Scrub) -> LocalDelivery:
    """Deliver to files; drafts too, where there is a checkout to put a branch into."""
    code = checkout(options, at) if options.code in default_ports.ON_THIS_MACHINE else None
    return LocalDelivery(at.state / "nights", night, code, SystemClock(), scrub)


def knowledge(options: NightOptions, at: Settings) -> KnowledgeFiles:
    """Return lessons, patterns and ignore rules."""
    return KnowledgeFiles(knowledge_folder(options, at), ignore_file(options, at).source)


def knowledge_folder(options: NightOptions, at: Settings) -> Path:
    """Return the folder of lessons; the sample has its own."""
    is_sample = default_ports.is_sample(options)
    return at.state / "sample" / "knowledge" if is_sample else at.knowledge


def ignore_file(options: NightOptions, at: Settings) -> IgnoreFile:
    """Return the team's rules, next to its lessons; at first it has those that came with us."""
    first = (folder / "knowledge" / "ignore.yml" for folder in (at.home, PACKAGED))
    own = knowledge_folder(options, at) / "ignore.yml"
    return IgnoreFile(own, SystemClock(), next((path for path in first if path.is_file()), None))


class CodeRecords:
    """Code that was read; Prefect is imported with the first read."""

    def __init__(self, at: Settings) -> None:
        self._at = at

    def get(self, key: str) -> str | None:
        """Return what was put there."""
        return self._records().get(key)

    def put(self, key: str, text: str) -> None:
        """Keep it."""
        self._records().put(key, text)

    def _records(self) -> Records:
        from tasks.records import code_records

        return _shared_by_all(self._at, code_records(), None)


def records(at: Settings) -> Records:
    """Return records of this run, which another worker may go on with."""
    from tasks.records import KEEP
    from tasks.records import records as own

    return _shared_by_all(at, own(), KEEP)


def _shared_by_all(at: Settings, own: Records, keep: timedelta | None) -> Records:
    url = at.shared_url
    return SharedRecords(own, shared_folder(url), SystemClock(), keep) if url else own


shared_folder = lru_cache(maxsize=4)(SharedFolder)


def shared_files(at: Settings) -> SharedFiles | None:
    """Return the folders that all workers share; None where there is one worker."""
    if not at.shared_url:
        return None
    folders = {name: at.state / name for name in ("nights", "journal")}
    folder = shared_folder(at.shared_url)
    return SharedFiles(folder, folders | {"knowledge": at.knowledge}, at.state / "shared.lock")


def share(at: Settings, *names: str) -> str:
    """Share what was changed, of all folders unless some are named; returns what went wrong."""
    try:
        if files := shared_files(at):
            files.send(*names)
    except (NightWatchError, OSError) as trouble:
        log.warning("other workers do not see what is new here: %s", trouble)
        return f"other workers do not see what is new here: {trouble}"
    return ""


def libraries(options: NightOptions, at: Settings) -> InstalledLibraries | None:
    """Return the source of installed dependencies; None without any."""
    named = library_folders(options, at)
    return InstalledLibraries(named, standard_library()) if named else None


def library_folders(options: NightOptions, at: Settings) -> tuple[Path, ...]:
    """Return the folders of dependencies that were named, else those next to the checkout."""
    if at.libraries == NO_LIBRARIES:
        return ()
    named = tuple(Path(item).expanduser() for item in listed(at.libraries))
    if not named and options.repo and options.code in default_ports.ON_THIS_MACHINE:
        named = beside(Path(options.repo).expanduser().resolve(), os.environ)
    return named


# How a night waits for its services.


@dataclass
class Pace:
    """The pace of a night: its pauses, and the seconds a service may be silent."""

    pause: Callable[[float], None] = pause
    silence: float | None = None  # None: as long as its adapter thinks right


pace = Pace()  # tests hurry
