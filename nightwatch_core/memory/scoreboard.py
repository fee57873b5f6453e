"""The share of analyses of this installation that proved right, by confidence.

People and production say it of each finding: right, wrong, or not yet decided.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nightwatch_core.models.analysis import Analysis, TrackRecord
from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.knowledge import (
    ConfidenceTier,
    JudgedAnalysis,
    Lesson,
    OutcomeKind,
    PublishedItem,
    Scoreboard,
    SuccessRate,
)

NOMINAL: dict[Confidence, float] = {"high": 0.9, "medium": 0.6, "low": 0.3}
"""The probability that each word stands for, before there is any history; highest first."""

PRIOR_WEIGHT = 4.0  # decided findings that the nominal probability counts as much as
MINIMUM = 10  # decided findings in all before our own probability is said
LOWERING_NEEDS = 5  # decided findings of that very confidence before it is lowered
_Z = 1.645  # standard deviations: of a 90 % interval


class Mark(NamedTuple):
    """One outcome's verdict on the finding behind it."""

    right: float | None  # 0 to 1; None: it decides nothing
    label: str


# A merge is a reviewer's word for cause and fix, until production has shown what it was worth. An
# edit before it grants the cause and takes back the fix, wholly or in part: a half. An issue that
# is closed as done decides only where it held our fix: otherwise somebody may have found another.
OUTCOMES: dict[OutcomeKind, Mark] = {
    "verified": Mark(1.0, "verified in production"),
    "merged": Mark(1.0, "merged"),
    "closed": Mark(1.0, "issue closed as done with our fix in it"),
    "edited before merge": Mark(0.5, "edited before merge, verified later or not"),
    "closed unmerged": Mark(0.0, "closed unmerged"),
    "not planned": Mark(0.0, "issue closed as not planned"),
    "no effect": Mark(0.0, "merged without effect"),
    "regressed": Mark(0.0, "came back after the fix"),
    "reopened": Mark(None, "issue reopened, effect not measured"),
}
EFFECTS: tuple[OutcomeKind, ...] = ("verified", "no effect", "regressed")
MERGES: tuple[OutcomeKind, ...] = ("merged", "edited before merge")
REVIEWS: tuple[OutcomeKind, ...] = (*MERGES, "closed unmerged")
ON_ISSUES: tuple[OutcomeKind, ...] = ("closed", "not planned", "reopened")


def posterior(nominal: float, right: float, decided: int) -> float:
    """Return the mean of a Beta distribution around `nominal` that has seen `right` of `decided`.

    >>> posterior(0.9, 0, 0), round(posterior(0.9, 2, 8), 3)
    (0.9, 0.467)
    """
    return (PRIOR_WEIGHT * nominal + right) / (PRIOR_WEIGHT + decided)


def upper_bound(right: float, decided: int) -> float:
    """Return the upper end of Wilson's 90 % interval of a share; 1 where nothing is decided.

    >>> round(upper_bound(7, 9), 2), upper_bound(0, 0)
    (0.92, 1.0)
    """
    if decided <= 0:
        return 1.0
    share, squared = right / decided, _Z**2
    middle = share + squared / (2 * decided)
    spread: float = (squared * (share * (1 - share) + squared / (4 * decided)) / decided) ** 0.5
    high: float = (middle + spread) / (1 + squared / decided)
    return min(1.0, high)


def chance(confidence: str, board: Scoreboard) -> float | None:
    """Return this installation's probability that a finding of this confidence proves right.

    None below `MINIMUM` decided findings in all, and where none of this confidence is decided.
    """
    tier = next((each for each in board.tiers if each.said == confidence), None)
    if tier is None or not tier.found.decided or board.found.decided < MINIMUM:
        return None
    return posterior(tier.nominal, tier.found.right, tier.found.decided)


def calibrated(analysis: Analysis, board: Scoreboard) -> Analysis:
    """Add its chance to an analysis, and lower its confidence where the record asks for it.

    A confidence is lowered by one step, with the analyst's own kept in `said`, and never raised.
    An analysis without a cause stays as it is, and so does one that was calibrated before.
    """
    ours = chance(analysis.confidence, board)
    if ours is None or analysis.chance is not None or not analysis.has_cause:
        return analysis
    tier = next(each for each in board.tiers if each.said == analysis.confidence)
    right, decided = tier.found.right, tier.found.decided
    lower = _lower(tier)
    because = f"findings said {tier.said} proved right {right:g} of {decided:,} times here"
    update: dict[str, object] = {
        "chance": ours,
        "track_record": TrackRecord(said=tier.said, right=right, decided=decided),
        "because": (*analysis.because, f"{because}: said {lower} instead" if lower else because),
    }
    if lower:
        update |= {"confidence": lower, "said": analysis.said or analysis.confidence}
    return analysis.model_copy(update=update)


