"""Our issues and pull requests on GitHub: found by their keys, and as people have left them.

All are read from lists, which know of the last second; GitHub's search does not.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from nightwatch_core.adapters.git.branch_changes import Refused
from nightwatch_core.adapters.github.checks import ChecksReader
from nightwatch_core.adapters.github.client import GitHubClient, Repository, RepositoryCall
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.limits import (
    COMMENT_CHARACTERS,
    COMMENTS,
    ITEMS_WITH_COMMENTS,
    PULLS_WITH_CHECKS,
)
from nightwatch_core.adapters.github.merged_pulls import edited_pulls
from nightwatch_core.adapters.github.ownership import Ours, why_unsure
from nightwatch_core.adapters.github.rows import CommentRow, IssueRow, PullRow, read
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposal import DraftPull, OwnItem
from nightwatch_core.publish.issue_text import LABEL
from nightwatch_core.publish.markers import read_marker

_HEARD = ("OWNER", "MEMBER", "COLLABORATOR")  # whose words teach: strangers may comment, too
_VERDICTS = {"APPROVED": "approved", "CHANGES_REQUESTED": "changes requested"}
_GONE = (404, 410)  # moved to another repository, or deleted, since it was listed
_LAST = datetime.max.replace(tzinfo=UTC)
_REASONS = ("completed", "not_planned", "reopened")


class GitHubTracker:
    """A `Tracker` of one repository: ours has our label and marker, and we made it (`Ours`)."""

    def __init__(self, client: GitHubClient, repository: str, ours: Ours | None = None) -> None:
        """Ask nothing before the first call; `repository` is owner/name."""
        self._repository = Repository.of(client, repository)
        self._ours = ours or Ours(client)

    def own_items(self) -> tuple[OwnItem, ...]:
        """Return all by number; words, and whether a merge was edited, of those changed last.

        Raises `GiveUp` where nobody can tell whether what carries our marker is ours.
        """
        issues, others = self._ours.sift(self._marked())
        if others and not self._ours.remembers(self._repository):
            raise GiveUp(why_unsure(others))
        pulls = self._pulls() if any(issue.pull_request for issue in issues) else {}
        recent = sorted(issues, key=lambda issue: (issue.updated_at, issue.number))
        recent = recent[-ITEMS_WITH_COMMENTS:]
        words = {issue.number: self._words(issue) for issue in recent}
        merged = [issue.number for issue in recent if issue.merged_at]
        edited = edited_pulls(self._repository, merged)
        ours = [issue.number for issue in recent if issue.number in pulls][-PULLS_WITH_CHECKS:]
        checks = ChecksReader(self._repository).verdicts({n: pulls[n].head for n in ours})
        return tuple(
            _item(issue, pulls.get(issue.number), words.get(issue.number, ()), edited).model_copy(
                update={"checks": checks.get(issue.number, "")}
            )
            for issue in sorted(issues, key=lambda issue: issue.number)
        )

    def probe(self) -> str:
        """Say how many of our items there are in which repository."""
        items, (_, others) = self.own_items(), self._ours.sift(self._marked())
        open_now = sum(item.state == "open" for item in items)
        copies = (
            f"; {len(others)} that somebody else made carry our marker: left alone"
            if others
            else ""
        )
        return f"{self._repository.full_name}: {len(items)} own items, {open_now} open{copies}"

    def _marked(self) -> tuple[IssueRow, ...]:
        """Return what says it is ours, each once. By their making, none moves between pages."""
        issues = self._repository.read_all(
            IssueRow,
            lambda rest, at: rest.issues.list_for_repo(
                *at, labels=LABEL, state="all", sort="created", direction="asc", per_page=100
            ),
        )
        return tuple({one.number: one for one in issues if read_marker(one.body)}.values())

    def _pulls(self) -> dict[int, PullRow]:
        """Return the 100 pull requests that changed last."""
        answer = self._repository.ask(
            lambda rest, at: rest.pulls.list(
                *at, state="all", sort="updated", direction="desc", per_page=100
            )
        )
        pulls = (read(PullRow, row) for row in (answer if isinstance(answer, list) else ()))
        return {pull.number: pull for pull in pulls}

    def _words(self, issue: IssueRow) -> tuple[str, ...]:
        """Return the last twenty things said, oldest first; none where the item is gone meanwhile.

        Of pull requests reviews and the comments on lines, too.
        """
        number, lists = issue.number, list[RepositoryCall]()
        if issue.comments:
            lists.append(lambda rest, at: rest.issues.list_comments(*at, number, per_page=100))
        if issue.pull_request:
            lists.append(lambda rest, at: rest.pulls.list_reviews(*at, number, per_page=100))
            lists.append(
                lambda rest, at: rest.pulls.list_review_comments(*at, number, per_page=100)
            )
        try:
            rows = [row for call in lists for row in self._repository.rows(call)]
        except Rejected as error:
            if error.status in _GONE:
                return ()
            raise
        comments = sorted(_readable(rows), key=lambda one: one.at or _LAST)
        return tuple(word for one in comments if (word := _word(one)))[-COMMENTS:]


def _readable(rows: Iterable[dict[str, Any]]) -> Iterator[CommentRow]:
    for row in rows:
        try:
            yield read(CommentRow, row)
        except GiveUp:  # one unreadable comment is no reason to hear nobody
            continue


def _word(comment: CommentRow) -> str:
    """Return what a person of the repository said; empty for strangers, programs and ourselves."""
    is_person = comment.by not in ("", "Bot")
    if not is_person or comment.author_association not in _HEARD or read_marker(comment.body):
        return ""
    verdict = _VERDICTS.get(comment.state, "")
    text = comment.body.strip()[:COMMENT_CHARACTERS]
    return ": ".join(part for part in (verdict, text) if part)


def _item(
    issue: IssueRow, pull: PullRow | None, words: tuple[str, ...], edited: Collection[int]
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
        state_reason=_reason(issue.state_reason),
        url=issue.html_url,
        branch=pull.branch if pull else "",
        labels=issue.labels,
        words=words,
        night=marker.night,
        closed_at=issue.closed_at if closed else None,
        merged_at=issue.merged_at,
        edited=issue.number in edited,
    )


def _reason(reason: str) -> str:
    """Return GitHub's reason; a duplicate is one that nobody wants to see again.

    >>> _reason("duplicate"), _reason("completed")
    ('not_planned', 'completed')
    """
    if reason == "duplicate":
        return "not_planned"
    return reason if reason in _REASONS else ""


def find_issue(repository: Repository, ours: Ours, key: str) -> IssueRow | None:
    """Return the issue of that key, open or closed, also where it was made a moment ago."""
    issues = repository.read_all(
        IssueRow,
        lambda rest, at: rest.issues.list_for_repo(
            *at, labels=LABEL, state="all", sort="created", direction="desc", per_page=100
        ),
    )
    there = (i for i in issues if not i.pull_request and has_key(i.body, key))
    return next(filter(ours.is_ours, there), None)


def our_issue(repository: Repository, ours: Ours, number: int) -> IssueRow:
    """Return the issue of that number; raises `Refused` where it is none of ours, or locked."""
    try:
        issue = repository.read(IssueRow, lambda rest, at: rest.issues.get(*at, number))
    except Rejected as error:
        if error.status in (404, 410):
            raise Refused(f"there is no issue {number}") from None
        raise
    if not read_marker(issue.body) or issue.number != number or not ours.is_ours(issue):
        raise Refused(f"issue {number} is none of ours")
    if issue.locked:
        raise Refused(f"issue {number} is locked")
    return issue


def find_comment(repository: Repository, ours: Ours, number: int, key: str) -> CommentRow | None:
    """Return the comment of that key on an issue."""
    comments = repository.read_all(
        CommentRow, lambda rest, at: rest.issues.list_comments(*at, number, per_page=100)
    )
    there = (comment for comment in comments if has_key(comment.body, key))
    return next(filter(ours.is_ours, there), None)


def find_pull(repository: Repository, ours: Ours, pull: DraftPull) -> PullRow | None:
    """Return the pull request of our branch; raises `Refused` where it is somebody else's."""
    head = f"{repository.owner}:{pull.branch}"
    rows = repository.read_all(
        PullRow, lambda rest, at: rest.pulls.list(*at, head=head, state="all", per_page=100)
    )
    there = [row for row in rows if row.branch == pull.branch]
    made = [row for row in there if has_key(row.body, pull.key) and ours.is_ours(row)]
    if there and not made:
        raise Refused(f"branch {pull.branch} has pull request {there[0].number}, none of ours")
    return next(iter(made), None)


def has_key(body: str, key: str) -> bool:
    """Tell whether the body begins with the marker of that key."""
    marker = read_marker(body)
    return marker is not None and marker.key == key
