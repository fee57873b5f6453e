from datetime import UTC, datetime

import pytest
from git_repositories import NIGHT, Change, git, repository, tag
from tables import tables_of

from nightwatch_core.adapters.git.checkout import Checkout, owner_and_name
from nightwatch_core.adapters.git.history import MainlineCommit, merged_pulls, pull_of
from nightwatch_core.errors import StopTheNight

TABLES = tables_of(__file__)

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
HISTORY = (
    Change("First", {"a.rb": "1\n"}),
    Change("Quote lines", {"basket.rb": "1\n", "b c.rb": "1\n"}),
    Change(
        "Merge pull request #41 from ann/quote\n\nQuote lines",
        {"basket.rb": "1\n", "b c.rb": "1\n"}, merges=1, after=0,
    ),
    Change("Ship fish chilled (#42)", {"fish.rb": "1\n"}, author="Bob"),
    Change("A direct commit, see #43", {"a.rb": "2\n"}),
    Change("Vouchers", {"voucher.rb": "1\n"}),
    Change(
        "Merge branch 'vouchers' into 'main'\n\nVouchers belong to accounts\n\n"
        "See merge request shop/shop!12",
        {"voucher.rb": "1\n"}, merges=5, after=4,
    ),
    Change("Merge branch 'hotfix'", {"a.rb": "3\n"}, merges=5, after=6),
)  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    tags = tag("v1.9.0", 0) + tag("v1.10.0", 3, NIGHT + 50_000) + tag("2.0", 4)
    return repository(tmp_path_factory.mktemp("git") / "shop", *HISTORY, more=tags)


def sha(folder, revision):
    return git(folder, "rev-parse", f"{revision}^{{commit}}")


def test_the_head_of_the_checked_out_branch_is_read(shop):
    head = Checkout(shop).head()

    assert head.sha == sha(shop, "main")
    assert (head.repository, head.branch, head.because) == ("shop", "main", "head of main")
    assert head.at == datetime.fromtimestamp(NIGHT + 3600 * 7, UTC)


@pytest.mark.parametrize("release", ["v1.9.0", "1.9.0", "shop@1.9.0", " v1.9.0 ", "shop@v1.9.0"])
def test_a_release_is_found_by_its_tag(shop, release):
    commit = Checkout(shop).commit_of(release)

    assert (commit.sha, commit.because) == (sha(shop, "v1.9.0"), "release v1.9.0 (tag)")
    assert commit.branch == "main"


@pytest.mark.parametrize("length", [7, 12, 40])
@pytest.mark.parametrize("form", ["{}", "v2.0-3-g{}", "shop@1.2+{}", "build-{}"])
def test_a_release_may_be_a_commit(shop, form, length):
    wanted = sha(shop, "main~2")

    assert Checkout(shop).commit_of(form.format(wanted[:length].upper())).sha == wanted


@pytest.mark.parametrize("release", [*TABLES["an_unknown_release_is_no_commit"], "a" * 5_000])
def test_an_unknown_release_is_no_commit(shop, release):
    assert Checkout(shop).commit_of(release) is None


def test_a_branch_is_a_commit_where_it_is_asked_for(shop):
    commit = Checkout(shop).commit_of("main", branches=True)

    assert (commit.sha, commit.because) == (sha(shop, "main"), "head of main")
    assert Checkout(shop).commit_of("--all", branches=True) is None
    assert Checkout(shop).commit_of("", branches=True) is None


@pytest.mark.parametrize(
    ("hours", "revision"),
    [(7, "main"), (6.5, "main~1"), (5.5, "main~2"), (4, "main~2"), (3.9, "main~3"), (0, "v1.9.0")],
)
def test_the_newest_commit_of_a_moment_is_one_of_the_mainline(shop, hours, revision):
    moment = datetime.fromtimestamp(NIGHT + 3600 * hours, UTC)
    commit = Checkout(shop).commit_at(moment)

    assert commit.sha == sha(shop, revision)
    assert commit.because == f"newest on main at {moment:%Y-%m-%d %H:%M} UTC"


def test_a_moment_before_the_history_is_read_at_the_head_and_says_so(shop):
    commit = Checkout(shop).commit_at(LONG_AGO)

    assert commit.sha == sha(shop, "main")
    assert commit.because == (
        "head of main; none of its commits that were read is from before 2000-01-01 00:00 UTC"
    )


def test_releases_are_tags_newest_first(shop):
    releases = Checkout(shop).releases()

    assert [release.version for release in releases] == ["v1.10.0", "2.0", "v1.9.0"]
    assert releases[0].at == datetime.fromtimestamp(NIGHT + 50_000, UTC)
    assert releases[0].sha == sha(shop, "v1.10.0")


def test_merged_pulls_are_read_off_the_first_parents(shop):
    pulls = Checkout(shop).pulls_merged_since(LONG_AGO)

    assert [(pull.number, pull.title, pull.files) for pull in pulls] == [
        (0, "Merge branch 'hotfix'", ("a.rb",)),
        (12, "Vouchers belong to accounts", ("voucher.rb",)),
        (42, "Ship fish chilled", ("fish.rb",)),
        (41, "Quote lines", ("b c.rb", "basket.rb")),
    ]
    assert [pull.name for pull in pulls[1:3]] == ["pull request !12", "pull request #42"]
    assert pulls[2].author == "Bob"
    assert pulls[3].sha == sha(shop, "main~4")


