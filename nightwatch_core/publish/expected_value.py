"""Expected value of a draft, in a reviewer's minutes; it orders the fixes.

Expected value = impact × chance of being right × how far it is proved − what reading it costs.
Only the order of magnitude counts: impact grows with the logarithm of what an error hurts.
"""

import hashlib
from collections.abc import Iterable
from math import log10
from typing import Literal, NamedTuple

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.memory.scoreboard import NOMINAL
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.errors import occurrences_of
from nightwatch_core.models.proposals import GateResult, OwnItem, SkipCause
from nightwatch_core.publish.finding import shown_changes

# What issues and pull requests have in common: who comes first, what is known, how it is named.


class Reason(NamedTuple):
    """Why something is not proposed: a cause for control flow, a text for people."""

    cause: SkipCause
    text: str


def in_order(analyses: tuple[Analysis, ...]) -> tuple[Analysis, ...]:
    """Return those with cause and fix first, surer ones before; equal ones as they were ranked."""
    return tuple(
        sorted(analyses, key=lambda a: (not a.has_cause, not a.has_fix, -NOMINAL[a.confidence]))
    )


SHUT = ("closed", "not_planned")  # state and reason of an issue whose error people accept


def effect_key(kind: str, repository: str, *parts: str) -> str:
    """Return the name of an effect: the same on every night.

    >>> effect_key("issue", "shop", "v1:0a") == effect_key("issue", "shop", "v1:0a")
    True
    """
    text = "\n".join((kind, repository, *parts))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def known_item(analysis: Analysis, items: tuple[OwnItem, ...]) -> OwnItem | None:
    """The item of ours about this error, under any name it had: an open one, else the newest."""
    return newest_item(names_of(analysis), items)


def newest_item(names: frozenset[str], items: Iterable[OwnItem]) -> OwnItem | None:
    """Return the item about one of these errors: an open one, else the newest."""
    ours = [item for item in items if names & item.names]
    ours.sort(key=lambda item: (item.state != "open", -item.number))
    return next(iter(ours), None)


def accepted_in(names: frozenset[str], items: Iterable[OwnItem]) -> OwnItem | None:
    """Return the issue in which people accepted one of these errors: closed as not planned."""
    issue = newest_item(names, (item for item in items if item.kind == "issue"))
    return issue if issue and (issue.state, issue.state_reason) == SHUT else None


def names_of(analysis: Analysis) -> frozenset[str]:
    """Return every name its error has or had."""
    return frozenset((analysis.fingerprint, *analysis.case.aliases, *analysis.known_as))


Proof = Literal["reproduced", "green", "unproved", "not run", "failed"]
# Projects' own suites let most wrong fixes pass; what a reproduction lets pass is rarely wrong.
PROOF: dict[Proof, float] = {
    "reproduced": 1.0,
    "green": 0.75,
    "unproved": 0.5,
    "not run": 0.5,
    "failed": 0.0,
}
_OCCURRENCES, _USERS, _TRANSACTIONS = 10.0, 10.0, 5.0  # minutes for each power of ten
_READING, _FILE, _LINES = 0.5, 0.5, 20.0  # minutes a draft, a further file; lines a minute


class ExpectedValue(NamedTuple):
    """A draft's expected value and its factors; minutes, and shares of 1."""

    impact: float
    chance: float
    proof: Proof
    review: float

    @property
    def minutes(self) -> float:
        """Return the expected gain in minutes; negative where it costs more than it brings."""
        return self.impact * self.chance * PROOF[self.proof] - self.review

    def __str__(self) -> str:
        """Show the sum.

        >>> str(ExpectedValue(impact=20, chance=0.6, proof="green", review=1.2))
        '7.8 = harm 20.0 × chance of being right 0.60 × proof 0.75 − review 1.2'
        """
        proof = PROOF[self.proof]
        factors = f"harm {self.impact:.1f} × chance of being right {self.chance:.2f}"
        return f"{self.minutes:.1f} = {factors} × proof {proof:g} − review {self.review:.1f}"


def expected_value(members: tuple[Analysis, ...]) -> ExpectedValue:
    """Reckon it for errors with one cause, whose first has the fix."""
    analysis = members[0]
    review = review_minutes(shown_changes(analysis))
    return ExpectedValue(impact(members), chance_of(analysis), proof_of(analysis.gate), review)


def impact(members: tuple[Analysis, ...]) -> float:
    """Return the impact of errors: occurrences, users and affected places."""
    groups = [group for member in members for group in member.case.groups]
    users = max((group.users or 0 for group in groups), default=0)
    places = len({group.transaction for group in groups})
    times = occurrences_of(groups)
    return (
        _OCCURRENCES * log10(1 + times)
        + _USERS * log10(1 + users)
        + _TRANSACTIONS * log10(max(1, places))
    )


def chance_of(analysis: Analysis) -> float:
    """Return the chance that the fix is right, 0 to 1: calibrated, else by its confidence.

    A fix is never likelier right than its cause, nor than what should happen instead.
    """
    chance = analysis.chance if analysis.chance is not None else NOMINAL[analysis.confidence]
    return min(chance, NOMINAL[analysis.fix_confidence]) if analysis.fix_confidence else chance


def proof_of(gate: GateResult | None) -> Proof:
    """Return how far tests prove a fix."""
    if gate is None or gate.outcome == "not run":
        return "not run"
    if gate.outcome == "failed":
        return "failed"
    shown = gate.reproduction
    if shown and shown.outcome == "reproduced":
        return "reproduced" if shown.is_mended else "unproved"
    return "unproved" if gate.executing == 0 else "green"


def review_minutes(files: tuple[ChangedFile, ...]) -> float:
    """Return the minutes to review the change; its tests cost nothing."""
    code = [file for file in files if not TEST.search(file.path)]
    lines = sum(item.added + item.removed for item in code)
    return _READING + _FILE * max(0, len(code) - 1) + lines / _LINES
