import os
from datetime import UTC, datetime, timedelta

import pytest
from git_repositories import NIGHT, git
from github_world import bare_shop, client
from services.github import GitHub

from nightwatch_core.adapters.git.reader import GitReader
from nightwatch_core.adapters.github.api_reader import ApiReader
from nightwatch_core.adapters.github.code_host import ApiHost, GitHubClone, GitHubHost
from nightwatch_core.adapters.hosts.clone import CloneRefused, Origin
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.code import Commit


def host(server, folder, branch=""):
    return GitHubClone(client(server), server.repository, folder / "clones", branch)


def push(server, path, text, parent="main", branch="main"):
    shop = server.git
    tree = shop.write_tree(parent, [{"path": path, "mode": "100644", "content": text}])
    head = shop.run("rev-parse", f"{parent}^{{commit}}")
    made = shop.write_commit("Pushed (#7)", tree, [head])
    if branch:
        shop.run("update-ref", f"refs/heads/{branch}", made)
    return made


def test_the_head_of_the_default_branch_is_read(server, tmp_path):
    code = host(server, tmp_path)
    commit = code.head()
    reader = code.reader(commit)

    assert (commit.repository, commit.branch, commit.because) == (
        "acme/shop",
        "main",
        "head of main",
    )
    assert commit.sha == git(server.git.folder, "rev-parse", "main")
    assert reader.read_file("app/total.rb") == "def total\n  nil\nend\n"
    assert reader.read_file("passwd") is None
    assert [hit.path for hit in reader.search("def total")] == ["app/total.rb"]
    assert "bin/run" in reader.paths()
    (found,) = reader.blame("app/total.rb", 2)
    assert (found.subject, found.text) == ("Shop", "  nil")


def test_what_is_pushed_is_seen_and_what_was_pinned_stays(server, tmp_path):
    code = host(server, tmp_path)
    before = code.reader(code.head())
    push(server, "app/total.rb", "def total\n  1\nend\n")
    after = code.reader(code.head())

    assert before.read_file("app/total.rb") == "def total\n  nil\nend\n"
    assert after.read_file("app/total.rb") == "def total\n  1\nend\n"
    blamed = after.blame("app/total.rb", 1, 2)
    assert [(one.subject, one.pull) for one in blamed] == [("Shop", 0), ("Pushed (#7)", 7)]
    assert host(server, tmp_path).head() == after.commit


def test_only_files_of_the_pinned_commit_cross_the_network(server, tmp_path):
    push(server, "app/total.rb", "def total\n  1\nend\n")
    push(server, "app/total.rb", "def total\n  2\nend\n")
    push(server, "dump.bin", "x" * 3_000_000)
    code = host(server, tmp_path)
    reader = code.reader(code.head())
    view = tmp_path / "clones" / "acme__shop" / "view.git"
    printed = git(view, "rev-list", "--objects", "--missing=print", reader.commit.sha)
    missing = [line for line in printed.splitlines() if line.startswith("?")]

    assert len(missing) == 4  # two old versions, the huge file, and the link
    assert reader.read_file("dump.bin") is None
    assert "dump.bin" in reader.paths()
    assert reader.search("xxxx") == ()
    assert [hit.text for hit in reader.search("def total")] == ["def total"]


@pytest.mark.parametrize("kind", [host, lambda server, _: api_host(server)])
def test_the_newest_commit_of_a_moment_is_one_of_the_mainline(server, tmp_path, kind):
    """A commit of a branch that was merged later is older by its date, but was not there yet."""
    day = datetime.fromtimestamp(NIGHT, UTC)
    made = committed(server, "side", "main", day + timedelta(hours=10))
    direct = committed(server, "direct", "main", day + timedelta(hours=11))
    merge = committed(server, "merge", direct, day + timedelta(hours=20), made)
    code = kind(server, tmp_path)
    first = git(server.git.folder, "rev-parse", "main~3")
    moments = [day + timedelta(hours=hours) for hours in (0.5, 10.5, 12, 30, -50)]
    commits = [code.commit_at(moment) for moment in moments]

    shop = git(server.git.folder, "rev-parse", "main~2")
    assert [one.sha for one in commits] == [first, shop, direct, merge, merge]
    assert commits[2].because == "newest on main at 2025-11-25 04:00 UTC"
    assert "none of its commits" in commits[4].because
    assert {one.branch for one in commits} == {"main"}


