"""`nightwatch check` and `nightwatch agents`: is everything set up?"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.night import (
    make_prefect_ready,
    sign_of_life,
    with_kept_input,
    with_option_flags,
)
from nightwatch_core.analysis.agent_specs import agents_of
from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.intake.default_ports import ON_THIS_MACHINE
from nightwatch_core.models.errors import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.proof.kits import describe_project
from nightwatch_core.settings import night_options, settings
from tasks.wiring import (
    agent_store,
    half_described,
    knowledge_of,
    publishing,
    reading,
    with_default_ports,
)
from tasks.wiring.services import ci_of_branches, one_token_does_both


@with_option_flags
def check(**choices: Any) -> None:
    """Check every service of a night: whether it answers, and what it allows; writes nothing there.

    Takes the options of a night. Exit code: 0 if all are well, 1 if one is not.
    """
    options = night_options(with_kept_input(choices))
    make_prefect_ready(settings().state, verbose=False)
    table = Table("", "Service", "Answer", box=None)
    failed = 0
    with sign_of_life(Console(stderr=True), "Asking …"):
        for name, answer, is_well in probes(options):
            failed += not is_well
            mark = Text("✓", style="green") if is_well else Text("✗", style="bold red")
            table.add_row(mark, name, Text(answer, style="" if is_well else "bold red"))
    console = Console()
    console.print(table)
    if failed:
        console.print(f"\n{failed} of {table.row_count} failed.", style="bold red")
    raise SystemExit(1 if failed else 0)


class Probe(NamedTuple):
    """A service's answer, or its complaint with what to do."""

    service: str
    answer: str
    is_well: bool


def probes(options: NightOptions) -> Iterator[Probe]:
    """Check every service of a night with these options; writes nothing."""
    filled = with_default_ports(options)
    read, write, knowledge = reading(filled), publishing(filled), knowledge_of(filled)
    ask: tuple[tuple[str, Callable[[], str]], ...] = (
        (f"errors ({filled.source})", read.errors.probe),
        (f"code ({filled.code})", read.code.probe),
        (f"model ({filled.model})", read.model.probe),
        *((("batches", lambda: _batches(filled)),) if read.batches else ()),
        (f"own items ({filled.delivery})", read.tracker.probe),
        (f"delivery ({filled.delivery})", lambda: write.outbox(_no_night(filled)).probe()),
        *((("CI of drafts", lambda: ci_of_branches(filled)),) if _makes_branches(filled) else ()),
        *((("sign-in", lambda: ONE_TOKEN),) if one_token_does_both(filled) else ()),
        (f"news ({filled.notify})", write.notifier.probe),
        *(
            (("sandbox", lambda: _sandbox(filled)), ("tests", lambda: _tests(filled)))
            if filled.gate and read.sandbox
            else ()
        ),
        ("knowledge", lambda: f"{len(knowledge.index().solutions)} lessons"),
        ("agents", lambda: ", ".join(read.agents.names()) or "the built-in prompt"),
        ("Prefect", _prefect),
    )
    for name, probe in ask:
        yield _asked(name, probe)
    for service, missing in half_described().items():
        yield Probe(service, f"is not set up: {', '.join(missing)} missing", is_well=False)


ONE_TOKEN = (
    "Warning: GITHUB_TOKEN both reads and writes, so what reads text from outside holds one that "
    "could write: set GITHUB_READ_TOKEN to one that only reads, or sign in as a GitHub App, which "
    "asks for such tokens by itself"
)


def _makes_branches(options: NightOptions) -> bool:
    return options.publish == "all" and not options.dry_run


def _sandbox(options: NightOptions) -> str:
    place = reading(options).sandbox
    try:
        return place.confinement() if place else ""
    except GiveUp as none:
        return f"Warning: fixes are not run before they are drafted: {none}"


def _tests(options: NightOptions) -> str:
    place = reading(options).sandbox
    if place is None or options.code not in ON_THIS_MACHINE:
        return "found out when there is a fix: the code is not on this machine"
    host = reading(options).code
    try:
        return describe_project(host.reader(host.head()), place, options)
    except GiveUp as trouble:
        return f"Warning: {trouble}"


def _asked(name: str, probe: Callable[[], str]) -> Probe:
    try:
        return Probe(name, probe(), is_well=True)
    except NightWatchError as trouble:
        return Probe(name, str(trouble), is_well=False)


def _batches(options: NightOptions) -> str:
    desk, is_needed = reading(options).batches, options.batch_mode
    try:
        return desk.probe() if desk else ""
    except GiveUp as none:
        if is_needed:
            raise
        return f"{none} (no option asks for them)"


def _no_night(options: NightOptions) -> Night:
    now = reading(options).clock.now()
    return Night(id="check", window=Window(since=now, until=now), now=now)


def _prefect() -> str:
    from prefect.client.orchestration import get_client  # reads its environment when imported
    from prefect.settings import PREFECT_API_URL

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


# `nightwatch agents`


def agents() -> None:
    """List the agent files, and what is wrong with those that cannot be used."""
    files, console = agents_of(agent_store()), Console()
    table = Table("Agent", "Languages", "Description", box=None, pad_edge=False)
    for agent in files.specs:
        table.add_row(Text(agent.name), Text(", ".join(agent.languages)), Text(agent.description))
    console.print(table)
    for complaint in files.complaints:
        console.print(Text(complaint, style="bold red"))
