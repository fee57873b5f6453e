"""`nightwatch night`, `one` and `try`: run a night, one error, or a first look, by hand."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar
from urllib.request import ProxyHandler, build_opener

import typer
from pydantic.fields import FieldInfo
from rich.console import Console
from rich.text import Text

from flows.commands.values import AsJson, print_json
from nightwatch_core.analysis.forecast import experience, forecast_text, worth
from nightwatch_core.analysis.forecast import forecast as forecast_of
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.first_look.dry_analysis import estimate, first_look, rendered
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.intake.ignore_rules import rules_in_force
from nightwatch_core.intake.limits import GROUPS_A_CASE
from nightwatch_core.intake.selection import select
from nightwatch_core.intake.windows import lookback, lookback_for
from nightwatch_core.memory.lesson_text import lessons_in
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import SECTION_OF, STANDARD_INPUT, NightOptions
from nightwatch_core.models.report import EXIT_CODES, RunReport
from nightwatch_core.proof.preparing import described_project
from nightwatch_core.report.terminal import NightReport
from nightwatch_core.settings import night_options, settings
from nightwatch_core.text.plain_text import money, plural
from nightwatch_core.triage.batch_triage import check_batch_mode
from tasks import wiring
from tasks.parameters import chosen_from, described, spell_out_choices
from tasks.progress import shown_by
from tasks.wiring import journals

# Command flags made from `NightOptions`, so that flags, parameters and settings are one list.

F = TypeVar("F", bound=Callable[..., Any])

SPELLINGS = {"batch_mode": ("--batch-mode/--no-batch-mode", "--batch")}  # where there are several


def with_option_flags(command: F, **otherwise: str) -> F:
    """Replace a command's `**choices` by a flag for every option of a night.

    A flag that is not given is None: its value comes from the settings, or is as `otherwise` says.
    """
    spell_out_choices(command, partial(_flag, otherwise))
    return command


def _flag(otherwise: Mapping[str, str], name: str, field: FieldInfo) -> Any:
    option = typer.Option(
        *SPELLINGS.get(name, ()),
        help=described(field, otherwise.get(name)),
        show_default=False,
        rich_help_panel=SECTION_OF[name].capitalize(),
    )
    return Annotated[chosen_from(field) | None, option]


# Progress while something runs.

TERMINAL_SECONDS, LINE_SECONDS = 0.2, 15.0  # between two signs


@contextmanager
def sign_of_life(console: Console, text: str) -> Iterator[None]:
    """Show on the console that something runs, and how far it has come.

    A terminal shows a line that changes; anything else gets a line every so often.
    """
    if not console.is_terminal:

        def print_line(sentence: str) -> None:
            if sentence:
                console.print(sentence, markup=False, highlight=False, soft_wrap=True)

        with shown_by(print_line, LINE_SECONDS):
            yield
        return
    with console.status(text) as status:

        def show(sentence: str) -> None:
            status.update(Text(f"{sentence[:1].upper()}{sentence[1:]} …") if sentence else text)

        with shown_by(show, TERMINAL_SECONDS):
            yield


# Run a flow by hand: Prefect made ready, the report shown, the exit code as its status says.

OfNight = Annotated[str, typer.Option("--night", help="Night to use; empty: the newest one.")]
_NO_PREFECT = ("ephemeral", "Failed to reach API")  # in the message of Prefect's RuntimeError
POOL = "nightwatch"  # of our deployments; a server that lacks it is somebody else's
SERVER_FILE, SERVER_SECONDS = "nightwatch-server", 2.0  # written by deployments/ui.sh
CLIENT_RETRIES = "3"  # of a request, after 2, 4 and 8 s: a server that went away is soon known
STARTUP_SECONDS = "600"  # Prefect's 20 are too few for the first start on a busy machine


def run_and_show(
    find_flow: Callable[[], Callable[..., RunReport]],
    parameters: Mapping[str, object],
    verbose: bool,
) -> None:
    """Find the flow, which imports Prefect, run it, print its report, exit as its status says."""
    try:
        check_state(for_a_night=True)
        make_prefect_ready(settings().state, verbose)
        with _sign_of_life(verbose), _without_heartbeats():
            report = find_flow()(**parameters)
    except NightWatchError as trouble:
        complain(trouble)
    except _of_the_server() as trouble:
        _end_without_server(trouble)
        raise
    show(report)
    if journals.is_replayable(settings(), report.night.id):
        again = f"Replay this night: {report.command} replay {report.night.id}"
        Console(soft_wrap=True).print(Text(again, "dim"))
    raise SystemExit(EXIT_CODES[report.status])


@contextmanager
def _without_heartbeats() -> Iterator[None]:
    """Send no heartbeats, for whose thread each flow waits a second when it ends.

    They tell a server's automations of a worker's runs; whoever runs a night by hand sees it end.
    """
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield


def _of_the_server() -> tuple[type[Exception], ...]:
    from tasks.runner import GONE

    return (RuntimeError, *GONE)


def _end_without_server(trouble: Exception) -> None:
    """End the process if Prefect's server was not there, or is not there any more."""
    from tasks.runner import GONE, gone_text

    if isinstance(trouble, RuntimeError) and any(sign in str(trouble) for sign in _NO_PREFECT):
        advice = "unset PREFECT_API_URL to use the embedded server, or start that server"
        complain(StopTheNight(f"Prefect's server cannot be reached ({trouble}): {advice}"))
    if isinstance(trouble, GONE):
        print_trouble(f"{gone_text(trouble)}: `nightwatch report` shows the results so far")
        sys.stderr.flush()
        os._exit(EXIT_CODES["failed"])  # Prefect would try for ten minutes to tell its server


