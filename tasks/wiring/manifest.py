"""The list of what left the machine, of this process and of nights that were."""

from urllib.parse import urlsplit

from nightwatch_core.adapters.stores.traffic import PROCESS, SentRequests
from nightwatch_core.models.manifest import Destination
from nightwatch_core.settings import Settings, settings
from tasks.wiring import privacy


def open_list(at: Settings) -> None:
    """Have what this process sends listed in the state folder; before its clients are made."""
    PROCESS.open(at.state / "sent", privacy.scrubber(at).scrub)


def list_for(night: str) -> None:
    """Give what this run sends to a night; lists of nights that were deleted go, too."""
    PROCESS.belongs_to(night)
    sent_requests().forget_old(settings().state / "nights")


def sent_requests() -> SentRequests:
    """What was sent, to be read."""
    return SentRequests(settings().state / "sent")


def destinations(prefect: str) -> tuple[Destination, ...]:
    """Who was sent how much in this run; `prefect` is the address of its API, empty if embedded."""
    host = urlsplit(prefect).netloc.rpartition("@")[2]
    known = Destination(service="Prefect", host=host, listed=False)
    is_here = (urlsplit(prefect).hostname or "localhost") in ("localhost", "127.0.0.1", "::1")
    return (*PROCESS.destinations(), *(() if is_here else (known,)))
