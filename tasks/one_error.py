"""One error's run: its options, and finding the error again."""

from collections.abc import Mapping

from prefect import task
from prefect.cache_policies import RUN_ID, TASK_SOURCE

from nightwatch_core.errors import NotTonight
from nightwatch_core.intake.windows import lookback_for
from nightwatch_core.models.error import Case, ErrorGroup, Fetched, Selection
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.report.lookup import case_of
from nightwatch_core.settings import night_options
from nightwatch_core.text.typed_fingerprints import is_beginning
from tasks.night import given_options
from tasks.policies import KEPT, PATIENTLY
from tasks.wiring import (
    keep_pasted_record,
    nights,
    publishing,
    reading,
    reset_ports,
    with_default_ports,
)
from tasks.wiring.health import begin_counting


def single_options(choices: Mapping[str, object], error: str, record: str) -> NightOptions:
    """The choices over those of the night that knew the error; afresh, publishing only on demand.

    A pasted record becomes a file source of its own.
    """
    reset_ports()
    begin_counting()
    given = {name: value for name, value in choices.items() if value is not None}
    quiet: dict[str, object] = {"publish": "all" if "stop_at" in given else "none", **given}
    quiet |= {"force": True, "max_errors": 1}
    if record:
        quiet |= {"source": "file", "errors": keep_pasted_record(record)}
    elif error and not {"source", "errors", "repo", "code"} & set(given):
        quiet = _as_that_night(error) | quiet
    return with_default_ports(night_options(quiet))


@task(name="seek the error", task_run_name="seek the error", **PATIENTLY)
def seek_error(
    options: NightOptions, error: str, error_class: str, transaction: str
) -> tuple[Fetched, Selection]:
    """Fetch again and keep the groups that are meant.

    Raises `NotTonight` naming what there is where none, or more than one error, is meant.
    """
    ports = reading(options)
    window = ports.errors.window(lookback_for(options), ports.clock.now())
    fetched = ports.errors.error_groups(window)
    known = known_case(error)
    meant = known[1].groups if known else ()
    names = {name for group in meant for name in group.names}
    wanted = tuple(
        group
        for group in fetched.groups
        if _is_meant(group, names, error, error_class, transaction)
    )
    if not wanted or (len(wanted) > 1 and not names):
        sought = error or f"{error_class} {transaction}".strip()
        raise NotTonight(_which(wanted or fetched.groups, sought, bool(wanted)))
    return fetched.model_copy(update={"groups": wanted}), Selection(kept=wanted)


@task(
    name="open the run",
    task_run_name="open the run",
    cache_policy=TASK_SOURCE + RUN_ID,
    **KEPT,
)
def open_single(options: NightOptions, fetched: Fetched, selection: Selection) -> Night:
    """A night of its own for one error, the same one when the run is retried."""
    now = reading(options).clock.now()
    name = f"one-{selection.kept[0].fingerprint.partition(':')[2][:8]}-{now:%Y%m%d-%H%M%S}"

    def night(id: str, resumed: bool) -> Night:
        return Night(id=id, window=fetched.window, now=now, resumed=resumed, given=given_options())

    return publishing(options).nights.begin(name, night)


def _is_meant(
    group: ErrorGroup, names: set[str], error: str, error_class: str, transaction: str
) -> bool:
    if names:
        return not names.isdisjoint(group.names)
    if error:
        return is_beginning(error, group.names)
    same_class = not error_class or group.error_class == error_class
    return same_class and (not transaction or group.transaction == transaction)


def _which(groups: tuple[ErrorGroup, ...], sought: str, several: bool) -> str:
    if not groups:
        return "no error was found there: paste JSON, or a log excerpt with its stack trace"
    there = "\n".join(f"  {group.fingerprint}  {group.title[:100]}" for group in groups[:15])
    what = "several error groups match" if several else "no error group matches"
    named = f" {sought[:100]!r}" if sought else " (say which)"
    return f"{what}{named}; name one of these:\n{there}"


def known_case(error: str) -> tuple[RunReport, Case] | None:
    """The newest report that knows the error of this name, and its case there."""
    reports = nights().reports() if error else ()
    cases = ((report, case_of((report,), error)) for report in reports)
    return next(((report, case) for report, case in cases if case), None)


def _as_that_night(error: str) -> dict[str, object]:
    known = known_case(error)
    if known is None:
        return {}
    options = known[0].options.model_dump(exclude_defaults=True)
    return {name: value for name, value in options.items() if name not in _OWN}


_OWN = ("publish", "stop_at", "dry_run", "force", "max_errors")  # a single run says these itself
