"""How much a said confidence is worth on this installation, and what follows from that."""

from statistics import NormalDist

from nightwatch_core.models.analysis import Analysis, TrackRecord
from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.outcome import ConfidenceTier, Scoreboard

NOMINAL: dict[Confidence, float] = {"high": 0.9, "medium": 0.6, "low": 0.3}
"""The probability that each word stands for, before there is any history; highest first."""

PRIOR_WEIGHT = 4.0  # decided findings that the nominal probability counts as much as
MINIMUM = 10  # decided findings in all before our own probability is said
LOWERING_NEEDS = 5  # decided findings of that very confidence before it is lowered
INTERVAL = 0.90


def posterior(nominal: float, right: float, decided: int) -> float:
    """Mean of a Beta distribution around `nominal` (0 to 1) that has seen `right` of `decided`.

    >>> posterior(0.9, 0, 0), round(posterior(0.9, 2, 8), 3)
    (0.9, 0.467)
    """
    return (PRIOR_WEIGHT * nominal + right) / (PRIOR_WEIGHT + decided)


def interval(right: float, decided: int) -> tuple[float, float]:
    """Wilson's 90 % interval of a share, 0 to 1; everything where nothing is decided.

    >>> tuple(round(each, 2) for each in interval(7, 9)), interval(0, 0)
    ((0.5, 0.92), (0.0, 1.0))
    """
    if decided <= 0:
        return 0.0, 1.0
    squared = NormalDist().inv_cdf((1 + INTERVAL) / 2) ** 2
    share = right / decided
    middle = share + squared / (2 * decided)
    spread = (squared * (share * (1 - share) + squared / (4 * decided)) / decided) ** 0.5
    whole = 1 + squared / decided
    low, high = (middle - spread) / whole, (middle + spread) / whole
    return min(share, max(0.0, low)), max(share, min(1.0, high))  # never past it by rounding


def chance(confidence: str, board: Scoreboard) -> float | None:
    """This installation's probability that a finding said so sure proves right, 0 to 1.

    None below `MINIMUM` decided findings in all, and where none said so sure is decided.
    """
    tier = _tier(confidence, board)
    if tier is None or not tier.found.decided or board.found.decided < MINIMUM:
        return None
    return posterior(tier.nominal, tier.found.right, tier.found.decided)


def calibrated(analysis: Analysis, board: Scoreboard) -> Analysis:
    """The analysis with its chance, and said less sure where the record clearly asks for it.

    A confidence is lowered by one step, with the analyst's own kept in `said`, and never raised.
    Where no cause is known there is none.
    Twice is as good as once. What is kept of it has to be `said`, or it would sink every night.
    """
    tier = _tier(analysis.confidence, board)
    ours = chance(analysis.confidence, board)
    if tier is None or ours is None or analysis.chance is not None or not analysis.has_cause:
        return analysis
    lower = _lower(tier)
    so = f": said {lower} instead" if lower else ""
    because = f"findings said {tier.said} proved right {proved(tier)}{so}"
    record = TrackRecord(said=tier.said, right=tier.found.right, decided=tier.found.decided)
    update: dict[str, object] = {"chance": ours, "track_record": record}
    update["because"] = (*analysis.because, because)
    if lower:
        update |= {"confidence": lower, "said": analysis.said or analysis.confidence}
    return analysis.model_copy(update=update)


def proved(tier: ConfidenceTier) -> str:
    """How often findings of a tier proved right.

    >>> from nightwatch_core.models.outcome import SuccessRate
    >>> proved(ConfidenceTier(said="high", nominal=0.9, found=SuccessRate(decided=9, right=7.5)))
    '7.5 of 9 times here'
    """
    return f"{tier.found.right:g} of {tier.found.decided:,} times here"


def _lower(tier: ConfidenceTier) -> Confidence | None:
    """The next lower word, where even the upper bound falls short of what that one promises.

    Then the higher word is not merely unlucky: the lower one would still be too kind.
    """
    words = tuple(NOMINAL)
    below = words[words.index(tier.said) + 1 :]
    if not below or tier.found.decided < LOWERING_NEEDS:
        return None
    _, high = interval(tier.found.right, tier.found.decided)
    return below[0] if high < NOMINAL[below[0]] else None


def _tier(confidence: str, board: Scoreboard) -> ConfidenceTier | None:
    return next((each for each in board.tiers if each.said == confidence), None)