def test_the_authors_of_a_merge_are_those_of_its_commits(tmp_path):
    folder = repository(
        tmp_path / "shop",
        Change("one", {"a.py": "1\n"}, author="Ann"),
        Change("side", {"b.py": "1\n"}, author="Bob"),
        Change("side again", {"b.py": "2\n"}, author="Cid"),
        Change("and again", {"b.py": "3\n"}, author="Bob"),
        Change("Merge main into side", {}, author="Eve", merges=0),
        Change("fourth", {"b.py": "4\n"}, author="Dee"),
        Change("fifth", {"b.py": "5\n"}, author="Fay"),
        Change("Merge pull request #7 from shop/side\n\nSide", {}, merges=6, after=0, author="Eve"),
        Change("Alone (#8)", {"a.py": "2\n"}, author="Gil"),
    )
    alone, merged = Checkout(folder).pulls_merged_since(LONG_AGO)
    assert (alone.author, alone.commits) == ("Gil", ())
    assert merged.author == "Bob, Cid, Dee"
    assert len(merged.commits) == 6


def test_pulls_before_the_moment_are_left_out(shop):
    since = datetime.fromtimestamp(NIGHT + 3600 * 3, UTC)

    assert [pull.number for pull in Checkout(shop).pulls_merged_since(since)] == [0, 12, 42]


@pytest.mark.parametrize(
    ("subject", "body", "is_merge", "number", "title"), TABLES["forms_of_merge_messages"]
)
def test_forms_of_merge_messages(subject, body, is_merge, number, title):
    commit = MainlineCommit("a" * 40, is_merge, "0", "Ann", subject, body)
    assert pull_of(commit) == (None if number is None else (number, title))


def test_messages_and_names_cannot_forge_a_pull(tmp_path):
    forged = "Plain\n\n\x01Merge pull request #66 from x/y (#66)"
    files = {"Evil (#67)": "1", "a\nMerge pull request #68": "1"}
    folder = repository(tmp_path / "shop", Change("First", {}), Change(forged, files))
    host = Checkout(folder)

    assert merged_pulls(host.git, sha(folder, "main"), LONG_AGO) == ()


def test_worktrees_bare_repositories_and_subfolders_are_fine(tmp_path, shop):
    git(shop, "worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "side", "main~1")
    git(tmp_path, "clone", "--quiet", "--bare", str(shop), "bare.git")
    (shop / "sub").mkdir(exist_ok=True)

    assert Checkout(tmp_path / "tree").head().because == "head of side"
    assert Checkout(tmp_path / "tree").head().repository == "shop"
    assert Checkout(tmp_path / "bare.git").head().sha == sha(shop, "main")
    assert Checkout(shop / "sub").head().sha == sha(shop, "main")
    tree = Checkout(tmp_path / "tree")
    (blame,) = tree.reader(tree.head()).blame("a.rb", 1)


def test_git_variables_of_the_caller_do_not_count(tmp_path, shop, monkeypatch):
    other = repository(tmp_path / "other", Change("Other", {"x": "1"}))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent/index")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")

    assert Checkout(shop).head().repository == "shop"


def test_a_folder_that_is_no_repository_says_what_to_do(tmp_path):
    with pytest.raises(StopTheNight, match="set `repo` to a git checkout"):
        Checkout(tmp_path / "gone").head()
    with pytest.raises(StopTheNight, match="not in a git repository"):
        Checkout(tmp_path).probe()


def test_an_empty_repository_says_what_to_do(tmp_path):
    git(tmp_path, "init", "--quiet")

    with pytest.raises(StopTheNight, match="no commits yet"):
        Checkout(tmp_path).head()


def test_an_unknown_base_branch_names_those_there_are(shop):
    with pytest.raises(StopTheNight, match="no branch trunk: set `base_branch` to one of main"):
        Checkout(shop, "trunk").head()
    with pytest.raises(StopTheNight, match="no branch --all"):
        Checkout(shop, "--all").pulls_merged_since(LONG_AGO)


def test_shallow_and_partial_clones_say_what_to_do(tmp_path, shop):
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{shop}", "shallow")
    git(shop, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", "-n", f"file://{shop}", "partial")

    with pytest.raises(StopTheNight, match="git fetch --unshallow"):
        Checkout(tmp_path / "shallow").head()
    with pytest.raises(StopTheNight, match="without --filter"):
        Checkout(tmp_path / "partial").head()


def test_reading_leaves_no_trace(shop):
    def stand():
        files = (path for path in (shop / ".git").rglob("*") if path.is_file())
        return {str(path): path.stat().st_mtime_ns for path in files}

    before = stand()
    host = Checkout(shop)
    tree = host.reader(host.head())
    host.commit_of("1.9.0")
    host.commit_at(LONG_AGO)
    tree.search("1")
    tree.blame("a.rb", 1)
    host.releases()
    host.pulls_merged_since(LONG_AGO)

    assert stand() == before


@pytest.mark.parametrize(("address", "name"), TABLES["names_of_remotes"])
def test_names_of_remotes(address, name):
    assert owner_and_name(address) == name
