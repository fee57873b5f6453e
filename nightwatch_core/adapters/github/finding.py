"""Our issues, comments and pull requests, found by their keys before any is made again.

They are read from lists, which know of the last second; GitHub's search does not.
"""

from nightwatch_core.adapters.git.branch_changes import Refused
from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.ownership import Ours
from nightwatch_core.adapters.github.rows import CommentRow, IssueRow, PullRow
from nightwatch_core.models.proposal import DraftPull
from nightwatch_core.publish.issue_text import LABEL
from nightwatch_core.publish.markers import read_marker


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
