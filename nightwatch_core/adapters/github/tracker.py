"""Our issues and pull requests on GitHub: found by their keys, and as people have left them.

All are read from lists, which are up to date at once; GitHub's search is not.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from urllib.parse import quote

from nightwatch_core.adapters.github.checks import ChecksReader, Verdict
from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.connection import Rejected
from nightwatch_core.adapters.github.ownership import Ours, why_unsure
from nightwatch_core.adapters.github.pulls import edited_pulls, other_pulls
from nightwatch_core.adapters.github.rows import (
    CommentRow,
    IssueRow,
    NamedCommitRow,
    PullRow,
    RefRow,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import CiRun, OtherPull
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.text.markers import LABEL, read_marker, read_patch_marker

ITEMS_WITH_COMMENTS = 30  # those that changed last
LATEST_PULLS = 100  # whose branches are known
HISTORY_READ = 500  # commits of the base in which an applied patch is looked for
COMMENTS = 20  # of one item, the last ones
COMMENT_CHARACTERS = 2_000
PULLS_WITH_CHECKS = 10  # those that changed last; each costs two requests

_TEAM = ("OWNER", "MEMBER", "COLLABORATOR")  # whose comments count: strangers may comment, too
_VERDICTS = {"APPROVED": "approved", "CHANGES_REQUESTED": "changes requested"}
_GONE = (404, 410)  # moved to another repository, or deleted, since it was listed
_LAST = datetime.max.replace(tzinfo=UTC)
Comments = tuple[CommentRow, ...]


class GitHubTracker:
    """A `Tracker` of one repository: ours has our label and marker, and we made it (`Ours`)."""

    def __init__(self, client: GitHubClient, repository: str, ours: Ours | None = None) -> None:
        """Ask nothing before the first call; `repository` is owner/name."""
        self._repository = Repository.of(client, repository)
        self._ours = ours or Ours(client)
        self._checks = ChecksReader(self._repository)

    def own_items(self) -> tuple[OwnItem, ...]:
        """Return all by number; comments, and whether a merge was edited, of those changed last.

        Raises `GiveUp` where nobody can tell whether what carries our marker is ours.
        """
        issues, others = self._ours.sift(self._marked())
        if others and not self._ours.remembers(self._repository):
            raise GiveUp(why_unsure(others))
        pulls = self._pulls() if any(issue.pull_request for issue in issues) else {}
        recent = sorted(issues, key=lambda issue: (issue.updated_at, issue.number))
        recent = recent[-ITEMS_WITH_COMMENTS:]
        comments = {issue.number: self._comments(issue) for issue in recent}
        edited = edited_pulls(self._repository, [item.number for item in recent if item.merged_at])
        latest = [item.number for item in recent if item.number in pulls][-PULLS_WITH_CHECKS:]
        checks = self._checks.verdicts({number: pulls[number].head for number in latest})
        items = [
            _item(
                issue,
                pulls.get(issue.number),
                comments.get(issue.number, ()),
                edited=issue.number in edited,
                checks=checks.get(issue.number, ""),
            )
            for issue in issues
        ]
        patches = (
            patch
            for issue in recent
            if not issue.pull_request
            for patch in self._patch(issue, comments[issue.number])
        )
        return tuple(sorted((*items, *patches), key=lambda item: item.number))

    def ci(self, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
        """Return the CI results of the heads of pull requests."""
        pulls = (self._repository.read(PullRow, f"pulls/{number}") for number in numbers)
        return tuple(map(self._checks.run, pulls))

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[OtherPull, ...]:
        """Return everybody's pull requests that change one of the files; see `other_pulls`."""
        return other_pulls(self._repository, frozenset(paths), since)

    def probe(self) -> str:
        items, (_, others) = self.own_items(), self._ours.sift(self._marked())
        open_now = sum(item.state == "open" for item in items)
        finding = f"{self._repository.full_name}: {len(items)} own items, {open_now} open"
        if others:
            finding += f"; {len(others)} items by others carry our marker and are ignored"
        ref = f"git/ref/heads/{quote(self._repository.describe().default_branch, safe='/')}"
        head = self._repository.read(RefRow, ref)
        if lacking := self._checks.results(head.sha).lacking:
            finding += f"; whether drafts pass is not known: {lacking}"
        return finding

    def _marked(self) -> tuple[IssueRow, ...]:
        """Return what has our label and marker. In the order of making, none changes its page."""
        issues = self._repository.read_all(
            IssueRow, "issues", labels=LABEL, state="all", sort="created", direction="asc"
        )
        return tuple({issue.number: issue for issue in issues if read_marker(issue.body)}.values())

    def _pulls(self) -> dict[int, PullRow]:
        pulls = self._repository.read_all(
            PullRow, "pulls", state="all", sort="updated", direction="desc"
        )
        return {pull.number: pull for pull in islice(pulls, LATEST_PULLS)}

    def _comments(self, issue: IssueRow) -> Comments:
        """Return comments and reviews, oldest first; none where the item was deleted meanwhile."""
        lists = [f"issues/{issue.number}/comments"] if issue.comments else []
        if issue.pull_request:
            pull = f"pulls/{issue.number}"
            lists += [f"{pull}/reviews", f"{pull}/comments"]
        try:
            rows = [row for path in lists for row in self._repository.read_all(CommentRow, path)]
        except Rejected as error:
            if error.status in _GONE:
                return ()
            raise
        return tuple(sorted(rows, key=lambda row: row.at or _LAST))

    # Drafts without a branch: their patch is a comment on the issue, and people apply it.

    def _patch(self, issue: IssueRow, comments: Comments) -> Iterator[OwnItem]:
        """Yield the newest patch that the issue carries, as a draft that has the issue's number.

        It is open until it is applied, or the issue is closed as not planned.
        """
        ours, own = self._ours.sift(comments)[0], read_marker(issue.body)
        for comment in reversed(ours):
            mark, patch = read_marker(comment.body), read_patch_marker(comment.body)
            if not mark or not patch or not own:
                continue
            fix, base = patch
            rejected = issue.state != "open" and issue.state_reason in ("not_planned", "duplicate")
            applied_at = self._applied_at(mark.key, base, comment.at or issue.updated_at)
            yield OwnItem(
                kind="pull",
                number=issue.number,
                fingerprint=mark.fingerprint,
                also=tuple(dict.fromkeys((*mark.also, own.fingerprint, *own.also))),
                key=mark.key,
                title=issue.title,
                state="merged" if applied_at else "closed" if rejected else "open",
                url=comment.html_url,
                night=mark.night,
                closed_at=issue.closed_at if rejected else None,
                merged_at=applied_at,
                as_patch=True,
                fix=fix,
            )
            return

    def _applied_at(self, key: str, base: str, since: datetime) -> datetime | None:
        """Return when a commit came to the base whose message holds the patch's key."""
        rows = self._repository.read_all(
            NamedCommitRow, "commits", sha=base, since=since.isoformat()
        )
        try:
            return next((row.at for row in islice(rows, HISTORY_READ) if key in row.message), None)
        except Rejected as error:
            if error.status in (404, 409):
                return None
            raise


