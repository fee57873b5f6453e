"""Recall beside its baselines, with paired bootstraps, and the index at 500, 5,000, 50,000 lessons.

`python tests/benchmarks/recall.py [lessons …]`, or `make bench`. The baselines are the seed's score
and, where bm25s is installed, BM25 over class, message and frames.
"""

import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import recall_data
from adapters import Retriever, SeedRetriever
from recall_data import DEFECTS, JIRA, Err, summary
from recall_world import fill, lesson, tonight

from nightwatch_core.adapters.stores.search_index import SearchIndex
from nightwatch_core.memory.lesson_text import document

SIZES = (500, 5_000, 50_000)
AIMS = "aims: p95 of a search 15 ms, update 50 ms, cold open 1,000 ms"
DRAWS = 10_000
SEARCHES = 200


def main(sizes: Sequence[int]) -> int:
    """Print all figures."""
    for name, mode in ((JIRA, "prior"), (JIRA, "loo"), (DEFECTS, "loo")):
        docs = recall_data.load(name)
        if docs:
            quality(name, mode, docs)
        else:
            print(f"skipped: {name} is not there")
    print(AIMS)
    for size in sizes:
        index_figures(size)
    return 0


def quality(name: str, mode: str, docs: Sequence[Err]) -> None:
    """Recall of every retriever, and how sure the difference to ours is."""
    asked = list(queries(docs, mode))
    ranks = {title: ranked(make(), docs, asked, mode) for title, make in retrievers().items()}
    for title, found in ranks.items():
        print(f"{name} {mode} {title}: {summary(found)}")
        if title != "ours":
            print(f"    ours is better at first place by {difference(ranks['ours'], found)}")


def retrievers() -> Mapping[str, Callable[[], Any]]:
    """Ours first."""
    found: dict[str, Callable[[], Any]] = {"ours": Retriever, "seed": SeedRetriever}
    sys.path.insert(0, str(recall_data.DATA.parent / "harness"))
    try:
        import bm25s  # noqa: F401
        from baselines import BM25S
    except ImportError:
        print("without BM25: bm25s is not installed (the evaluation's README: R@1 .67)")
        return found
    return {**found, "BM25": BM25S}


def queries(docs: Sequence[Err], mode: str) -> Iterator[tuple[Err, frozenset[str]]]:
    """Errors with the ids of their relatives: earlier ones, or all."""
    clusters: dict[str, list[Err]] = defaultdict(list)
    for doc in docs:
        if doc["cluster"]:
            clusters[doc["cluster"]].append(doc)
    for group in clusters.values():
        for doc in group:
            relatives = frozenset(
                one["id"]
                for one in group
                if one is not doc and (mode == "loo" or one["created"] < doc["created"])
            )
            if relatives:
                yield doc, relatives


def ranked(
    retriever: Any, docs: Sequence[Err], asked: Sequence[tuple[Err, frozenset[str]]], mode: str
) -> list[int | None]:
    """The place of the first relative among the errors that were there before, or among all."""
    retriever.index(docs)
    created = {doc["id"]: doc["created"] for doc in docs}
    found: list[int | None] = []
    for doc, relatives in asked:
        names = [name for name, _ in retriever.search(doc, 300) if name != doc["id"]]
        if mode == "prior":
            names = [name for name in names if created[name] < doc["created"]]
        places = (at for at, name in enumerate(names, 1) if name in relatives)
        found.append(next(places, None))
    return found


def difference(ours: Sequence[int | None], theirs: Sequence[int | None]) -> str:
    """Points of recall at 1, with the middle 95 % of a paired bootstrap."""
    pairs = [(one == 1) - (other == 1) for one, other in zip(ours, theirs, strict=True)]
    draw = random.Random(5)
    means = sorted(sum(draw.choices(pairs, k=len(pairs))) / len(pairs) for _ in range(DRAWS))
    low, high = means[DRAWS // 40], means[-DRAWS // 40]
    return f"{sum(pairs) / len(pairs):+.3f} (95 %: {low:+.3f} to {high:+.3f})"


def index_figures(size: int) -> None:
    """Search, update and opening of an index over so many synthetic lessons."""
    with TemporaryDirectory() as place:
        folder, path = Path(place) / "knowledge", Path(place) / "recall.sqlite3"
        started = time.perf_counter()
        fill(path, folder, size)
        built = time.perf_counter() - started
        draw = random.Random(7)
        cases = [tonight(draw.randrange(size), draw) for _ in range(SEARCHES)]
        index = SearchIndex(path, folder)
        opened = milliseconds(lambda: index.similar(cases[0]))
        searches = [milliseconds(lambda case=case: index.similar(case)) for case in cases]
        updates = []
        for at in range(20):
            new = lesson(size + at)
            (folder / new.file).write_text(document(new), encoding="utf-8")
            updates.append(milliseconds(lambda new=new: index.refresh(new.file)))
        first = sum(bool(found) for found in map(index.similar, cases[:50])) / 50
        megabytes = sum(one.stat().st_size for one in Path(place).glob("recall.sqlite3*")) / 1e6
        print(
            f"{size} lessons: search {spread(searches)}, update of one {spread(updates)}, "
            f"cold open, comparison and first search {opened[0]:.0f} ms, made in {built:.1f} s, "
            f"{megabytes:.0f} MB, {first:.0%} of searches recall something",
            flush=True,
        )


def milliseconds(act: Callable[[], object]) -> tuple[float, float]:
    """How long it takes by the clock, and how long it kept a processor busy."""
    started, busy = time.perf_counter(), time.process_time()
    act()
    return (time.perf_counter() - started) * 1_000, (time.process_time() - busy) * 1_000


def spread(times: Sequence[tuple[float, float]]) -> str:
    """Median and 95th percentile by the clock, and of processor time."""
    clock, busy = (sorted(one) for one in zip(*times, strict=True))
    at = int(len(times) * 0.95)
    return (
        f"p50 {clock[len(times) // 2]:.1f} p95 {clock[at]:.1f} ms "
        f"(processor {busy[len(times) // 2]:.1f}, {busy[at]:.1f})"
    )


if __name__ == "__main__":
    sys.exit(main(tuple(map(int, sys.argv[1:])) or SIZES))