@pytest.mark.parametrize("kind", [host, lambda server, _: api_host(server)])
def test_a_commit_is_found_by_tag_sha_or_branch(server, tmp_path, kind):
    first = git(server.git.folder, "rev-parse", "main~1")
    stray = push(server, "hotfix.rb", "x\n", branch="hotfix")
    code = kind(server, tmp_path)
    names = ("1.0", "shop@1.0", first[:10], f"1.0-2-g{first[:9]}", stray)
    commits = [code.commit_of(name) for name in names]
    known = [commit for commit in commits if commit]

    assert [commit.sha for commit in known] == [first, first, first, first, stray]
    assert {(commit.branch, commit.address) for commit in known} == {
        ("main", f"{server.url}/acme/shop")
    }
    assert known[0].because == "release v1.0 (tag)"
    assert code.reader(known[4]).read_file("hotfix.rb") == "x\n"
    for name in ("", "gone", "../../x", "a?b#c", "f" * 40, "hotfix"):
        assert code.commit_of(name) is None
    branch = code.commit_of("hotfix", branches=True)
    assert (branch.sha, branch.branch) == (stray, "main")
    assert [(one.version, one.sha) for one in code.releases()] == [("v1.0", first)]


def committed(server, path, parent, at, merges=""):
    """A commit of that moment on main, which is set to it unless it is `side`."""
    shop = server.git
    tree = shop.write_tree(parent, [{"path": path, "mode": "100644", "content": "x"}])
    parents = [shop.run("rev-parse", f"{parent}^{{commit}}"), *([merges] if merges else [])]
    above = [word for one in parents for word in ("-p", one)]
    when = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (
        ("NAME", "Ann"), ("EMAIL", "a@b.c"), ("DATE", at.isoformat()),
    )}  # fmt: skip
    made = shop.run("commit-tree", tree, *above, stdin=path.encode(), more=when)
    if path != "side":
        shop.run("update-ref", "refs/heads/main", made)
    return made


def test_the_token_is_nowhere_on_disk(server, tmp_path):
    code = host(server, tmp_path)
    code.reader(code.head())
    files = [path for path in (tmp_path / "clones").rglob("*") if path.is_file()]
    encoded = [
        path for path in files if b"x-access" in path.read_bytes() or b"Basic" in path.read_bytes()
    ]

    assert files
    assert encoded == []
    assert not [path for path in files if server.token.encode() in path.read_bytes()]
    assert server.token not in repr(Origin("https://x", lambda: server.token))


@pytest.mark.parametrize(
    ("change", "reason"), [({"has_clone": False}, "403"), ({"size": 6 * 1024 * 1024}, "6144 MiB")]
)
def test_who_may_not_clone_is_told_so(server, tmp_path, change, reason):
    vars(server).update(change)
    with pytest.raises(CloneRefused, match=reason) as error:
        host(server, tmp_path).head()
    assert server.token not in str(error.value)


def test_a_clone_that_is_cut_short_is_tried_later_and_then_works(server, tmp_path):
    server.fail("GET", "info/refs", status=503)
    server.fail("POST", "git-upload-pack", status=500)
    for _ in range(2):
        with pytest.raises(TryLater):
            host(server, tmp_path).head()
    assert host(server, tmp_path).head().branch == "main"


def test_a_branch_that_is_not_there_stops_the_night(server, tmp_path):
    with pytest.raises(StopTheNight, match="NIGHTWATCH_BASE_BRANCH"):
        host(server, tmp_path, "gone").head()


def test_a_renamed_repository_is_cloned_under_its_new_name(server, tmp_path):
    server.moved_to = "acme/market"
    assert host(server, tmp_path).head().repository == "acme/shop"
    assert (tmp_path / "clones" / "acme__market" / "store.git").is_dir()


def test_git_sends_the_token_to_this_machine_only(server, tmp_path):
    with GitHub(bare_shop(tmp_path / "other")) as other:
        there = f"{other.url}/acme/shop.git/info/refs?service=git-upload-pack"
        server.fail("GET", "info/refs", status=302, headers={"location": there}, body=b"")
        with pytest.raises(CloneRefused):
            host(server, tmp_path).head()
        assert other.requests == []


def test_nothing_in_a_hostile_repository_is_run(server, tmp_path):
    push(server, ".gitattributes", "* filter=x diff=x\n")
    push(server, ".gitmodules", '[submodule "x"]\n\tpath = lib/x\n\turl = ext::sh -c touch% ran\n')
    push(server, ".lfsconfig", "[lfs]\n\turl = http://127.0.0.1:9\n")
    code = host(server, tmp_path)
    reader = code.reader(code.head())

    assert reader.read_file(".gitattributes") == "* filter=x diff=x\n"
    assert not (tmp_path / "ran").exists()
    assert not [
        name for _, _, names in os.walk(tmp_path / "clones") for name in names if name == "index"
    ]


