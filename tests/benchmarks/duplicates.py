"""Counts analyses of one night that explain a bug which another one explains, too.

Real failures with the bug of each (Defects4J, in ../shared/eval), a night for each project. One
analysis is made for every group. It is a duplicate where an earlier group holds mostly the same
bug; a bug is hidden where no group holds mostly it: its failures went into another bug's group.
"""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.evaluation import case_of

from nightwatch_core.intake.cases import cases

Err = dict[str, Any]
DATA = "defects4j_traces.jsonl.gz"


class Share(NamedTuple):
    """The counts of one way to group."""

    errors: int
    bugs: int
    analyses: int
    duplicates: int
    hidden: int


def seed_groups(night: list[Err]) -> Iterable[list[Err]]:
    """Return the seed's groups: class and transaction."""
    found: dict[Hashable, list[Err]] = defaultdict(list)
    for err in night:
        found[err["error_class"], err["transaction"]].append(err)
    return found.values()


def our_cases(night: list[Err]) -> Iterable[list[Err]]:
    """Return our cases, each failure being a group of its own."""
    by_name = {err["id"]: err for err in night}
    made = ((case_of(err), {"fingerprint": err["id"]}) for err in night)
    traced = tuple((case.leader.model_copy(update=name), case.trace) for case, name in made)
    return [[by_name[group.fingerprint] for group in case.groups] for case in cases(traced)]


WAYS: dict[str, Callable[[list[Err]], Iterable[list[Err]]]] = {
    "the seed's: class and transaction": seed_groups,
    "ours: cases": our_cases,
}


def nights(folder: Path) -> list[list[Err]]:
    """Return the failures of every project; none where there is no such data."""
    found: dict[str, list[Err]] = defaultdict(list)
    if (folder / "data" / DATA).is_file():
        for err in _rows(folder / "data" / DATA):
            found[err["project"]].append(err)
    return list(found.values())


def share(way: Callable[[list[Err]], Iterable[list[Err]]], projects: list[list[Err]]) -> Share:
    """Add up the nights."""
    analyses = explained = bugs = 0
    for night in projects:
        groups = [Counter(err["bug"] for err in members) for members in way(night)]
        analyses += len(groups)
        explained += len({group.most_common(1)[0][0] for group in groups})
        bugs += len({err["bug"] for err in night})
    errors = sum(map(len, projects))
    return Share(errors, bugs, analyses, analyses - explained, bugs - explained)


def _rows(file: Path) -> Iterator[Err]:
    """Failures with a frame of the application; the outermost one is the transaction."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for err in map(json.loads, lines):
            frames = [frame for frame in err["frames"] if not frame.get("is_test")]
            ours = [frame for frame in frames if frame["in_app"]]
            if ours:
                outer = f"{ours[-1].get('module') or ours[-1]['file']}#{ours[-1]['function']}"
                yield {**err, "frames": frames, "transaction": outer}
