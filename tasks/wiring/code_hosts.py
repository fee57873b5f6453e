"""The code: masked for everybody, and as it is for the files of drafts."""

from collections.abc import Callable
from functools import lru_cache

from nightwatch_core.adapters.stores.recorded_code import RecordedHost
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import CodeHost
from nightwatch_core.privacy.scrubbed_code import ScrubbedHost
from nightwatch_core.privacy.scrubbed_writing import ScrubbedRecords
from nightwatch_core.settings import Settings
from tasks.wiring import local, privacy, services


def recorded_code(options: NightOptions, at: Settings) -> CodeHost:
    """Masked before it is kept; old records are not, so it is masked again when it is given."""
    by = privacy.scrubber(at)
    records = ScrubbedRecords(local.CodeRecords(), by.scrub)
    if options.code == "github":
        return RecordedHost(ScrubbedHost(services.github_code(options, at, records), by), records)
    return RecordedHost(ScrubbedHost(local.checkout(options, at), by), records)


@lru_cache(maxsize=4)
def bare_code(options: NightOptions, at: Settings) -> CodeHost:
    """Without records: what is kept of the code is masked."""
    if options.code == "github":
        return services.github_code(options, at, local.NoRecords())
    return local.checkout(options, at)


def text_at(host: Callable[[], CodeHost], sha: str, path: str) -> str | None:
    """The text of a file at a commit; None where there is none, or it cannot be read now."""
    try:
        return host().reader(Commit(repository="", sha=sha)).read_file(path)
    except NightWatchError:
        return None
