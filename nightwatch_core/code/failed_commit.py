"""The commit an error failed at, and its traces placed in the files of that commit.

The release of the record decides, then the deployment of that time, then the time alone. Where the
source that the record printed does not stand there, the commits nearby are compared.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from nightwatch_core.code.releases import bare, sha_of
from nightwatch_core.code.suspects import is_of
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit, LoggedCommit, MergedPull, Release
from nightwatch_core.models.errors import ErrorGroup, Frame, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeHost, CodeReader, SourceMaps
from nightwatch_core.text.plain_text import release_called
from nightwatch_core.traces import placing
from nightwatch_core.traces.bundles import with_original_places

NEIGHBOUR_COMMITS = 12  # looked at for a record's source

# The commit whose files hold the source that a record printed, where the one at hand does not.

_CLOCKS = timedelta(hours=1)  # by which the clocks of committers and servers may differ


def commit_that_fits(
    trace: Trace,
    commit: Commit,
    files: Callable[[Commit], placing.ReadFile],
    history: Callable[[str], tuple[LoggedCommit, ...]],
    releases: Iterable[Release] = (),
    seen: datetime | None = None,
) -> Commit:
    """Choose the commit at which the trace's own source stands where the trace says.

    It is `commit`, unless another one that touched the innermost file, or a release, fits better;
    those nearest before `seen` are looked at first. `trace` has repository paths and its printed
    lines.
    """
    frames = tuple(f for f in trace.frames if f.repo_path and f.line and placing.has_source(f))
    best = _fit(frames, files(commit)) if frames else 1.0
    if best == 1:
        return commit
    path, moment, chosen = frames[0].repo_path, seen or commit.at, commit
    logged: tuple[LoggedCommit, ...] = ()
    with suppress(GiveUp):
        logged = history(path)
    stands = "the source lines in the record match"
    touching = ((item.sha, item.at, f"{stands} {path} at {item.sha[:10]}") for item in logged)
    whole = (release for release in releases if len(release.sha) == 40)
    released = ((i.sha, i.at, f"{stands} {release_called(i.version[:60])}") for i in whole)
    others = [item for item in (*released, *touching) if item[0] != commit.sha]
    if moment is not None:
        others.sort(key=lambda item: (item[1] > moment + _CLOCKS, abs(moment - item[1])))
    for sha, at, because in others[:NEIGHBOUR_COMMITS]:
        other = commit.model_copy(update={"sha": sha, "at": at, "because": because})
        try:
            fit = _fit(frames, files(other))
        except GiveUp:  # a release whose commit is not there
            continue
        if fit > best:
            best, chosen = fit, other
        if best == 1:
            break
    return chosen


def _fit(frames: tuple[Frame, ...], read: placing.ReadFile) -> float:
    """Return the share of frames whose source stands at their line, 1 at most.

    Where the innermost one does not stand there, it is below 0; 1 where no frame tells.
    """
    texts = [(frame, placing.lines_of(read(frame.repo_path) or "")) for frame in frames]
    fits = [placing.fitted(frame, lines).fit for frame, lines in texts]
    telling = [fit for fit in fits if fit != "unknown"]
    share = telling.count("same") / len(telling) if telling else 1.0
    return share if not telling or telling[0] == "same" else share - 1


# Which commit an error failed at: its release's, the one deployed then, or the newest of then.


class Sighting(Value):
    """An error's last release, commit and time; `deployed` are releases and when they began."""

    release: str = ""
    commit: str = ""  # that records of the release name besides
    seen: datetime | None = None
    deployed: tuple[Release, ...] = ()


def sighting_of(
    group: ErrorGroup, traces: tuple[Trace, ...], deployed: tuple[Release, ...]
) -> Sighting:
    """Return the newest sighting of a group, whose newest trace may say which release it is of."""
    release = next((trace.release for trace in traces if trace.release), group.release)
    own = group.commit if release == group.release else ""
    return Sighting(release=release, commit=own, seen=group.last_seen, deployed=deployed)


