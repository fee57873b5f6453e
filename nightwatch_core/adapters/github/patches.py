"""Drafts without a branch: their patch is a comment on the issue, and people apply it.

Whether they did is read off the base's history: the message of the commit holds the patch's key.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from nightwatch_core.adapters.git.branch_changes import Refused, Step
from nightwatch_core.adapters.git.mailed_patch import mailed_changes
from nightwatch_core.adapters.git.objects import GONE
from nightwatch_core.adapters.github.branch import Branches
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.limits import HISTORY_READ
from nightwatch_core.adapters.github.rows import CommentRow, IssueRow, MessageRow, read
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.models.proposal import DraftPull, OwnItem
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.publish.issue_text import patch_comment
from nightwatch_core.publish.markers import read_marker, read_patch_marker


class PatchDesk(NamedTuple):
    """Where patches too long for a comment are kept, and what nobody may be shown."""

    folder: Path | None = None
    scrub: Callable[[str], str] = REMOVAL.scrub


def patch_text(
    repository: Repository, branches: Branches, desk: PatchDesk, pull: DraftPull, at: datetime
) -> str:
    """Return the comment that carries the patch; raises `Refused` with the reason for none."""
    base = pull.base or repository.describe().default_branch
    plan = branches.plan(pull, base)
    paths = dict.fromkeys(path for step in plan.steps for path in step.wanted)
    nodes = {path: node for path in paths if (node := plan.before.get(path))}
    trees = [{path: (node.mode, repository.read_blob(node.oid)) for path, node in nodes.items()}]
    for step in plan.steps:
        trees.append(_after(step, trees[-1]))
    mail = mailed_changes(trees, [step.message for step in plan.steps], at, desk.scrub)
    body = patch_comment(pull.body, pull.fix, base, mail)
    return body or patch_comment(pull.body, pull.fix, base, "", _kept(desk, pull, mail))


def _after(step: Step, files: dict[str, tuple[str, bytes]]) -> dict[str, tuple[str, bytes]]:
    """Return the files as one commit leaves them."""
    texts = {change.path: (change.text or "").encode() for change in step.changes}
    gone = {path for path, state in step.wanted.items() if state.mode == GONE}
    new = {path: (state.mode, texts[path]) for path, state in step.wanted.items()}
    return {path: one for path, one in {**files, **new}.items() if path not in gone}


def _kept(desk: PatchDesk, pull: DraftPull, mail: str) -> str:
    """Keep a long one as a file; returns how people find it."""
    if desk.folder is None:
        raise Refused("the patch is too long for a comment, and there is nowhere to keep it")
    path = desk.folder / f"{pull.key[:12]}.patch"
    atomic_files.write(path, mail.encode("utf-8", "surrogateescape"))
    return "/".join(path.parts[-4:])


def patch_item(issue: IssueRow, comments: Iterable[CommentRow]) -> OwnItem | None:
    """Return the newest patch that the issue carries, as a draft that has the issue's number.

    It is open until it is applied, or the issue is closed as not planned.
    """
    patches = [one for one in comments if read_patch_marker(one.body)]
    if not patches:
        return None
    comment, mark = patches[-1], read_marker(patches[-1].body)
    own, known = read_marker(issue.body), read_patch_marker(patches[-1].body)
    assert mark is not None
    assert own is not None
    assert known is not None
    turned_down = issue.state != "open" and issue.state_reason in ("not_planned", "duplicate")
    return OwnItem(
        kind="pull",
        number=issue.number,
        fingerprint=mark.fingerprint,
        also=tuple(dict.fromkeys((*mark.also, own.fingerprint, *own.also))),
        key=mark.key,
        title=issue.title,
        state="closed" if turned_down else "open",
        url=comment.html_url,
        night=mark.night,
        closed_at=issue.closed_at if turned_down else None,
        as_patch=True,
        fix=known[0],
        branch=known[1],
    )


def with_applied(
    repository: Repository, patches: tuple[OwnItem, ...], since: Mapping[str, datetime]
) -> tuple[OwnItem, ...]:
    """Return the patches, those merged whose key is in the base's history; `since` is by key."""
    applied: dict[str, datetime] = {}
    for base in {one.branch for one in patches}:
        keys = {one.key for one in patches if one.branch == base}
        first = min(since[key] for key in keys)
        for row in _history(repository, base, first):
            applied |= {key: row.at for key in keys if key in row.message}
    return tuple(
        one.model_copy(
            update={"branch": "", **({"state": "merged", "merged_at": at} if at else {})}
        )
        for one in patches
        for at in (applied.get(one.key),)
    )


def _history(repository: Repository, base: str, since: datetime) -> tuple[MessageRow, ...]:
    """Return the base's newest commits since then; none where it is gone."""
    try:
        rows = repository.rows(
            lambda rest, at: rest.repos.list_commits(*at, sha=base, since=since, per_page=100)
        )
        return tuple(read(MessageRow, row) for row in islice(rows, HISTORY_READ))
    except Rejected as error:
        if error.status in (404, 409):
            return ()
        raise
