"""Readers in front of a repository: what is kept of it, what is not, and what is counted."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from git_repositories import Change, repository
from twins.reading import MemoryRecords

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.stores.code_cache import recorded_host
from nightwatch_core.adapters.stores.traffic import sending
from nightwatch_core.errors import TryLater
from nightwatch_core.ports import CodeReader

FILES = {"shop/cart.py": "def total(lines):\n    return sum(lines)\n", "logo.png": "\0PNG"}


@dataclass
class Watched:
    """A reader that remembers what it was asked, and does something before it answers."""

    reader: CodeReader
    before: Callable[[], None] = lambda: None
    asked: list[str] = field(default_factory=list)

    def __getattr__(self, name):
        found = getattr(self.reader, name)
        if name in ("commit", "paths", "list_directory"):
            return found

        def answer(*arguments):
            self.asked.append(name)
            self.before()
            return found(*arguments)

        return answer


@dataclass
class WatchedHost:
    """A host whose one reader is watched."""

    host: Checkout
    reader_: Watched | None = None

    def head(self):
        return self.host.head()

    def reader(self, commit):
        self.reader_ = self.reader_ or Watched(self.host.reader(commit))
        return self.reader_


@pytest.fixture
def watched(tmp_path):
    return WatchedHost(Checkout(repository(tmp_path / "shop", Change("Shop", FILES))))


def reader(host, records):
    """A reader in a process of its own: nothing is in memory."""
    return recorded_host(host, records).reader(host.head())


def everything(tree):
    sha = tree.commit.sha
    return (
        tree.read_file("shop/cart.py"),
        tree.read_file("logo.png"),
        tree.read_file("../etc/passwd"),
        tree.search("sum(", "shop"),
        tree.search("nowhere"),
        tree.blame("shop/cart.py", 1, 2),
        tree.show_commit(sha),
        tree.history("shop"),
    )


def test_a_later_night_reads_the_same_and_asks_the_repository_for_nothing(watched):
    records = MemoryRecords()
    first = everything(reader(watched, records))
    assert first == everything(watched.host.reader(watched.head()))
    watched.reader_.asked.clear()
    tree = reader(watched, records)
    assert everything(tree) == first
    assert watched.reader_.asked == []


def test_what_is_read_twice_comes_from_memory_the_second_time(watched):
    tree = reader(watched, MemoryRecords())
    for _ in range(3):
        assert tree.read_file("shop/cart.py")
    assert len(watched.reader_.asked) == 1


def test_keys_hold_the_commit(watched):
    records = MemoryRecords()
    everything(reader(watched, records))
    folder = f"code/shop/{watched.head().sha}/"
    assert all(key.startswith(folder) for key in records.kept)
    assert {key.removeprefix(folder).split("-")[0] for key in records.kept} == {
        "read_file", "search", "blame", "show_commit", "history",
    }  # fmt: skip


def test_an_answer_for_want_of_something_is_no_record(watched):
    def fails():
        try:
            with sending():
                raise TryLater("GitHub does not answer")
        except TryLater:
            return

    records = MemoryRecords()
    tree = reader(watched, records)
    watched.reader_.before = fails
    assert tree.show_commit(tree.commit.sha)
    assert tree.blame("shop/cart.py", 99) == ()
    assert records.kept == {}
    watched.reader_.before = lambda: None
    reader(watched, records).show_commit(tree.commit.sha)
    assert len(records.kept) == 1


@pytest.mark.parametrize("damage", ["", "{", '"text"', "[1]", '[{"path": 1}]', "[[]]"])
def test_a_damaged_record_is_as_good_as_none(watched, damage):
    records = MemoryRecords()
    hits = reader(watched, records).search("sum(")
    records.kept = dict.fromkeys(records.kept, damage)
    assert reader(watched, records).search("sum(") == hits
