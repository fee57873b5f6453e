"""The error source: groups and their traces."""

from prefect import task

from nightwatch_core.code.neighbour_commits import commit_that_fits
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.assignment import CodeTonight, Traced
from nightwatch_core.models.code import Commit
from nightwatch_core.models.error import ErrorGroup, Fetched
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.models.report import Night
from nightwatch_core.models.trace import Trace
from nightwatch_core.traces.bundles import with_original_places
from nightwatch_core.traces.repo_paths import map_frames, place_frames
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
    traces = reading(options).errors.traces(group)
    trees, named = Trees(options), commit_of_group(options, code, group, traces)
    traces = _in_the_source(traces, named, trees)
    commit = named if options.commit else _where_it_fits(traces, named, trees, code, group)
    tree = trees.at(commit)
    index = index_in(tree)
    placed = tuple(place_frames(trace, index, tree.read_file, options) for trace in traces)
    return Traced(group=group, traces=placed, commit=commit, code_reads=trees.code_reads)


def _in_the_source(traces: tuple[Trace, ...], commit: Commit, trees: Trees) -> tuple[Trace, ...]:
    """The traces, frames of JavaScript bundles put where their source maps say."""
    maps = reading(trees.options).source_maps
    if maps is None:
        return traces
    tree = trees.at(commit)
    return with_original_places(traces, maps, index_in(tree), tree.read_file, trees.options)


def _where_it_fits(
    traces: tuple[Trace, ...],
    commit: Commit,
    trees: Trees,
    code: CodeTonight,
    group: ErrorGroup,
) -> Commit:
    """The commit, or one nearby, that holds the source of the newest trace where it says."""
    if not traces:
        return commit
    index, options = index_in(trees.at(commit)), trees.options
    return commit_that_fits(
        map_frames(traces[0], index, listed(options.path_prefixes), options.app_root),
        commit,
        files=lambda at: trees.at(at).read_file,
        commit_at=reading(options).code.commit_at,
        history=trees.at(code.base or commit).history,
        releases=code.releases,
        seen=group.last_seen,
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
