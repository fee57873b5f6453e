"""Merged changes an analyst may want to look at: files that changed against files that fail.

Whoever touched the same file need not have broken it, so these are candidates and no suspects.
Words of titles and messages are left out on purpose: they find nothing that the files do not.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from nightwatch_core.code import limits
from nightwatch_core.code.languages import COMMON
from nightwatch_core.code.likely_files import likely_files
from nightwatch_core.code.releases import FirstFailing, ago, fading, first_failing, onset
from nightwatch_core.code.symptoms import symptom_of
from nightwatch_core.models.code import MergedPull, Release, Suspect
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import LikelyFile, Onset
from nightwatch_core.models.value import Value
from nightwatch_core.traces.placing import PathIndex

MIN_SCORE = 0.25  # below it nothing is a candidate
_LIKELY_SHARE = 0.5  # a likely file counts this much of a frame's
_USUAL_SIZE = 5  # files; larger pull requests are damped


class Ground(Value):
    """Files with weights, and the times of the error, to compare pull requests with."""

    files: tuple[tuple[str, float, str], ...]  # path, weight 0 to 1, what it is to the case
    onset: Onset | None = None
    release: tuple[datetime, datetime, str] | None = None  # after, until, what it is


def candidates(
    case: Case,
    likely: tuple[LikelyFile, ...],
    pulls: Iterable[MergedPull],
    releases: tuple[Release, ...] = (),
    limit: int = limits.CANDIDATES,
) -> tuple[Suspect, ...]:
    """Rank pull requests, with reasons, the worst first; scores 0 to 1.

    Out are pull requests merged after the first occurrence, and those that change none of the
    case's files. `pulls` may come in any order.
    """
    ground = _ground_of(case, likely, releases)
    merged = tuple(
        pull
        for pull in pulls
        if not (ground.onset is not None and pull.merged_at > ground.onset.at)
    )
    commonness = Counter(path for pull in merged for path in set(pull.files))
    judged = (_judge(pull, ground, commonness, len(merged)) for pull in merged)
    likely_ones = [suspect for suspect in judged if suspect.score >= MIN_SCORE]
    likely_ones.sort(key=lambda s: (-s.score, -s.pull.merged_at.timestamp(), s.pull.sha))
    return tuple(likely_ones[: max(0, limit)])


def _ground_of(
    case: Case, likely: tuple[LikelyFile, ...], releases: tuple[Release, ...] = ()
) -> Ground:
    """Weigh the files of a case: frames by their rank, then likely files by their score."""
    frames = case.trace.in_app if case.trace else ()
    paths = tuple(dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path))
    weighed: dict[str, tuple[float, str]] = {
        path: ((1 + rank) ** -0.5, "the top frame" if rank == 0 else f"frame {rank + 1}")
        for rank, path in enumerate(paths[: limits.COMPARED_FILES])
    }
    share = _LIKELY_SHARE if weighed else 1.0
    for file in likely[: limits.COMPARED_FILES]:
        weighed.setdefault(file.path, (share * min(1.0, file.score), "a likely file"))
    began = onset(case)
    return Ground(
        files=tuple((path, weight, what) for path, (weight, what) in weighed.items()),
        onset=began,
        release=_window(first_failing(case, began, releases)),
    )


def _window(failing: FirstFailing | None) -> tuple[datetime, datetime, str] | None:
    if failing is None:
        return None
    return failing.before.at, failing.release.at, f"{failing.release.version}, {failing.because}"


def _judge(pull: MergedPull, ground: Ground, commonness: Counter[str], among: int) -> Suspect:
    """Score one pull request: overlap of files, damped by its size, raised by its timing."""
    miss = 1.0
    reasons: list[str] = []
    for path, weight, what in ground.files:
        if path in pull.files:
            miss *= 1 - 0.9 * weight * _rarity(commonness[path], among)
            reasons.append(f"changes {path}, {what}")
    if not reasons:
        return Suspect(pull=pull, score=0.0)
    timing, when = _timing(pull.merged_at, ground)
    score = (
        (1 - miss) * (1 / (1 + 0.5 * math.log10(max(1.0, len(pull.files) / _USUAL_SIZE)))) * timing
    )
    because = (*reasons[:3], *when)
    return Suspect(pull=pull, score=round(score, 3), because=because)


def _rarity(count: int, among: int) -> float:
    if among < 2:
        return 1.0
    return 1 - 0.3 * math.log(max(1, count)) / math.log(among)


def _timing(merged: datetime, ground: Ground) -> tuple[float, tuple[str, ...]]:
    if ground.release and _in_release(merged, ground):
        return 1.0, (f"part of release {ground.release[2]}",)
    if ground.onset is None:
        return 0.8, ()
    age = ground.onset.at - merged
    return fading(age), (f"merged {ago(age)} before {ground.onset.because}",)


def _in_release(moment: datetime, ground: Ground) -> bool:
    return ground.release is not None and ground.release[0] < moment <= ground.release[1]


# Which files are read for a case before anything else is known of it.


def first_files(case: Case, index: PathIndex) -> tuple[str, ...]:
    """List the files that research begins with: those of own frames, then the likely ones."""
    frames = case.trace.in_app if case.trace else ()
    named = (frame.repo_path for frame in frames if frame.repo_path)
    likely = (file.path for file in likely_files(case, index))
    return tuple(dict.fromkeys((*named, *likely)))[: limits.FIRST_FILES]


# What a message names: members, columns, constraints, keys and classes, at their definitions.

_QUOTED = re.compile(r"['\"`‘“](?:\w{1,60}(?:\.|::|#))*:?(?P<name>[A-Za-z_]\w{2,60})['\"`’”]")
_SEVERAL_WORDS = re.compile(r"\b(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+[A-Z][A-Za-z0-9]+)\b")


def names_in_message(case: Case) -> tuple[str, ...]:
    """List the names that the message says, what its wording singles out before others.

    A member that nothing has is no name to look for: its receiver is what is wrong.
    """
    message = case.leader.message[: limits.MESSAGE]
    symptom = symptom_of(case.leader.error_class, message)
    relation = re.split(r"[\s,]+", symptom.relation)
    missing = {item.rpartition(".")[0] for item in relation}  # tables
    missing |= {symptom.name} if symptom.kind == "none receiver" else set()
    said = (symptom.key, symptom.keyword, *(item.rpartition(".")[2] for item in relation))
    quoted = (match["name"] for match in _QUOTED.finditer(message))
    names = dict.fromkeys((*said, symptom.name, *quoted, *_SEVERAL_WORDS.findall(message)))
    return tuple(
        name
        for name in names
        if re.fullmatch(r"\w+", name)
        and len(name) > limits.SHORTEST_NAME
        and name not in COMMON
        and name not in missing
    )[: limits.NAMED_SEARCHES]


# Templates that an error leads to: those that the failing lines render, or that a message names.
#
# Only where template code raised it: else a template that is rendered says nothing.
