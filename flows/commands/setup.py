"""`nightwatch check` and `nightwatch agents`: is everything set up?"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands import night
from flows.commands.values import AsJson, print_json
from nightwatch_core.analysis.agent_specs import agents_of
from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.intake.default_ports import ON_THIS_MACHINE, RULES
from nightwatch_core.models.errors import Window
from nightwatch_core.models.report import Night
from nightwatch_core.proof.preparing import described_project
from nightwatch_core.publish import ci
from nightwatch_core.settings import night_options, settings
from nightwatch_core.text.plain_text import plural
from tasks import wiring
from tasks.wiring.opening import OpenNight


@night.with_option_flags
def check(as_json: AsJson = False, **choices: Any) -> None:
    """Check that every connected service answers and grants the needed permissions.

    Takes the options of a night; writes nothing. Exit code: 0 if all checks pass, else 1.
    """
    at, options = settings(), night_options(night.with_kept_input(choices))
    night.make_prefect_ready(at.state, verbose=False)
    filled = wiring.with_default_ports(options, at)
    show_answers(probes(wiring.for_a_command(filled, at)), as_json=as_json)


def show_answers(probes: Iterable["Probe"], *, as_json: bool) -> NoReturn:
    """Print each answer of a service; ends the process with 1 where one is missing, else with 0."""
    table = Table("", "Service", "Answer", box=None)
    failed, found = 0, list[Probe]()
    with night.sign_of_life(Console(stderr=True), "Asking …"):
        for probe in probes:
            name, answer, is_well, is_needed = probe
            found.append(probe)
            failed += is_needed and not is_well
            mark, style = ("✗", "bold red") if is_needed else ("!", "yellow")
            mark, style = ("✓", "green") if is_well else (mark, style)
            table.add_row(Text(mark, style), name, Text(answer, "" if is_well else style))
    console = Console()
    if as_json:
        print_json([probe._asdict() for probe in found], 1 if failed else 0)
    console.print(table)
    if failed:
        console.print(f"\n{failed} of {table.row_count} failed.", style="bold red")
    raise SystemExit(1 if failed else 0)


class Probe(NamedTuple):
    """A service's answer, or its complaint with what to do."""

    service: str
    answer: str
    is_well: bool
    is_needed: bool = True  # a night goes on without the others, and says so


def probes(opened: OpenNight) -> Iterator[Probe]:
    """Check every service of a night; writes nothing."""
    filled, at = opened.options, opened.settings
    read, write = opened.reading, opened.publishing
    now = read.clock.now()
    night = Night(id="check", window=Window(since=now, until=now), now=now)
    checks: list[tuple[str, Callable[[], str]]] = [
        (f"errors ({filled.source})", read.errors.probe),
        (f"code ({filled.code})", read.code.probe),
        (f"model ({filled.model})", lambda: _model(opened)),
        (f"delivery ({filled.delivery})", lambda: write.outbox(night).probe()),
        (f"notifications ({filled.notify})", write.notifier.probe),
        ("knowledge", lambda: _knowledge(opened)),
        ("agents", lambda: _agents(opened)),
        ("Prefect", _prefect),
    ]
    if not filled.patterns_enabled:
        checks.append(("patterns", lambda: f"off: {PATTERNS_OFF}"))
    if filled.is_hosted:  # else these are the files that the delivery tells of
        checks.insert(3, (f"published items ({filled.delivery})", read.tracker.probe))
    if read.batches:
        checks.append(("batches", lambda: _batches(opened)))
    if filled.publish == "all" and not filled.dry_run:
        checks.append(("CI of drafts", lambda: _ci_of_branches(opened)))
    if wiring.services.one_token_does_both(filled, at):
        checks.append(("sign-in", lambda: ONE_TOKEN))
    if filled.gate and read.sandbox:
        checks += [("sandbox", lambda: _sandbox(opened)), ("tests", lambda: _tests(opened))]
    for name, probe in checks:
        try:
            yield Probe(name, probe(), is_well=True)
        except NightWatchError as trouble:
            yield Probe(name, str(trouble), is_well=False, is_needed=name not in _NOT_NEEDED)
    for service, missing in wiring.services.half_described(at).items():
        yield Probe(service, f"is not set up: set {', '.join(missing)}", is_well=False)


