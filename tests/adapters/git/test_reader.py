from concurrent.futures import ThreadPoolExecutor

import pytest
from git_repositories import NIGHT, Change, git, repository

from nightwatch_core.adapters.git.command import FILE_BYTES, open_repository
from nightwatch_core.adapters.git.reader import GitReader
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.code import Commit, FolderEntry, SearchHit

ORDER = "class Order\n  def total\n    lines.sum(&:price)\n  end\nend\n"
SHOP = Change(
    "Sell things",
    {
        "app/models/order.rb": ORDER,
        "app/models/basket.rb": "class Basket; def total; 0; end; end",
        "bin/run": "#!/bin/sh\n",
        "README.md": "# Shop\r\ntotal\r\n",
        "latin.rb": b"# caf\xe9 total\n",
        "logo.png": b"\x89PNG\0total\n",
        "empty.rb": "",
        "big.sql": "total\n" * (FILE_BYTES // 6 + 1),
    },
    {"bin/run": "100755"},
)
ODD_NAMES = (
    "a b.rb",
    'q"uote.rb',
    "naïve/日本.rb",
    "-rf.rb",
    "--help",
    "a'; rm -rf ~.rb",
    ":(glob)*",
)
HOSTILE = Change(
    "Look innocent",
    {
        **dict.fromkeys(ODD_NAMES, "secret = 1\n"),
        "new\nline.rb": "secret = 1\n",
        "esc\x1b[31m.rb": "secret = 1\n",
        "passwd": "/etc/passwd",
        "up": "../../../../etc",
        "lib/vendored": "1" * 40,
        ".gitattributes": "*.rb diff=evil filter=evil\n",
        ".mailmap": "Mallory <m@m.m> Ann <a@b.c>\n",
    },
    {"passwd": "120000", "up": "120000", "lib/vendored": "160000"},
)


def reader(folder, revision="main"):
    sha = git(folder, "rev-parse", revision)
    return GitReader(open_repository(folder), Commit(repository="shop", sha=sha))


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return repository(tmp_path_factory.mktemp("git") / "shop", SHOP)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = repository(tmp_path_factory.mktemp("git") / "hostile", HOSTILE)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (folder / ".git" / "hooks" / name).write_text(f"#!/bin/sh\ntouch {folder}/hook-ran\n")
        (folder / ".git" / "hooks" / name).chmod(0o755)
    run = f"sh -c 'touch {folder}/driver-ran; cat'"
    for setting in ("core.fsmonitor", "diff.evil.textconv", "diff.evil.command",
                    "filter.evil.clean", "filter.evil.smudge", "core.sshCommand", "diff.external",
                    "core.pager", "pager.blame"):  # fmt: skip
        git(folder, "config", setting, run)
    git(folder, "config", "filter.evil.process", run)
    for setting, value in (
        ("blame.ignoreRevsFile", "no-such-file"),
        *(("grep.column", "true"), ("grep.fullName", "false"), ("log.showRoot", "false")),
        *(("diff.orderFile", "/no/such/file"), ("diff.noprefix", "true"), ("diff.context", "0")),
        *(("log.diffMerges", "separate"), ("core.bigFileThreshold", "1")),
    ):
        git(folder, "config", setting, value)
    everything = "* diff=evil filter=evil -diff binary\n"
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "attributes").write_text(everything)
    (folder / ".git" / ".gitattributes").write_text(everything)
    return folder


def test_a_file_is_read_as_it_is_in_the_commit(shop):
    tree = reader(shop)

    assert tree.read_file("app/models/order.rb") == ORDER
    assert tree.read_file("README.md") == "# Shop\r\ntotal\r\n"
    assert tree.read_file("empty.rb") == ""
    assert tree.read_file("latin.rb") == "# caf\ufffd total\n"


@pytest.mark.parametrize("path", ["logo.png", "big.sql", "app/models", "gone.rb", "", "."])
def test_what_is_no_readable_text_is_none(shop, path):
    assert reader(shop).read_file(path) is None


