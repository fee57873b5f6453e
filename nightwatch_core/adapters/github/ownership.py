"""Whose an item is: the marker can be copied, so the author, or our own ledger, has to agree.

What the ledger says we made is ours whoever its author is by now (a token became an App, an account
is gone), and its authors are accounts of ours. Besides these count who publishes now and who is
named in NIGHTWATCH_FORMER_ACCOUNTS.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from nightwatch_core.adapters.github.client import GitHubClient, Repository
from nightwatch_core.adapters.github.connection import Rejected
from nightwatch_core.adapters.github.rows import AccountRow, CommentRow, IssueRow, PullRow, read
from nightwatch_core.errors import GiveUp

_NOBODY = ("", "ghost")  # whom GitHub names where an account is gone
_VIEWER = "query{viewer{login}}"


Authored = IssueRow | PullRow | CommentRow
A = TypeVar("A", bound=Authored)


class Ours:
    """Tells what we made in a repository from what anybody else did."""

    def __init__(
        self,
        client: GitHubClient,
        published: Callable[[], frozenset[str]] = frozenset,
        former: Iterable[str] = (),
    ) -> None:
        """Ask nothing before the first item.

        `client` is signed in as who publishes; `published` gives the addresses of what we made.
        """
        self._client, self._published = client, published
        self._accounts = {name.strip().casefold() for name in former} - {""}
        self._known_now = False

    def sift(self, rows: Iterable[A]) -> tuple[tuple[A, ...], tuple[A, ...]]:
        """Return what is ours of these rows, and the others."""
        rows, made = tuple(rows), self._published()
        authors = {row.author.casefold() for row in rows if row.html_url in made}
        self._accounts |= authors.difference(_NOBODY)
        ours = tuple(row for row in rows if row.html_url in made or self._made(row))
        return ours, tuple(row for row in rows if row not in ours)

    def is_ours(self, row: Authored) -> bool:
        """Tell whether we made it."""
        return bool(self.sift((row,))[0])

    def remembers(self, repository: Repository) -> bool:
        """Tell whether the ledger knows of anything that we made there."""
        place = f"/{repository.full_name}/".casefold()
        return any(place in address.casefold() for address in self._published())

    def _made(self, row: Authored) -> bool:
        if row.author.casefold() in self._accounts:
            return True
        if not self._known_now:
            name = account(self._client).casefold()
            self._accounts |= {name} - {""}
            self._known_now = True
        return row.author.casefold() in self._accounts


def account(client: GitHubClient) -> str:
    """Return the login that our items are made with; empty where GitHub does not tell it."""
    if client.app and (login := client.app.login()):
        return login
    try:
        return read(AccountRow, client.ask("GET", "/user")[1]).login
    except Rejected:  # a token of GitHub Actions
        pass
    try:
        return read(AccountRow, client.query(_VIEWER, {}).get("viewer")).login
    except GiveUp:
        return ""


def why_unsure(others: Iterable[Authored]) -> str:
    """Say why nothing is published while nobody knows whether these are ours."""
    row = next(iter(others))
    by = f"@{row.author}" if row.author else "an account that is gone"
    return (
        f"{row.html_url} carries our marker but was made by {by}, and this state folder "
        "has no record of it. Nothing is published, to avoid duplicates. If NightWatch "
        "used that account before, add it to NIGHTWATCH_FORMER_ACCOUNTS; if not, remove "
        "the label nightwatch from its items"
    )
