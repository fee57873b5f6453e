"""Open nights and single runs: their options, window and kept reports."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.runtime import flow_run

from nightwatch_core.errors import NotTonight, StopTheNight
from nightwatch_core.intake.default_ports import RULES, is_sample
from nightwatch_core.intake.windows import RESUMABLE, is_live, lookback_for, night_name, unread_gap
from nightwatch_core.models.errors import Case, ErrorGroup, Fetched, Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import SINGLE_RUN, Night, NightKind, RunReport
from nightwatch_core.ports import Nights
from nightwatch_core.report.view import app_of, case_of
from nightwatch_core.settings import Settings, night_options, settings
from nightwatch_core.text.templates import is_beginning
from nightwatch_core.triage.batch_triage import check_batch_mode
from tasks import wiring
from tasks.runner import run_parameters, step
from tasks.wiring.opening import OpenNight, open_in_this_process
from tasks.workers import NightRunner

log = logging.getLogger(__name__)
LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)
_BY_RULES = "No language model was used: rules analysed the errors, with medium confidence at most."
LESSONS_OFF = "none was read or written, and known errors were analysed again"
AGENTS_OFF = "the built-in prompt led every analysis"
PATTERNS_OFF = "none was detected or used, and no ignore rule suggested"
_OWN = ("publish", "dry_run", "force", "max_errors")  # a single run says these itself


OptionsOf = Callable[[Mapping[str, object], Settings], NightOptions]
"""Returns the options of a run: its choices over what else decides, every port filled."""


def nights_options(choices: Mapping[str, object], at: Settings) -> NightOptions:
    """Return the choices over the settings.

    Raises `StopTheNight` where they cannot be used, name an agent that is not there, or ask for a
    batch without a model.
    """
    options = wiring.with_default_ports(night_options(choices), at)
    check_batch_mode(options)
    agents = wiring.agent_store(at, options)
    wiring.check_agent(options, agents)
    wiring.check_prices(options, agents, by_agents=not choices.get("model"))
    return options


@contextmanager
def open_night(
    choices: Mapping[str, object], options_of: OptionsOf = nights_options, *, alone: bool = True
) -> Iterator[OpenNight]:
    """Open a night for this run of a flow; `alone` waits for other nights in the state folder."""
    at = settings()
    with wiring.one_night(at) if alone else wiring.shared_files(at):
        night = wiring.opened(options_of(choices, at), at, choices=choices)
        with held(night):
            yield night


@contextmanager
def held(night: OpenNight) -> Iterator[OpenNight]:
    """Let the tasks of this flow run as the night's options say, until a block ends."""
    context = FlowRunContext.get()
    runner = context.task_runner if context else None
    if isinstance(runner, NightRunner):
        runner.night = night
    try:
        yield night
    finally:
        night.close()


@contextmanager
def reopened(
    name: str, choices: Mapping[str, object], *own: str
) -> Iterator[tuple[OpenNight, RunReport]]:
    """Open a kept night again under the choices; `own` options start afresh.

    A subflow finds the night that called it. Raises `StopTheNight` where no night of that name was
    kept.
    """
    if caller := open_in_this_process(name):
        report = _report_of(caller.publishing.nights, name)
        name_run(app_of(report) or caller.settings.application, report.night.id)
        with shared_by(caller):
            yield caller, report
        return
    at = settings()
    with wiring.shared_files(at):
        report = _report_of(wiring.nights(at), name)
        name_run(app_of(report) or at.application, report.night.id)
        kept = report.options.model_dump(exclude=set(own))
        given = {name: value for name, value in choices.items() if value is not None}
        options = wiring.with_default_ports(night_options(kept | given), at)
        night = wiring.opened(options, at, choices=choices)
        night.begin(report.night)
        update = {"options": options, "banner": banner(options), "advice": advice(at)}
        with held(night):
            yield night, report.model_copy(update=update)


@contextmanager
def shared_by(night: OpenNight) -> Iterator[None]:
    """Let a subflow's tasks run as those of the night that called it."""
    context = FlowRunContext.get()
    if context and isinstance(context.task_runner, NightRunner):
        context.task_runner.night = night
    yield


