"""The derived index: always in line with the documents, and never worth more than a deletion."""

import multiprocessing
import os
import signal
import sqlite3
import threading
import time
from contextlib import closing

import pytest
from core.memory.recall.recall_shapes import OTHERS, TOTAL, VIEW, case, kept, link
from twins.recall import MemoryRecall

from nightwatch_core.adapters.stores import search_index as search_store
from nightwatch_core.adapters.stores.search_index import SearchIndex, SearchStore
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.memory.index import entry_of
from nightwatch_core.memory.lesson_text import document
from nightwatch_core.memory.recall import document_of_lesson, search, terms_of
from nightwatch_core.ports import Recall

TOLD = {"error_class": "RateMissing", "message": "no rate for LU", "transaction": "bills/new"}
TONIGHT = case(**TOLD)
LESSONS = tuple(kept(one, f"noise{at}") for at, one in enumerate(OTHERS))
RIGHT = kept(case("v1:before", **TOLD), "right")


def write(folder, *lessons):
    (folder / "errors").mkdir(parents=True, exist_ok=True)
    for lesson in lessons:
        (folder / lesson.file).write_text(document(lesson), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "knowledge", *LESSONS, RIGHT)
    return tmp_path / "knowledge"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "recall.sqlite3"


@pytest.fixture
def opened(path):
    """Makes indexes of folders, each as a process of its own would, and lets go of them."""
    made = []

    def index(folder, at=None, **more):
        made.append(SearchIndex(at or path, folder, **more))
        return made[-1]

    yield index
    for one in made:
        one.close()


def files(found):
    return [entry.file for entry, _ in found]


def contents(path):
    """Every lesson and every sum, as another index of the same documents must have them."""
    with sqlite3.connect(path) as connection:
        tables = (
            "SELECT file, seen, entry, document, numbers, lengths FROM lessons ORDER BY file",
            "SELECT name, file FROM names JOIN lessons ON id = lesson ORDER BY name, file",
            "SELECT number, lessons FROM frequencies WHERE lessons > 0 ORDER BY number",
            "SELECT field, terms FROM totals ORDER BY field",
        )
        found = [connection.execute(table).fetchall() for table in tables]
        terms = connection.execute("SELECT number FROM frequencies WHERE lessons > 0").fetchall()
        shelf = SearchStore(connection)
        names = dict(connection.execute("SELECT id, file FROM lessons"))
        posted = {n: sorted(names[one] for one in shelf.lessons_with(n)) for (n,) in terms}
        assert {n: len(posted[n]) for n in posted} == dict(found[2])
    connection.close()
    return [*found, posted]


def test_a_lesson_is_found_in_documents_and_the_twin_finds_the_same(folder, path, opened):
    index: Recall = opened(folder)
    found = index.similar(TONIGHT)
    assert files(found) == ["errors/right.md"]
    assert found[0][1].relevance > 0.3
    assert found == MemoryRecall((*LESSONS, RIGHT)).similar(TONIGHT)


def test_a_folder_that_is_not_there_recalls_nothing(tmp_path, path, opened):
    assert opened(tmp_path / "none").similar(TONIGHT) == ()
    assert not (tmp_path / "none").exists()


def test_frames_are_searched_as_the_twin_does(tmp_path):
    links = (link(message="no key total", frames=(TOTAL, VIEW)),)
    lessons = (*LESSONS, kept(case("v1:b", links=links), "b"), kept(OTHERS[2], "c"))
    connection = sqlite3.connect(tmp_path / "x", isolation_level=None)
    search_store.make(connection)
    shelf = SearchStore(connection)
    prints = [(entry_of(one), document_of_lesson(one)) for one in lessons]
    assert shelf.put((entry, told, terms_of(told)) for entry, told in prints) == len(lessons)
    for of in (case(links=links), *OTHERS):
        assert search(of, shelf) == MemoryRecall(lessons).similar(of)
    connection.close()


def test_documents_written_changed_and_removed_are_noticed(folder, path, opened):
    index = opened(folder)
    assert index.compare() == len(LESSONS) + 1
    assert index.compare() == 0
    write(folder, kept(case("v1:next", **TOLD), "next"))
    assert files(index.similar(TONIGHT)) == ["errors/next.md", "errors/right.md"]
    (folder / "errors/next.md").unlink()
    assert files(index.similar(TONIGHT)) == ["errors/right.md"]
    write(folder, kept(OTHERS[3], "right"))
    assert opened(folder).similar(TONIGHT) == ()
    fresh = path.with_name("fresh.sqlite3")
    opened(folder, fresh).compare()
    assert contents(path) == contents(fresh)


