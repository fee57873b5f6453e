"""Which merged pull requests held more, or else, than the one commit that we had pushed.

A draft is opened as soon as its branch is made, so the branch ends at our commit then, and GitHub
notes every push since that replaced commits. Without such a push our commit is still there, and the
draft was edited where another one changes something, too. After one, what stood there before the
first of them is ours, and is compared with what was merged. Names and dates of authors are not
asked: the token may be a person's, and amending keeps both.
"""

from collections.abc import Sequence

from nightwatch_core.adapters.github.rows import Place, Row, Text, read
from nightwatch_core.errors import GiveUp

_MOST_COMMITS = 50  # of a pull request, oldest first; ours is the first
_COMMIT = "oid tree{oid} parents(first:2){nodes{oid tree{oid}}}"
_PULL = (
    "additions deletions changedFiles "
    f"commits(first:{_MOST_COMMITS}){{nodes{{commit{{{_COMMIT}}}}}}} "
    "timelineItems(first:1,itemTypes:[HEAD_REF_FORCE_PUSHED_EVENT]){nodes{"
    "... on HeadRefForcePushedEvent{beforeCommit{"
    f"additions deletions changedFilesIfAvailable {_COMMIT}}}}}}}}}"
)


class Name(Row):
    """An object that is named by its content."""

    oid: Text


class Parent(Name):
    """A commit that another one follows."""

    tree: Name | None = None


class Parents(Row):
    """The first two parents of a commit."""

    nodes: tuple[Parent, ...] = ()


class Pushed(Name):
    """A commit of a pull request's branch."""

    tree: Name
    parents: Parents

    @property
    def changes_something(self) -> bool:
        """Merges bring what the base has; empty commits make checks run again."""
        above = self.parents.nodes
        return len(above) == 1 and above[0].tree != self.tree


class Ours(Pushed):
    """A commit that was replaced, and how much it changed."""

    additions: int
    deletions: int
    changedFilesIfAvailable: int | None = None


class Brought(Row):
    """A commit in a pull request's list."""

    commit: Pushed


class Commits(Row):
    """The commits of a pull request, oldest first."""

    nodes: tuple[Brought, ...] = ()


class Replacing(Row):
    """A push that replaced commits; None where GitHub no longer has what stood there before."""

    beforeCommit: Ours | None = None


class Replacings(Row):
    """The first of them."""

    nodes: tuple[Replacing, ...] = ()


class Merged(Row):
    """A merged pull request."""

    additions: int
    deletions: int
    changedFiles: int
    commits: Commits
    timelineItems: Replacings

    @property
    def edited(self) -> bool:
        """Whether it was edited; False where that cannot be told."""
        changing = [one.commit for one in self.commits.nodes if one.commit.changes_something]
        if len(changing) != 1:
            return len(changing) > 1
        ours = next((one.beforeCommit for one in self.timelineItems.nodes), None)
        return ours is not None and self._differs(ours, changing[0])

    def _differs(self, ours: Ours, last: Pushed) -> bool:
        """On the same parent another tree is another change; a rebase shows in its size alone."""
        if [one.oid for one in ours.parents.nodes] == [one.oid for one in last.parents.nodes]:
            return ours.tree != last.tree
        files = ours.changedFilesIfAvailable
        size = (self.additions, self.deletions, self.changedFiles)
        return (
            ours.additions,
            ours.deletions,
            self.changedFiles if files is None else files,
        ) != size


def edited(place: Place, numbers: Sequence[int]) -> frozenset[int]:
    """Those of the merged pull requests that were edited, by one question.

    None of them where GitHub refuses to say; raises `TryLater` and `StopTheNight`.
    """
    if not numbers:
        return frozenset()
    names = {f"n{at}": number for at, number in enumerate(numbers)}
    wanted = "".join(f",${name}:Int!" for name in names)
    fields = " ".join(f"p{name}:pullRequest(number:${name}){{{_PULL}}}" for name in names)
    query = (
        f"query($owner:String!,$name:String!{wanted})"
        f"{{repository(owner:$owner,name:$name){{{fields}}}}}"
    )
    try:
        told = place.client.graph(query, {"owner": place.owner, "name": place.name, **names})
        pulls = told.get("repository") or {}
        return frozenset(
            number
            for name, number in names.items()
            if (row := pulls.get(f"p{name}")) and read(Merged, row).edited
        )
    except GiveUp:  # the items are worth more than this about them
        return frozenset()
