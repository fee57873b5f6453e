"""Looks for what we made on GitHub: by marker and branch, in lists that know of the last second."""

from nightwatch_core.adapters.git.branch_changes import Refused
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.rows import Issue, Place, Pull, Saying, read
from nightwatch_core.models.proposal import DraftPull
from nightwatch_core.publish.issue_text import LABEL, read_marker


class Finder:
    """What is there already in one repository."""

    def __init__(self, place: Place) -> None:
        """Nothing is kept between two questions."""
        self._place = place

    def keyed(self, key: str) -> Issue | None:
        """The issue of that key, open or closed, also where it was made a moment ago."""
        at, client = self._place.at, self._place.client
        rows = client.pages(
            lambda rest: rest.issues.list_for_repo(
                *at, labels=LABEL, state="all", sort="created", direction="desc", per_page=100
            )
        )
        issues = (read(Issue, row) for row in rows)
        return next((i for i in issues if not i.pull_request and has_key(i.body, key)), None)

    def our_issue(self, number: int) -> Issue:
        """The issue of that number; raises `Refused` where it is none of ours, or locked."""
        at, client = self._place.at, self._place.client
        try:
            issue = read(Issue, client.ask(lambda rest: rest.issues.get(*at, number)))
        except Rejected as error:
            if error.status in (404, 410):
                raise Refused(f"there is no issue {number}") from None
            raise
        if not read_marker(issue.body) or issue.number != number:
            raise Refused(f"issue {number} is none of ours")
        if issue.locked:
            raise Refused(f"issue {number} is locked")
        return issue

    def said(self, number: int, key: str) -> Saying | None:
        """The comment of that key on an issue."""
        at, client = self._place.at, self._place.client
        rows = client.pages(lambda rest: rest.issues.list_comments(*at, number, per_page=100))
        return next((one for row in rows if has_key((one := read(Saying, row)).body, key)), None)

    def pull_of(self, pull: DraftPull) -> Pull | None:
        """The pull request of our branch; raises `Refused` where it is somebody else's."""
        at, client, owner = self._place.at, self._place.client, self._place.owner
        rows = client.pages(
            lambda rest: rest.pulls.list(
                *at, head=f"{owner}:{pull.branch}", state="all", per_page=100
            )
        )
        found = [one for row in rows if (one := read(Pull, row)).head.ref == pull.branch]
        ours = [one for one in found if has_key(one.body, pull.key)]
        if found and not ours:
            raise Refused(f"branch {pull.branch} has pull request {found[0].number}, none of ours")
        return next(iter(ours), None)


def has_key(body: str, key: str) -> bool:
    """Whether the body begins with the marker of that key."""
    marker = read_marker(body)
    return marker is not None and marker.key == key
