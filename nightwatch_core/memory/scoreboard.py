"""How right the analyses of this installation proved: a table that calibration rests on.

People and production say it of each finding: right, wrong, or not yet decided.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from statistics import NormalDist, fmean

from nightwatch_core.models.analysis import Analysis, TrackRecord
from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.knowledge import (
    AnalysisGroup,
    ConfidenceTier,
    JudgedAnalysis,
    Lesson,
    OutcomeKind,
    PublishedItem,
    Scoreboard,
    SuccessRate,
)
from nightwatch_core.models.value import Value

# How much a said confidence is worth on this installation, and what follows from that.

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
    """Return the share of a tier's findings that proved right.

    >>> from nightwatch_core.models.knowledge import SuccessRate
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
    return next((tier for tier in board.tiers if tier.said == confidence), None)


MOST_MODELS = 10


def scoreboard(lessons: Iterable[Lesson]) -> Scoreboard:
    """Build the board of everything that `lessons`, archived ones included, were published for."""
    judged = judgements(lessons)
    tiers = tuple(_tier_scoreboard(said, nominal, judged) for said, nominal in NOMINAL.items())
    used = Counter(item.model for item in judged)
    names = sorted(used, key=lambda name: (-used[name], name))[:MOST_MODELS]
    return Scoreboard(
        found=_share(judged),
        tiers=tiers,
        brier=_brier(tiers, judged, calibrate=False),
        brier_calibrated=_brier(tiers, judged, calibrate=True),
        informed=_sort("with prior knowledge", [item for item in judged if item.told > 0]),
        uninformed=_sort("without prior knowledge", [item for item in judged if item.told <= 0]),
        models=tuple(
            _sort(name, [item for item in judged if item.model == name]) for name in names
        ),
    )


def _tier_scoreboard(
    said: Confidence, nominal: float, judged: Sequence[JudgedAnalysis]
) -> ConfidenceTier:
    own = [analysis for analysis in judged if analysis.said == said]
    return ConfidenceTier(
        said=said,
        nominal=nominal,
        found=_share(own),
        merged=sum(item.merged for item in own),
        verified=sum(item.kind == "verified" for item in own),
        rejected=sum(item.right == 0 for item in own),
    )


def _share(judged: Sequence[JudgedAnalysis]) -> SuccessRate:
    rights = [analysis.right for analysis in judged if analysis.right is not None]
    if not rights:
        return SuccessRate(times=len(judged))
    low, high = interval(sum(rights), len(rights))
    return SuccessRate(
        times=len(judged),
        decided=len(rights),
        right=sum(rights),
        share=sum(rights) / len(rights),
        low=low,
        high=high,
    )


def _brier(
    tiers: Sequence[ConfidenceTier], judged: Sequence[JudgedAnalysis], *, calibrate: bool
) -> float | None:
    """Mean squared distance between what was said and what came; 0 is perfect, 1 is worst.

    A calibrated probability is learned from all the others: its own outcome must not be in it.
    """
    by_word = {tier.said: tier for tier in tiers}
    errors = []
    for analysis in judged:
        if analysis.said is None or analysis.right is None:
            continue
        tier = by_word[analysis.said]
        right, decided = tier.found.right - analysis.right, tier.found.decided - 1
        chance = posterior(tier.nominal, right, decided) if calibrate else tier.nominal
        errors.append((chance - analysis.right) ** 2)
    return fmean(errors) if errors else None


def _sort(name: str, judged: Sequence[JudgedAnalysis]) -> AnalysisGroup:
    measured = [analysis for analysis in judged if analysis.iterations or analysis.tokens]
    priced = [item.cost for item in measured if item.cost is not None and isfinite(item.cost)]
    return AnalysisGroup(
        name=name,
        found=_share(judged),
        measured=len(measured),
        iterations=_mean([item.iterations for item in measured]),
        tokens=_mean([item.tokens for item in measured]),
        cost=_mean(priced),
    )


def _mean(numbers: Sequence[float]) -> float | None:
    return fmean(numbers) if numbers else None


class Mark(Value):
    """What one outcome says about the finding behind it."""

    right: float | None  # 0 to 1; None: it decides nothing
    label: str


# A merge is a reviewer's word for cause and fix, until production has shown what it was worth. An
# edit before it grants the cause and takes back the fix, wholly or in part: a half. An issue that
# is closed as done decides only where it held our fix: otherwise somebody may have found another.
OUTCOMES: dict[OutcomeKind, Mark] = {
    "verified": Mark(right=1.0, label="verified in production"),
    "merged": Mark(right=1.0, label="merged"),
    "closed": Mark(right=1.0, label="issue closed as done with our fix in it"),
    "edited before merge": Mark(right=0.5, label="edited before merge, verified later or not"),
    "closed unmerged": Mark(right=0.0, label="closed unmerged"),
    "not planned": Mark(right=0.0, label="issue closed as not planned"),
    "no effect": Mark(right=0.0, label="merged without effect"),
    "regressed": Mark(right=0.0, label="came back after the fix"),
    "reopened": Mark(right=None, label="issue reopened, effect not measured"),
}
EFFECTS: tuple[OutcomeKind, ...] = ("verified", "no effect", "regressed")
MERGES: tuple[OutcomeKind, ...] = ("merged", "edited before merge")
REVIEWS: tuple[OutcomeKind, ...] = (*MERGES, "closed unmerged")
ON_ISSUES: tuple[OutcomeKind, ...] = ("closed", "not planned", "reopened")


