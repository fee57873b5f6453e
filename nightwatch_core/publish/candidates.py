"""What issues and pull requests have in common: who comes first, what is known, how it is named."""

import hashlib
from typing import NamedTuple

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.proposal import OwnItem, Skip, SkipCause


class Reason(NamedTuple):
    """Why something is not proposed: a cause for control flow, a text for people."""

    cause: SkipCause
    text: str


_CONFIDENCE = {"high": 0.3, "medium": 0.15, "low": 0.0}


def candidate_score(analysis: Analysis) -> float:
    """How much an analysis deserves an issue, 0 to 1 (the figures of the design)."""
    return (
        (0.5 if analysis.has_fix else 0.0)
        + _CONFIDENCE[analysis.confidence]
        + (0.1 if analysis.fix else 0.0)
        + (0.05 if analysis.next_steps else 0.0)
        + min(analysis.case.occurrences / 200, 0.1)
    )


def in_order(analyses: tuple[Analysis, ...]) -> tuple[Analysis, ...]:
    """Best candidates first, those without a cause last; equal ones as they were ranked."""
    return tuple(sorted(analyses, key=lambda a: (not a.has_cause, -candidate_score(a))))


def effect_key(kind: str, repository: str, *parts: str) -> str:
    """Names an effect for ever.

    >>> effect_key("issue", "shop", "v1:0a") == effect_key("issue", "shop", "v1:0a")
    True
    """
    text = "\n".join((kind, repository, *parts))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def known_item(analysis: Analysis, items: tuple[OwnItem, ...]) -> OwnItem | None:
    """The item of ours about this error, under any name it had: an open one, else the newest."""
    names = names_of(analysis)
    ours = [item for item in items if names & item.names]
    ours.sort(key=lambda item: (item.state != "open", -item.number))
    return next(iter(ours), None)


def by_choice(reason: Reason | None, known: OwnItem | None, night: str) -> Reason | None:
    """The reason; one of choice says what this night made before it was taken up with it."""
    if reason is None or reason.cause != "choice" or known is None or known.night != night:
        return reason
    return reason._replace(text=f"{reason.text}; #{known.number} was made before that")


def names_of(analysis: Analysis) -> frozenset[str]:
    """Every name its error has or had."""
    return frozenset((analysis.fingerprint, *analysis.case.aliases, *analysis.known_as))


def skip(analysis: Analysis, kind: str, reason: Reason) -> Skip:
    """What is not proposed, and why."""
    return Skip(
        fingerprint=analysis.fingerprint,
        title=analysis.case.title,
        kind=kind,
        reason=reason.text,
        cause=reason.cause,
    )
