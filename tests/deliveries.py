"""A small shop's repository, proposals about it, and where their delivery is found."""

from datetime import UTC, datetime
from pathlib import Path

from git_repositories import Change, git
from twins.reading import MemoryClock

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.local.delivery import LocalDelivery
from nightwatch_core.models.proposals import DraftCommit, DraftPull, FileChange, OpenIssue, Receipt
from nightwatch_core.text import frontmatter
from nightwatch_core.text.markers import step_line

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
HISTORY = (
    Change("First", {"old.rb": "1\n"}),
    Change(
        "Shop",
        {
            "app/total.rb": "def total\n  nil\nend\n",
            "app/b c.rb": "b\n",
            "bin/run": "#!/bin/sh\nrun\n",
            "latin.rb": b"caf\xe9\n",
            "passwd": "/etc/passwd",
            "lib/vendored": "1" * 40,
        },
        {"bin/run": "100755", "passwd": "120000", "lib/vendored": "160000"},
    ),
)
ISSUE = OpenIssue(
    key="issue-key-1",
    fingerprint="v1:aa",
    title="NoMethodError: total/../of nil",
    body="Why.\n---\nkey: other-key\n",
    labels=("nightwatch", "bug: x"),
)
FIXED = "def total\n  0\nend\n"


def delivery(shop: Path, night: str = "2026-11-21-aa") -> LocalDelivery:
    return LocalDelivery(shop.parent / "nights", night, Checkout(shop), MemoryClock(NOW))


def pull(shop: Path, *changes: FileChange, **more: object) -> DraftPull:
    fields: dict[str, object] = {
        "key": "pull-key-1",
        "fingerprint": "v1:aa",
        "branch": "nightwatch/0123456789ab",
        "base": "main",
        "title": "Count an empty basket as 0",
        "body": "Because.",
        "commit_message": "Count an empty basket as 0\n\nRefs #1",
        "changes": changes or (FileChange(path="app/total.rb", text=FIXED),),
        "commit": git(shop, "rev-parse", "main"),
        "labels": ("nightwatch",),
    }
    return DraftPull.model_validate(fields | more)


def outbox(shop: Path) -> dict[str, str]:
    files = sorted((shop.parent / "nights").glob("*/outbox/*"))
    return {path.name: path.read_text() for path in files}


def set_state(receipt: Receipt, **fields: object) -> None:
    path = Path(receipt.url)
    meta, body = frontmatter.read(path.read_text())
    path.write_text(frontmatter.render({**meta, **fields}, body))


STEPS = (
    DraftCommit(
        message=f"Name the nothing\n\n{step_line(1, 2)}",
        changes=(
            FileChange(path="app/nothing.rb", text="NOTHING = 0\n"),
            FileChange(path="app/b c.rb", text="c\n"),
        ),
    ),
    DraftCommit(
        message=f"Count with it\n\n{step_line(2, 2)}",
        changes=(
            FileChange(path="app/nothing.rb", text="NOTHING = 0.0\n"),
            FileChange(path="app/b c.rb", text="b\n"),
            FileChange(path="app/total.rb", text=FIXED),
        ),
    ),
)
STEPPED = {  # of a draft that is made in two steps; one file ends as it was
    "commits": STEPS,
    "changes": (
        FileChange(path="app/total.rb", text=FIXED),
        FileChange(path="app/nothing.rb", text="NOTHING = 0.0\n"),
    ),
}