class Attempt(Value):
    """What we published of one analysis, and what happened to it since."""

    items: tuple[PublishedItem, ...]
    kinds: tuple[OutcomeKind, ...] = ()  # everything that happened to them, oldest first
    merged_since: bool = False  # a pull request of another analysis of the same error

    def last(self, family: tuple[OutcomeKind, ...]) -> OutcomeKind | None:
        """The last thing of that family."""
        return next((kind for kind in reversed(self.kinds) if kind in family), None)


def judgements(lessons: Iterable[Lesson]) -> tuple[JudgedAnalysis, ...]:
    """Judge each analysis whose issue or pull request was published; an item counts once.

    One that said that no cause is known can be neither right nor wrong.
    """
    counted: set[object] = set()
    judged: list[JudgedAnalysis] = []
    for lesson in lessons:
        fresh = [item for item in lesson.proposed if _name(item) not in counted]
        counted.update(map(_name, fresh))
        claims = [item for item in fresh if item.has_cause]
        judged.extend(_judged(lesson, attempt) for attempt in _attempts(lesson, claims))
    return tuple(judged)


def _effect(attempt: Attempt) -> OutcomeKind | None:
    return attempt.last(EFFECTS)


def _reopened(attempt: Attempt) -> OutcomeKind | None:
    """An issue that was reopened after the merge takes the reviewer's word back for now."""
    merged = attempt.last(REVIEWS) in MERGES
    return "reopened" if merged and attempt.last(ON_ISSUES) == "reopened" else None


def _review(attempt: Attempt) -> OutcomeKind | None:
    last = attempt.last(REVIEWS)
    edited = last in MERGES and "edited before merge" in attempt.kinds
    return "edited before merge" if edited else last


def _on_the_issue(attempt: Attempt) -> OutcomeKind | None:
    return attempt.last(ON_ISSUES)


JUDGES: tuple[Callable[[Attempt], OutcomeKind | None], ...] = (
    _effect,
    _reopened,
    _review,
    _on_the_issue,
)
"""Asked in this order; the first that has something to say decides."""


def _judged(lesson: Lesson, attempt: Attempt) -> JudgedAnalysis:
    first = attempt.items[0]
    kind = next((kind for judge in JUDGES if (kind := judge(attempt))), None)
    measured = next((item for item in attempt.items if item.iterations or item.tokens), first)
    return JudgedAnalysis.model_validate(
        {
            "fingerprint": lesson.fingerprint,
            "said": first.confidence if first.confidence in ("high", "medium", "low") else None,
            "right": _right(attempt, kind) if kind else None,
            "kind": kind,
            "merged": bool(attempt.last(EFFECTS) or attempt.last(REVIEWS) in MERGES),
            **measured.model_dump(include={"told", "iterations", "tokens", "cost", "model"}),
        }
    )


def _right(attempt: Attempt, kind: OutcomeKind) -> float | None:
    if kind == "closed" and (attempt.merged_since or not any(e.fix for e in attempt.items)):
        return None
    right = OUTCOMES[kind].right
    if right and _review(attempt) == "edited before merge":
        return OUTCOMES["edited before merge"].right  # what worked is in part not ours
    return right


def _attempts(lesson: Lesson, items: list[PublishedItem]) -> Iterator[Attempt]:
    """Items of the same night, or with the same fix, come from the same analysis."""
    groups: list[list[PublishedItem]] = []
    for item in items:
        own = next((group for group in groups if any(_same(item, entry) for entry in group)), None)
        if own is None:
            groups.append([item])
        else:
            own.append(item)
    merged = [any(kind in MERGES + EFFECTS for kind in _kinds(lesson, g)) for g in groups]
    for at, group in enumerate(groups):
        since = any(merged[:at] + merged[at + 1 :])
        yield Attempt(items=tuple(group), kinds=_kinds(lesson, group), merged_since=since)


def _same(item: PublishedItem, other: PublishedItem) -> bool:
    nights = (item.night or item.on) == (other.night or other.on)
    return nights or bool(item.fix and item.fix == other.fix)


def _kinds(lesson: Lesson, group: list[PublishedItem]) -> tuple[OutcomeKind, ...]:
    numbers = {item.number for item in group}
    happened = [fate.kind for fate in lesson.fates if fate.number in numbers]
    return (*happened, *(kind for item in group for kind in OUTCOMES if kind == item.outcome))


def _name(item: PublishedItem) -> object:
    return (item.kind, item.number, item.on, item.night)
