from pathlib import Path

import pytest
from deliveries import FIXED, HISTORY, NOW, STEPPED, STEPS, delivery, outbox, pull, set_state
from git_repositories import Change, git, repository

from nightwatch_core.adapters.git.branch import changed
from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.models.proposals import FileChange


@pytest.fixture
def shop(tmp_path):
    return repository(tmp_path / "shop", *HISTORY)


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A repository for tests in which nothing may change."""
    return repository(tmp_path_factory.mktemp("git") / "shop", *HISTORY)


def test_a_draft_pull_is_one_commit_on_a_branch(shop):
    changes = (
        FileChange(path="app/total.rb", text=FIXED),
        FileChange(path="bin/run", text="#!/bin/sh\nset -e\nrun\n"),
        FileChange(path="spec/total spec.rb", text="expect ü\n"),
        FileChange(path="app/b c.rb", text=None),
    )
    receipt = delivery(shop).publish(pull(shop, *changes))
    branch = "nightwatch/0123456789ab"
    show = git(shop, "log", "-1", "--format=%an <%ae> %at %cn <%ce> %ct%n%B", branch)

    assert (receipt.status, receipt.reason) == ("done", "")
    assert git(shop, "rev-parse", f"{branch}~1") == git(shop, "rev-parse", "main")
    signed = f"NightWatch <nightwatch@localhost> {int(NOW.timestamp())}"
    assert show == f"{signed} {signed}\nCount an empty basket as 0\n\nRefs #1"
    assert git(shop, "show", f"{branch}:app/total.rb") + "\n" == FIXED
    assert git(shop, "diff-tree", "-r", "--no-renames", "--name-status", "main", branch) == (
        "D\tapp/b c.rb\nM\tapp/total.rb\nM\tbin/run\nA\tspec/total spec.rb"
    )
    modes = git(shop, "ls-tree", branch, "bin/run", "spec/total spec.rb")
    assert [line[:6] for line in modes.splitlines()] == ["100755", "100644"]
    git(shop, "fsck", "--strict", "--no-dangling")


def test_a_dirty_working_tree_is_left_untouched(shop):
    (shop / "app" / "total.rb").write_text("half done")
    (shop / "staged.rb").write_text("new")
    git(shop, "add", "staged.rb")
    (shop / "untracked.rb").write_text("new")
    (shop / ".git" / "hooks").mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-index-change", "pre-commit", "post-commit"):
        (shop / ".git" / "hooks" / name).write_text(f"#!/bin/sh\ntouch {shop.parent}/hook-ran\n")
        (shop / ".git" / "hooks" / name).chmod(0o755)
    git(shop, "config", "commit.gpgSign", "true")
    git(shop, "config", "gpg.program", "false")

    def stand():
        return (
            git(shop, "-c", "core.hooksPath=/dev/null", "status", "--porcelain=v2", "--branch"),
            git(shop, "ls-files", "--stage"),
            (shop / "app" / "total.rb").read_text(),
            (shop / ".git" / "HEAD").read_text(),
        )

    before = stand()
    (shop.parent / "hook-ran").unlink(missing_ok=True)

    assert delivery(shop).publish(pull(shop)).status == "done"
    assert not (shop.parent / "hook-ran").exists()
    assert stand() == before


def test_the_patch_is_text_whatever_the_checkout_says_of_files(shop):
    (shop / ".git" / "info").mkdir(exist_ok=True)
    for folder in (shop / ".git" / "info" / "attributes", shop / ".git" / ".gitattributes"):
        folder.write_text("* binary diff=evil filter=evil\n")
    for setting in ("diff.evil.textconv", "diff.evil.command", "filter.evil.process"):
        git(shop, "config", setting, f"sh -c 'touch {shop}/driver-ran'")
    git(shop, "config", "core.bigFileThreshold", "1")
    delivery(shop).publish(pull(shop))
    (shown,) = (text for name, text in outbox(shop).items() if name.endswith(".patch"))

    assert "GIT binary patch" not in shown
    assert "\n+  0\n" in shown
    assert not list(shop.glob("*-ran"))


def test_a_changed_mode_is_never_taken_for_a_plain_change(tmp_path):
    texts = {"a.rb": "1\n", "b.rb": "1\n", "c.rb": "1\n"}
    modes = {"a.rb": "100755", "b.rb": "120000", "d.rb": "120000"}
    second = Change("Second", {**texts, "c.rb": "2\n", "d.rb": "x", "e.rb": "x"}, modes)
    folder = repository(tmp_path / "shop", Change("First", texts), second)
    tree = Checkout(folder).git
    found = changed(tree, *(tree.line("rev-parse", name) for name in ("main~1", "main")))

    assert {path: blob.mode for path, blob in found.items()} == {
        "a.rb": "100644 → 100755",
        "b.rb": "100644 → 120000",
        "c.rb": "100644",
        "d.rb": "000000 → 120000",
        "e.rb": "100644",
    }


@pytest.mark.parametrize(
    "branch",
    ["", "-d", "a..b", "a b", "a\nb", "a.lock", "../x", "refs/../x", "@{-1}", "a/", ".a/b", "ü",
     "x" * 300],
)  # fmt: skip
def test_names_that_are_no_branch_are_refused(still, branch):
    assert (
        "cannot be the name of a branch"
        in delivery(still).publish(pull(still, branch=branch)).reason
    )


def test_no_branch_of_anyone_is_moved(shop):
    git(shop, "branch", "nightwatch/0123456789ab", "main~1")
    before = git(shop, "for-each-ref")
    receipts = [
        delivery(shop).publish(pull(shop, branch=branch))
        for branch in ("nightwatch/0123456789ab", "main", "nightwatch", "main/x")
    ]

    assert [receipt.status for receipt in receipts] == ["refused"] * 4
    assert "exists with other content" in receipts[0].reason
    assert git(shop, "for-each-ref") == before
    assert outbox(shop) == {}


def test_a_branch_that_an_earlier_try_made_is_already_there(shop):
    first = delivery(shop).publish(pull(shop))
    for path in Path(first.url).parent.iterdir():  # killed before the files were written
        path.unlink()
    again = delivery(shop).publish(pull(shop))

    assert (again.status, again.number) == ("already there", 2)
    assert [name[:9] for name in outbox(shop)] == ["pull-0002", "pull-0002"]


def test_the_base_may_move_but_not_under_the_change(shop):
    proposal = pull(shop)
    (shop / "other.rb").write_text("other")
    git(shop, "add", "other.rb")
    git(shop, "commit", "--quiet", "-m", "Other")

    assert delivery(shop).publish(proposal).status == "done"
    assert git(shop, "rev-parse", "nightwatch/0123456789ab~1") == git(shop, "rev-parse", "main")

    (shop / "app" / "total.rb").write_text("def total = 1\n")
    git(shop, "commit", "--quiet", "-am", "Mine")
    late = proposal.model_copy(update={"key": "k2", "branch": "nightwatch/late"})
    assert delivery(shop).publish(late).reason == "base moved: 'app/total.rb' changed"


@pytest.mark.parametrize(("field", "value"), [("base", "trunk"), ("commit", "1" * 40),
                                              ("commit", "main"), ("base", "--all")])  # fmt: skip
def test_an_unknown_base_or_commit_is_refused(still, field, value):
    receipt = delivery(still).publish(pull(still, **{field: value}))

    assert receipt.status == "refused"
    assert value in receipt.reason


def state_of_pull(shop):
    (item,) = delivery(shop).own_items()
    assert item.kind == "pull"
    assert item.branch == "nightwatch/0123456789ab"
    return item.state


def test_a_pull_is_merged_once_the_base_at_origin_holds_its_commit(shop):
    delivery(shop).publish(pull(shop))
    git(shop, "update-ref", "refs/remotes/origin/main", "nightwatch/0123456789ab")

    assert state_of_pull(shop) == "merged"


def test_a_pull_whose_branch_is_gone_is_closed(shop):
    receipt = delivery(shop).publish(pull(shop))
    git(shop, "branch", "-D", "nightwatch/0123456789ab")

    assert state_of_pull(shop) == "closed"
    set_state(receipt, commit="--output=x")
    assert state_of_pull(shop) == "closed"


def test_a_draft_in_steps_is_a_commit_for_each(shop, tmp_path):
    receipt = delivery(shop).publish(pull(shop, **STEPPED))
    branch = "nightwatch/0123456789ab"
    log = git(shop, "log", "--reverse", "--format=%s", "--name-only", f"main..{branch}")

    assert (receipt.status, receipt.reason) == ("done", "")
    assert [line for line in log.splitlines() if line] == [
        *("Name the nothing", "app/b c.rb", "app/nothing.rb"),
        *("Count with it", "app/b c.rb", "app/nothing.rb", "app/total.rb"),
    ]
    names = git(shop, "diff", "--name-only", "main", branch).splitlines()
    assert names == ["app/nothing.rb", "app/total.rb"]
    git(shop, "fsck", "--strict", "--no-dangling")

    git(tmp_path, "clone", "--quiet", "--single-branch", str(shop), "clone")
    git(tmp_path / "clone", "am", "--quiet", str(Path(receipt.url).with_suffix(".patch")))
    tree = git(tmp_path / "clone", "rev-parse", "HEAD^{tree}")
    assert tree == git(shop, "rev-parse", f"{branch}^{{tree}}")
    assert git(tmp_path / "clone", "rev-list", "--count", "origin/main..HEAD") == "2"

    Path(receipt.url).unlink()  # what a killed try leaves is the branch alone
    squashed = pull(shop, **STEPPED | {"commits": ()})
    assert delivery(shop).publish(squashed).status == "refused"
    assert delivery(shop).publish(pull(shop, **STEPPED)).status == "already there"


@pytest.mark.parametrize(
    "commits",
    [
        STEPS[:1],
        STEPS[::-1],
        (*STEPS, STEPS[0].model_copy(update={"changes": (FileChange(path="x", text="y"),)})),
        (STEPS[0].model_copy(update={"changes": (FileChange(path="../x", text="y"),)}), *STEPS),
        STEPS * 6,
    ],
)
def test_steps_that_do_not_add_up_to_what_passed_are_refused(still, commits):
    refs = git(still, "for-each-ref")
    receipt = delivery(still).publish(pull(still, **STEPPED | {"commits": commits}))

    assert receipt.status == "refused"
    assert git(still, "for-each-ref") == refs
