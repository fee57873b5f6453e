"""The error source: groups and their traces."""

from prefect import task

from nightwatch_core.code.placed_traces import Repository, place_traces
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.assignment import CodeTonight, Traced
from nightwatch_core.models.error import ErrorGroup, Fetched
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from tasks.code import Trees, commit_of_group, index_in
from tasks.futures import each, ends, same
from tasks.policies import KEPT, PATIENTLY
from tasks.wiring import reading


@task(
    name="fetch errors",
    task_run_name="fetch errors",
    **KEPT,
    **PATIENTLY,
)
def fetch_errors(options: NightOptions, night: Night) -> Fetched:
    """Every error group of the night's window."""
    return reading(options).errors.error_groups(night.window)


@task(
    name="trace",
    task_run_name="trace · {group.short}",
    **KEPT,
    **PATIENTLY,
)
def trace_group(group: ErrorGroup, options: NightOptions, code: CodeTonight) -> Traced:
    """A group's traces, mapped to the repository as it was at the commit that failed."""
    ports, trees = reading(options), Trees(options)
    traces = ports.errors.traces(group)
    named = commit_of_group(options, code, group, traces)
    repository = Repository(
        ports.code, trees.at, index_in, options, ports.source_maps, code.releases
    )
    placed = place_traces(traces, group, named, code.base or named, repository)
    return Traced(
        group=group, traces=placed.traces, commit=placed.commit, code_reads=trees.code_reads
    )


def trace_groups(
    options: NightOptions, groups: tuple[ErrorGroup, ...], code: CodeTonight
) -> tuple[Traced, ...]:
    """Every group with its traces; one whose traces cannot be read is analysed without."""
    runs = ends(trace_group.map(each(groups), same(options), same(code)))
    return tuple(_without(group, end) for group, end in zip(groups, runs, strict=True))


def _without(group: ErrorGroup, end: Traced | BaseException) -> Traced:
    if isinstance(end, Traced):
        return end
    if isinstance(end, NightWatchError) and not isinstance(end, StopTheNight):
        return Traced(group=group, trouble=str(end))
    raise end
