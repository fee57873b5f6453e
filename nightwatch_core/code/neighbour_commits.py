"""The commit whose files hold the source that a record printed, where the one at hand does not."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from nightwatch_core.code.limits import NEIGHBOUR_COMMITS, NEIGHBOUR_FILES, NEIGHBOUR_RELEASES
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit, LoggedCommit, Release
from nightwatch_core.models.trace import Frame, Trace
from nightwatch_core.traces.source_fit import ReadFile, fitted, has_source, lines_of

_CLOCKS = timedelta(hours=1)  # by which the clocks of committers and servers may differ
_SHA = 40

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
    touching = _touching(frames, commit, history)
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
    """The newest commit before the files were changed again."""
    later = [one.at for one in touching if one.at and chosen.at and one.at > chosen.at]
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
    touching: Sequence[Commit],
    commit: Commit,
    releases: Iterable[Release],
    seen: datetime | None,
) -> tuple[Commit, ...]:
    """Commits that touched the frames' files, and releases; the nearest before `seen` first."""
    moment = seen or commit.at

    def order(one: Commit) -> tuple[bool, timedelta]:
        if moment is None or one.at is None:
            return False, timedelta()
        return one.at > moment + _CLOCKS, abs(moment - one.at)

    nearest = sorted(touching, key=order)[:NEIGHBOUR_COMMITS]
    released = sorted(_released(commit, releases), key=order)[:NEIGHBOUR_RELEASES]
    found = {one.sha: one for one in (*released, *nearest) if one.sha != commit.sha}
    return tuple(sorted(found.values(), key=order))


def _touching(frames: tuple[Frame, ...], commit: Commit, history: History) -> tuple[Commit, ...]:
    """Commits that touched the first few of the frames' files."""
    paths = tuple(dict.fromkeys(frame.repo_path for frame in frames))[:NEIGHBOUR_FILES]
    logged = {one.sha: (path, one) for path in paths for one in _logged(path, history)}
    return tuple(
        commit.model_copy(
            update={
                "sha": sha,
                "at": one.at,
                "because": f"the record's source stands in {path} as of {sha[:10]}",
            }
        )
        for sha, (path, one) in logged.items()
    )


def _released(commit: Commit, releases: Iterable[Release]) -> Iterator[Commit]:
    for release in releases:
        if len(release.sha) == _SHA:
            because = f"the record's source stands like this in release {release.version[:60]}"
            told = {"sha": release.sha, "at": release.at, "because": because}
            yield commit.model_copy(update=told)


def _logged(path: str, history: History) -> tuple[LoggedCommit, ...]:
    try:
        return history(path)
    except GiveUp:
        return ()
