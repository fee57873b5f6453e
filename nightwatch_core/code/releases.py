"""When an error began, and the release that brought it, as far as its record tells."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from nightwatch_core.code.limits import RELEASES
from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import Onset
from nightwatch_core.models.value import Value

# When an error began, and the release that brought it, as far as its record tells.

_HOUR = timedelta(hours=1)
_FRESH = timedelta(days=1)
_HALF_LIFE_DAYS = 14.0


_RISES, _LEAST = 5.0, 10  # times the rate before; occurrences after it


_SURE = 15.0  # log-likelihood gained by two rates over one: days and nights alone gain less


class FirstFailing(Value):
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
    hours = hourly(case)
    counted = _start(last, hours)
    rise = rise_of(hours) if counted else None
    if rise and counted and (first is None or first < counted):
        before, after = rise.before, rise.after
        because = f"its hourly rate rose from {before:.1f} to {after:.1f}"
        return Onset(at=counted + rise.hour * _HOUR, because=because)
    if first:
        return Onset(at=first, because="first seen")
    return Onset(at=last, because="last seen") if last else None


class Rise(Value):
    """A change of rate: from which hour on, and the mean occurrences an hour before and after."""

    hour: int
    before: float
    after: float


def rise_of(hours: Sequence[int]) -> Rise | None:
    """Find the hour at which two rates explain the counts best; None where one does nearly as well.

    >>> rise_of((1, 0, 2, 1, 0, 1, 30, 28, 35))
    Rise(hour=6, before=0.8333333333333334, after=31.0)
    >>> rise_of((3, 5, 2, 4, 6, 3)) is None
    True
    """
    splits = range(1, len(hours))
    gain, hour = max(((_gain(hours, split), split) for split in splits), default=(0.0, 0))
    if gain < _SURE:
        return None
    before, after = sum(hours[:hour]) / hour, sum(hours[hour:]) / (len(hours) - hour)
    is_rise = after >= _RISES * before and sum(hours[hour:]) >= _LEAST
    return Rise(hour=hour, before=before, after=after) if is_rise else None


def hourly(case: Case) -> tuple[int, ...]:
    """Add up the hours of all groups, which end together."""
    counts = [group.hourly for group in case.groups if group.hourly]
    length = max(map(len, counts), default=0)
    padded = ((0,) * (length - len(count)) + count for count in counts)
    return tuple(map(sum, zip(*padded, strict=True)))


def first_failing(
    case: Case, began: Onset | None, releases: tuple[Release, ...]
) -> FirstFailing | None:
    """Find the release that failed first; where the error names none, the one running then.

    None where nobody knows which one came before it.
    """
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


def _start(last: datetime | None, hours: Sequence[int]) -> datetime | None:
    ends = [hour for hour, count in enumerate(hours) if count]
    if last is None or not ends:
        return None
    return last.replace(minute=0, second=0, microsecond=0) - ends[-1] * _HOUR


def _gain(hours: Sequence[int], split: int) -> float:
    parts = (hours[:split], hours[split:])
    return sum(_likelihood(part) for part in parts) - _likelihood(hours)


def _likelihood(hours: Sequence[int]) -> float:
    total = sum(hours)
    return total * math.log(total / len(hours)) - total if total else 0.0


# Deployments and tags as one list of releases, and the commit that a version stands for.

_SHA = re.compile(r"[0-9a-f]{7,64}")


def _as_it_is(version: str) -> str:
    return version


def _bare(version: str) -> str:
    return version.rpartition("@")[2].removeprefix("v")


# How two names may be one version; the first way that finds any wins.
SPELLINGS: tuple[Callable[[str], str], ...] = (_as_it_is, _bare)


def merged(tagged: Iterable[Release], deployed: Iterable[Release]) -> tuple[Release, ...]:
    """Join both lists as one, newest first, at most 200; `sha` is empty where nobody knows it.

    A release that was deployed is listed once for each time it replaced another one, at the time
    and under the name of its deployment, with the sha of its tag. A tag that no deployment names
    stands for itself.
    """
    tags = tuple(tagged)
    known: list[Release] = []
    for release in sorted(deployed, key=lambda release: release.at):
        full = release.model_copy(update={"sha": _full(release, tags)})
        again = known and (known[-1].version, known[-1].sha) == (full.version, full.sha)
        known += [] if again else [full]
    rest = (tag for tag in tags if not any(_same(tag, item) for item in known))
    releases = sorted((*known, *rest), key=lambda item: (item.at, item.version), reverse=True)
    return tuple(releases[:RELEASES])


def sha_of(version: str, deployed: Iterable[Release]) -> str:
    """Return the commit that was deployed last under this version; empty where no deployment tells.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 11, 20, tzinfo=UTC)
    >>> sha_of("1.2", (Release(version="v1.2", sha="0A1B2C3D", at=at),))
    '0a1b2c3d'
    """
    known = [release for release in deployed if _commit(release.sha)]
    for spelling in SPELLINGS if version.strip() else ():
        wanted = spelling(version.strip())
        same = [item for item in known if spelling(item.version.strip()) == wanted]
        if same:
            return _commit(max(same, key=lambda item: item.at).sha)
    return ""


def _full(release: Release, tags: tuple[Release, ...]) -> str:
    sha = _commit(release.sha)
    if sha:
        return next((tag.sha for tag in tags if tag.sha.startswith(sha)), sha)
    return sha_of(release.version, tags)


def _same(tag: Release, release: Release) -> bool:
    if release.sha:
        return tag.sha == release.sha
    return _bare(tag.version) == _bare(release.version)


def _commit(text: str) -> str:
    wanted = text.strip().lower()
    return wanted if _SHA.fullmatch(wanted) else ""
