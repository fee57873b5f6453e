"""A group's traces put into the repository, at the commit that failed."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from nightwatch_core.code.neighbour_commits import commit_that_fits
from nightwatch_core.models.code import Commit, Release
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.models.trace import Trace
from nightwatch_core.ports import CodeHost, CodeReader, SourceMaps
from nightwatch_core.traces.bundles import with_original_places
from nightwatch_core.traces.path_index import PathIndex
from nightwatch_core.traces.repo_paths import map_frames, place_frames


class Repository(NamedTuple):
    """Where traces are placed: its trees, their paths, and how paths of traces lead there."""

    host: CodeHost
    tree: Callable[[Commit], CodeReader]
    index_of: Callable[[CodeReader], PathIndex]
    options: NightOptions
    maps: SourceMaps | None = None
    releases: tuple[Release, ...] = ()


def opened(host: CodeHost, options: NightOptions, maps: SourceMaps | None) -> Repository:
    """Open a host's repository: every tree is read once, and its paths are indexed once."""
    trees: dict[str, CodeReader] = {}
    indexes: dict[str, PathIndex] = {}

    def tree(commit: Commit) -> CodeReader:
        if commit.sha not in trees:
            trees[commit.sha] = host.reader(commit)
        return trees[commit.sha]

    def index_of(reader: CodeReader) -> PathIndex:
        sha = reader.commit.sha
        if sha not in indexes:
            indexes[sha] = PathIndex(reader.paths())
        return indexes[sha]

    return Repository(host, tree, index_of, options, maps, host.releases())


class Placed(NamedTuple):
    """Traces with repository paths, and the commit they are of."""

    traces: tuple[Trace, ...]
    commit: Commit


def place_traces(
    traces: Iterable[Trace], group: ErrorGroup, named: Commit, base: Commit, repository: Repository
) -> Placed:
    """Place traces at the commit `named`, or where the source that they print stands nearby.

    A commit that the options name is kept. `base` is the commit whose history is looked at.
    """
    options = repository.options
    traces = _in_the_source(tuple(traces), named, repository)
    commit = named if options.commit else _where_it_fits(traces, group, named, base, repository)
    tree = repository.tree(commit)
    index = repository.index_of(tree)
    placed = tuple(place_frames(trace, index, tree.read_file, options) for trace in traces)
    return Placed(placed, commit)


def _in_the_source(
    traces: tuple[Trace, ...], commit: Commit, repository: Repository
) -> tuple[Trace, ...]:
    """The traces, frames of JavaScript bundles put where their source maps say."""
    if repository.maps is None:
        return traces
    tree = repository.tree(commit)
    index = repository.index_of(tree)
    return with_original_places(traces, repository.maps, index, tree.read_file, repository.options)


def _where_it_fits(
    traces: tuple[Trace, ...],
    group: ErrorGroup,
    commit: Commit,
    base: Commit,
    repository: Repository,
) -> Commit:
    """The commit, or one nearby, that holds the source of the newest trace where it says."""
    if not traces:
        return commit
    index, options = repository.index_of(repository.tree(commit)), repository.options
    return commit_that_fits(
        map_frames(traces[0], index, listed(options.path_prefixes), options.app_root),
        commit,
        files=lambda at: repository.tree(at).read_file,
        commit_at=repository.host.commit_at,
        history=repository.tree(base).history,
        releases=repository.releases,
        seen=group.last_seen,
    )