def check_state(*, for_a_night: bool = False) -> None:
    """Raise `StopTheNight` where the state folder cannot be used, before anything starts."""
    check = wiring.local.check_room_for_a_night if for_a_night else wiring.local.check_state_folder
    check(settings().state)


def make_prefect_ready(state: Path, verbose: bool) -> None:
    """Set what Prefect reads when it is imported; what the user has set wins.

    Results go below the state folder, the embedded server gets time to start, our loggers are
    shown, and no usage statistics are sent.
    """
    environment = {
        "PREFECT_RESULTS_LOCAL_STORAGE_PATH": str(state / "results"),
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": STARTUP_SECONDS,
        "PREFECT_LOGGING_EXTRA_LOGGERS": "nightwatch_core,tasks",
        "PREFECT_LOGGING_LOGGERS_PREFECT_TASK_RUNS_LEVEL": "WARNING",  # "Finished", 70 times
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "INFO" if verbose else "CRITICAL",
        "PREFECT_INTERNAL_LOGGING_LEVEL": "ERROR" if verbose else "CRITICAL",
        "PREFECT_CLIENT_MAX_RETRIES": CLIENT_RETRIES,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect").expanduser()
    if server := running_server(home):
        environment["PREFECT_API_URL"] = server
    for name, value in environment.items():
        os.environ.setdefault(name, value)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable = os.access(home, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise StopTheNight(f"Prefect cannot write to its home {home}: set PREFECT_HOME")


def running_server(home: Path) -> str:
    """Return the address of the server that `make ui` started, if it is ours and answers.

    One that a profile of Prefect names is used by Prefect itself.
    """
    with suppress(OSError, ValueError):
        profiles = home / "profiles.toml"
        if not profiles.is_file() or "PREFECT_API_URL" not in profiles.read_text("utf-8"):
            address = (home / SERVER_FILE).read_text("utf-8").strip()
            client = build_opener(ProxyHandler({}))
            with client.open(f"{address}/work_pools/{POOL}", timeout=SERVER_SECONDS):
                return address
    return ""


def complain(trouble: NightWatchError) -> NoReturn:
    """Say what went wrong, and where the report is if there is one; ends the process with 1."""
    print_trouble(str(trouble), *getattr(trouble, "__notes__", ()))
    raise SystemExit(EXIT_CODES["failed"]) from None


def print_trouble(*lines: str) -> None:
    """Print lines in red to the error stream."""
    console = Console(stderr=True)
    for line in lines:
        console.print(line, style="bold red", markup=False, highlight=False, soft_wrap=True)


def show(report: RunReport) -> None:
    """Print a report; an ASCII terminal gets question marks, not an error."""
    make_plain()
    Console().print(NightReport(report))


def plain_console() -> Console:
    """Make a console that folds no line; an ASCII terminal gets question marks, not an error."""
    make_plain()
    return Console(soft_wrap=True, highlight=False)


def make_plain() -> None:
    """Print characters that an ASCII terminal lacks as question marks."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _sign_of_life(verbose: bool) -> AbstractContextManager[object]:
    if verbose:
        return nullcontext()
    starts = "" if os.environ.get("PREFECT_API_URL") else " (Prefect takes about 10 s to start)"
    text = f"Analysing errors{starts} …"
    return sign_of_life(Console(stderr=True), text)


# The standard input as a file of errors.


def with_kept_input(choices: dict[str, Any]) -> dict[str, Any]:
    """The choices, their standard input kept as a file: retries and `nightwatch one` read it again.

    Raises `StopTheNight` where nothing comes, or too much, or it cannot be written.
    """
    if night_options(choices).errors != STANDARD_INPUT:
        return choices
    return {**choices, "errors": wiring.keep_piped_input(settings(), sys.stdin.buffer)}


Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every step as it runs.")]

Collect = Annotated[
    bool,
    typer.Option("--collect", help="Collect the newest batch and analyse the errors it flagged."),
]


@with_option_flags
def night(verbose: Verbose = False, collect: Collect = False, **choices: Any) -> None:
    """Run one night: read errors, find causes, publish, learn, notify.

    Without options it runs on the sample. Exit code: 0 complete, 3 degraded, 1 failed.
    """
    if collect:  # options are those of the night that submitted, unless they are given
        choices["collect"] = True
    else:
        check_options(choices)
        choices = with_kept_input(choices)
    run_and_show(lambda: import_module("flows.nightly").nightly, choices, verbose)


def check_options(choices: dict[str, Any]) -> None:
    """Raise an error where the options cannot work: Prefect need not start for that.

    Where nobody watches and a team is to be told, the night itself tells that its files are gone.
    """
    at = settings()
    options = wiring.with_default_ports(night_options(choices), at)
    for flag, port in (("errors", "source"), ("repo", "code")):
        if choices.get(flag) and getattr(options, port) == "sample":
            own = {"errors": "file", "repo": "checkout"}[flag]
            raise StopTheNight(
                f"--{flag} is not read: the {port} is set to sample; add --{port} {own}"
            )
    lookback(options.since)
    check_batch_mode(options)
    if options.notify == "local" or sys.stderr.isatty():
        wiring.check_inputs(options, at)


# `nightwatch one`, and `python flows/one_error.py`: one error again.

Error = Annotated[str, typer.Argument(help="Fingerprint of the error, or its beginning.")]
ErrorClass = Annotated[str, typer.Option(help="Error class, instead of a fingerprint.")]
Transaction = Annotated[str, typer.Option(help="Transaction of the error.")]
Record = Annotated[
    str, typer.Option(help="One pasted error record; '-' reads it from standard input.")
]


@partial(with_option_flags, publish="none")
def one(
    error: Error = "",
    error_class: ErrorClass = "",
    transaction: Transaction = "",
    record: Record = "",
    verbose: Verbose = False,
    **choices: Any,
) -> None:
    """Analyse one error again. Publishes only with --publish."""
    if not (error or error_class or transaction or record):
        raise typer.BadParameter("give a fingerprint, --error-class or --record")
    text = sys.stdin.read() if record == "-" else record
    if text:  # as a file: Prefect keeps parameters, and would keep what it holds
        choices |= {"source": "file", "errors": wiring.keep_pasted_record(settings(), text)}
    else:
        choices = with_kept_input(choices)
        wiring.check_inputs(night_options(choices), settings())
    given: dict[str, Any] = {"error": error, "error_class": error_class, "transaction": transaction}
    given["others"] = {name: value for name, value in choices.items() if value is not None}
    run_and_show(lambda: import_module("flows.one_error").one_error, given, verbose)


# `nightwatch forecast`: what tonight will cost, without Prefect or a model.


@with_option_flags
def forecast(as_json: AsJson = False, **choices: Any) -> None:
    """Show what a night would cost now, and which errors are worth it first.

    Reads counts of errors and what was learned; asks no model. The night itself
    reads traces, too, and analyses errors of one cause together, which costs less.
    """
    at, asked = settings(), night_options(with_kept_input(choices))
    unasked = asked.model_copy(update={"model": RULES if asked.model else ""})  # needs no key
    options = wiring.with_default_ports(unasked, at)
    update = {"model": asked.model or options.model, "max_errors": asked.max_errors or 5}
    update |= {"lead_model": asked.lead_model} if asked.model else {}
    options = options if options.model == asked.model else options.model_copy(update=update)
    ports, records = wiring.for_a_command(options, at).reading, wiring.nights(at).history()
    with sign_of_life(Console(stderr=True), "Reading …"):
        window = ports.errors.window(lookback_for(options), ports.clock.now())
        groups = ports.errors.error_groups(window).groups
        rules, _ = rules_in_force(ports.knowledge.ignore_rules(), groups, window)
        named = ports.knowledge.index().solutions
        lessons = experience(records, lessons_in(ports.knowledge), options.analysts)
    seen = frozenset(name for entry in named for name in (entry.fingerprint, *entry.aliases))
    limit = options.max_errors or 5
    kept = select(groups, rules, GROUPS_A_CASE * limit, frozenset() if options.force else seen).kept
    fresh = (Case(leader=group) for group in kept if options.force or group.fingerprint not in seen)
    cases = sorted(fresh, key=lambda case: -worth(case, lessons))[:limit]
    price = wiring.services.priced
    expected = forecast_of(cases, options, lessons, price) if options.model != RULES else None
    if as_json:
        print_json(expected)
    make_plain()
    console = Console()
    if expected is None:
        free = options.model == RULES
        unknown = f"No forecast: the price of {options.analysts} is unknown"
        why = "Rules cost nothing" if free else unknown
        console.print(Text(f"{why}: {plural(len(cases), 'error')} to analyse."))
        return
    order = " What is most worth it first:" if cases else ""
    console.print(Text(f"Tonight: {forecast_text(expected)}.{order}"))
    for case in cases:
        alone = forecast_of((case,), options, lessons, price)
        console.print(Text(f"  {money(alone.cost if alone else None):>7}  {case.leader.short}"))
    told = [(item.forecast, item.cost) for item in records if item.forecast and item.cost]
    for before, spent in told[:1]:
        console.print(Text(f"The night before: forecast {money(before)}, cost {money(spent)}."))


# `nightwatch try`: what can be said of files of errors in seconds, without Prefect.

Files = Annotated[
    list[str] | None,
    typer.Argument(help="Exports or logs: files, folders, patterns; - for standard input."),
]


@with_option_flags
def try_file(files: Files = None, as_json: AsJson = False, **choices: Any) -> None:
    """Show which errors NightWatch finds in files, and what a night would cost.

    Takes seconds; stores nothing except piped input. With --repo it also
    shows the failing lines in the checkout. Exit code: 0 if errors were read,
    else 1.
    """
    named = {"errors": ",".join(files)} if files else {}  # else as the settings say
    given = with_kept_input({**choices, **named, "source": "file"})
    options = night_options(given)
    if not options.errors:
        raise typer.BadParameter("name files of errors, here or in nightwatch.toml")
    model = options.model if options.model not in ("", RULES) else wiring.DEFAULT_MODEL
    with sign_of_life(Console(stderr=True), "Reading …"):
        look = first_look(
            wiring.first_files(options),
            wiring.first_repository(options),
            wiring.now(),
            lookback(options.since),
            lambda cases: estimate(cases, options, model, wiring.services.priced),
        )
    if as_json:
        print_json(look, 0 if look.groups else 1)
    make_plain()
    Console().print(rendered(look))
    if look.groups:
        print(f"  {_night(options)}")  # on one line, to be copied
        if options.repo:
            print(f"  Tests: {_tests(options)}")
    raise SystemExit(0 if look.groups else 1)


def _tests(options: NightOptions) -> str:
    update, at = {"code": "checkout"}, settings()
    host = wiring.adapters(options.model_copy(update=update), at).bare_code()
    documents = wiring.project_documents(at)
    try:
        return described_project(host.reader(host.head()), options, documents)
    except GiveUp as missing:
        return str(missing)


def _night(options: NightOptions) -> str:
    chosen = [
        f"--{name.replace('_', '-')} {shlex.quote(text)}"
        for name in _HANDED_ON
        if (text := getattr(options, name))
    ]
    repo = [] if options.repo else ["--repo CHECKOUT"]
    errors = ("night --errors", shlex.quote(options.errors))
    return " ".join((settings().command, *errors, *chosen, *repo))


_HANDED_ON = ("repo", "commit", "app_root", "app_prefixes", "source_maps", "since", "timezone")
