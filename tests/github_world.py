"""A shop on the GitHub stand-in, proposals about it, and neighbours that do not wait."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import deliveries
from git_repositories import repository, tag
from pydantic import SecretStr
from services.github import GitHub
from services.github_app import pem
from twins.reading import MemoryClock

from nightwatch_core.adapters.github.client import GitHubClient
from nightwatch_core.adapters.github.outbox import GitHubOutbox
from nightwatch_core.adapters.github.sign_in import GitHubSignIn
from nightwatch_core.adapters.github.tracker import GitHubTracker
from nightwatch_core.models.proposals import Comment, DraftPull, FileChange, OpenIssue, Reopen
from nightwatch_core.text.markers import marker

NIGHT = "2026-11-21-aa"
OURS = {"labels": ["nightwatch"], "by": "the-token"}  # of an item, as the stand-in takes it
FIXED = deliveries.FIXED
_FIRST, _SHOP = deliveries.HISTORY
HISTORY = (
    _FIRST,
    _SHOP._replace(files={**_SHOP.files, "app/models/order.rb": "class Order\nend\n"}),
)


@cache
def _template() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory()
    repository(Path(folder.name) / "shop.git", *HISTORY, bare=True, more=tag("v1.0", 0))
    return folder


def bare_shop(folder: Path) -> Path:
    """A repository of its own; making one takes three git calls, copying it none."""
    return shutil.copytree(Path(_template().name) / "shop.git", folder / "shop.git")


def signed_in(server: GitHub) -> GitHubSignIn:
    return GitHubSignIn(token=SecretStr(server.token))


def client(server: GitHub, clock: MemoryClock | None = None, **more: object) -> GitHubClient:
    pause = (clock or MemoryClock()).pass_by
    return GitHubClient(signed_in(server), server.url, pause=pause, **more)  # type: ignore[arg-type]


def as_app(app_id: str = "12345", installation_id: str = "") -> GitHubSignIn:
    key = SecretStr(pem())
    return GitHubSignIn(app_id=app_id, installation_id=installation_id, private_key=key)


def outbox(server: GitHub, clock: MemoryClock | None = None) -> GitHubOutbox:
    clock = clock or MemoryClock()
    return outbox_of(client(server, clock), clock)


def outbox_of(
    client: GitHubClient, clock: MemoryClock | None = None, **more: object
) -> GitHubOutbox:
    clock = clock or MemoryClock()
    fields = {"repository": "acme/shop", **more}
    return GitHubOutbox(client, clock=clock, pause=clock.pass_by, **fields)  # type: ignore[arg-type]


def tracker(server: GitHub) -> GitHubTracker:
    return GitHubTracker(client(server), server.repository)


def issue(key: str = "issue-key-1", **more: object) -> OpenIssue:
    fields = {
        "key": key,
        "fingerprint": f"v1:{key}",
        "title": "NoMethodError: total of nil",
        "body": f"{marker(f'v1:{key}', key, NIGHT)}\n\nWhy.\n",
        "labels": ("nightwatch", "confidence-high"),
    }
    return OpenIssue.model_validate(fields | more)


def comment(number: int, key: str = "news-key-1") -> Comment:
    body = f"{marker('v1:aa', key, NIGHT)}\n\nSeen again.\n"
    return Comment(key=key, fingerprint="v1:aa", number=number, body=body)


def reopen(number: int, key: str = "news-key-1") -> Reopen:
    return Reopen.model_validate(
        comment(number, key).model_dump(exclude={"on", "fix", "label"}) | {"kind": "reopen"}
    )


def pull(server: GitHub, *changes: FileChange, **more: object) -> DraftPull:
    body = f"{marker('v1:aa', 'pull-key-1', NIGHT)}\n\nBecause.\n"
    return deliveries.pull(server.git.folder, *changes, **{"body": body, **more})