def _word(comment: CommentRow) -> str:
    """Return what somebody of the team wrote; empty for strangers, programs and ourselves."""
    is_person = comment.by not in ("", "Bot")
    if not is_person or comment.author_association not in _TEAM or read_marker(comment.body):
        return ""
    verdict = _VERDICTS.get(comment.state, "")
    text = comment.body.strip()[:COMMENT_CHARACTERS]
    return ": ".join(part for part in (verdict, text) if part)


def _item(
    issue: IssueRow, pull: PullRow | None, comments: Comments, *, edited: bool, checks: Verdict
) -> OwnItem:
    marker = read_marker(issue.body)
    assert marker is not None
    closed = issue.state != "open"
    return OwnItem(
        kind="pull" if issue.pull_request else "issue",
        number=issue.number,
        fingerprint=marker.fingerprint,
        also=marker.also,
        key=marker.key,
        title=issue.title,
        state="merged" if issue.merged_at else "closed" if closed else "open",
        # A duplicate is one that nobody wants to see again.
        state_reason=issue.state_reason.replace("duplicate", "not_planned"),
        url=issue.html_url,
        branch=pull.branch if pull else "",
        labels=issue.labels,
        words=tuple(filter(None, map(_word, comments)))[-COMMENTS:],
        night=marker.night,
        closed_at=issue.closed_at if closed else None,
        merged_at=issue.merged_at,
        edited=edited,
        checks=checks,
    )
