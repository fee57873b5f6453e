import threading
from collections.abc import Iterator

import pytest
from git_repositories import git
from github_world import bare_shop, client
from services.github import GitHub

from nightwatch_core.adapters.github_reader import ApiReader
from nightwatch_core.adapters.github_rows import place
from nightwatch_core.adapters.memory import MemoryRecords
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import Commit, Entry


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    with GitHub(bare_shop(tmp_path_factory.mktemp("github"))) as server:
        yield server


def reader(server: GitHub, records: MemoryRecords | None = None, name: str = "main") -> ApiReader:
    server.requests.clear()
    sha = git(server.git.folder, "rev-parse", name)
    where = place(client(server), server.repository)
    return ApiReader(where, Commit(repository="acme/shop", sha=sha), records or MemoryRecords())


def test_the_tree_of_the_commit_is_read(server: GitHub) -> None:
    code = reader(server)
    assert code.paths() == (
        "app/b c.rb", "app/models/order.rb", "app/total.rb", "bin/run", "latin.rb", "old.rb",
    )  # fmt: skip
    assert code.read_file("app/total.rb") == "def total\n  nil\nend\n"
    assert code.read_file("latin.rb") == "caf\ufffd\n"
    assert [code.read_file(p) for p in ("passwd", "lib/vendored", "app", "gone", "../x", "")] == [
        None
    ] * 6
    assert code.list_directory("app") == (
        Entry(name="b c.rb", kind="file", size=2),
        Entry(name="models", kind="folder"),
        Entry(name="total.rb", kind="file", size=20),
    )
    assert {e.name: e.kind for e in code.list_directory()}["passwd"] == "link"
    assert reader(server, name="main~1").paths() == ("old.rb",)


def test_a_search_asks_once_for_many_files(server: GitHub) -> None:
    code = reader(server)
    hits = code.search("total")
    assert [(hit.path, hit.line, hit.text) for hit in hits] == [("app/total.rb", 1, "def total")]
    assert [(hit.path, hit.line) for hit in code.search("e", "app/models")] == [
        ("app/models/order.rb", 1),
        ("app/models/order.rb", 2),
    ]
    assert len(code.search("e", limit=1)) == 1
    assert code.search("") == code.search("a\nb") == code.search("x", "gone") == ()
    assert [one.path for one in server.requests if one.method == "POST"] == ["/graphql"]
    assert len(server.requests) <= 3  # the tree, the files, and one that is not UTF-8


def test_what_was_read_is_never_asked_for_again(server: GitHub) -> None:
    records = MemoryRecords()
    first = reader(server, records)
    told = first.read_file("old.rb"), first.blame("old.rb", 1), first.paths()
    again = reader(server, records)
    assert (again.read_file("old.rb"), again.blame("old.rb", 1), again.paths()) == told
    assert server.requests == []
    sha = first.commit.sha
    assert all(key.startswith(f"code/acme__shop/{sha}/") for key in records.kept)


def test_many_threads_ask_once(server: GitHub) -> None:
    code = reader(server)
    code.paths()
    server.requests.clear()
    threads = [threading.Thread(target=code.read_file, args=("old.rb",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 1


def test_who_wrote_a_line_is_told(server: GitHub) -> None:
    code = reader(server)
    found = code.blame("app/total.rb", 2)
    assert found is not None
    assert (found.subject, found.author, found.text) == ("Shop", "Ann", "  nil")
    assert code.blame("app/total.rb", 99) is code.blame("gone", 1) is None


def test_failures_are_not_kept(server: GitHub) -> None:
    code = reader(server)
    code.paths()
    server.fail("GET", "/git/blobs/", times=3)
    with pytest.raises(TryLater):
        code.read_file("old.rb")
    assert code.read_file("old.rb") == "1\n"


def test_a_tree_that_is_not_told_whole_is_no_tree(server: GitHub) -> None:
    server.largest_tree = 3
    try:
        with pytest.raises(GiveUp, match="allow it to be cloned"):
            reader(server).paths()
    finally:
        server.largest_tree = 100_000


def test_only_a_full_sha_pins_a_commit(server: GitHub) -> None:
    where = place(client(server), server.repository)
    with pytest.raises(GiveUp, match="full commit sha"):
        ApiReader(where, Commit(repository="acme/shop", sha="main"), MemoryRecords())