_NOT_NEEDED = ("sandbox", "tests")
ONE_TOKEN = (
    "Warning: GITHUB_TOKEN can write and is also used to read untrusted text: "
    "set GITHUB_READ_TOKEN to a read-only token, or sign in as a GitHub App, which "
    "requests read-only tokens itself"
)


LESSONS_OFF = "a night reads and writes none, and analyses known errors again"
AGENTS_OFF = "the built-in prompt leads every analysis"
PATTERNS_OFF = "none is detected or used, and no ignore rule suggested"


def _model(opened: OpenNight) -> str:
    options = opened.options
    wiring.check_prices(options, opened.reading.agents)
    answer = opened.reading.model.probe()
    is_priced = options.model == RULES or options.model in wiring.services.PRICES
    return answer if is_priced else f"{answer}; price unknown: limited by tokens, not by USD"


def _knowledge(opened: OpenNight) -> str:
    kept = plural(len(opened.reading.knowledge.index().solutions), "lesson")
    return kept if opened.options.compound_enabled else f"off, {kept} kept: {LESSONS_OFF}"


def _agents(opened: OpenNight) -> str:
    names = ", ".join(opened.reading.agents.names()) or "the built-in prompt"
    return names if opened.options.agents_enabled else f"off: {AGENTS_OFF}"


def _ci_of_branches(opened: OpenNight) -> str:
    host = opened.adapters.few_files()
    head = host.head()
    tree, pushed = host.reader(head), opened.options.is_hosted
    return ci.ci_of_branches(tree.paths(), tree.read_file, head.branch, pushed=pushed)


def _sandbox(opened: OpenNight) -> str:
    place = opened.reading.sandbox
    try:
        return place.confinement() if place else ""
    except GiveUp as none:
        raise GiveUp(f"fixes are published without running their tests: {none}") from none


def _tests(opened: OpenNight) -> str:
    ports, options = opened.reading, opened.options
    if ports.sandbox is None or options.code not in ON_THIS_MACHINE:
        return "detected when there is a fix: the code is not on this machine"
    tree = ports.code.reader(ports.code.head())
    return described_project(tree, options, ports.projects, ports.sandbox)


def _batches(opened: OpenNight) -> str:
    desk, is_needed = opened.reading.batches, opened.options.batch_mode
    try:
        return desk.probe() if desk else ""
    except GiveUp as none:
        if is_needed:
            raise
        return f"{none} (not needed: batch mode is off)"


def _prefect() -> str:
    from prefect.client.orchestration import get_client  # reads its environment when imported
    from prefect.settings import PREFECT_API_URL

    address = PREFECT_API_URL.value()
    if not address:
        return "no server is set: `nightwatch night` starts its own"
    with get_client(sync_client=True) as client:
        trouble = client.api_healthcheck()
        if trouble is None:
            return f"server {client.api_version()} at {address}"
    raise GiveUp(
        f"no Prefect server answers at {address} ({type(trouble).__name__}): start it with "
        "`make ui`, or change PREFECT_API_URL"
    )


# `nightwatch agents`


def agents(as_json: AsJson = False) -> None:
    """List the agent files and the problems of invalid ones."""
    files, console = agents_of(wiring.agent_store(settings(), night_options())), Console()
    if as_json:
        print_json(vars(files))
    table = Table("Agent", "Languages", "Description", box=None, pad_edge=False)
    for agent in files.specs:
        table.add_row(Text(agent.name), Text(", ".join(agent.languages)), Text(agent.description))
    console.print(table if files.specs else "There are no agent files.")
    for complaint in files.complaints:
        console.print(Text(complaint, style="bold red"))
