"""kill -9 during writes of knowledge, 200 times: no torn file, and nothing that was kept is lost.

A process writes lessons, archive moves and indexes in a loop, and says what it has kept. It is
killed at a random moment; then every file is looked at, as the next process would find it.
"""

import multiprocessing
import os
import random
import select
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from core.lesson_shapes import lesson, seen

from nightwatch_core.adapters.stores.documents import KnowledgeFiles
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.index import index_text
from nightwatch_core.memory.lesson_text import lesson_of
from nightwatch_core.models.knowledge import Lesson, Notes
from nightwatch_core.text.frontmatter import StrictLoader

pytestmark = pytest.mark.slow
KILLS = 200
SOONEST, LATEST = 0.005, 0.120  # seconds from the first word of a process until it is killed
ROUNDS = 10  # kills of one folder: every file of it is looked at after each
PATIENCE = 30.0  # seconds for the first word
NAMES = tuple(f"v1:{number * 2_654_435_761 % 2**32:08x}{number:08x}" for number in range(1, 9))


def test_nothing_is_torn_and_nothing_kept_is_lost(tmp_path: Path) -> None:
    draw = random.Random(20310301)
    found: Counter[str] = Counter()
    started = time.monotonic()
    for kill in range(KILLS):
        folder = tmp_path / f"folder{kill // ROUNDS}"
        if kill % ROUNDS == 0:
            versions: dict[str, int] = {}
        words = life(folder, kill, draw)
        assert words, "it was killed before it had kept anything"
        for name, version in map(str.split, words):
            versions[name] = max(versions.get(name, 0), int(version))
        found += looked_at(folder, versions)
        finished(folder, versions)
        found["kept before a kill"] += len(words)
    took = time.monotonic() - started
    print(f"{KILLS} kills in {took:.0f} s, {found['torn']} torn files: {dict(found)}")
    assert found["torn"] == 0
    # the figures mean something only where kills came in the middle of all these
    for what in ("documents", "archived", "indexes", "left temporary"):
        assert found[what] > 0, f"no kill ever met: {what}"


# the process that is killed


def life(folder: Path, kill: int, draw: random.Random) -> list[str]:
    """What one process kept before it was killed."""
    reader, writer = os.pipe()
    process = multiprocessing.get_context("fork").Process(target=_keep, args=(folder, kill, writer))
    process.start()
    os.close(writer)
    assert select.select([reader], [], [], PATIENCE)[0], "it kept nothing"
    time.sleep(draw.uniform(SOONEST, LATEST))
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL, "it ended before it was killed"
    with os.fdopen(reader) as said:
        return said.read().splitlines()


def _keep(folder: Path, kill: int, writer: int) -> None:
    """Keep things until killed, and say so after each."""
    draw = random.Random(kill)
    files = KnowledgeFiles(folder)
    for number in range(1, 1_000_000):
        word = draw.choice(WORK)(files, kill * 1_000_000 + number, draw)
        if word:
            os.write(writer, f"{word}\n".encode())


def _write(files: KnowledgeFiles, version: int, draw: random.Random) -> str:
    name = draw.choice(NAMES)
    at_hand = next((e.file for e in files.index().solutions if e.fingerprint == name), "")
    earlier = files.read(at_hand) or files.archived_lesson(frozenset({name}))
    notes = (Notes(gotchas=(f"note {version}", "x" * draw.randrange(20_000))),)
    told = lesson(name, file=earlier.file if earlier else "", matched=version, notes=notes)
    files.write(told)
    return f"{name} {version}"


def _archive(files: KnowledgeFiles, version: int, draw: random.Random) -> str:
    entries = files.index().solutions
    files.archive([entry.file for entry in entries if draw.random() < 0.3])
    return ""


def _rebuild(files: KnowledgeFiles, version: int, draw: random.Random) -> str:
    files.rebuild_index()
    return ""


WORK = (_write, _write, _write, _archive, _rebuild, _rebuild)


# what the next process finds


def looked_at(folder: Path, versions: dict[str, int]) -> Counter[str]:
    """Every file as the kill left it."""
    found: Counter[str] = Counter()
    lessons = list(read(folder, found))
    whole(lessons, versions)
    found["documents"] += len(lessons)
    found["archived"] += sum(item.file.startswith("archive/") for item in lessons)
    found["left temporary"] += len(list(folder.rglob(".tmp-*")))
    if (folder / "index.yml").exists():
        found["indexes" if is_whole((folder / "index.yml").read_text()) else "torn"] += 1
    return found


def is_whole(index: str) -> bool:
    """Whether an index.yml lists as many documents as it says."""
    meta = yaml.load(index, StrictLoader)
    return all(meta[f"total_{name}"] == len(meta[name]) for name in ("solutions", "patterns"))


def finished(folder: Path, versions: dict[str, int]) -> None:
    """What the next process makes of it."""
    files = KnowledgeFiles(folder)
    files.write(lesson("v1:ffffffffffffffff", nights=seen(1)))
    assert not list(folder.rglob(".tmp-*"))
    index = files.rebuild_index()
    assert (folder / "index.yml").read_text() == index_text(index)
    assert index.quarantined == ()
    names = Counter(entry.fingerprint for entry in index.solutions)
    assert max(names.values()) == 1, names
    lessons = list(read(folder, Counter()))
    whole(lessons, versions)
    at_hand = [item for item in lessons if item.file.startswith("errors/")]
    away = [item for item in lessons if not item.file.startswith("errors/")]
    for name in versions:  # of what can be found again, none is older than what was kept
        own = [item for item in at_hand if item.fingerprint == name]
        own += [one] if (one := files.archived_lesson(frozenset({name}))) and not own else []
        assert own, f"{name} cannot be found again: {len(away)} archived"
        assert max(item.matched for item in own) >= versions[name]


def whole(lessons: list[Lesson], versions: dict[str, int]) -> None:
    for name, version in versions.items():
        assert max((o.matched for o in lessons if o.fingerprint == name), default=0) >= version


def read(folder: Path, found: Counter[str]) -> Iterator[Lesson]:
    for shelf in ("errors", "archive"):
        for place in sorted((folder / shelf).glob("*.md")):
            try:
                yield lesson_of(place.read_text(encoding="utf-8"), f"{shelf}/{place.name}")
            except (GiveUp, UnicodeDecodeError):
                found["torn"] += 1