def test_a_commit_that_another_machine_chose_is_fetched(server, tmp_path):
    stray = push(server, "hotfix.rb", "x\n", branch="hotfix")
    for name, sha in (("a", stray), ("b", git(server.git.folder, "rev-parse", "main"))):
        commit = Commit(repository="acme/shop", sha=sha)
        assert host(server, tmp_path / name).reader(commit).read_file("old.rb") == "1\n"
    with pytest.raises(GiveUp, match="any more"):
        host(server, tmp_path).reader(Commit(repository="acme/shop", sha="f" * 40))


def test_history_fetches_the_old_files_it_needs(server, tmp_path):
    shop = server.git
    old = push(server, "app/total.rb", "def total\n  3\nend\n")
    blob = shop.run("rev-parse", f"{old}:app/total.rb")
    moved = [{"path": "app/total.rb", "mode": "100644", "sha": None},
             {"path": "lib/sum.rb", "mode": "100644", "sha": blob}]  # fmt: skip
    made = shop.write_commit("Move", shop.write_tree(old, moved), [old])
    shop.run("update-ref", "refs/heads/main", made)
    push(server, "lib/sum.rb", "def total\n  4\nend\n")
    code = host(server, tmp_path)
    reader = code.reader(code.head())

    blamed = reader.blame("lib/sum.rb", 1, 3)
    assert [one.subject for one in blamed] == ["Shop", "Pushed (#7)", "Shop"]
    assert blamed[0].path == "app/total.rb"
    found = reader.history("app/total.rb", text="nil")
    assert [one.subject for one in found] == ["Pushed (#7)", "Shop"]
    shown = reader.show_commit(found[0].sha)
    assert "-  nil\n+  3" in shown.files[0].diff
    assert reader.show_commit(found[1].sha, "latin.rb") is not None


def test_where_cloning_is_refused_or_off_the_api_is_read(server, tmp_path):
    api = ApiHost(client(server), server.repository)
    cloned = GitHubHost(api, host(server, tmp_path))
    first = cloned.head()
    assert type(cloned.reader(first)) is GitReader
    assert "read from a clone" in cloned.probe()

    server.has_clone = False
    for refused in (GitHubHost(api, host(server, tmp_path / "x")), GitHubHost(api)):
        assert refused.head().sha == first.sha
        assert type(refused.reader(first)) is ApiReader
        assert refused.reader(first).read_file("old.rb") == "1\n"
        assert [one.version for one in refused.releases()] == ["v1.0"]
        assert "read through the API" in refused.probe()


def test_pull_requests_that_may_not_be_read_come_from_the_history(server, tmp_path):
    push(server, "app/total.rb", "x\n")
    code = GitHubHost(api_host(server), host(server, tmp_path))
    at = code.head().at
    server.fail("POST", "/graphql", status=403, body=b'{"message": "Resource not accessible"}')
    assert [pull.number for pull in code.pulls_merged_since(at)] == [7]


AT = datetime(2026, 11, 20, tzinfo=UTC)


def api_host(server, branch=""):
    return ApiHost(client(server), server.repository, branch)


def test_a_branch_that_the_api_does_not_have_stops_the_night(server):
    with pytest.raises(StopTheNight, match="NIGHTWATCH_BASE_BRANCH"):
        api_host(server, "gone").head()


def test_merged_pulls_of_the_api_are_read_until_they_are_too_old(server):
    def stamp(hours):
        return (AT + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")

    for number in range(120):
        server.add_item(
            f"Pull {number}", "", head=f"b{number}", head_sha="a" * 40, base="main", base_sha="",
            state="closed", merged_at=stamp(number), updated_at=stamp(number), files=["app/x.rb"],
        )  # fmt: skip
    server.items[1]["updated_at"] = stamp(500)  # merged long ago, commented on today
    pulls = api_host(server).pulls_merged_since(AT + timedelta(hours=60))

    assert [pull.number for pull in pulls] == list(range(120, 60, -1))
    assert (pulls[0].title, pulls[0].author, pulls[0].files) == ("Pull 119", "ann", ("app/x.rb",))
    assert len([one for one in server.requests if one.path == "/graphql"]) == 3
