"""Whose an item is: the marker can be copied, so the author, or our own ledger, has to agree.

What the ledger says we made is ours whoever its author is by now (a token became an App, an account
is gone), and its authors are accounts of ours. Besides these count who publishes now and who is
named in NIGHTWATCH_FORMER_ACCOUNTS.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from nightwatch_core.adapters.hosts.rows import Authored

_NOBODY = ("", "ghost")  # whom hosts name where an account is gone


A = TypeVar("A", bound=Authored)


class Ours:
    """Tells what we made in a repository from what anybody else did."""

    def __init__(
        self,
        account: Callable[[], str],
        published: Callable[[], frozenset[str]] = frozenset,
        former: Iterable[str] = (),
    ) -> None:
        """`account` returns who publishes, `published` the addresses of what we made."""
        self._account, self._published = account, published
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
        return bool(self.sift((row,))[0])

    def remembers(self, repository: str) -> bool:
        """Tell whether the ledger knows of anything that we made there."""
        place = f"/{repository}/".casefold()
        return any(place in address.casefold() for address in self._published())

    def _made(self, row: Authored) -> bool:
        if row.author.casefold() in self._accounts:
            return True
        if not self._known_now:
            self._accounts |= {self._account().casefold()} - {""}
            self._known_now = True
        return row.author.casefold() in self._accounts


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