def _lower(tier: ConfidenceTier) -> Confidence | None:
    """The next lower word, where even the upper bound falls short of what that one promises."""
    words = tuple(NOMINAL)
    below = words[words.index(tier.said) + 1 :]
    if not below or tier.found.decided < LOWERING_NEEDS:
        return None
    high = upper_bound(tier.found.right, tier.found.decided)
    return below[0] if high < NOMINAL[below[0]] else None


def scoreboard(lessons: Iterable[Lesson]) -> Scoreboard:
    """Build the board of everything that `lessons`, archived ones included, were published for."""
    judged = judgements(lessons)
    tiers = []
    for said, nominal in NOMINAL.items():
        own = [each for each in judged if each.said == said]
        tier = ConfidenceTier(
            said=said,
            nominal=nominal,
            found=_success(own),
            merged=sum(each.merged for each in own),
            verified=sum(each.kind == "verified" for each in own),
            rejected=sum(each.right == 0 for each in own),
        )
        tiers.append(tier)
    return Scoreboard(found=_success(judged), tiers=tuple(tiers))


def _success(judged: Sequence[JudgedAnalysis]) -> SuccessRate:
    rights = [each.right for each in judged if each.right is not None]
    share = sum(rights) / len(rights) if rights else None
    return SuccessRate(times=len(judged), decided=len(rights), right=sum(rights), share=share)


def judgements(lessons: Iterable[Lesson]) -> tuple[JudgedAnalysis, ...]:
    """Judge each analysis whose issue or pull request was published; an item counts once.

    One that named no cause can be neither right nor wrong.
    """
    counted: set[object] = set()
    judged: list[JudgedAnalysis] = []
    for lesson in lessons:
        fresh = [item for item in lesson.proposed if _name(item) not in counted]
        counted.update(map(_name, fresh))
        attempts = _attempts([item for item in fresh if item.has_cause])
        happened = [_happened(lesson, attempt) for attempt in attempts]
        merged = [any(kind in MERGES + EFFECTS for kind in kinds) for kinds in happened]
        for at, (attempt, kinds) in enumerate(zip(attempts, happened, strict=True)):
            another = any(merged[:at] + merged[at + 1 :])
            judged.append(_judged(lesson.fingerprint, attempt, kinds, another))
    return tuple(judged)


def _name(item: PublishedItem) -> tuple[object, ...]:
    return item.kind, item.number, item.on, item.night


def _attempts(items: list[PublishedItem]) -> list[list[PublishedItem]]:
    """Items of the same night, or with the same fix, come from the same analysis."""
    attempts: list[list[PublishedItem]] = []
    for item in items:
        night = item.night or item.on
        own = next(
            (
                attempt
                for attempt in attempts
                for other in attempt
                if (other.night or other.on) == night or (item.fix and item.fix == other.fix)
            ),
            None,
        )
        if own is None:
            attempts.append([item])
        else:
            own.append(item)
    return attempts


def _happened(lesson: Lesson, attempt: list[PublishedItem]) -> tuple[OutcomeKind, ...]:
    numbers = {item.number for item in attempt}
    fates = [fate.kind for fate in lesson.fates if fate.number in numbers]
    return (*fates, *(kind for item in attempt for kind in OUTCOMES if kind == item.outcome))


def _judged(
    fingerprint: str, items: list[PublishedItem], kinds: tuple[OutcomeKind, ...], another: bool
) -> JudgedAnalysis:
    """Judge one attempt: production's word first, then a reviewer's, then the issue's.

    `another`: a pull request of another analysis of the same error was merged.
    """

    def last(family: tuple[OutcomeKind, ...]) -> OutcomeKind | None:
        return next((kind for kind in reversed(kinds) if kind in family), None)

    review, on_issue = last(REVIEWS), last(ON_ISSUES)
    is_edited = review in MERGES and "edited before merge" in kinds
    kind = last(EFFECTS)
    if kind is None and review in MERGES and on_issue == "reopened":
        kind = "reopened"  # after the merge: it takes the reviewer's word back for now
    if kind is None:
        kind = "edited before merge" if is_edited else review or on_issue
    right = OUTCOMES[kind].right if kind else None
    if kind == "closed" and (another or not any(item.fix for item in items)):
        right = None
    elif right and is_edited:
        right = OUTCOMES["edited before merge"].right  # what worked is in part not ours
    said = items[0].confidence
    return JudgedAnalysis.model_validate(
        {
            "fingerprint": fingerprint,
            "said": said if said in NOMINAL else None,
            "right": right,
            "kind": kind,
            "merged": bool(last(EFFECTS)) or review in MERGES,
        }
    )
