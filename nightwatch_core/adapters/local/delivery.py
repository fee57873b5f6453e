"""Delivery without a service: issues and pull requests as files, branches in the local git."""

import os
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from nightwatch_core.adapters.git.branch import make_branch, patch
from nightwatch_core.adapters.git.branch_changes import Refused
from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.git.mailed_patch import mailed
from nightwatch_core.adapters.git.other_branches import branches_changing
from nightwatch_core.adapters.local import outbox_files
from nightwatch_core.adapters.local.merges import draft_state
from nightwatch_core.adapters.local.outbox_files import Document, OutboxFiles, own_item
from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.proposal import (
    Comment,
    DraftPull,
    OpenIssue,
    OwnItem,
    Proposal,
    PullUpdate,
    Receipt,
    Reopen,
    receipt_for,
)
from nightwatch_core.models.pulls import CiRun, OtherPull
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.publish.markers import joined_body, read_marker

_PATIENCE = 60.0  # seconds until another publisher has to be done
_NIGHT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST_EQUIVALENTS = 100  # pull requests, newest first, whose change is looked for in the base


class LocalDelivery:
    """`Outbox` and `Tracker` in one: what it publishes, people read and close as files.

    An issue or pull request is a Markdown file below `nights/<night>/outbox/`. In its front matter
    a person may set `state` to closed, `state_reason` to not_planned, and leave `words` to us.
    """

    def __init__(
        self,
        nights: Path,
        night: str,
        checkout: Checkout | None,
        clock: Clock,
        scrub: Callable[[str], str] = REMOVAL.scrub,
    ) -> None:
        """Nothing is written before the first `publish`; without a checkout there are no drafts.

        Patches go through `scrub`: what surrounds a change may be secret. The branch is as it is.

        Raises `StopTheNight` for a night whose name cannot be a folder.
        """
        if not _NIGHT.fullmatch(night):
            raise StopTheNight(f"{night[:80]!a} cannot name a night's folder")
        self._files = OutboxFiles(nights)
        self._night = night
        self._checkout = checkout
        self._scrub = scrub
        self._clock = clock

    def publish(self, proposal: Proposal) -> Receipt:
        """Publish once per key, whichever night, thread or process asked first.

        Raises `TryLater` while another process publishes, `GiveUp` where files cannot be written.
        """
        try:
            with atomic_files.only_writer(self._files.lock, _PATIENCE, str(self._files.nights)):
                return self._published(proposal)
        except Refused as refused:
            return receipt_for(proposal, "refused", reason=str(refused))

    def own_items(self) -> tuple[OwnItem, ...]:
        """Every issue and pull request of all nights, by number; unreadable files are left out.

        A pull request is merged once its base holds its commit, the same change, or what people
        made of it, and closed where its branch is gone.
        """
        pulls: list[tuple[OwnItem, Mapping[str, object]]] = []
        items: list[OwnItem] = []
        for document in self._files.documents():
            read = own_item(document)
            if read and read[0].kind == "pull":
                pulls.append(read)
            elif read:
                items.append(read[0])
        newest = {item.number for item, _ in pulls[-_MOST_EQUIVALENTS:]}
        checkout = self._checkout
        heads = checkout.heads() if pulls and checkout else {}
        for item, meta in pulls:
            if checkout:
                thorough = item.number in newest
                now = draft_state(checkout, item, meta, heads, thorough=thorough)
                item = item.model_copy(update=now._asdict())
            items.append(item)
        return tuple(sorted(items, key=lambda item: item.number))

    def ci(self, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
        """Say that nothing runs on this machine's branches."""
        return tuple(CiRun(state="none") for _ in numbers)

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[OtherPull, ...]:
        """Branches of the checkout that are not merged; see `branches_changing`."""
        return branches_changing(self._checkout, paths, since) if self._checkout else ()

    def probe(self) -> str:
        """Say where issues go, and how many there are; raises `GiveUp` where none can go."""
        places = (self._files.nights, *self._files.nights.parents)
        folder = next(place for place in places if place.exists())
        if not os.access(folder, os.W_OK):
            raise GiveUp(f"{folder} cannot be written: change NIGHTWATCH_STATE or its rights")
        drafts = "" if self._checkout else "; no drafts without --repo"
        return f"files below {self._files.nights}: {len(self.own_items())} own items{drafts}"

    def _published(self, proposal: Proposal) -> Receipt:
        if not proposal.key.strip():
            raise Refused("the proposal has no key")
        if there := self._files.keyed(proposal.key):
            return receipt_for(proposal, "already there", there.number, str(there.path))
        match proposal:
            case OpenIssue():
                return self._open_issue(proposal)
            case DraftPull():
                return self._draft_pull(proposal)
            case Comment():
                return self._comment(proposal)
            case Reopen():
                return self._reopen(proposal)
            case PullUpdate():
                raise Refused("nothing runs on the branches of this machine")

    def _open_issue(self, issue: OpenIssue) -> Receipt:
        number = self._files.take_number()
        path = self._place(outbox_files.name("issue", number, issue.title))
        outbox_files.write(path, self._meta(issue, number), issue.body)
        return receipt_for(issue, "done", number, str(path))

    def _draft_pull(self, pull: DraftPull) -> Receipt:
        """Branch first, then the patch, the document last: it holds the key, so it says "done"."""
        if self._checkout is None:
            raise Refused("a draft on this machine needs a checkout: name one with --repo")
        made = make_branch(self._checkout, pull, self._clock.now())
        number = self._files.take_number()
        path = self._place(outbox_files.name("pull", number, pull.title))
        shown = self._shown(pull, made.sha).encode("utf-8", "surrogateescape")
        atomic_files.write(path.with_suffix(".patch"), shown)
        places: dict[str, object] = {"branch": pull.branch, "base": pull.base, "commit": made.sha}
        places |= {"whole": made.whole} if made.whole else {}
        places |= {"as_patch": True, "fix": pull.fix} if pull.as_patch else {}
        outbox_files.write(path, {**self._meta(pull, number), **places}, pull.body)
        return receipt_for(pull, "done" if made.is_new else "already there", number, str(path))

    def _shown(self, pull: DraftPull, commit: str) -> str:
        """The patch: one to apply is whole, one to look at beside its branch is masked."""
        assert self._checkout is not None
        git, commits = self._checkout.git, len(pull.commits) or 1
        if pull.as_patch:
            return mailed(git, commit, self._scrub, commits)
        text = patch(git, commit, commits=commits).decode("utf-8", "surrogateescape")
        return self._scrub(text)

    def _comment(self, comment: Comment | Reopen) -> Receipt:
        item = self._files.numbered(comment.number)
        if item is None:
            raise Refused(f"there is no issue {comment.number}")
        self._join(item, comment)
        meta = {
            **{"kind": comment.kind, "issue": comment.number, "key": comment.key},
            **{"fingerprint": comment.fingerprint, "night": self._night},
        }
        path = self._place(outbox_files.comment_name(comment.number, comment.key))
        outbox_files.write(path, meta, comment.body)
        return receipt_for(comment, "done", comment.number, str(path))

    def _reopen(self, reopen: Reopen) -> Receipt:
        """The issue first, the comment last: doing the first twice does no harm."""
        issue = self._files.numbered(reopen.number)
        if issue is None or issue.kind != "issue":
            raise Refused(f"there is no issue {reopen.number}")
        try:
            meta, body = issue.parts()
        except GiveUp as error:
            raise Refused(f"{issue.path.name} cannot be read: {error}") from error
        opened = {**meta, "state": "open", "state_reason": "reopened", "closed_at": ""}
        outbox_files.write(issue.path, opened, body)
        return self._comment(reopen)

    def _join(self, item: Document, comment: Comment | Reopen) -> None:
        """Enter the errors that share the item's cause, so that each of them finds it."""
        if not comment.also:
            return
        try:
            meta, body = item.parts()
        except GiveUp as error:
            raise Refused(f"{item.path.name} cannot be read: {error}") from error
        named = read_marker(joined_body(body, (comment.fingerprint, *comment.also)))
        if named is not None:
            text = joined_body(body, (comment.fingerprint, *comment.also))
            outbox_files.write(item.path, {**meta, "also": [*named.also]}, text)

    def _place(self, name: str) -> Path:
        return self._files.nights / self._night / "outbox" / name

    def _meta(self, proposal: OpenIssue | DraftPull, number: int) -> dict[str, object]:
        return {
            "kind": proposal.kind,
            "number": number,
            "key": proposal.key,
            "fingerprint": proposal.fingerprint,
            **({"also": [*proposal.also]} if proposal.also else {}),
            "title": proposal.title,
            "state": "open",
            "state_reason": "",
            "words": [],
            "labels": list(proposal.labels),
            "night": self._night,
        }
