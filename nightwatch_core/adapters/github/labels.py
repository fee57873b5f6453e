"""The labels of a repository, as far as our items need them."""

from collections.abc import Iterable

from nightwatch_core.adapters.github.client import Repository
from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.limits import LABEL_CHARACTERS
from nightwatch_core.adapters.github.writes import Writes
from nightwatch_core.errors import NightWatchError
from nightwatch_core.publish.issue_text import LABEL

NO_DRAFTS = "nightwatch-draft"  # the label that says so where GitHub has no drafts
_COLOURS = {LABEL: "1d3557", NO_DRAFTS: "b0b0b0"}
_OTHER_COLOUR = "ededed"


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
        except NightWatchError as error:  # also a token that is refused by now
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
