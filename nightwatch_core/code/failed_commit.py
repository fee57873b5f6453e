"""Which commit an error failed at: its release's, the one deployed then, or the newest of then."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from nightwatch_core.code.named_change import is_of
from nightwatch_core.code.releases import SPELLINGS, sha_of
from nightwatch_core.models.code import Commit, MergedPull, Release
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.trace import Trace
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeHost


class Sighting(Value):
    """What is known of the moment an error was last seen.

    `deployed` are releases that ran from their moment on, in any order.
    """

    release: str = ""
    commit: str = ""  # that records of the release name besides
    seen: datetime | None = None
    deployed: tuple[Release, ...] = ()


def sighting_of(
    group: ErrorGroup, traces: tuple[Trace, ...], deployed: tuple[Release, ...]
) -> Sighting:
    """Give the newest sighting of a group, whose newest trace may say which release it is of."""
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
    """The commit that its record names, else its release: as it was deployed, a tag, a commit."""
    release, own = sighting.release.strip(), sighting.commit.strip()
    if own and own != release and (commit := host.commit_of(own)):
        name = f"release {_shown(release)}, " if release else ""
        return _because(commit, f"{name}commit {commit.sha[:10]} by its record"), ""
    if not release:
        return None, ""
    sha, named = sha_of(release, sighting.deployed), host.commit_of(release)
    if sha and not (named and named.sha.startswith(sha)) and (commit := host.commit_of(sha)):
        return _named(commit, f"release {_shown(release)}, deployed as {commit.sha[:10]}"), ""
    if named:
        named = _named(named, named.because)
    return named, "" if named else f"release {_shown(release)} is no tag or commit here"


def _by_deployment(sighting: Sighting, host: CodeHost) -> Outcome:
    """What was deployed last before the error was seen last."""
    seen = sighting.seen
    earlier = [one for one in sighting.deployed if seen and one.at <= seen]
    if not earlier:
        return None, ""
    last = max(earlier, key=lambda one: one.at)
    name = _shown(last.version or last.sha)
    commit = (host.commit_of(last.sha) if last.sha else None) or host.commit_of(last.version)
    if commit is None:
        return None, f"{name}, which was deployed then, is no tag or commit here"
    day = f"{last.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return _named(commit, f"{name}, deployed on {day}, ran when it was last seen"), ""


def _by_time(sighting: Sighting, host: CodeHost) -> Outcome:
    """The newest commit of the base branch when the error was seen last."""
    if sighting.seen is None:
        return None, ""
    commit = host.commit_at(sighting.seen)
    return _because(commit, f"{commit.because}, when it was last seen"), ""


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


def _because(commit: Commit, why: str) -> Commit:
    return commit.model_copy(update={"because": why})


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name[:80])