def failed_commit(sighting: Sighting, host: CodeHost) -> Commit:
    """Return the commit of the release, else of the deployment, else of the time an error was seen.

    `because` says which of them decided, and which one is not here.
    """
    release, seen, missed = sighting.release.strip(), sighting.seen, ""
    commit = _by_release(release, sighting, host)
    if commit is None and release:
        missed = f"; release {_shown(release)} is not a tag or commit here"
    ran = [item for item in sighting.deployed if seen and item.at <= seen]
    if commit is None and ran:
        last = max(ran, key=lambda item: item.at)
        name, day = _shown(last.version or last.sha), last.at.astimezone(UTC)
        found = (host.commit_of(last.sha) if last.sha else None) or host.commit_of(last.version)
        if found:
            live = f"{name}, deployed on {day:%Y-%m-%d %H:%M} UTC, was live"
            commit = _named(found, f"{live} when the error was last seen")
        else:
            missed += f"; {name}, deployed at that time, is not a tag or commit here"
    if commit is None:
        commit = host.commit_at(seen) if seen else host.head()
        why = "when it was last seen" if seen else "neither a release nor a time is known"
        commit = commit.model_copy(update={"because": f"{commit.because}, {why}"})
    return commit.model_copy(update={"because": f"{commit.because}{missed}"})


def _by_release(release: str, sighting: Sighting, host: CodeHost) -> Commit | None:
    own = sighting.commit.strip()
    if own and own != release and (commit := host.commit_of(own)):
        name = f"release {_shown(release)}, " if release else ""
        why = f"{name}commit {commit.sha[:10]} from the error record"
        return commit.model_copy(update={"because": why})
    sha, named = sha_of(release, sighting.deployed), host.commit_of(release) if release else None
    if sha and not (named and named.sha.startswith(sha)) and (commit := host.commit_of(sha)):
        return _named(commit, f"release {_shown(release)}, deployed as {commit.sha[:10]}")
    return _named(named, named.because) if named else None


def deployments(
    tagged: tuple[Release, ...], deployed: tuple[Release, ...], releases: frozenset[str]
) -> tuple[Release, ...]:
    """Return what ran from its moment on: deployments, else tags if errors name them as releases.

    `releases` are those that errors name. Where none names a tag, nobody deploys by tags: the last
    one may be a year older than the code that runs.
    """
    if deployed:
        return deployed
    named = set(map(bare, releases))
    return tagged if any(bare(tag.version) in named for tag in tagged) else ()


def merged_before(pulls: Iterable[MergedPull], commit: Commit) -> tuple[MergedPull, ...]:
    """Leave out what was merged after the commit that failed: it cannot have broken it."""
    sha, until = commit.sha, commit.at
    return tuple(p for p in pulls if until is None or p.merged_at <= until or is_of(p, sha))


def _named(commit: Commit, why: str) -> Commit:
    return commit.model_copy(update={"because": why, "is_named": True})


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name[:80])


# A group's traces put into the repository, at the commit that failed.


class Repository(NamedTuple):
    """A repository to place traces in: trees, their paths, options, source maps, releases."""

    host: CodeHost
    tree: Callable[[Commit], CodeReader]
    index_of: Callable[[CodeReader], placing.PathIndex]
    options: NightOptions
    maps: SourceMaps | None = None
    releases: tuple[Release, ...] = ()


def opened(host: CodeHost, options: NightOptions, maps: SourceMaps | None) -> Repository:
    """Open a host's repository: every tree is read once, and its paths are indexed once."""
    trees: dict[str, CodeReader] = {}
    indexes: dict[str, placing.PathIndex] = {}

    def tree(commit: Commit) -> CodeReader:
        if commit.sha not in trees:
            trees[commit.sha] = host.reader(commit)
        return trees[commit.sha]

    def index_of(reader: CodeReader) -> placing.PathIndex:
        sha = reader.commit.sha
        if sha not in indexes:
            indexes[sha] = placing.PathIndex(reader.paths())
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
    traces, options, tree = tuple(traces), repository.options, repository.tree(named)
    index, commit = repository.index_of(tree), named
    if repository.maps is not None:
        traces = with_original_places(traces, repository.maps, index, tree.read_file, options)
    if traces and not options.commit:
        commit = commit_that_fits(
            placing.map_frames(traces[0], index, options.app_root),
            named,
            files=lambda at: repository.tree(at).read_file,
            history=repository.tree(base).history,
            releases=repository.releases,
            seen=group.last_seen,
        )
        tree = repository.tree(commit)
        index = repository.index_of(tree)
    placed = tuple(placing.place_frames(trace, index, tree.read_file, options) for trace in traces)
    return Placed(placed, commit)