def _report_of(nights: Nights, name: str) -> RunReport:
    report = nights.report(name)
    if report is None:
        raise StopTheNight(f"there is no night {name[:80]!r}: see `nightwatch history`")
    return report


@step("open the night")
def begin_night(night: OpenNight) -> Night:
    """Find the window to look at, and begin its night or take it up again.

    A live source has another window at every moment, so its unfinished night keeps its own. Any
    other one's is known by its window, whatever zone or summer time it is told in by now. The
    night is kept, so that a Retry of the run stays in it and finds its analyses done.
    """
    options, ports, kind = night.options, night.reading, kind_of(night)
    now = ports.clock.now()
    since = now - RESUMABLE if is_live(options) else LONG_AGO
    cut = night.publishing.nights.unfinished(kind, since)
    if cut and is_live(options):
        return begin(night, cut.window, kind, cut.id)
    window = ports.errors.window(lookback_for(options, kind.scheduled), now)
    return begin(night, window, kind, cut.id if cut and cut.window == window else "")


def kind_of(night: OpenNight) -> NightKind:
    """Return the night's kind: its source and whether it is scheduled."""
    context = FlowRunContext.get()
    run = context.flow_run if context else None
    return NightKind(
        key=wiring.watermark_key(night.options, night.settings),
        scheduled=run is not None and run.auto_scheduled,
        dry=night.options.dry_run,
        since=night.options.since.strip(),
    )


def given_options() -> tuple[str, ...]:
    """Name the options that this run was given itself: they win over agent files."""
    return tuple(name for name, value in run_parameters().items() if value is not None)


def run_name(what: str) -> Callable[[], str]:
    """Return a function that names a flow run by its scheduled time."""
    return lambda: f"{what}-{flow_run.scheduled_start_time:%Y-%m-%d-%H%M}"


def name_run(app: str, night: str) -> None:
    """Name this flow run after its flow, application and night, and tag it with both."""
    context = FlowRunContext.get()
    if context is None or context.flow is None or context.flow_run is None:
        return
    run, named = context.flow_run, (app, night.removeprefix(SINGLE_RUN))
    words = [*filter(None, named)]
    with get_client(sync_client=True) as client:
        name = "-".join((context.flow.name, *words))
        client.update_flow_run(run.id, name=name, tags={*run.tags, *words})


def banner(options: NightOptions) -> tuple[str, ...]:
    """Return sentences on what stays on this machine."""
    asks = options.model != RULES
    lines = (
        ("The sample night: a small shop's code and a day of its errors.", is_sample(options)),
        (_BY_RULES, not asks),
        ("Issues and draft pull requests stay on this machine.", options.delivery == "local"),
        (f"Lessons are off: {LESSONS_OFF}.", not options.compound_enabled),
        (f"Agent files are off: {AGENTS_OFF}.", asks and not options.agents_enabled),
        (f"Patterns are off: {PATTERNS_OFF}.", not options.patterns_enabled),
    )
    return tuple(line for line, holds in lines if holds)


def advice(at: Settings) -> tuple[str, ...]:
    """List services whose settings are incomplete."""
    return tuple(
        f"Not connected: {service}, set {' and '.join(missing)}."
        for service, missing in wiring.services.half_described(at).items()
    )


def begin(night: OpenNight, window: Window, kind: NightKind | None = None, name: str = "") -> Night:
    """Begin the night over that window, or take it up again; without `kind` as this run says."""
    options, kind = night.options, kind or kind_of(night)
    zone, store = night.reading.clock.now().tzinfo, night.publishing.nights
    local = Window(since=window.since.astimezone(zone), until=window.until.astimezone(zone))
    follows = is_live(options) and kind.scheduled and not kind.since
    gap = unread_gap(store.watermark(kind.key), local) if follows else ""

    def made(id: str, resumed: bool) -> Night:
        return Night(
            id=id,
            window=local,
            now=local.until,
            resumed=resumed,
            given=given_options(),
            kind=kind,
            fence=night.fence(id),
            left_out=gap,
        )

    begun = store.begin(name or night_name(local, kind.key), made)
    log.info("night %s%s", begun.id, ", taken up again" if begun.resumed else "")
    return begun


