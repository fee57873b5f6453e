"""What is counted and looked at for the health of a night, on the machine that it runs on."""

import time
from pathlib import Path

from nightwatch_core.adapters.stores import manifest
from nightwatch_core.adapters.stores.service_meter import PROCESS
from nightwatch_core.adapters.stores.state_folder import state_folder
from nightwatch_core.models.health import ServiceCalls, StateFolder
from nightwatch_core.models.options import NightOptions
from nightwatch_core.settings import settings
from tasks.wiring import privacy


def service_calls() -> tuple[ServiceCalls, ...]:
    """Requests to every service since the night began, from this process."""
    return tuple(PROCESS.calls().values())


def begin_counting() -> None:
    """Forget what was sent before: a night begins."""
    PROCESS.reset()
    manifest.PROCESS.reset()
    privacy.second_check(settings()).reset()


def alarms() -> tuple[str, ...]:
    """What the second check before publications has found since."""
    return privacy.second_check(settings()).alarms()


def state_of(options: NightOptions) -> StateFolder:
    """The state folder's disk, and git's old locks in what is read."""
    checkout = (Path(options.repo).expanduser(),) if options.repo else ()
    return state_folder(settings().state, checkout, time.time())