def test_one_document_can_be_read_again_alone(folder, path, opened):
    index = opened(folder)
    index.compare()
    write(folder, kept(case("v1:next", **TOLD), "next"))
    index.refresh("errors/next.md")
    (folder / RIGHT.file).unlink()
    index.refresh(RIGHT.file)
    assert index.compare() == 0
    assert files(index.similar(TONIGHT)) == ["errors/next.md"]


@pytest.mark.parametrize(
    "file", ["../x.md", "errors/../../x.md", "patterns/a.md", "errors/x.txt", ""]
)
def test_other_files_are_never_read(folder, path, file, opened):
    (folder.parent / "x.md").write_text(document(RIGHT), encoding="utf-8")
    index = opened(folder)
    index.compare()
    index.refresh(file)
    assert index.compare() == 0
    assert files(index.similar(TONIGHT)) == ["errors/right.md"]


def test_broken_documents_and_links_are_never_recalled(folder, path, opened):
    write(folder, kept(case("v1:next", **TOLD), "next"))
    index = opened(folder)
    assert len(index.similar(TONIGHT)) == 2
    (folder / "errors/next.md").write_text("---\nerror_class: [\n---\n", encoding="utf-8")
    (folder / "errors/huge.md").write_bytes(b"x" * (2 << 20))
    (folder / "errors/link.md").symlink_to(folder / RIGHT.file)
    (folder / "errors/binary.md").write_bytes(b"\xff\xfe\x00")
    fresh = opened(folder)
    assert files(fresh.similar(TONIGHT)) == ["errors/right.md"]
    assert fresh.compare() == 0  # what is broken is not read again
    fresh.refresh("errors/link.md")
    assert files(fresh.similar(TONIGHT)) == ["errors/right.md"]


@pytest.mark.parametrize("harm", ["cut", "text", "empty", "old format", "no table", "zeroes"])
def test_an_index_that_is_torn_is_made_again(folder, path, harm, opened):
    with closing(SearchIndex(path, folder)) as index:
        index.compare()
    before = contents(path)
    content = path.read_bytes()
    if harm == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif harm == "text":
        path.write_bytes(b"not a database at all" * 100)
    elif harm == "empty":
        path.write_bytes(b"")
    elif harm == "zeroes":
        path.write_bytes(content[:100] + b"\0" * (len(content) - 100))
    else:
        with sqlite3.connect(path) as connection:
            told = "PRAGMA user_version = 1" if harm == "old format" else "DROP TABLE totals"
            connection.execute(told)
        connection.close()
    assert files(opened(folder).similar(TONIGHT)) == ["errors/right.md"]
    assert contents(path) == before


def test_an_index_that_was_deleted_while_in_use_is_made_again(folder, path, opened):
    index = opened(folder)
    before = index.similar(TONIGHT)
    for one in path.parent.iterdir():
        one.unlink()
    assert index.similar(TONIGHT) == before != ()


def test_an_index_that_cannot_be_used_gives_up_and_says_what_to_do(folder, tmp_path):
    (tmp_path / "state").write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(GiveUp, match="check"):
        SearchIndex(tmp_path / "state" / "recall.sqlite3", folder).similar(TONIGHT)
    (tmp_path / "place.sqlite3").mkdir()
    with pytest.raises(GiveUp, match="delete it"):
        SearchIndex(tmp_path / "place.sqlite3", folder).similar(TONIGHT)


def test_an_index_that_another_process_writes_is_for_later(folder, path, opened):
    opened(folder).compare()
    write(folder, kept(case("v1:next", **TOLD), "next"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(TryLater, match="busy"):
        opened(folder, patience=0.1).similar(TONIGHT)
    other.close()
    assert len(opened(folder).similar(TONIGHT)) == 2


def test_threads_may_share_it(folder, path, opened):
    index = opened(folder)
    found = []
    threads = [threading.Thread(target=lambda: found.append(index.similar(TONIGHT))) for _ in "123"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert {tuple(files(one)) for one in found} == {("errors/right.md",)}


def _compare(path, folder):
    SearchIndex(path, folder).compare()


def test_whenever_it_is_killed_the_next_one_finishes(folder, path, opened):
    links = (link(message="no key total", frames=(TOTAL, VIEW)),)
    write(folder, *(kept(case(f"v1:{at}", links=links), f"many{at}") for at in range(60)))
    spawn = multiprocessing.get_context("fork")
    for pause in (0.005, 0.02, 0.05, 0.1):
        process = spawn.Process(target=_compare, args=(path, folder))
        process.start()
        time.sleep(pause)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    opened(folder).compare()
    fresh = path.with_name("fresh.sqlite3")
    opened(folder, fresh).compare()
    assert contents(path) == contents(fresh)
