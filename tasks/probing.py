"""Doors for `nightwatch check`: every neighbour of a night is asked, none is written to."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL

from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.models.error import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from tasks.wiring import chosen, half_described, knowledge_of, publishing, reading


class Probe(NamedTuple):
    """A neighbour's answer, or its complaint with what to do."""

    neighbour: str
    answer: str
    is_well: bool


def probes(options: NightOptions) -> Iterator[Probe]:
    """Ask every neighbour of a night with these options; writes nothing."""
    filled = chosen(options)
    world, outside, knowledge = reading(filled), publishing(filled), knowledge_of(filled)
    ask: tuple[tuple[str, Callable[[], str]], ...] = (
        (f"errors ({filled.source})", world.errors.probe),
        (f"code ({filled.code})", world.code.probe),
        (f"model ({filled.model})", world.model.probe),
        (f"own items ({filled.delivery})", world.tracker.probe),
        (f"delivery ({filled.delivery})", lambda: outside.outbox(_no_night(filled)).probe()),
        (f"news ({filled.notify})", outside.notifier.probe),
        ("knowledge", lambda: f"{len(knowledge.index().solutions)} lessons"),
        ("agents", lambda: ", ".join(world.agents.names()) or "the built-in prompt"),
        ("Prefect", _prefect),
    )
    for name, probe in ask:
        yield _asked(name, probe)
    for service, missing in half_described().items():
        yield Probe(service, f"is not set up: {', '.join(missing)} missing", is_well=False)


def _asked(name: str, probe: Callable[[], str]) -> Probe:
    try:
        return Probe(name, probe(), is_well=True)
    except NightWatchError as trouble:
        return Probe(name, str(trouble), is_well=False)


def _no_night(options: NightOptions) -> Night:
    now = reading(options).clock.now()
    return Night(id="check", window=Window(since=now, until=now), now=now)


def _prefect() -> str:
    address = PREFECT_API_URL.value()
    if not address:
        return "no server is named: a night by hand starts its own"
    with get_client(sync_client=True) as client:
        trouble = client.api_healthcheck()
        if trouble is None:
            return f"server {client.api_version()} at {address}"
    raise GiveUp(
        f"no Prefect server answers at {address} ({type(trouble).__name__}): start it with "
        "`make ui`, or change PREFECT_API_URL"
    )
