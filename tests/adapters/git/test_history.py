import pytest
from git_repositories import NIGHT, Change, git, repository

from nightwatch_core.adapters.git.command import open_repository
from nightwatch_core.adapters.git.reader import GitReader
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit

BODY = "def total(lines):\n    first = lines[0]\n    return sum(one.price for one in lines)\n"
NESTED = "class Cart:\n    def total(lines):\n        first = lines[0]\n        return 0\n"
RATES = "RATES = {\n    'DE': 19,\n    'FR': 20,\n    'AT': 20,\n}\n"
HISTORY = (
    Change("Sell things", {"shop/cart.py": BODY, "README.md": "# Shop\n"}, author="Ann"),
    Change("Know rates (#11)", {"shop/rates.py": RATES}, author="Bob"),
    Change("Format", {"shop/cart.py": NESTED.replace("return 0", BODY.split("\n")[2].strip())}),
    Change("Work on lines", {"shop/cart.py": NESTED}, author="Cy", after=1),
    Change("Merge pull request #12 from shop/lines\n\nCount lines", {"shop/cart.py": NESTED},
           merges=3, after=2, author="Hub"),
    Change("Move rates", {"shop/rates.py": None, "shop/tax/rates.py": RATES}),
    Change("Fix it", {"shop/cart.py": NESTED.replace("first = lines[0]", "first = None")}),
)  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return repository(tmp_path_factory.mktemp("git") / "shop", *HISTORY)


def reader(folder, revision="main"):
    sha = git(folder, "rev-parse", revision)
    return GitReader(open_repository(folder), Commit(repository="shop", sha=sha))


def sha(folder, subject):
    return git(folder, "log", "--all", f"--grep=^{subject}", "--format=%H", "-1")


def test_blame_looks_through_a_change_of_indentation_and_says_who_made_it(shop):
    rows = reader(shop, "main~1").blame("shop/cart.py", 2, 4)
    rows, indented = rows[:3], rows[3:]
    assert [(one.line, one.only_indented) for one in (*rows, *indented)] == [
        (2, False), (3, False), (4, False), (2, True), (3, True),
    ]  # fmt: skip
    assert {one.sha for one in indented} == {rows[2].sha}
    assert [(one.line, one.subject, one.author) for one in rows] == [
        (2, "Sell things", "Ann"),
        (3, "Sell things", "Ann"),
        (4, "Work on lines", "Cy"),
    ]
    assert [one.pull for one in rows] == [0, 0, 12]
    assert rows[2].text == "        return 0"


def test_blame_knows_the_commit_that_began_the_history(shop):
    assert reader(shop).blame("README.md", 1)[0].is_root
    assert not reader(shop).blame("shop/tax/rates.py", 3)[0].is_root


def test_blame_follows_a_file_that_was_moved(shop):
    (row,) = reader(shop).blame("shop/tax/rates.py", 3)
    assert (row.subject, row.pull, row.path) == ("Know rates (#11)", 11, "shop/rates.py")


def test_blame_follows_a_file_that_left_something_in_its_old_place(tmp_path):
    rates = RATES.replace("}", "".join(f"    'A{n}': {n},\n" for n in range(10, 30)) + "}")
    moved, stub = rates.replace("'AT': 20", "'AT': 21"), "from tax.rates import RATES\n"
    folder = repository(
        tmp_path / "shop",
        Change("Know rates", {"rates.py": rates}),
        Change("Move rates", {"rates.py": stub, "tax/rates.py": moved, "new.py": "NEW = 1\n"}),
    )
    told = [(row.line, row.subject, row.path) for row in reader(folder).blame("tax/rates.py", 3, 4)]
    assert told == [(3, "Know rates", "rates.py"), (4, "Move rates", "")]
    assert [row.subject for row in reader(folder).blame("new.py", 1)] == ["Move rates"]


def test_revisions_that_only_reformat_are_ignored_as_the_commit_says(tmp_path):
    quoted = RATES.replace("'", '"')
    changes = [Change("Know rates", {"rates.py": RATES}), Change("Black", {"rates.py": quoted})]
    folder = repository(tmp_path / "one", *changes)
    listed = f"# formatting\n{git(folder, 'rev-parse', 'main')}\n\nno-sha\n{'1' * 40}\n"
    ignored = Change("List it", {".git-blame-ignore-revs": listed})
    tree = reader(repository(tmp_path / "two", *changes, ignored))

    assert [one.subject for one in tree.blame("rates.py", 2)] == ["Know rates"]
    assert [one.subject for one in reader(folder).blame("rates.py", 2)] == ["Black"]
    (folder / ".git-blame-ignore-revs").write_text(listed)  # not committed
    assert [one.subject for one in reader(folder).blame("rates.py", 2)] == ["Black"]


def test_a_commit_is_shown_with_its_changes(shop):
    shown = reader(shop).show_commit(sha(shop, "Know rates")[:7])
    assert (shown.commit.subject, shown.commit.author) == ("Know rates (#11)", "Bob")
    assert (shown.commit.pull, shown.commit.at.timestamp()) == (11, NIGHT + 3600)
    (file,) = shown.files
    assert (file.path, file.added, file.removed, shown.changed) == ("shop/rates.py", 5, 0, 1)
    assert file.diff.startswith("@@ -0,0 +1,5 @@\n+RATES = {\n")


