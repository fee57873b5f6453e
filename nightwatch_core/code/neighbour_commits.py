"""The commit whose files hold the source that a record printed, where the one at hand does not."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from nightwatch_core.code.limits import NEIGHBOUR_COMMITS, NEIGHBOUR_FILES
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit, LoggedCommit, Release
from nightwatch_core.models.trace import Frame, Trace
from nightwatch_core.traces.source_fit import ReadFile, fitted, has_source, lines_of

_CLOCKS = timedelta(hours=1)  # by which the clocks of committers and servers may differ
_SHA = 40

History = Callable[[str], tuple[LoggedCommit, ...]]
Files = Callable[[Commit], ReadFile]


def commit_that_fits(
    trace: Trace,
    commit: Commit,
    files: Files,
    history: History,
    releases: Iterable[Release] = (),
    seen: datetime | None = None,
) -> Commit:
    """Choose the commit at which the trace's own source stands where the trace says.

    It is `commit`, unless another one that touched the files, or a release, fits better; those
    nearest before `seen` are looked at first. `trace` has repository paths and its printed lines.
    """
    frames = tuple(f for f in trace.frames if f.repo_path and f.line and has_source(f))
    best = _worth(frames, files(commit)) if frames else _ALL
    chosen = commit
    for other in () if best == _ALL else _neighbours(frames, commit, history, releases, seen):
        worth = _worth_or_none(frames, files, other)
        if worth > best:
            best, chosen = worth, other
        if best == _ALL:
            break
    return chosen


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
    frames: tuple[Frame, ...],
    commit: Commit,
    history: History,
    releases: Iterable[Release],
    seen: datetime | None,
) -> tuple[Commit, ...]:
    """Commits that touched the frames' files, and releases; the nearest before `seen` first."""
    paths = tuple(dict.fromkeys(frame.repo_path for frame in frames))[:NEIGHBOUR_FILES]
    found = {one.sha: one for one in _candidates(paths, commit, history, releases)}
    found.pop(commit.sha, None)
    moment = seen or commit.at

    def order(one: Commit) -> tuple[bool, timedelta]:
        if moment is None or one.at is None:
            return False, timedelta()
        return one.at > moment + _CLOCKS, abs(moment - one.at)

    return tuple(sorted(found.values(), key=order)[:NEIGHBOUR_COMMITS])


def _candidates(
    paths: Iterable[str], commit: Commit, history: History, releases: Iterable[Release]
) -> Iterator[Commit]:
    for path in paths:
        for one in _logged(path, history):
            because = f"the record's source stands in {path} as of {one.sha[:10]}"
            yield commit.model_copy(update={"sha": one.sha, "at": one.at, "because": because})
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
