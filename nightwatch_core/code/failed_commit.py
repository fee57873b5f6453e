"""The commit an error failed at, and its traces placed in the files of that commit.

The release of the record decides, then the deployment of that time, then the time alone. Where the
source that the record printed does not stand there, the commits nearby are compared.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from nightwatch_core.code.limits import NEIGHBOUR_COMMITS, NEIGHBOUR_FILES, NEIGHBOUR_RELEASES
from nightwatch_core.code.releases import SPELLINGS, sha_of
from nightwatch_core.code.suspects import is_of
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit, LoggedCommit, MergedPull, Release
from nightwatch_core.models.errors import ErrorGroup, Frame, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeHost, CodeReader, SourceMaps
from nightwatch_core.traces.bundles import with_original_places
from nightwatch_core.traces.placing import (
    PathIndex,
    ReadFile,
    fitted,
    has_source,
    lines_of,
    map_frames,
    place_frames,
)

# The commit whose files hold the source that a record printed, where the one at hand does not.

_CLOCKS = timedelta(hours=1)  # by which the clocks of committers and servers may differ
_SHA_LENGTH = 40
History = Callable[[str], tuple[LoggedCommit, ...]]
Files = Callable[[Commit], ReadFile]
CommitAt = Callable[[datetime], Commit]  # the newest of the base branch then


def commit_that_fits(
    trace: Trace,
    commit: Commit,
    files: Files,
    history: History,
    commit_at: CommitAt,
    releases: Iterable[Release] = (),
    seen: datetime | None = None,
) -> Commit:
    """Choose the commit at which the trace's own source stands where the trace says.

    It is `commit`, unless another one that touched the files, or a release, fits better; those
    nearest before `seen` are looked at first, and of the commits between two that touched the files
    the newest is taken. `trace` has repository paths and its printed lines.
    """
    frames = tuple(f for f in trace.frames if f.repo_path and f.line and has_source(f))
    best = _worth(frames, files(commit)) if frames else _ALL
    if best == _ALL:
        return commit
    paths = tuple(dict.fromkeys(frame.repo_path for frame in frames))[:NEIGHBOUR_FILES]
    logged = {entry.sha: (path, entry.at) for path in paths for entry in _logged(path, history)}
    touching = tuple(
        _at(commit, sha, at, f"the record's source stands in {path} as of {sha[:10]}")
        for sha, (path, at) in logged.items()
    )
    chosen = commit
    for other in _neighbours(touching, commit, releases, seen):
        worth = _worth_or_none(frames, files, other)
        if worth > best:
            best, chosen = worth, other
        if best == _ALL:
            break
    newest = _newest_alike(chosen, touching, commit_at) if chosen in touching else None
    if newest and _worth_or_none(frames, files, newest) == best:
        return newest
    return chosen


def _newest_alike(chosen: Commit, touching: Sequence[Commit], commit_at: CommitAt) -> Commit | None:
    later = [commit.at for commit in touching if commit.at and chosen.at and commit.at > chosen.at]
    newest = commit_at(min(later) - timedelta(seconds=1)) if later else None
    if newest is None or not (newest.at and chosen.at) or newest.at <= chosen.at:
        return None
    because = f"{chosen.because}, and until it was changed again"
    return newest.model_copy(update={"branch": chosen.branch, "because": because})


Worth = tuple[bool, float, float]  # the innermost frame stands there; shares that do, that differ
_ALL: Worth = (True, 1.0, 0.0)


def _worth(frames: tuple[Frame, ...], read: ReadFile) -> Worth:
    fits = [fitted(frame, lines_of(read(frame.repo_path) or "")).fit for frame in frames]
    telling = [fit for fit in fits if fit != "unknown"]
    if not telling:
        return _ALL  # nothing that another commit could hold better
    share = fits.count("same") / len(telling)
    return telling[0] == "same", share, -fits.count("differs") / len(telling) or 0.0


def _worth_or_none(frames: tuple[Frame, ...], files: Files, commit: Commit) -> Worth:
    try:
        return _worth(frames, files(commit))
    except GiveUp:  # a release whose commit is not there
        return False, 0.0, -1.0


def _neighbours(
    touching: Sequence[Commit], commit: Commit, releases: Iterable[Release], seen: datetime | None
) -> tuple[Commit, ...]:
    moment = seen or commit.at

    def order(item: Commit) -> tuple[bool, timedelta]:
        if moment is None or item.at is None:
            return False, timedelta()
        return item.at > moment + _CLOCKS, abs(moment - item.at)

    nearest = sorted(touching, key=order)[:NEIGHBOUR_COMMITS]
    stands = "the record's source stands like this in release"
    released = sorted(
        (
            _at(commit, release.sha, release.at, f"{stands} {release.version[:60]}")
            for release in releases
            if len(release.sha) == _SHA_LENGTH
        ),
        key=order,
    )[:NEIGHBOUR_RELEASES]
    found = {item.sha: item for item in (*released, *nearest) if item.sha != commit.sha}
    return tuple(sorted(found.values(), key=order))


def _at(commit: Commit, sha: str, at: datetime | None, because: str) -> Commit:
    return commit.model_copy(update={"sha": sha, "at": at, "because": because})


def _logged(path: str, history: History) -> tuple[LoggedCommit, ...]:
    try:
        return history(path)
    except GiveUp:
        return ()


# Which commit an error failed at: its release's, the one deployed then, or the newest of then.


class Sighting(Value):
    """Release, commit and time of an error when it was last seen.

    `deployed` are releases that ran from their moment on, in any order.
    """

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
    """Return the commit by the first way that knows one; `because` says which, and what failed."""
    missed: list[str] = []
    for way in WAYS:
        commit, trouble = way(sighting, host)
        missed += [trouble] if trouble else []
        if commit:
            return commit.model_copy(update={"because": "; ".join((commit.because, *missed))})
    head = host.head()
    why = f"{head.because}: neither a release nor a time of the error is known"
    return head.model_copy(update={"because": "; ".join((why, *missed))})


Outcome = tuple[Commit | None, str]  # with why there is none, where that is worth saying


def _by_release(sighting: Sighting, host: CodeHost) -> Outcome:
    release, own = sighting.release.strip(), sighting.commit.strip()
    if own and own != release and (commit := host.commit_of(own)):
        name = f"release {_shown(release)}, " if release else ""
        why = f"{name}commit {commit.sha[:10]} by its record"
        return commit.model_copy(update={"because": why}), ""
    if not release:
        return None, ""
    sha, named = sha_of(release, sighting.deployed), host.commit_of(release)
    if sha and not (named and named.sha.startswith(sha)) and (commit := host.commit_of(sha)):
        return _named(commit, f"release {_shown(release)}, deployed as {commit.sha[:10]}"), ""
    if named:
        named = _named(named, named.because)
    return named, "" if named else f"release {_shown(release)} is no tag or commit here"


def _by_deployment(sighting: Sighting, host: CodeHost) -> Outcome:
    seen = sighting.seen
    earlier = [release for release in sighting.deployed if seen and release.at <= seen]
    if not earlier:
        return None, ""
    last = max(earlier, key=lambda item: item.at)
    name = _shown(last.version or last.sha)
    commit = (host.commit_of(last.sha) if last.sha else None) or host.commit_of(last.version)
    if commit is None:
        return None, f"{name}, which was deployed then, is no tag or commit here"
    day = f"{last.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return _named(commit, f"{name}, deployed on {day}, ran when it was last seen"), ""


def _by_time(sighting: Sighting, host: CodeHost) -> Outcome:
    if sighting.seen is None:
        return None, ""
    commit = host.commit_at(sighting.seen)
    why = f"{commit.because}, when it was last seen"
    return commit.model_copy(update={"because": why}), ""


WAYS: tuple[Callable[[Sighting, CodeHost], Outcome], ...] = (_by_release, _by_deployment, _by_time)


def deployments(
    tagged: tuple[Release, ...], deployed: tuple[Release, ...], releases: frozenset[str]
) -> tuple[Release, ...]:
    """Return what ran from its moment on: deployments, else tags if errors name them as releases.

    `releases` are those that errors name. Where none names a tag, nobody deploys by tags: the last
    one may be a year older than the code that runs.
    """
    if deployed:
        return deployed
    for spelling in SPELLINGS:
        named = {spelling(release) for release in releases}
        if any(spelling(tag.version) in named for tag in tagged):
            return tagged
    return ()


def merged_before(pulls: Iterable[MergedPull], commit: Commit) -> tuple[MergedPull, ...]:
    """Leave out what was merged after the commit that failed: it cannot have broken it."""
    return tuple(
        pull
        for pull in pulls
        if commit.at is None or pull.merged_at <= commit.at or is_of(pull, commit.sha)
    )


def _named(commit: Commit, why: str) -> Commit:
    return commit.model_copy(update={"because": why, "is_named": True})


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name[:80])


# A group's traces put into the repository, at the commit that failed.


class Repository(NamedTuple):
    """A repository to place traces in: trees, their paths, options, source maps, releases."""

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
    traces, options, tree = tuple(traces), repository.options, repository.tree(named)
    index, commit = repository.index_of(tree), named
    if repository.maps is not None:
        traces = with_original_places(traces, repository.maps, index, tree.read_file, options)
    if traces and not options.commit:
        commit = commit_that_fits(
            map_frames(traces[0], index, options.app_root),
            named,
            files=lambda at: repository.tree(at).read_file,
            commit_at=repository.host.commit_at,
            history=repository.tree(base).history,
            releases=repository.releases,
            seen=group.last_seen,
        )
        tree = repository.tree(commit)
        index = repository.index_of(tree)
    placed = tuple(place_frames(trace, index, tree.read_file, options) for trace in traces)
    return Placed(placed, commit)
