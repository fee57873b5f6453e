"""The store of lessons: writing one, the index, and the search index, at 500, 5,000 and 50,000.

`python tests/benchmarks/lesson_store.py [lessons …]`. The folders are real: every lesson is a
document of its own. Times are by the clock, and of the processor in brackets. At 50,000 it takes
some minutes, nearly all of them to read documents once.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from recall_world import fill_index, lesson, tonight

from nightwatch_core.adapters.stores.documents import KnowledgeFiles
from nightwatch_core.adapters.stores.search_index import SearchIndex
from nightwatch_core.memory.index import file_name
from nightwatch_core.memory.lesson_text import document
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.knowledge import CitedLine, Lesson, NightSeen

SIZES = (500, 5_000, 50_000)
AIMS = "aims: write of one 100 ms, first write 1,000 ms, search p95 15 ms, its update of one 50 ms"
TIMES, SEARCHES = 20, 200


def main(sizes: Sequence[int]) -> int:
    """Print all figures."""
    print(AIMS)
    for size in sizes:
        with TemporaryDirectory() as place:
            figures(size, Path(place))
        with TemporaryDirectory() as place:
            search_figures(size, Path(place))
    return 0


def figures(size: int, place: Path) -> None:
    """Print the figures of one folder."""
    folder = place / "knowledge"
    say(size, f"documents of {fill(folder, size):,} bytes")

    def new() -> KnowledgeFiles:
        """What a new process has."""
        return KnowledgeFiles(folder, cache=place / "knowledge-index.json")

    say(size, f"rebuild_index without a cache {shown(took(lambda: new().rebuild_index()))}")
    say(size, f"index.yml of {(folder / 'index.yml').stat().st_size / 1e6:.1f} MB")
    say(size, f"index() of a new process {shown(took(lambda: new().index()))}")
    say(size, f"rebuild_index with a cache {shown(took(lambda: new().rebuild_index()))}")

    files = new()
    say(size, f"first write of a process {shown(took(lambda: files.write(full(size // 2))))}")
    news = [took(lambda n=n: files.write(full(size + n))) for n in range(TIMES)]
    say(size, f"a new lesson {spread(news)}")
    known = [took(lambda n=n: files.write(full(n, "Else."))) for n in range(TIMES)]
    say(size, f"a known one {spread(known)}")
    say(size, f"index() after these writes {shown(took(lambda: files.index()))}")
    say(size, f"index() again {shown(took(lambda: files.index()))}")
    moved = [file_name(full(number)) for number in range(TIMES)]
    say(size, f"archive of {TIMES} lessons {shown(took(lambda: files.archive(moved)))}")
    names = frozenset((full(3).fingerprint, "f1:0123456789abcdef"))
    say(size, f"archived_lesson {shown(took(lambda: files.archived_lesson(names)))}")


def search_figures(size: int, place: Path) -> None:
    """Print the figures of the search index over documents without text."""
    folder, path = place / "knowledge", place / "recall.sqlite3"
    say(size, f"search index made {shown(took(lambda: fill_index(path, folder, size)))}")
    draw = random.Random(7)
    cases = [tonight(draw.randrange(size), draw) for _ in range(SEARCHES)]
    index = SearchIndex(path, folder)
    say(size, f"opened, compared, first search {shown(took(lambda: index.similar(cases[0])))}")
    say(size, f"search {spread([took(lambda case=case: index.similar(case)) for case in cases])}")
    updates = []
    for number in range(TIMES):
        new = lesson(size + number)
        (folder / new.file).write_text(document(new), encoding="utf-8")
        updates.append(took(lambda new=new: index.refresh(new.file)))
    megabytes = sum(file.stat().st_size for file in place.glob("recall.sqlite3*")) / 1e6
    share = sum(bool(found) for found in map(index.similar, cases[:50])) / 50
    say(size, f"update of one {spread(updates)}, {megabytes:.0f} MB, {share:.0%} recall something")
    index.close()


def fill(folder: Path, size: int) -> int:
    """Write so many documents; returns the bytes of one."""
    (folder / "errors").mkdir(parents=True)
    kinds = [full(number) for number in range(min(size, 500))]
    texts = [document(one) for one in kinds]
    for number in range(size):
        kind, text, name = kinds[number % 500], texts[number % 500], fingerprint(number)
        one = kind.model_copy(update={"fingerprint": name})
        text = text.replace(kind.fingerprint, name)
        (folder / file_name(one)).write_text(text, encoding="utf-8")
    return len(texts[0].encode())


def fingerprint(number: int) -> str:
    """A name as `fingerprint.py` makes them: what files are called by differs."""
    return f"v1:{number * 2_654_435_761 % 2**32:08x}{number:08x}"


def full(
    number: int, root_cause: str = "The table of rates ends with the old countries."
) -> Lesson:
    """A lesson with all that an analysis leaves behind."""
    one = lesson(number % 500)
    nights = tuple(
        NightSeen(date=one.first_detected, night=f"n{at}", occurrences=9, verdict="known", hours=24)
        for at in range(5)
    )
    cited = tuple(
        CitedLine(path="app/a.py", line=at, quote="return RATES[code]", digest="0" * 16)
        for at in range(3)
    )
    update = {
        "fingerprint": fingerprint(number),
        "file": "",
        "title": "Rates of new countries are missing",
        "root_cause": root_cause,
        "nights": nights,
        "evidence": cited,
        "edits": (Edit(path="app/a.py", old="return RATES[code]", new="return rate(code)"),),
        "has_fix": True,
    }
    return one.model_copy(update=update)


def took(act: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds by the clock, and of the processor."""
    started, busy = time.perf_counter(), time.process_time()
    act()
    return (time.perf_counter() - started) * 1_000, (time.process_time() - busy) * 1_000


def shown(time: tuple[float, float]) -> str:
    """One time."""
    return f"{time[0]:,.1f} ms ({time[1]:,.1f})"


def spread(times: Sequence[tuple[float, float]]) -> str:
    """Median and 95th percentile of each kind."""
    clock, busy = (sorted(one) for one in zip(*times, strict=True))
    at = min(int(len(times) * 0.95), len(times) - 1)
    half = len(times) // 2
    return f"p50 {shown((clock[half], busy[half]))} p95 {shown((clock[at], busy[at]))}"


def say(size: int, what: str) -> None:
    """One line, at once."""
    print(f"{size:,} lessons: {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main(tuple(map(int, sys.argv[1:])) or SIZES))
