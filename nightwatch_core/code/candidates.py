"""Which merged changes an analyst may want to look at: files that changed against files that fail.

Whoever touched the same file need not have broken it, so these are candidates and no suspects.
Words of titles and messages are left out on purpose: they find nothing that the files do not.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime

from nightwatch_core.code.limits import CANDIDATES, COMPARED_FILES
from nightwatch_core.code.onset import FirstFailing, ago, fading, first_failing, onset
from nightwatch_core.models.code import MergedPull, Release, Suspect
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import LikelyFile, Onset
from nightwatch_core.models.value import Value

MIN_SCORE = 0.25  # below it nothing is a candidate
_LIKELY_SHARE = 0.5  # a likely file counts this much of a frame's
_TOUCHES = 1.0  # nearness of the very file
_USUAL_SIZE = 5  # files; larger pull requests are damped


class Ground(Value):
    """What pull requests are compared with: files with weights, and the times of the error."""

    files: tuple[tuple[str, float, str], ...]  # path, weight 0 to 1, what it is to the case
    onset: Onset | None = None
    release: tuple[datetime, datetime, str] | None = None  # after, until, what it is


def _same(mine: str, theirs: str) -> bool:
    return mine == theirs


def _test_of(mine: str, theirs: str) -> bool:
    stem, other = _stem(mine), _stem(theirs)
    return other in {f"{stem}_test", f"{stem}_spec", f"test_{stem}", f"{stem}.test", f"{stem}Test"}


def _beside(mine: str, theirs: str) -> bool:
    folder = mine.rpartition("/")[0]
    return bool(folder) and folder == theirs.rpartition("/")[0]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


# How near a changed file is to one of the case's, nearest first; the first that holds counts.
NEARNESS: tuple[tuple[float, str, Callable[[str, str], bool]], ...] = (
    (_TOUCHES, "changes {path}, {what}", _same),
    (0.3, "changes the test of {path}, {what}", _test_of),
    (0.1, "changes a file beside {path}, {what}", _beside),
)


def candidates(
    case: Case,
    likely: tuple[LikelyFile, ...],
    pulls: Iterable[MergedPull],
    releases: tuple[Release, ...] = (),
    limit: int = CANDIDATES,
) -> tuple[Suspect, ...]:
    """Rank pull requests, with reasons, the worst first; scores 0 to 1.

    Out are pull requests merged after the first occurrence, and those that change none of the
    case's files; what is only near them counts in the first failing release. `pulls` may come in
    any order.
    """
    ground = ground_of(case, likely, releases)
    merged = tuple(pull for pull in pulls if not _too_late(pull, ground))
    commonness = Counter(path for pull in merged for path in set(pull.files))
    judged = (judge(pull, ground, commonness, len(merged)) for pull in merged)
    likely_ones = [suspect for suspect in judged if suspect.score >= MIN_SCORE]
    likely_ones.sort(key=lambda s: (-s.score, -s.pull.merged_at.timestamp(), s.pull.sha))
    return tuple(likely_ones[: max(0, limit)])


def ground_of(
    case: Case, likely: tuple[LikelyFile, ...], releases: tuple[Release, ...] = ()
) -> Ground:
    """Weigh the files of a case: frames by their rank, then likely files by their score."""
    frames = case.trace.in_app if case.trace else ()
    paths = tuple(dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path))
    weighed: dict[str, tuple[float, str]] = {
        path: ((1 + rank) ** -0.5, "the top frame" if rank == 0 else f"frame {rank + 1}")
        for rank, path in enumerate(paths[:COMPARED_FILES])
    }
    share = _LIKELY_SHARE if weighed else 1.0
    for file in likely[:COMPARED_FILES]:
        weighed.setdefault(file.path, (share * min(1.0, file.score), "a likely file"))
    began = onset(case)
    return Ground(
        files=tuple((path, weight, what) for path, (weight, what) in weighed.items()),
        onset=began,
        release=_window(first_failing(case, began, releases)),
    )


def _window(failing: FirstFailing | None) -> tuple[datetime, datetime, str] | None:
    """When the release before it was made, when it was, and what it is."""
    if failing is None:
        return None
    return failing.before.at, failing.release.at, f"{failing.release.version}, {failing.because}"


def judge(pull: MergedPull, ground: Ground, commonness: Counter[str], among: int) -> Suspect:
    """Score one pull request: overlap of files, damped by its size, raised by its timing."""
    miss = 1.0
    reasons: list[tuple[float, str]] = []
    for path, weight, what in ground.files:
        near = _nearest(path, pull.files)
        if near is None:
            continue
        value, said, changed = near
        miss *= 1 - 0.9 * weight * value * _rarity(commonness[changed], among)
        reasons.append((-value, said.format(path=path, what=what)))
    touches = any(value == -_TOUCHES for value, _ in reasons)
    if not touches and not (reasons and _in_release(pull.merged_at, ground)):
        return Suspect(pull=pull, score=0.0)
    reasons.sort(key=lambda reason: reason[0])  # the nearest first, else in the case's order
    timing, when = _timing(pull.merged_at, ground)
    score = (1 - miss) * _damping(len(pull.files)) * timing
    because = (*(said for _, said in reasons[:3]), *when)
    return Suspect(pull=pull, score=round(score, 3), because=because)


def _nearest(path: str, changed: tuple[str, ...]) -> tuple[float, str, str] | None:
    for value, said, rule in NEARNESS:
        for other in changed:
            if rule(path, other):
                return value, said, other
    return None


def _rarity(count: int, among: int) -> float:
    """1 for a file that one pull request changes, less for one that all of them change."""
    if among < 2:
        return 1.0
    return 1 - 0.3 * math.log(max(1, count)) / math.log(among)


def _damping(size: int) -> float:
    return 1 / (1 + 0.5 * math.log10(max(1.0, size / _USUAL_SIZE)))


def _too_late(pull: MergedPull, ground: Ground) -> bool:
    return ground.onset is not None and pull.merged_at > ground.onset.at


def _timing(merged: datetime, ground: Ground) -> tuple[float, tuple[str, ...]]:
    """A factor up to 1 and what it rests on."""
    if ground.release and _in_release(merged, ground):
        return 1.0, (f"part of release {ground.release[2]}",)
    if ground.onset is None:
        return 0.8, ()
    age = ground.onset.at - merged
    return fading(age), (f"merged {ago(age)} before {ground.onset.because}",)


def _in_release(moment: datetime, ground: Ground) -> bool:
    return ground.release is not None and ground.release[0] < moment <= ground.release[1]
