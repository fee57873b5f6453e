import pytest
from git_repositories import git
from github_world import bare_shop, client
from services.github import GitHub

from nightwatch_core.adapters.github.api_reader import ApiReader
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit, FolderEntry


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with GitHub(bare_shop(tmp_path_factory.mktemp("github"))) as server:
        yield server


def reader(server, name="main"):
    server.requests.clear()
    where = Repository.of(client(server), server.repository)
    return ApiReader(where, Commit(repository="acme/shop", sha=commit(server, name)))


def commit(server, name="main"):
    return git(server.git.folder, "rev-parse", name)


def test_the_tree_of_the_commit_is_read(server):
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
        FolderEntry(name="b c.rb", kind="file", size=2),
        FolderEntry(name="models", kind="folder"),
        FolderEntry(name="total.rb", kind="file", size=20),
    )
    assert {e.name: e.kind for e in code.list_directory()}["passwd"] == "link"
    assert reader(server, name="main~1").paths() == ("old.rb",)


def test_a_search_asks_once_for_many_files(server):
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


def test_who_wrote_a_line_is_told(server):
    code = reader(server)
    (found,) = code.blame("app/total.rb", 2)
    assert (found.subject, found.author, found.text) == ("Shop", "Ann", "  nil")
    assert [one.line for one in code.blame("app/total.rb", 2, 99)] == [2, 3]
    assert code.blame("app/total.rb", 99) == code.blame("gone", 1) == ()


def test_a_tree_that_is_not_told_whole_is_no_tree(server):
    server.largest_tree = 3
    try:
        with pytest.raises(GiveUp, match="allow it to be cloned"):
            reader(server).paths()
    finally:
        server.largest_tree = 100_000


def test_only_a_full_sha_pins_a_commit(server):
    where = Repository.of(client(server), server.repository)
    for name in ("main", "HEAD", "", "a" * 39, "../" + "a" * 37, "A" * 40):
        with pytest.raises(GiveUp, match="full commit sha"):
            ApiReader(where, Commit(repository="acme/shop", sha=name))


def shop_with_past(folder):
    """The shop, a pull request that was merged into it, and a fix on another branch."""
    server = GitHub(bare_shop(folder))
    for path, text, message, branch in (
        ("app/total.rb", "def total\n  1\nend\n", "Count (#7)", "main"),
        ("app/sum.rb", "sum\n", "Sum up\n\nAll of it", "main"),
        ("app/total.rb", "def total\n  2\nend\n", "Fix it", "fix"),
    ):
        tree = server.git.write_tree("main", [{"path": path, "mode": "100644", "content": text}])
        head = server.git.run("rev-parse", "main")
        made = server.git.write_commit(message, tree, [head], by="Bo")
        server.git.run("update-ref", f"refs/heads/{branch}", made)
    server.add_item(
        "Count", "", head="count", head_sha="a" * 40, base="main", base_sha="", state="closed",
        merged_at="2026-11-20T00:00:00Z", merge_sha=server.git.run("rev-parse", "main~1"),
    )  # fmt: skip
    return server


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    with shop_with_past(tmp_path_factory.mktemp("github")) as server:
        yield server


def test_a_commit_is_told_with_its_changes(past):
    code = reader(past)
    shown = code.show_commit(commit(past, "main~1")[:10])
    assert (shown.commit.subject, shown.commit.pull, shown.changed) == ("Count (#7)", 7, 1)
    (file,) = shown.files
    assert (file.path, file.added, file.removed) == ("app/total.rb", 1, 1)
    assert file.diff.startswith("@@ -1,3 +1,3 @@\n def total\n-  nil\n+  1\n")
    assert code.show_commit("#1") == shown
    elsewhere = code.show_commit("#1", "bin")
    assert (elsewhere.files, elsewhere.changed) == ((), 1)
    head = code.show_commit(code.commit.sha, "./app/")
    assert (head.commit.subject, head.message) == ("Sum up", "All of it")
    before = len(past.requests)
    code.show_commit("#1")
    assert len(past.requests) == before


def test_only_what_the_commit_holds_is_told(past):
    code, old = reader(past), commit(past, "main~2")
    names = ("fix", "main", "", "abc", "f" * 40, "#99", "../tags", "HEAD~1", "-1")
    assert [code.show_commit(name) for name in names] == [None] * len(names)
    fix = commit(past, "fix")
    assert code.show_commit(fix) is None
    assert reader(past, name="fix").show_commit(fix) is not None
    assert [one.subject for one in code.history()] == ["Sum up", "Count (#7)", "Shop", "First"]
    assert code.paths_changed(old, code.commit.sha) == ("app/sum.rb", "app/total.rb")
    files = code.compare(old, code.commit.sha)
    assert [(one.path, one.added) for one in files] == [("app/sum.rb", 1), ("app/total.rb", 1)]
    assert code.compare(old, code.commit.sha, "app/total.rb") == files[1:]
    for ask in (code.paths_changed, code.compare):
        with pytest.raises(GiveUp, match="this history"):
            ask(old, fix)


def test_the_commits_of_a_file_are_told_and_texts_are_not_searched(past):
    code = reader(past)
    assert [(one.subject, one.pull) for one in code.history("app/total.rb")] == [
        ("Count (#7)", 7),
        ("Shop", 0),
    ]
    assert len(code.history("app", limit=1)) == 1
    assert code.history("gone.rb") == code.history("a\nb") == ()
    with pytest.raises(GiveUp, match="cannot be searched"):
        code.history(text="nil")