@pytest.mark.parametrize(
    "path",
    ["../shop/README.md", "/etc/passwd", "app/../README.md", ".git/config", "README.md\0", "app\\x",
     "./README.md", "HEAD:README.md", "\ud800", "--help", "x" * 100_000],
)  # fmt: skip
def test_no_spelling_leads_out_of_the_commit(shop, path):
    tree = reader(shop)

    assert tree.read_file(path) is None
    assert tree.blame(path, 1) == tree.blame(path, 1, 5) == ()
    assert path.startswith("./") or tree.search("total", path) == ()
    assert path.startswith("./") or tree.list_directory(path) == ()


def test_folders_list_names_kinds_and_sizes(shop):
    tree = reader(shop)

    assert tree.list_directory("app") == (FolderEntry(name="models", kind="folder"),)
    assert tree.list_directory("./app/models/")[1] == FolderEntry(
        name="order.rb", kind="file", size=len(ORDER)
    )
    assert [entry.name for entry in tree.list_directory()][:3] == ["README.md", "app", "big.sql"]
    assert tree.list_directory("app/models/order.rb") == ()


def test_search_finds_literal_lines_in_small_text_files_only(shop):
    tree = reader(shop)

    assert tree.search("def total") == (
        SearchHit(path="app/models/basket.rb", line=1, text="class Basket; def total; 0; end; end"),
        SearchHit(path="app/models/order.rb", line=2, text="  def total"),
    )
    assert [hit.path for hit in tree.search("total")] == [
        "README.md", "app/models/basket.rb", "app/models/order.rb", "latin.rb",
    ]  # fmt: skip
    assert tree.search("total", "README.md") == (SearchHit(path="README.md", line=2, text="total"),)
    assert len(tree.search("total", limit=2)) == 2
    assert [hit.path for hit in tree.search("total", "app/models/")] == [
        "app/models/basket.rb", "app/models/order.rb",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "query", ["", "to.al", "lines.sum(&:price)\nend", "TOTAL", "\0", "\ud800", "x" * 2_000, "-e"]
)
def test_queries_that_match_no_line_find_nothing(shop, query):
    assert reader(shop).search(query) == ()


def test_a_query_may_look_like_an_option_or_a_pattern(tmp_path):
    text = "x --output=y\n(?:a+)+ $HOME `id` \\1 'q' \"q\"\n"
    folder = repository(tmp_path / "shop", Change("One", {"a.rb": text}))
    tree = reader(folder)

    assert [hit.line for hit in tree.search("--output=y")] == [1]
    assert [hit.line for hit in tree.search("(?:a+)+ $HOME `id` \\1 'q' \"q\"")] == [2]


def test_blame_names_who_wrote_the_line(tmp_path):
    second = Change("Double it\n\nbody", {"a.rb": "one\ntwo\n"}, author="Bob Ö")
    folder = repository(tmp_path / "shop", Change("One", {"a.rb": "one\n"}), second)
    tree = reader(folder)
    (blame,) = tree.blame("a.rb", 2)

    assert (blame.author, blame.subject, blame.line, blame.text) == ("Bob Ö", "Double it", 2, "two")
    assert blame.sha == tree.commit.sha
    assert blame.at.timestamp() == NIGHT + 3600
    assert [tree.blame("a.rb", line) for line in (-1, 0, 3, 10**9)] == [()] * 4
    assert [one.line for one in tree.blame("a.rb", 1, 99)] == [1, 2]
    assert tree.blame("a.rb", 2, 1) == ()


def test_what_is_not_committed_is_not_seen(tmp_path):
    folder = repository(tmp_path / "shop", SHOP)
    git(folder, "config", "core.worktree", str(folder))
    (folder / "README.md").write_text("changed")
    (folder / "new.rb").write_text("total")
    (folder / ".gitattributes").write_text("*.rb -diff\n")
    (folder / "empty.rb").unlink()
    (folder / "empty.rb").symlink_to("/etc/passwd")
    tree = reader(folder)

    assert tree.read_file("README.md") == "# Shop\r\ntotal\r\n"
    assert tree.read_file("empty.rb") == ""
    assert tree.read_file("new.rb") is None
    assert len(tree.search("def total")) == 2


