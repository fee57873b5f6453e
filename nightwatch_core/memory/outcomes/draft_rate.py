"""How many of our draft pull requests passed, by their checks and by what people did with them."""

from collections.abc import Iterable

from nightwatch_core.models.outcome import DraftRate, Scoreboard
from nightwatch_core.models.proposal import OwnItem


def draft_rate(own: Iterable[OwnItem]) -> DraftRate:
    """Count what became of all our pull requests, as the tracker holds them.

    >>> states = ("merged", "open", "closed", "open")
    >>> pulls = [OwnItem(kind="pull", number=n, fingerprint="v1:a", state=state)
    ...          for n, state in enumerate(states)]
    >>> pulls[1] = pulls[1].model_copy(update={"checks": "passed"})
    >>> rate = draft_rate(pulls)
    >>> rate.drafts, rate.known, rate.good
    (4, 3, 2)
    """
    pulls = [one for one in own if one.kind == "pull"]
    merged = [one for one in pulls if one.state == "merged"]
    waiting = [one for one in pulls if one.state == "open" and one.checks]
    rejected = [one for one in pulls if one.state == "closed"]
    return DraftRate(
        drafts=len(pulls),
        merged=len(merged),
        rejected=len(rejected),
        passed=sum(one.checks == "passed" for one in pulls),
        failed=sum(one.checks == "failed" for one in pulls),
        known=len(merged) + len(waiting) + len(rejected),
        good=len(merged) + sum(one.checks == "passed" for one in waiting),
    )


def with_drafts(board: Scoreboard, own: Iterable[OwnItem]) -> Scoreboard:
    """Add the rate to the board; `own` is empty where the tracker was not read."""
    rate = draft_rate(own)
    return board.model_copy(update={"drafts": rate}) if rate.drafts else board
