from datetime import UTC, datetime
from pathlib import Path

import pytest
from deliveries import HISTORY, ISSUE, delivery, outbox, pull, set_state
from git_repositories import git, repository

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import Answer, Close, Comment, OwnItem, Reopen
from nightwatch_core.text import frontmatter
from nightwatch_core.text.markers import marker


@pytest.fixture
def shop(tmp_path):
    return repository(tmp_path / "shop", *HISTORY)


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A repository for tests in which nothing may change."""
    return repository(tmp_path_factory.mktemp("git") / "shop", *HISTORY)


def test_an_issue_becomes_a_file_that_says_everything(shop):
    receipt = delivery(shop).publish(ISSUE)
    name = "issue-0001-nomethoderror-total-of-nil.md"
    meta, body = frontmatter.read(outbox(shop)[name])

    assert (receipt.status, receipt.number, receipt.title) == ("done", 1, ISSUE.title)
    assert Path(receipt.url).name == name
    assert body == ISSUE.body
    assert meta == {
        "kind": "issue",
        "number": 1,
        "key": "issue-key-1",
        "fingerprint": "v1:aa",
        "title": ISSUE.title,
        "state": "open",
        "state_reason": "",
        "words": [],
        "labels": ["nightwatch", "bug: x"],
        "night": "2026-11-21-aa",
    }


def test_the_same_key_is_one_file_in_any_night(shop):
    first = delivery(shop).publish(ISSUE)
    again = delivery(shop, "2026-11-22-bb").publish(ISSUE)

    assert (again.status, again.number, again.url) == ("already there", 1, first.url)
    assert len(outbox(shop)) == 1


def test_a_file_with_broken_front_matter_still_holds_its_key(shop):
    path = Path(delivery(shop).publish(ISSUE).url)
    path.write_text(path.read_text().replace("state: open", "state: [open"))

    assert delivery(shop).publish(ISSUE).status == "already there"
    assert delivery(shop).own_items() == ()


def test_numbers_grow_over_nights_and_are_never_given_twice(shop):
    receipts = [
        delivery(shop, f"night-{n}").publish(ISSUE.model_copy(update={"key": f"k{n}"}))
        for n in range(3)
    ]
    Path(receipts[2].url).unlink()
    fourth = delivery(shop).publish(ISSUE.model_copy(update={"key": "k3"}))
    (shop.parent / "nights" / ".last-number").write_text("garbage")
    fifth = delivery(shop).publish(ISSUE.model_copy(update={"key": "k4"}))

    assert [receipt.number for receipt in (*receipts, fourth, fifth)] == [1, 2, 3, 4, 5]


def test_a_comment_names_its_issue(shop):
    delivery(shop).publish(ISSUE)
    comment = Comment(key="c1", fingerprint="v1:aa", number=1, body="Again.")
    first, again = delivery(shop, "next").publish(comment), delivery(shop).publish(comment)
    meta, body = frontmatter.read(Path(first.url).read_text())

    assert (first.status, first.number, again.status) == ("done", 1, "already there")
    assert Path(first.url).parts[-3:-1] == ("next", "outbox")
    assert (meta["kind"], meta["issue"], body) == ("comment", 1, "Again.\n")
    assert [item.number for item in delivery(shop).own_items()] == [1]


def test_who_closed_a_draft_is_answered_in_a_file(shop):
    made = delivery(shop).publish(pull(shop))
    answer = Answer(key="a1", fingerprint="v1:aa", number=made.number, body="Another fix.")
    first, again = delivery(shop).publish(answer), delivery(shop, "next").publish(answer)
    meta, body = frontmatter.read(Path(first.url).read_text())
    assert (first.status, again.status, first.on) == ("done", "already there", "pull")
    assert (meta["kind"], meta["issue"], body) == ("answer", made.number, "Another fix.\n")


def test_another_error_with_the_cause_of_an_item_is_entered_in_it(shop):
    body = f"{marker('v1:aa', 'k1', 'night')}\n\nWhy.\n"
    receipt = delivery(shop).publish(ISSUE.model_copy(update={"body": body}))
    joins = Comment(key="c1", fingerprint="v1:bb", also=("v1:cc",), number=1, body="This, too.")
    assert delivery(shop, "next").publish(joins).status == "done"

    (item,) = delivery(shop).own_items()
    assert item.names == {"v1:aa", "v1:bb", "v1:cc"}
    kept = Path(receipt.url).read_text()
    assert kept.endswith("-->\n\nWhy.\n")
    assert "<!-- also v1:bb v1:cc -->" in kept


@pytest.mark.parametrize(("closes", "state"), [(True, "closed"), (False, "open")])
def test_a_verified_fix_closes_its_issue_where_the_setting_says_so(shop, closes, state):
    delivery(shop).publish(ISSUE)
    done = Close(key="c1", fingerprint="v1:aa", number=1, title="t", body="Good.", closes=closes)
    assert delivery(shop, "next").publish(done).status == "done"
    assert delivery(shop).own_items()[0].state == state


def test_reopening_opens_the_file_and_says_why(shop):
    receipt = delivery(shop).publish(ISSUE)
    set_state(receipt, state="closed", state_reason="completed", closed_at="2026-11-20")
    reopen = Reopen(key="r1", fingerprint="v1:aa", number=1, body="It came back.")
    done = delivery(shop, "next").publish(reopen)
    item = delivery(shop).own_items()[0]

    assert (done.status, done.number) == ("done", 1)
    assert (item.state, item.state_reason, item.closed_at) == ("open", "reopened", None)
    assert "It came back." in Path(done.url).read_text()
    assert Path(receipt.url).read_text().endswith(ISSUE.body)
    set_state(receipt, state="closed")
    assert delivery(shop).publish(reopen).status == "already there"
    assert delivery(shop).own_items()[0].state == "closed"


@pytest.mark.parametrize(
    "proposal",
    [
        Comment(key="c", fingerprint="f", number=7, body=""),
        Reopen(key="r", fingerprint="f", number=7, body=""),
        ISSUE.model_copy(update={"key": " "}),
    ],
)
def test_what_has_no_issue_or_key_is_refused(still, proposal):
    receipt = delivery(still).publish(proposal)

    assert receipt.status == "refused"
    assert receipt.reason
    assert outbox(still) == {}


def test_a_person_closes_and_comments_in_the_file(shop):
    receipt = delivery(shop).publish(ISSUE)
    said = ["We want nil here.", "Really."]
    set_state(
        receipt,
        state="Closed",
        state_reason="not planned",
        words=said,
        closed_at="2026-11-20",
        closed_by="ann",
    )

    assert delivery(shop).own_items() == (
        OwnItem(
            kind="issue", number=1, fingerprint="v1:aa", key="issue-key-1", title=ISSUE.title,
            state="closed", state_reason="not_planned", url=receipt.url, labels=ISSUE.labels,
            words=tuple(said), closed_by="ann", night="2026-11-21-aa",
            closed_at=datetime(2026, 11, 20, tzinfo=UTC),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", "no front matter", "---\nkind: issue\n", "---\na: &a [*a]\n---\n",
             "---\n" + "[" * 50_000, "---\nfingerprint: []\n---\n"],
)  # fmt: skip
def test_unreadable_files_are_skipped(shop, text):
    receipt = delivery(shop).publish(ISSUE)
    folder = Path(receipt.url).parent
    (folder / "issue-0009-x.md").write_text(text)
    (folder / "issue-0010-x.md").write_bytes(b"---\n\xff\0\n---\n")
    outside = shop.parent / "outside.md"
    outside.write_text(Path(receipt.url).read_text().replace("number: 1", "number: 11"))
    (folder / "issue-0011-x.md").symlink_to(outside)
    (folder / "issue-0012-x.md").mkdir()
    (folder / "notes.md").write_text("mine")

    assert [item.number for item in delivery(shop).own_items()] == [1]
    assert delivery(shop).publish(ISSUE).status == "already there"


def test_a_state_folder_that_cannot_be_written_gives_up(shop):
    (shop.parent / "nights").write_text("a file where the folder should be")

    with pytest.raises(GiveUp, match="cannot write to"):
        delivery(shop).publish(ISSUE)


def test_a_copy_that_somebody_made_of_an_issue_is_none_of_ours(shop):
    mine = Path(delivery(shop).publish(ISSUE).url)
    text = mine.read_text().replace("state: open", "state: closed")
    mine.with_name("issue-0007-copied.md").write_text(text)

    items = delivery(shop).own_items()
    assert [(item.number, item.state) for item in items] == [(1, "open")]


def test_a_patch_has_no_branch_and_is_merged_once_somebody_applied_it(shop):
    refs = git(shop, "for-each-ref", "refs/heads", "refs/remotes")
    draft = pull(shop, as_patch=True, branch="", fix="f1:0a")
    receipt = delivery(shop).publish(draft)
    (item,) = delivery(shop).own_items()

    assert (receipt.status, item.as_patch, item.state, item.fix) == ("done", True, "open", "f1:0a")
    assert git(shop, "for-each-ref", "refs/heads", "refs/remotes") == refs
    assert delivery(shop, "2026-11-22-bb").publish(draft).status == "already there"

    git(shop, "commit", "--allow-empty", "-qm", "Somebody else's")
    git(shop, "am", str(Path(receipt.url).with_suffix(".patch")))
    git(shop, "gc", "-q", "--prune=now")
    assert delivery(shop).own_items()[0].state == "merged"
