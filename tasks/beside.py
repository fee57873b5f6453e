"""Other pull requests beside ours: whether somebody has made a fix already, or turned it down."""

from datetime import datetime, timedelta

from prefect import task

from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.models.pulls import OtherPull
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.other_pulls import (
    Overlaps,
    overlaps,
    paths_of_fixes,
    with_overlaps,
)
from tasks.code import bare_reader_of
from tasks.futures import Attempt, attempt
from tasks.policies import PATIENTLY
from tasks.wiring import reading

LOOK_BACK = timedelta(days=90)


@task(name="read other pull requests", task_run_name="read other pull requests", **PATIENTLY)
def read_other_pulls(
    options: NightOptions, paths: tuple[str, ...], since: datetime
) -> tuple[OtherPull, ...]:
    """Everybody's pull requests that change one of these files."""
    return reading(options).tracker.pulls_changing(paths, since)


def beside_others(
    report: RunReport, own: tuple[OwnItem, ...] | None
) -> tuple[RunReport, Attempt[Overlaps]]:
    """The report, told which pull requests its fixes meet; and that, or why it is not known."""
    if own is None or not paths_of_fixes(report):
        return report, Attempt(())
    nothing: Overlaps = ()
    what = "comparing fixes with other pull requests"
    met = attempt(what, _compared, report, own, otherwise=nothing)
    return with_overlaps(report, met.value), met


def _compared(report: RunReport, own: tuple[OwnItem, ...]) -> Overlaps:
    options, base = report.options, report.base or report.commit
    since = report.night.window.until - LOOK_BACK
    pulls = read_other_pulls(options, paths_of_fixes(report), since)
    if base is None or not pulls:
        return ()
    read = bare_reader_of(options, base).read_file
    found = (
        (one.fingerprint, overlaps(one, pulls, own, options, base.repository, read))
        for one in report.analyses
    )
    return tuple((name, met) for name, met in found if met)
