"""When an error began, and the release that brought it, as far as its record tells."""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import NamedTuple

from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import Onset

RELEASES = 200  # items

_HOUR = timedelta(hours=1)
_FRESH = timedelta(days=1)
_HALF_LIFE_DAYS = 14.0
_RISES, _LEAST = 5.0, 20  # times the rate before; occurrences after it


class FirstFailing(NamedTuple):
    """The release that failed first, and the last one before it."""

    before: Release
    release: Release
    because: str


def onset(case: Case) -> Onset | None:
    """Say when the case began: first seen, unless its rate clearly rose since; None where unknown.

    What was seen before the hours that were counted, and then rose, began anew when it rose.
    """
    groups = case.groups
    first = min((group.first_seen for group in groups if group.first_seen), default=None)
    last = max((group.last_seen for group in groups if group.last_seen), default=None)
    hours = _hourly(case)
    rise = rise_of(hours)
    if rise and last:
        newest = max(hour for hour, count in enumerate(hours) if count)
        counted = last.replace(minute=0, second=0, microsecond=0) - newest * _HOUR
        if first is None or first < counted:
            because = f"its hourly rate rose from {rise.before:.1f} to {rise.after:.1f}"
            return Onset(at=counted + rise.hour * _HOUR, because=because)
    if first:
        return Onset(at=first, because="first seen")
    return Onset(at=last, because="last seen") if last else None


class Rise(NamedTuple):
    """A change of rate: from which hour on, and the mean occurrences an hour before and after."""

    hour: int
    before: float
    after: float


def rise_of(hours: Sequence[int]) -> Rise | None:
    """Find the hour from which an error occurs several times as often as before."""
    rises = (
        Rise(hour, sum(hours[:hour]) / hour, sum(hours[hour:]) / (len(hours) - hour))
        for hour in range(1, len(hours))
        if sum(hours[hour:]) >= _LEAST
    )
    best = max(rises, key=lambda rise: rise.after / (rise.before + 0.1), default=None)
    return best if best and best.after >= _RISES * best.before else None


def _hourly(case: Case) -> tuple[int, ...]:
    """Add up the hours of all groups, which end together."""
    counts = [group.hourly for group in case.groups if group.hourly]
    length = max(map(len, counts), default=0)
    padded = ((0,) * (length - len(count)) + count for count in counts)
    return tuple(map(sum, zip(*padded, strict=True)))


def first_failing(
    case: Case, began: Onset | None, releases: tuple[Release, ...]
) -> FirstFailing | None:
    """Find the release that failed first, named or running then; None: unknown order."""
    ordered = sorted(releases, key=lambda release: release.at)
    versions = next((group.releases for group in case.groups if group.releases), ())
    named = [n for n, item in enumerate(ordered) if versions and item.version == versions[0]]
    running = [n for n, item in enumerate(ordered) if began and item.at <= began.at]
    place = next(iter(named), next(reversed(running), None))
    if not place:
        return None
    because = "the first one failing" if named else "which was running when it was first seen"
    return FirstFailing(before=ordered[place - 1], release=ordered[place], because=because)


def fading(age: timedelta) -> float:
    """Return how much a change of that age still counts: 1 for a day, 0.6 for ever."""
    days = max(0.0, (age - _FRESH).total_seconds() / 86_400)
    return 0.6 + 0.4 * math.pow(0.5, days / _HALF_LIFE_DAYS)


def ago(age: timedelta) -> str:
    """Say a length of time for people.

    >>> ago(timedelta(minutes=12)), ago(timedelta(hours=2, minutes=40)), ago(timedelta(days=3))
    ('12 min', '2 h', '3 days')
    """
    minutes = int(age.total_seconds() // 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} days"


# Deployments and tags as one list of releases, and the commit that a version stands for.


def bare(version: str) -> str:
    """Return a version without what systems put before it.

    >>> bare("v1.2"), bare("shop@1.2"), bare(" 1.2 ")
    ('1.2', '1.2', '1.2')
    """
    return version.strip().rpartition("@")[2].removeprefix("v")


def merged(tagged: Iterable[Release], deployed: Iterable[Release]) -> tuple[Release, ...]:
    """Join both lists as one, newest first, at most 200; `sha` is empty where nobody knows it.

    A release that was deployed is listed once for each time it replaced another one, at the time
    and under the name of its deployment, with the sha of its tag. A tag that no deployment names
    stands for itself.
    """
    tags, joined = tuple(tagged), list[Release]()
    for release in sorted(deployed, key=lambda release: release.at):
        sha = _commit(release.sha)
        whole = next((tag.sha for tag in tags if sha and tag.sha.startswith(sha)), sha)
        full = release.model_copy(update={"sha": whole or sha_of(release.version, tags)})
        if not joined or (joined[-1].version, joined[-1].sha) != (full.version, full.sha):
            joined.append(full)
    shas = {release.sha for release in joined}
    unnamed = {bare(release.version) for release in joined if not release.sha}
    joined += [tag for tag in tags if tag.sha not in shas and bare(tag.version) not in unnamed]
    joined.sort(key=lambda item: (item.at, item.version), reverse=True)
    return tuple(joined[:RELEASES])


def sha_of(version: str, deployed: Iterable[Release]) -> str:
    """Return the commit that was deployed last under this version; empty where none was."""
    same = [item for item in deployed if bare(item.version) == bare(version) and _commit(item.sha)]
    newest = max(same, key=lambda item: item.at, default=None)
    return _commit(newest.sha) if newest and version.strip() else ""


def _commit(text: str) -> str:
    sha = text.strip().lower()
    return sha if re.fullmatch(r"[0-9a-f]{7,64}", sha) else ""
