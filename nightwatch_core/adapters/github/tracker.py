"""Our issues and pull requests on GitHub: found by their keys, and as people have left them.

All are read from lists, which know of the last second; GitHub's search does not.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from itertools import islice
from urllib.parse import quote

from nightwatch_core.adapters.github.checks import ChecksReader
from nightwatch_core.adapters.github.client import GitHubClient, Repository, RepositoryCall
from nightwatch_core.adapters.github.connection import (
    COMMENT_CHARACTERS,
    ITEMS_WITH_COMMENTS,
    Rejected,
)
from nightwatch_core.adapters.github.ownership import Ours, why_unsure
from nightwatch_core.adapters.github.pulls import edited_pulls, other_pulls
from nightwatch_core.adapters.github.rows import (
    CommentRow,
    IssueRow,
    MessageRow,
    PullRow,
    RefRow,
    read,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import CiRun, OtherPull
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.text.markers import LABEL, read_marker, read_patch_marker

HISTORY_READ = 500  # commits of the base in which applied patches are looked for
COMMENTS = 20  # of one item, the last ones
PULLS_WITH_CHECKS = 10  # those that changed last; each costs two requests

_HEARD = ("OWNER", "MEMBER", "COLLABORATOR")  # whose words teach: strangers may comment, too
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
        self._refused: set[str] = set()  # ways to read checks

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
        said = {issue.number: self._said(issue) for issue in recent}
        words = {number: _words(rows) for number, rows in said.items()}
        merged = [issue.number for issue in recent if issue.merged_at]
        edited = edited_pulls(self._repository, merged)
        ours = [issue.number for issue in recent if issue.number in pulls][-PULLS_WITH_CHECKS:]
        checks = ChecksReader(self._repository).verdicts({n: pulls[n].head for n in ours})
        items = (
            _item(issue, pulls.get(issue.number), words.get(issue.number, ()), edited).model_copy(
                update={"checks": checks.get(issue.number, "")}
            )
            for issue in issues
        )
        patches = self._patches([issue for issue in recent if not issue.pull_request], said)
        return tuple(sorted((*items, *patches), key=lambda item: item.number))

    def ci(self, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
        """Return what runs on the heads of pull requests say now; a right we lack is asked once."""
        checks = ChecksReader(self._repository, self._refused)
        return tuple(checks.run(self._pull(number)) for number in numbers)

    def _pull(self, number: int) -> PullRow:
        return self._repository.read(PullRow, lambda rest, at: rest.pulls.get(*at, number))

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[OtherPull, ...]:
        """Return everybody's pull requests that change one of the files; see `other_pulls`."""
        return other_pulls(self._repository, frozenset(paths), since)

    def _patches(
        self, issues: Iterable[IssueRow], said: Mapping[int, Comments]
    ) -> tuple[OwnItem, ...]:
        ours = [(issue, self._ours.sift(said[issue.number])[0]) for issue in issues]
        items = tuple(filter(None, (_patch_item(issue, rows) for issue, rows in ours)))
        marks = ((read_marker(row.body), row.at) for _, rows in ours for row in rows)
        at = {mark.key: moment for mark, moment in marks if mark and moment}
        return _with_applied(self._repository, items, at) if items else ()

    def probe(self) -> str:
        items, (_, others) = self.own_items(), self._ours.sift(self._marked())
        open_now = sum(item.state == "open" for item in items)
        copies = (
            f"; {len(others)} that somebody else made carry our marker: left alone"
            if others
            else ""
        )
        known = f"{self._repository.full_name}: {len(items)} own items, {open_now} open{copies}"
        lacking = self._lacking()
        return f"{known}; whether drafts pass is not known: {lacking}" if lacking else known

    def _lacking(self) -> str:
        ref = f"heads/{quote(self._repository.describe().default_branch, safe='/')}"
        head = self._repository.read(RefRow, lambda rest, at: rest.git.get_ref(*at, ref))
        return ChecksReader(self._repository).results(head.sha).lacking

    def _marked(self) -> tuple[IssueRow, ...]:
        """Return what says it is ours, each once. By their making, none moves between pages."""
        issues = self._repository.read_all(
            IssueRow,
            lambda rest, at: rest.issues.list_for_repo(
                *at, labels=LABEL, state="all", sort="created", direction="asc", per_page=100
            ),
        )
        return tuple({issue.number: issue for issue in issues if read_marker(issue.body)}.values())

    def _pulls(self) -> dict[int, PullRow]:
        answer = self._repository.ask(
            lambda rest, at: rest.pulls.list(
                *at, state="all", sort="updated", direction="desc", per_page=100
            )
        )
        pulls = (read(PullRow, row) for row in (answer if isinstance(answer, list) else ()))
        return {pull.number: pull for pull in pulls}

    def _said(self, issue: IssueRow) -> Comments:
        """Return what was said, oldest first; nothing where the item is gone meanwhile.

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
            rows = [row for call in lists for row in self._repository.read_all(CommentRow, call)]
        except Rejected as error:
            if error.status in _GONE:
                return ()
            raise
        return tuple(sorted(rows, key=lambda row: row.at or _LAST))


def _words(comments: Comments) -> tuple[str, ...]:
    return tuple(word for comment in comments if (word := _word(comment)))[-COMMENTS:]


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
        # A duplicate is one that nobody wants to see again.
        state_reason=issue.state_reason.replace("duplicate", "not_planned"),
        url=issue.html_url,
        branch=pull.branch if pull else "",
        labels=issue.labels,
        words=words,
        night=marker.night,
        closed_at=issue.closed_at if closed else None,
        merged_at=issue.merged_at,
        edited=issue.number in edited,
    )


# Drafts without a branch: their patch is a comment on the issue, and people apply it.
#
# Whether they did is read off the base's history: the message of the commit holds the patch's key.


def _patch_item(issue: IssueRow, comments: Iterable[CommentRow]) -> OwnItem | None:
    """Return the newest patch that the issue carries, as a draft that has the issue's number.

    It is open until it is applied, or the issue is closed as not planned.
    """
    patches = [comment for comment in comments if read_patch_marker(comment.body)]
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


def _with_applied(
    repository: Repository, patches: tuple[OwnItem, ...], since: Mapping[str, datetime]
) -> tuple[OwnItem, ...]:
    """Return the patches, those merged whose key is in the base's history; `since` is by key."""
    applied: dict[str, datetime] = {}
    for base in {patch.branch for patch in patches}:
        keys = {patch.key for patch in patches if patch.branch == base}
        first = min(since[key] for key in keys)
        for row in _history(repository, base, first):
            applied |= {key: row.at for key in keys if key in row.message}
    return tuple(
        patch.model_copy(
            update={"branch": "", **({"state": "merged", "merged_at": at} if at else {})}
        )
        for patch in patches
        for at in (applied.get(patch.key),)
    )


def _history(repository: Repository, base: str, since: datetime) -> tuple[MessageRow, ...]:
    rows = repository.read_all(
        MessageRow,
        lambda rest, at: rest.repos.list_commits(*at, sha=base, since=since, per_page=100),
    )
    try:
        return tuple(islice(rows, HISTORY_READ))
    except Rejected as error:
        if error.status in (404, 409):
            return ()
        raise
