"""Readers in front of a repository: what is kept of it, what is not, and what is counted."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from git_repositories import Change, repository
from twins.reading import MemoryRecords

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.stores.code_cache import CodeMeter, recorded_host
from nightwatch_core.adapters.stores.traffic import sending
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import CodeAnswer, CodeRead, CodeReads
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
        if name == "commit":
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
    opened: int = 0

    def __post_init__(self):
        self.reader_ = Watched(self.host.reader(self.host.head()))

    def head(self):
        return self.host.head()

    def reader(self, commit):
        self.opened += 1
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
        tree.paths(),
        tree.list_directory("shop"),
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


def test_a_repository_is_opened_where_an_answer_is_missing_and_no_sooner(watched):
    records = MemoryRecords()
    everything(reader(watched, records))
    watched.opened = 0
    tree = reader(watched, records)
    assert tree.commit == watched.head()
    everything(tree)
    assert watched.opened == 0
    tree.read_file("setup.py")
    assert watched.opened == 1


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
        "paths", "list_directory", "read_file", "search", "blame", "show_commit", "history",
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


# What is read ahead, as a value that another night or worker takes.


class Gone:
    """A host whose repository is not there any more."""

    def reader(self, commit):
        raise GiveUp("the repository is not here")


def ahead(host, ask=everything, records=None):
    """What a host reads ahead, as it comes out of a file."""
    read = recorded_host(host, records or MemoryRecords()).read_ahead(host.head(), ask)
    return CodeRead.model_validate_json(read.model_dump_json())


def test_a_worker_without_the_repository_answers_from_what_was_read_ahead(watched):
    first = everything(watched.reader_)
    elsewhere = recorded_host(Gone(), MemoryRecords())
    elsewhere.take(ahead(watched))
    tree = elsewhere.reader(watched.head())
    assert everything(tree) == first
    with pytest.raises(GiveUp):
        tree.read_file("setup.py")


def test_what_is_read_ahead_from_records_is_whole(watched):
    records = MemoryRecords()
    whole = ahead(watched, records=records)
    watched.reader_.asked.clear()
    assert ahead(watched, records=records) == whole
    assert watched.reader_.asked == []


def test_an_answer_for_want_of_something_is_not_taken_along(watched):
    def fails():
        try:
            with sending():
                raise TryLater("GitHub does not answer")
        except TryLater:
            return

    watched.reader_.before = fails
    assert ahead(watched).answers == ()
    assert ahead(watched, lambda tree: tree.blame("shop/cart.py", 99)).answers == ()


@pytest.mark.parametrize(
    "damage", [{"method": "no_such"}, {"answer": [1]}, {"answer": {}}, {"method": "__init__"}]
)
def test_answers_in_another_form_are_asked_for_again(watched, damage):
    read = ahead(watched, lambda tree: tree.read_file("shop/cart.py"))
    broken = [answer.model_copy(update=damage) for answer in read.answers]
    host = recorded_host(watched, MemoryRecords())
    host.take(read.model_copy(update={"answers": tuple(broken)}))
    assert host.reader(watched.head()).read_file("shop/cart.py") == FILES["shop/cart.py"]


def test_an_answer_in_memory_is_not_replaced(watched):
    host = recorded_host(watched, MemoryRecords())
    text = host.reader(watched.head()).read_file("shop/cart.py")
    other = CodeAnswer(method="read_file", arguments=("shop/cart.py",), answer="other")
    host.take(CodeRead(commit=watched.head(), answers=(other,)))
    assert host.reader(watched.head()).read_file("shop/cart.py") == text


def test_names_of_files_are_kept_unmasked(watched):
    records, names = MemoryRecords(), MemoryRecords()
    everything(recorded_host(watched, records, names).reader(watched.head()))
    kinds = [
        {key.rpartition("/")[2].split("-")[0] for key in kept.kept} for kept in (records, names)
    ]
    assert kinds[1] == {"paths", "list_directory"}
    assert not kinds[0] & kinds[1]


# Counts of reads.


def test_reads_are_counted_by_where_their_answers_came_from(watched):
    records, meter = MemoryRecords(), CodeMeter()

    def read(*paths):
        tree = recorded_host(watched, records, meter=meter).reader(watched.head())
        for path in paths:
            tree.read_file(path)
        return meter.reads()

    assert read("a", "b", "a") == CodeReads(different=2, known=0, asked=3)
    assert meter.reads().saved == 1
    assert read("a") == CodeReads(different=2, known=0, asked=4), "this night has read it"
    meter.reset()
    assert read("a", "b", "c", "c") == CodeReads(different=3, known=2, asked=4)
    assert meter.reads().saved == 3


def test_what_was_read_ahead_counts_as_known_once_it_is_asked_for(watched):
    meter, read = CodeMeter(), ahead(watched)
    host = recorded_host(Gone(), MemoryRecords(), meter=meter)
    host.take(read)
    assert meter.reads() == CodeReads()
    host.reader(watched.head()).read_file("shop/cart.py")
    assert meter.reads() == CodeReads(different=1, known=1, asked=1)


def test_reads_of_workers_are_added_and_the_last_count_of_each_holds():
    meter = CodeMeter()
    meter.count_elsewhere("a", CodeReads(different=5, known=2, asked=9))
    meter.count_elsewhere("a", CodeReads(different=3, known=2, asked=4))
    meter.count_elsewhere("b", CodeReads(different=1, known=1, asked=1))
    assert meter.reads() == CodeReads(different=6, known=3, asked=10)