def test_a_hostile_repository_is_only_data(hostile):
    tree = reader(hostile)

    assert tree.paths() == tuple(sorted({*ODD_NAMES, ".gitattributes", ".mailmap"}))
    assert {name: tree.read_file(name) for name in ODD_NAMES} == dict.fromkeys(
        ODD_NAMES, "secret = 1\n"
    )
    assert [tree.read_file(path) for path in ("passwd", "up/passwd", "lib/vendored")] == [None] * 3
    assert {hit.path for hit in tree.search("secret")} == set(ODD_NAMES)
    assert [len(tree.search("secret", name)) for name in ODD_NAMES] == [1] * len(ODD_NAMES)
    blames = [tree.blame(name, 1)[0] for name in ODD_NAMES]
    assert [(blame.author) for blame in blames if not blame.path] == ["Ann"] * len(ODD_NAMES)
    assert not list(hostile.glob("*-ran"))


def test_no_configuration_runs_a_command_or_hides_what_was_committed(hostile):
    tree = reader(hostile)
    (commit,) = tree.history()
    shown = tree.show_commit(commit.sha)

    assert [one.sha for one in tree.history(text="secret = 1")] == [commit.sha]
    assert [hit.path for hit in tree.search("secret = 1")]
    assert any("+secret = 1" in file.diff for file in shown.files)
    assert not [*hostile.glob("*-ran"), *(hostile / ".git").glob("*-ran")]


def test_names_that_lead_out_of_the_tree_are_left_out(tmp_path):
    folder = repository(tmp_path / "shop", Change("One", {"a.rb": "x = 1\n"}))
    blob = git(folder, "rev-parse", "main:a.rb")
    names = (b"..", b".git", b".GIT", b"ok.rb")
    listing = b"".join(b"100644 blob %s\t%s\0" % (blob.encode(), name) for name in names)
    tree = git(folder, "mktree", "-z", stdin=listing)
    outer = git(folder, "mktree", stdin=f"040000 tree {tree}\tapp\n".encode())
    commit = git(folder, "commit-tree", outer, "-m", "x")
    crafted = reader(folder, commit)

    assert crafted.paths() == ("app/ok.rb",)
    assert [hit.path for hit in crafted.search("x = 1")] == ["app/ok.rb"]


def test_many_threads_read_at_once(shop):
    tree = reader(shop)
    paths = tree.paths() * 5
    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(tree.read_file, paths * 8))
    assert texts == [tree.read_file(path) for path in paths] * 8


def test_no_git_process_outlives_its_reader(shop):
    tree = reader(shop)
    tree.read_file("bin/run")
    process = tree._blobs._process
    del tree

    assert process.wait(timeout=5) is not None


@pytest.mark.parametrize("sha", ["main", "HEAD", "--output=x", "", "a" * 39])
def test_only_a_full_sha_pins_a_reader(shop, sha):
    with pytest.raises(GiveUp, match="full commit sha"):
        GitReader(open_repository(shop), Commit(repository="shop", sha=sha))


def test_a_commit_that_is_not_there_says_so(shop):
    with pytest.raises(GiveUp, match="ls-tree"):
        GitReader(open_repository(shop), Commit(repository="shop", sha="1" * 40)).paths()


def test_a_missing_object_says_what_to_do(tmp_path):
    folder = repository(tmp_path / "shop", Change("One", {"a.rb": "one"}))
    tree = reader(folder)
    assert tree.paths() == ("a.rb",)
    for pack in (folder / ".git" / "objects" / "pack").iterdir():
        pack.unlink()
    for loose in (folder / ".git" / "objects").glob("??/*"):
        loose.unlink()

    with pytest.raises(GiveUp, match="git fsck"):
        tree.read_file("a.rb")


def test_a_missing_git_says_what_to_do(shop, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(StopTheNight, match="install git"):
        open_repository(shop)
