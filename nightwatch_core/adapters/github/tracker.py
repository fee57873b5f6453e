"""Our issues and pull requests on GitHub, as people have left them."""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import Any

from nightwatch_core.adapters.github.client import GitHubClient
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.merged_edits import edited
from nightwatch_core.adapters.github.rows import Issue, Place, Pull, Saying, place, read
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.publish.issue_text import LABEL, read_marker

MOST_HEARD = 30  # items, those that changed last, whose discussions are read
_MOST_WORDS, _LONGEST_WORD = 20, 2_000
_HEARD = ("OWNER", "MEMBER", "COLLABORATOR")  # whose words teach: strangers may comment, too
_VERDICTS = {"APPROVED": "approved", "CHANGES_REQUESTED": "changes requested"}
_GONE = (404, 410)  # moved to another repository, or deleted, since it was listed
_REASONS = ("completed", "not_planned", "reopened")


class GitHubTracker:
    """A `Tracker` of one repository: what has our label and begins with our marker is ours."""

    def __init__(self, client: GitHubClient, repository: str) -> None:
        """`repository` is owner/name; nothing is asked before the first call."""
        self._place = place(client, repository)

    def own_items(self) -> tuple[OwnItem, ...]:
        """All of them by number; words, and whether a merge was edited, of those changed last."""
        issues = self._issues()
        branches = self._branches() if any(one.pull_request for one in issues) else {}
        heard = sorted(issues, key=lambda one: (one.updated_at, one.number))[-MOST_HEARD:]
        words = {one.number: self._words(one) for one in heard}
        edits = edited(self._place, [one.number for one in heard if _merged_at(one)])
        return tuple(
            _item(one, branches.get(one.number, ""), words.get(one.number, ()), edits)
            for one in sorted(issues, key=lambda one: one.number)
        )

    def probe(self) -> str:
        """Say how many of our items there are in which repository."""
        items = self.own_items()
        open_now = sum(item.state == "open" for item in items)
        return f"{self._place.full_name}: {len(items)} own items, {open_now} open"

    def _issues(self) -> tuple[Issue, ...]:
        """Ours, each once. In the order they were made in, no change moves one between pages."""
        place = self._place
        rows = place.client.pages(
            lambda rest: rest.issues.list_for_repo(
                *place.at, labels=LABEL, state="all", sort="created", direction="asc", per_page=100
            )
        )
        ours = (one for row in rows if read_marker((one := read(Issue, row)).body))
        return tuple({one.number: one for one in ours}.values())

    def _branches(self) -> dict[int, str]:
        """The branches of the 100 pull requests that changed last."""
        place = self._place
        answer = place.client.ask(
            lambda rest: rest.pulls.list(
                *place.at, state="all", sort="updated", direction="desc", per_page=100
            )
        )
        pulls = (read(Pull, row) for row in (answer if isinstance(answer, list) else ()))
        return {pull.number: pull.head.ref for pull in pulls}

    def _words(self, issue: Issue) -> tuple[str, ...]:
        """The last twenty things said, oldest first; none where the item is gone meanwhile."""
        try:
            said = _comments(self._place, issue.number) if issue.comments else []
            said += _reviews(self._place, issue.number) if issue.pull_request else []
        except Rejected as error:
            if error.status in _GONE:
                return ()
            raise
        words = (_word(one) for one in sorted(said, key=_said_at))
        return tuple(word for word in words if word)[-_MOST_WORDS:]


def _comments(place: Place, number: int) -> list[Saying]:
    rows = place.client.pages(
        lambda rest: rest.issues.list_comments(*place.at, number, per_page=100)
    )
    return _readable(rows)


def _reviews(place: Place, number: int) -> list[Saying]:
    """Reviews and the comments on lines."""
    reviews = place.client.pages(
        lambda rest: rest.pulls.list_reviews(*place.at, number, per_page=100)
    )
    lines = place.client.pages(
        lambda rest: rest.pulls.list_review_comments(*place.at, number, per_page=100)
    )
    return _readable(reviews) + _readable(lines)


def _readable(rows: Iterable[dict[str, Any]]) -> list[Saying]:
    found = []
    for row in rows:
        try:
            found.append(read(Saying, row))
        except GiveUp:  # one unreadable comment is no reason to hear nobody
            continue
    return found


def _said_at(said: Saying) -> datetime:
    return said.at or datetime.max.replace(tzinfo=UTC)


def _word(said: Saying) -> str:
    """What a person of the repository said; empty for strangers, programs and ourselves."""
    is_person = said.user is not None and said.user.type != "Bot"
    if not is_person or said.author_association not in _HEARD or read_marker(said.body):
        return ""
    verdict = _VERDICTS.get(said.state, "")
    return ": ".join(part for part in (verdict, said.body.strip()[:_LONGEST_WORD]) if part)


def _merged_at(issue: Issue) -> datetime | None:
    return issue.pull_request.merged_at if issue.pull_request else None


def _item(issue: Issue, branch: str, words: tuple[str, ...], edits: Collection[int]) -> OwnItem:
    marker = read_marker(issue.body)
    assert marker is not None
    merged = _merged_at(issue) is not None
    closed = issue.state != "open"
    return OwnItem(
        kind="pull" if issue.pull_request else "issue",
        number=issue.number,
        fingerprint=marker.fingerprint,
        key=marker.key,
        title=issue.title,
        state="merged" if merged else "closed" if closed else "open",
        state_reason=_reason(issue.state_reason),
        url=issue.html_url,
        branch=branch,
        labels=tuple(label.name for label in issue.labels),
        words=words,
        night=marker.night,
        closed_at=issue.closed_at if closed else None,
        merged_at=_merged_at(issue),
        edited=issue.number in edits,
    )


def _reason(said: str) -> str:
    """GitHub's reason; a duplicate is one that nobody wants to see again.

    >>> _reason("duplicate"), _reason("completed")
    ('not_planned', 'completed')
    """
    if said == "duplicate":
        return "not_planned"
    return said if said in _REASONS else ""