# One error's run: its options, and finding the error again.


def single_options(
    error: str, record: str, choices: Mapping[str, object], at: Settings
) -> NightOptions:
    """Return the choices over those of the night that found the error; publishes only on demand.

    A pasted record becomes a file source of its own.
    """
    given = {name: value for name, value in choices.items() if value is not None}
    if record:
        given |= {"source": "file", "errors": wiring.keep_pasted_record(at, record)}
    chosen = single_choices(error, given, wiring.nights(at))
    options = wiring.with_default_ports(night_options(chosen), at)
    agents = wiring.agent_store(at, options)
    wiring.check_prices(options, agents, by_agents=not choices.get("model"))
    return options


def single_choices(error: str, given: Mapping[str, object], nights: Nights) -> Mapping[str, object]:
    """Return what is chosen for one error's run, over the options of the night that found it."""
    quiet: dict[str, object] = {"publish": "none", **given, "force": True, "max_errors": 1}
    if error and not {"source", "errors", "repo", "code"} & set(given):
        return _as_that_night(error, nights) | quiet
    return quiet


@step("find the error")
def seek_error(night: OpenNight, error: str, error_class: str, transaction: str) -> Fetched:
    """Fetch the errors again and keep the groups that are meant.

    Raises `NotTonight` naming what there is where none, or more than one error, is meant.
    """
    ports = night.reading
    window = ports.errors.window(lookback_for(night.options), ports.clock.now())
    fetched = ports.errors.error_groups(window)
    case = known_case(error, night.publishing.nights)
    meant = case[1].groups if case else ()
    names = {group.fingerprint for group in meant}
    sought = (names, error, error_class, transaction)
    groups = tuple(group for group in fetched.groups if _is_meant(group, *sought))
    if not groups or (len(groups) > 1 and not names):
        words = error or f"{error_class} {transaction}".strip()
        raise NotTonight(_which(groups or fetched.groups, words, bool(groups)))
    return fetched.model_copy(update={"groups": groups})


@step("open the run", key=lambda context, _: f"single/{context.task_run.flow_run_id}")
def begin_single(night: OpenNight, fetched: Fetched) -> Night:
    """Open a night for one error, the same one when the run is retried."""
    now = night.reading.clock.now()
    name = f"{SINGLE_RUN}{fetched.groups[0].fingerprint.partition(':')[2][:8]}-{now:%Y%m%d-%H%M%S}"

    def made(id: str, resumed: bool) -> Night:
        return Night(id=id, window=fetched.window, now=now, resumed=resumed, given=given_options())

    return night.publishing.nights.begin(name, made)


def _is_meant(
    group: ErrorGroup, names: set[str], error: str, error_class: str, transaction: str
) -> bool:
    if names:
        return group.fingerprint in names
    if error:
        return is_beginning(error, (group.fingerprint,))
    same_class = not error_class or group.error_class == error_class
    return same_class and (not transaction or group.transaction == transaction)


def _which(groups: tuple[ErrorGroup, ...], sought: str, several: bool) -> str:
    if not groups:
        return "no error was found in the record: paste JSON, or a log excerpt with its stack trace"
    listed = "\n".join(f"  {group.fingerprint}  {group.title[:100]}" for group in groups[:15])
    what = "several error groups match" if several else "no error group matches"
    named = f" {sought[:100]!r}" if sought else " (say which)"
    return f"{what}{named}; choose one of these:\n{listed}"


def known_case(error: str, nights: Nights) -> tuple[RunReport, Case] | None:
    """Find the newest report with the error of this name, and its case there."""
    reports = nights.reports() if error else ()
    cases = ((report, case_of((report,), error)) for report in reports)
    return next(((report, case) for report, case in cases if case), None)


def _as_that_night(error: str, nights: Nights) -> dict[str, object]:
    case = known_case(error, nights)
    if case is None:
        return {}
    options = case[0].options.model_dump(exclude_defaults=True)
    return {name: value for name, value in options.items() if name not in _OWN}