def test_a_merge_is_shown_by_what_it_brought(shop):
    shown = reader(shop).show_commit("#12")
    assert (shown.commit.subject, shown.message) == (
        "Merge pull request #12 from shop/lines",
        "Count lines",
    )
    assert [file.path for file in shown.files] == ["shop/cart.py"]
    assert "+        return 0" in shown.files[0].diff


def test_a_path_narrows_what_is_shown_and_renames_are_told(shop):
    tree, moved = reader(shop), sha(shop, "Move rates")
    whole, part, none = (tree.show_commit(moved, path) for path in ("", "shop/tax", "README.md"))
    assert [(one.path, one.old_path) for one in whole.files] == [
        ("shop/tax/rates.py", "shop/rates.py")
    ]
    assert part.files == whole.files
    assert (none.files, none.changed) == ((), 2)


@pytest.mark.parametrize(
    "name",
    ["HEAD", "main", "", "abc", "--all", "-1", "#99", "#0", "f" * 40, "main~1", ":/Fix", "..", "@"],
)
def test_what_names_no_commit_shows_none(shop, name):
    assert reader(shop).show_commit(name) is None


def test_what_was_committed_later_is_never_shown(shop):
    fix = sha(shop, "Fix it")
    tree = reader(shop, "main~1")
    assert reader(shop).show_commit(fix) is not None
    assert tree.show_commit(fix) is None
    assert "Fix it" not in [one.subject for one in tree.history()]
    assert tree.history(text="first = None") == ()
    with pytest.raises(GiveUp, match="this history"):
        tree.paths_changed(tree.commit.sha, fix)


def test_history_lists_commits_without_merges(shop):
    tree = reader(shop)
    assert [(one.subject, one.pull) for one in tree.history()] == [
        ("Fix it", 0),
        ("Move rates", 0),
        ("Work on lines", 12),
        ("Format", 0),
        ("Know rates (#11)", 11),
        ("Sell things", 0),
    ]
    assert len(tree.history(limit=2)) == 2
    assert [one.subject for one in tree.history("shop/rates.py")] == [
        "Move rates",
        "Know rates (#11)",
    ]
    assert tree.history("shop/tax/rates.py") == tree.history("shop/rates.py")
    assert len(tree.history("shop/")) == 6
    assert tree.history("gone.py") == ()


def test_history_finds_who_added_or_removed_a_text(shop):
    tree = reader(shop)
    removed = [one.subject for one in tree.history(text="first = lines[0]")]
    assert removed == ["Fix it", "Sell things"]
    assert [one.subject for one in tree.history("shop/cart.py", "sum(")] == [
        "Work on lines",
        "Sell things",
    ]
    assert tree.history(text="nowhere") == ()


@pytest.mark.parametrize("text", ["--output=x", "-e", "a\0b", "\ud800", "x" * 5_000, "$(touch x)"])
def test_a_searched_text_is_only_text(shop, text):
    assert reader(shop).history(text=text) == ()


@pytest.mark.parametrize("path", ["../x", "/etc", "a/../../b", "\0", "\ud800", "--all", ":(top)x"])
def test_a_path_of_history_leads_nowhere_else(shop, path):
    tree = reader(shop)
    assert tree.history(path) == ()
    shown = tree.show_commit(tree.commit.sha, path)
    assert shown is None or shown.files == ()


def test_the_paths_between_two_commits(shop):
    tree = reader(shop)
    paths = tree.paths_changed(sha(shop, "Format"), tree.commit.sha)
    assert paths == ("shop/cart.py", "shop/rates.py", "shop/tax/rates.py")
    assert tree.paths_changed(tree.commit.sha, tree.commit.sha) == ()
    files = tree.compare(sha(shop, "Format"), tree.commit.sha)
    assert [(one.path, one.old_path, one.added, one.removed) for one in files] == [
        ("shop/cart.py", "", 2, 2),
        ("shop/tax/rates.py", "shop/rates.py", 0, 0),
    ]
    assert "+        first = None" in files[0].diff
    assert tree.compare(sha(shop, "Format"), tree.commit.sha, "shop/tax") == files[1:]
    assert tree.compare(sha(shop, "Format"), tree.commit.sha, "../x") == ()
    with pytest.raises(GiveUp, match="this history"):
        tree.compare("f" * 40, tree.commit.sha)


def test_large_changes_are_cut_and_say_so(tmp_path):
    many = {f"f{number:03}.py": "x\n" for number in range(70)}
    long = {"long.py": "".join(f"value_{number} = {number}\n" for number in range(5_000))}
    folder = repository(tmp_path / "shop", Change("Many", many), Change("Long", long))
    tree = reader(folder)
    long_one, many_ones = (tree.show_commit(name.sha) for name in tree.history())
    assert (len(many_ones.files), many_ones.changed) == (50, 70)
    (file,) = long_one.files
    assert file.added == 5_000
    assert len(file.diff) < 41_000
    assert file.diff.endswith("[the rest of this change is not shown]")
