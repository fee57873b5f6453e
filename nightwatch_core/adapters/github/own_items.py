"""Our issues, comments and pull requests in one repository, found again by their keys; labels.

All are read from lists, which know of the last second; GitHub's search does not.
"""

from collections.abc import Iterable

from nightwatch_core.adapters.git.branch_changes import Refused
from nightwatch_core.adapters.github.client import Repository, Writes
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.limits import LABEL_CHARACTERS
from nightwatch_core.adapters.github.rows import CommentRow, IssueRow, PullRow
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.proposal import DraftPull
from nightwatch_core.publish.issue_text import LABEL, read_marker

NO_DRAFTS = "nightwatch-draft"  # the label that says so where GitHub has no drafts
_COLOURS = {LABEL: "1d3557", NO_DRAFTS: "b0b0b0"}
_OTHER_COLOUR = "ededed"


def find_issue(repository: Repository, key: str) -> IssueRow | None:
    """Return the issue of that key, open or closed, also where it was made a moment ago."""
    issues = repository.read_all(
        IssueRow,
        lambda rest, at: rest.issues.list_for_repo(
            *at, labels=LABEL, state="all", sort="created", direction="desc", per_page=100
        ),
    )
    return next((i for i in issues if not i.pull_request and has_key(i.body, key)), None)


def our_issue(repository: Repository, number: int) -> IssueRow:
    """Return the issue of that number; raises `Refused` where it is none of ours, or locked."""
    try:
        issue = repository.read(IssueRow, lambda rest, at: rest.issues.get(*at, number))
    except Rejected as error:
        if error.status in (404, 410):
            raise Refused(f"there is no issue {number}") from None
        raise
    if not read_marker(issue.body) or issue.number != number:
        raise Refused(f"issue {number} is none of ours")
    if issue.locked:
        raise Refused(f"issue {number} is locked")
    return issue


def find_comment(repository: Repository, number: int, key: str) -> CommentRow | None:
    """Return the comment of that key on an issue."""
    comments = repository.read_all(
        CommentRow, lambda rest, at: rest.issues.list_comments(*at, number, per_page=100)
    )
    return next((comment for comment in comments if has_key(comment.body, key)), None)


def find_pull(repository: Repository, pull: DraftPull) -> PullRow | None:
    """Return the pull request of our branch; raises `Refused` where it is somebody else's."""
    head = f"{repository.owner}:{pull.branch}"
    rows = repository.read_all(
        PullRow, lambda rest, at: rest.pulls.list(*at, head=head, state="all", per_page=100)
    )
    there = [row for row in rows if row.branch == pull.branch]
    ours = [row for row in there if has_key(row.body, pull.key)]
    if there and not ours:
        raise Refused(f"branch {pull.branch} has pull request {there[0].number}, none of ours")
    return next(iter(ours), None)


def has_key(body: str, key: str) -> bool:
    """Tell whether the body begins with the marker of that key."""
    marker = read_marker(body)
    return marker is not None and marker.key == key


class Labels:
    """The labels of one repository; who may push gets them made, others have to find them."""

    def __init__(self, repository: Repository, writes: Writes) -> None:
        """Ask nothing yet."""
        self._repository = repository
        self._writes = writes
        self._there: set[str] = set()

    def ensure(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the labels, which exist from now on."""
        wanted = tuple(dict.fromkeys(name[:LABEL_CHARACTERS] for name in names if name.strip()))
        if {name.casefold() for name in wanted} <= self._there:
            return wanted
        rows = self._repository.rows(
            lambda rest, at: rest.issues.list_labels_for_repo(*at, per_page=100)
        )
        self._there |= {str(row.get("name", "")).casefold() for row in rows}
        for name in wanted:
            if name.casefold() not in self._there:
                self._create(name)
                self._there.add(name.casefold())
        return wanted

    def add(self, number: int, labels: tuple[str, ...]) -> str:
        """Label an issue; return why not where that fails: what was made stays made."""
        try:
            self._writes.make(
                lambda: self._repository.ask(
                    lambda rest, at: rest.issues.add_labels(*at, number, labels=[*labels])
                )
            )
        except (TryLater, GiveUp) as error:
            return f"made, but without its labels: {error}"
        return ""

    def _create(self, name: str) -> None:
        colour = _COLOURS.get(name, _OTHER_COLOUR)
        try:
            self._writes.make(
                lambda: self._repository.ask(
                    lambda rest, at: rest.issues.create_label(*at, name=name, color=colour)
                )
            )
        except Rejected as error:
            if "already_exists" not in error.reason:
                raise
