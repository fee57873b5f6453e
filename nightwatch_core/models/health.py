"""Words for how well the services of a night were: what was asked of them, and what is due."""

from datetime import datetime
from typing import Literal

from nightwatch_core.models.manifest import Destination
from nightwatch_core.models.value import Value


class ServiceCalls(Value):
    """Requests to one service that the night's own process sent."""

    service: str
    requests: int = 0
    unanswered: int = 0  # thereof: no answer came, or one that says to come later
    refused: int = 0  # thereof: for want of a right, or of a valid sign-in
    waits: int = 0  # before a request was sent again
    waited: float = 0.0  # seconds, in all of them
    trouble: str = ""  # what the last one that failed came to, one line
    is_last_well: bool = True  # whether the last one was answered
    expires: datetime | None = None  # the sign-in; None: the service does not say


class ServiceHealth(Value):
    """One service that took part in a night."""

    name: str
    roles: tuple[str, ...] = ()  # errors, code, model, issues, news, memory, records
    state: Literal["well", "troubled", "away", "not asked"] = "well"
    calls: ServiceCalls | None = None  # None: its requests are not counted
    detail: str = ""  # what there is, or what is wrong
    last_well: datetime | None = None  # of one that is away: the last night that reached it


class StateFolder(Value):
    """Where NightWatch keeps what must survive a night."""

    free: int = 0  # bytes of its disk
    size: int = 0  # bytes of its disk, used or not
    old_locks: tuple[str, ...] = ()  # git's locks that a killed process may have left


class Health(Value):
    """How well a night's services were, and what somebody has to see to."""

    services: tuple[ServiceHealth, ...] = ()
    due: tuple[str, ...] = ()  # one sentence each
    left: tuple[Destination, ...] | None = None  # who was sent how much; None: nobody looked

    @property
    def is_good(self) -> bool:
        """Whether nobody has to do anything."""
        return not self.due and all(one.state in ("well", "not asked") for one in self.services)
