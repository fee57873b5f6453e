"""Drafts on this machine: how people merge them, and what git then tells."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from deliveries import FIXED, HISTORY, StoppedClock, delivery, pull, set_state
from git_repositories import Change, git, repository
from hypothesis import given, settings
from hypothesis import strategies as st

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.local.delivery import LocalDelivery
from nightwatch_core.models.proposals import FileChange, OwnItem, Receipt

DRAFT = "nightwatch/0123456789ab"
FILE = "app/total.rb"
OTHER = "def total\n  1\nend\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop", *HISTORY)


@pytest.fixture
def receipt(shop: Path) -> Receipt:
    return delivery(shop).publish(pull(shop))


def item(shop: Path) -> OwnItem:
    (one,) = delivery(shop).own_items()
    return one


def write(shop: Path, path: str, text: str, message: str = "Change") -> None:
    (shop / path).parent.mkdir(exist_ok=True)
    (shop / path).write_text(text)
    git(shop, "add", path)
    git(shop, "commit", "--quiet", "-m", message)


def on_draft(shop: Path) -> None:
    git(shop, "checkout", "--quiet", DRAFT)


def merge(shop: Path, *how: str) -> None:
    git(shop, "checkout", "--quiet", "main")
    git(shop, "merge", "--quiet", *how, DRAFT)


def merged(shop: Path) -> None:
    merge(shop, "--no-ff")


def moved_up(shop: Path) -> None:
    merge(shop, "--ff-only")


def squashed(shop: Path) -> None:
    write(shop, "other.rb", "o\n")
    merge(shop, "--squash")
    git(shop, "commit", "--quiet", "-m", "Count (#9)")


def picked(shop: Path) -> None:
    write(shop, "other.rb", "o\n")
    git(shop, "cherry-pick", DRAFT)


def updated(shop: Path) -> None:
    write(shop, "other.rb", "o\n")
    on_draft(shop)
    git(shop, "merge", "--quiet", "--no-edit", "main")
    merged(shop)


def updated_and_moved_up(shop: Path) -> None:
    write(shop, "other.rb", "o\n")
    on_draft(shop)
    git(shop, "merge", "--quiet", "--no-edit", "main")
    moved_up(shop)


def rebased(shop: Path) -> None:
    write(shop, "other.rb", "o\n")
    on_draft(shop)
    git(shop, "rebase", "--quiet", "main")
    moved_up(shop)


def rebased_among_neighbours(shop: Path) -> None:
    write(shop, FILE, "def total\n  nil\nend  # of total\n")
    on_draft(shop)
    git(shop, "checkout", "--quiet", "-B", DRAFT, "main")
    (shop / FILE).write_text("def total\n  0\nend  # of total\n")
    draft = delivery(shop).own_items()[0]
    commit = ours(shop, draft)
    git(shop, "commit", "--quiet", "--all", "-C", commit)
    moved_up(shop)


def reworded(shop: Path) -> None:
    on_draft(shop)
    git(shop, "commit", "--quiet", "--amend", "-m", "Better words")
    moved_up(shop)


def by_way_of_another_branch(shop: Path) -> None:
    git(shop, "checkout", "--quiet", "-b", "develop")
    git(shop, "merge", "--quiet", "--no-ff", "--no-edit", DRAFT)
    write(shop, "later.rb", "l\n")
    git(shop, "checkout", "--quiet", "main")
    git(shop, "merge", "--quiet", "--no-ff", "-m", "Release", "develop")


def by_way_of_a_branch_that_moved_up(shop: Path) -> None:
    git(shop, "checkout", "--quiet", "-b", "develop")
    git(shop, "merge", "--quiet", "--ff-only", DRAFT)
    write(shop, "later.rb", "l\n")
    git(shop, "checkout", "--quiet", "main")
    git(shop, "merge", "--quiet", "--no-ff", "-m", "Release", "develop")


def then_worked_on(shop: Path) -> None:
    """What came after the merge was no part of it."""
    merged(shop)
    on_draft(shop)
    write(shop, "later.rb", "l\n")
    git(shop, "checkout", "--quiet", "main")


def pushed_more(shop: Path) -> None:
    on_draft(shop)
    write(shop, "test/total.rb", "t\n")
    merged(shop)


def pushed_more_and_moved_up(shop: Path) -> None:
    on_draft(shop)
    write(shop, FILE, OTHER)
    moved_up(shop)


def pushed_more_then_updated(shop: Path) -> None:
    write(shop, "other.rb", "o\n")
    on_draft(shop)
    write(shop, "test/total.rb", "t\n")
    git(shop, "merge", "--quiet", "--no-edit", "main")
    moved_up(shop)


def amended(shop: Path) -> None:
    on_draft(shop)
    (shop / FILE).write_text(OTHER)
    git(shop, "commit", "--quiet", "--all", "--amend", "--no-edit")
    moved_up(shop)


def amended_rebased_and_merged(shop: Path) -> None:
    write(shop, "other.rb", "o\n")
    on_draft(shop)
    (shop / FILE).write_text(OTHER)
    git(shop, "commit", "--quiet", "--all", "--amend", "--no-edit")
    git(shop, "rebase", "--quiet", "main")
    merged(shop)


def each_picked(shop: Path) -> None:
    """As a rebase that leaves the branch where it was."""
    on_draft(shop)
    write(shop, "test/total.rb", "t\n")
    git(shop, "checkout", "--quiet", "main")
    write(shop, "other.rb", "o\n")
    git(shop, "cherry-pick", f"{DRAFT}~1", DRAFT)


def ours(shop: Path, item: OwnItem) -> str:
    """The commit that we had made."""
    return git(shop, "log", "--all", "--reflog", "-1", "--format=%H", "--author=NightWatch")


Deed = Callable[[Path], None]
AS_PROPOSED: tuple[Deed, ...] = (
    merged, moved_up, squashed, picked, updated, updated_and_moved_up, rebased,
    rebased_among_neighbours, reworded, by_way_of_another_branch,
    by_way_of_a_branch_that_moved_up, then_worked_on,
)  # fmt: skip
WITH_EDITS: tuple[Deed, ...] = (
    pushed_more, pushed_more_and_moved_up, pushed_more_then_updated, amended,
    amended_rebased_and_merged, each_picked,
)  # fmt: skip
BRANCH_NEEDED = (pushed_more_and_moved_up, pushed_more_then_updated, each_picked)


@pytest.mark.usefixtures("receipt")
@pytest.mark.parametrize("deed", AS_PROPOSED, ids=lambda deed: deed.__name__)
def test_a_draft_that_was_merged_as_proposed(shop: Path, deed: Deed) -> None:
    deed(shop)
    assert (item(shop).state, item(shop).edited) == ("merged", False)
    write(shop, "much_later.rb", "m\n")
    git(shop, "branch", "-D", DRAFT)
    assert (item(shop).state, item(shop).edited) == ("merged", False)


@pytest.mark.usefixtures("receipt")
@pytest.mark.parametrize("deed", WITH_EDITS, ids=lambda deed: deed.__name__)
@pytest.mark.slow
def test_a_draft_that_was_edited_before_it_was_merged(shop: Path, deed: Deed) -> None:
    deed(shop)
    assert (item(shop).state, item(shop).edited) == ("merged", True)
    write(shop, "much_later.rb", "m\n")
    assert (item(shop).state, item(shop).edited) == ("merged", True)
    git(shop, "branch", "-D", DRAFT)
    assert (item(shop).state, item(shop).edited) == ("merged", deed not in BRANCH_NEEDED)


@pytest.mark.usefixtures("receipt")
@pytest.mark.parametrize(
    ("deed", "known"),
    [
        (merged, True),
        (squashed, True),
        (rebased, True),
        (amended, True),
        (pushed_more, True),
        (by_way_of_another_branch, True),
        (moved_up, False),
        (pushed_more_and_moved_up, False),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_when_the_base_got_it(shop: Path, deed: Deed, known: bool) -> None:
    assert item(shop).merged_at is None
    deed(shop)
    at = datetime.fromtimestamp(int(git(shop, "log", "-1", "--format=%ct", "main")), UTC)
    write(shop, "much_later.rb", "m\n")
    assert item(shop).merged_at == (at if known else None)


def test_only_the_newest_are_looked_at_closely(shop: Path, receipt: Receipt) -> None:
    pushed_more(shop)
    text = Path(receipt.url).read_text()
    for number in range(2, 102):
        named = text.replace("number: 1\n", f"number: {number}\n").replace("commit: ", "commit: x")
        Path(receipt.url).with_name(f"pull-{number:04d}-x.md").write_text(named)
    first = delivery(shop).own_items()[0]
    assert (first.state, first.merged_at, first.edited) == ("merged", None, False)


@pytest.mark.usefixtures("receipt")
def test_a_squash_of_more_than_ours_looks_like_no_merge(shop: Path) -> None:
    on_draft(shop)
    write(shop, FILE, OTHER)
    merge(shop, "--squash")
    git(shop, "commit", "--quiet", "-m", "Count (#9)")
    assert (item(shop).state, item(shop).edited) == ("open", False)


@pytest.mark.usefixtures("receipt")
def test_a_branch_put_back_to_its_base_is_no_merge(shop: Path) -> None:
    git(shop, "branch", "--force", DRAFT, "main")
    assert (item(shop).state, item(shop).edited) == ("open", False)


@pytest.mark.usefixtures("receipt")
def test_another_draft_of_that_second_is_not_taken_for_this_one(shop: Path) -> None:
    elsewhere = pull(
        shop, FileChange(path="app/b c.rb", text="c\n"), key="2", branch="nightwatch/2"
    )
    here = pull(shop, FileChange(path=FILE, text=OTHER), key="3", branch="nightwatch/3")
    for other in (elsewhere, here.model_copy(update={"commit_message": "Count as 1"})):
        delivery(shop).publish(other)
        git(shop, "merge", "--quiet", "--no-ff", "--no-edit", other.branch)
    assert [one.state for one in delivery(shop).own_items()] == ["open", "merged", "merged"]


@pytest.mark.usefixtures("receipt")
def test_a_second_draft_stands_beside_the_closed_one(shop: Path, receipt: Receipt) -> None:
    set_state(receipt, state="closed", words=["Hides the cause"])
    change = FileChange(path=FILE, text=OTHER)
    again = pull(
        shop, change, key="pull-key-2", branch="nightwatch/fedcba987654", commit_message="As 1"
    )
    told = delivery(shop, "2026-11-22-bb").publish(again)
    first, second = delivery(shop).own_items()

    assert (told.status, told.number) == ("done", 2)
    assert (first.state, first.words, second.state) == ("closed", ("Hides the cause",), "open")
    assert first.fingerprint == second.fingerprint
    git(shop, "merge", "--quiet", "--no-ff", "--no-edit", "nightwatch/fedcba987654")
    first, second = delivery(shop).own_items()
    assert (first.state, second.state, second.edited) == ("closed", "merged", False)


@pytest.mark.parametrize("broken", ["", "x", "f" * 40, "--output=x", "HEAD"])
def test_a_commit_that_is_none_tells_nothing(shop: Path, receipt: Receipt, broken: str) -> None:
    merged(shop)
    set_state(receipt, commit=broken, branch="")
    assert item(shop).state == "closed"
    assert FIXED in (shop / FILE).read_text()


APPLICATIONS = ("shop", "clinic", "ticker")
STEPS = st.lists(
    st.tuples(st.sampled_from(APPLICATIONS), st.sampled_from(("draft", "merge", "delete"))),
    max_size=9,
)


@settings(max_examples=8)
@given(steps=STEPS)
def test_nights_of_several_applications_leave_each_others_drafts_alone(
    steps: list[tuple[str, str]],
) -> None:
    with TemporaryDirectory() as folder:
        checkouts = {
            name: repository(Path(folder) / name / "app", Change("Begin", {FILE: f"# {name}\n"}))
            for name in APPLICATIONS
        }
        nights, states = Path(folder) / "nights", dict.fromkeys(APPLICATIONS, "")
        for name, step in steps:
            checkout = checkouts[name]
            if step == "draft" and not states[name]:
                draft = pull(checkout, key=name, fingerprint=f"v1:{name}")
                LocalDelivery(nights, "tonight", Checkout(checkout), StoppedClock()).publish(draft)
                states[name] = "open"
            elif step == "merge" and states[name] == "open":
                merge(checkout, "--no-ff")
                states[name] = "merged"
            elif step == "delete" and states[name] in ("open", "merged"):
                git(checkout, "branch", "-D", DRAFT)
                states[name] = {"open": "closed"}.get(states[name], "merged, gone")
            for own, there in checkouts.items():
                items = LocalDelivery(nights, "next", Checkout(there), StoppedClock()).own_items()
                seen = [(item.fingerprint, item.state) for item in items]
                now = states[own].partition(",")[0]
                assert seen == ([(f"v1:{own}", now)] if now else [])
