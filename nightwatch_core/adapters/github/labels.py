"""Labels of our issues and pull requests."""

from collections.abc import Iterable

from nightwatch_core.adapters.github.errors import Rejected
from nightwatch_core.adapters.github.pacing import Pacing
from nightwatch_core.adapters.github.rows import Place
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.publish.issue_text import LABEL

NO_DRAFTS = "nightwatch-draft"  # the label that says so where GitHub has no drafts
_COLOURS = {LABEL: "1d3557", NO_DRAFTS: "b0b0b0"}
_OTHER_COLOUR = "ededed"
_LONGEST = 50  # characters


class Labels:
    """The labels of one repository; who may push gets them made, others have to find them."""

    def __init__(self, place: Place, pacing: Pacing) -> None:
        """Every write goes through `pacing`."""
        self._place = place
        self._pacing = pacing
        self._there: set[str] = set()

    def ensured(self, names: Iterable[str]) -> tuple[str, ...]:
        """The labels, which exist from now on."""
        wanted = tuple(dict.fromkeys(name[:_LONGEST] for name in names if name.strip()))
        if {name.casefold() for name in wanted} <= self._there:
            return wanted
        at, client = self._place.at, self._place.client
        rows = client.pages(lambda rest: rest.issues.list_labels_for_repo(*at, per_page=100))
        self._there |= {str(row.get("name", "")).casefold() for row in rows}
        for name in wanted:
            if name.casefold() not in self._there:
                self._create(name)
                self._there.add(name.casefold())
        return wanted

    def added(self, number: int, labels: tuple[str, ...]) -> str:
        """Label an issue; says why not where that fails: what was made stays made."""
        at, client = self._place.at, self._place.client

        def add() -> bool:
            client.ask(lambda rest: rest.issues.add_labels(*at, number, labels=[*labels]))
            return True

        try:
            self._pacing.made(add, lambda: None)
        except (TryLater, GiveUp) as error:
            return f"made, but without its labels: {error}"
        return ""

    def _create(self, name: str) -> None:
        at, client = self._place.at, self._place.client
        colour = _COLOURS.get(name, _OTHER_COLOUR)

        def create() -> bool:
            client.ask(lambda rest: rest.issues.create_label(*at, name=name, color=colour))
            return True

        try:
            self._pacing.made(create, lambda: None)
        except Rejected as error:
            if "already_exists" not in error.said:
                raise
