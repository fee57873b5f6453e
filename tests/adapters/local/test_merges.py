"""Drafts on this machine: how people merge them, and what git then tells."""

import shlex
from datetime import UTC, datetime

import pytest
from deliveries import FIXED, HISTORY, NOW, delivery, pull, set_state
from git_repositories import Change, git, repository
from twins.reading import MemoryClock

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.local.delivery import LocalDelivery

DRAFT = "nightwatch/0123456789ab"
FILE = "app/total.rb"
OTHER = "def total\n  1\nend\n"


@pytest.fixture
def shop(tmp_path):
    return repository(tmp_path / "shop", *HISTORY)


@pytest.fixture
def receipt(shop):
    return delivery(shop).publish(pull(shop))


def item(shop):
    (one,) = delivery(shop).own_items()
    return one


def write(shop, path, text="x\n"):
    (shop / path).parent.mkdir(exist_ok=True)
    (shop / path).write_text(text)
    git(shop, "add", path)


def do(shop, steps):
    """Each step is an edit of our file, `put` and a new file that is committed, or git's words."""
    for word, *more in (shlex.split(step) for step in steps.split("; ")):
        if word in EDITS:
            write(shop, FILE, EDITS[word])
        elif word == "put":
            write(shop, *more)
            git(shop, "commit", "-m", "Change")
        else:
            git(shop, *(DRAFT if item == "draft" else item for item in (word, *more)))


EDITS = {"otherwise": OTHER}
MERGED, MOVED_UP = "checkout main; merge --no-ff draft", "checkout main; merge --ff-only draft"
PUSHED_MORE = f"checkout draft; put test/total.rb; {MERGED}"
RELEASED = "put later.rb; checkout main; merge --no-ff -m Release develop"
AS_PROPOSED = {
    "merged": MERGED,
    "moved up": MOVED_UP,
    "squashed": "put other.rb; merge --squash draft; commit -m 'Count (#9)'",
    "picked": "put other.rb; cherry-pick draft",
    "updated": f"put other.rb; checkout draft; merge --no-edit main; {MERGED}",
    "rebased": f"put other.rb; checkout draft; rebase main; {MOVED_UP}",
    "reworded": f"checkout draft; commit --amend -m 'Better words'; {MOVED_UP}",
    "by way of another branch": f"checkout -b develop; merge --no-ff draft; {RELEASED}",
    "then worked on": f"{MERGED}; checkout draft; put later.rb; checkout main",
}
WITH_EDITS = {
    "pushed more": PUSHED_MORE,
    "pushed more, then updated": "put other.rb; checkout draft; put test/total.rb; "
    f"merge --no-edit main; {MOVED_UP}",
    "amended": f"checkout draft; otherwise; commit --amend --no-edit; {MOVED_UP}",
    "amended, rebased and merged": "put other.rb; checkout draft; otherwise; "
    f"commit --amend --no-edit; rebase main; {MERGED}",
}


@pytest.mark.usefixtures("receipt")
@pytest.mark.parametrize("deed", AS_PROPOSED)
def test_a_draft_that_was_merged_as_proposed(shop, deed):
    do(shop, AS_PROPOSED[deed])
    assert (item(shop).state, item(shop).edited) == ("merged", False)
    do(shop, "put much_later.rb")
    git(shop, "branch", "-D", DRAFT)
    assert (item(shop).state, item(shop).edited) == ("merged", False)


@pytest.mark.usefixtures("receipt")
@pytest.mark.parametrize("deed", WITH_EDITS)
@pytest.mark.slow
def test_a_draft_that_was_edited_before_it_was_merged(shop, deed):
    do(shop, WITH_EDITS[deed])
    assert (item(shop).state, item(shop).edited) == ("merged", True)
    do(shop, "put much_later.rb")
    assert (item(shop).state, item(shop).edited) == ("merged", True)


@pytest.mark.usefixtures("receipt")
@pytest.mark.parametrize(
    ("steps", "known"),
    [
        (MERGED, True),
        (AS_PROPOSED["squashed"], True),
        (AS_PROPOSED["rebased"], True),
        (AS_PROPOSED["by way of another branch"], True),
        (MOVED_UP, False),
    ],
)
def test_when_the_base_got_it(shop, steps, known):
    assert item(shop).merged_at is None
    do(shop, steps)
    at = datetime.fromtimestamp(int(git(shop, "log", "-1", "--format=%ct", "main")), UTC)
    do(shop, "put much_later.rb")
    assert item(shop).merged_at == (at if known else None)


@pytest.mark.usefixtures("receipt")
def test_a_branch_put_back_to_its_base_is_no_merge(shop):
    git(shop, "branch", "--force", DRAFT, "main")
    assert (item(shop).state, item(shop).edited) == ("open", False)


@pytest.mark.parametrize("broken", ["", "x", "f" * 40, "--output=x", "HEAD"])
def test_a_commit_that_is_none_tells_nothing(shop, receipt, broken):
    do(shop, MERGED)
    set_state(receipt, commit=broken, branch="")
    assert item(shop).state == "closed"
    assert FIXED in (shop / FILE).read_text()


def test_a_draft_of_another_application_is_left_out(shop, tmp_path):
    delivery(shop).publish(pull(shop))
    clinic = repository(tmp_path / "clinic" / "app", Change("Begin", {FILE: "# clinic\n"}))
    other = LocalDelivery(tmp_path / "nights", "tonight", Checkout(clinic), MemoryClock(NOW))
    other.publish(pull(clinic, key="clinic", fingerprint="v1:clinic"))
    do(clinic, MERGED)
    assert [(one.fingerprint, one.state) for one in other.own_items()] == [("v1:clinic", "merged")]
    assert [one.fingerprint for one in delivery(shop).own_items()] == ["v1:aa"]
