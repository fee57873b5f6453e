"""How right the analyses of this installation proved: a table that calibration rests on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from statistics import fmean

from nightwatch_core.memory.outcomes.calibration import NOMINAL, interval, posterior
from nightwatch_core.memory.outcomes.fix_verdict import judgements
from nightwatch_core.models.analysis import Confidence
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import (
    AnalysisGroup,
    ConfidenceTier,
    JudgedAnalysis,
    Scoreboard,
    SuccessRate,
)

MOST_MODELS = 10


def scoreboard(lessons: Iterable[Lesson]) -> Scoreboard:
    """The board of everything that `lessons`, archived ones included, were published for."""
    judged = judgements(lessons)
    tiers = tuple(_tier(said, nominal, judged) for said, nominal in NOMINAL.items())
    used = Counter(each.model for each in judged)
    names = sorted(used, key=lambda name: (-used[name], name))[:MOST_MODELS]
    return Scoreboard(
        found=_share(judged),
        tiers=tiers,
        brier=_brier(tiers, judged, calibrate=False),
        brier_calibrated=_brier(tiers, judged, calibrate=True),
        informed=_sort("with prior knowledge", [each for each in judged if each.told > 0]),
        uninformed=_sort("without prior knowledge", [each for each in judged if each.told <= 0]),
        models=tuple(
            _sort(name, [each for each in judged if each.model == name]) for name in names
        ),
    )


def _tier(said: Confidence, nominal: float, judged: Sequence[JudgedAnalysis]) -> ConfidenceTier:
    own = [each for each in judged if each.said == said]
    return ConfidenceTier(
        said=said,
        nominal=nominal,
        found=_share(own),
        merged=sum(each.merged for each in own),
        verified=sum(each.kind == "verified" for each in own),
        rejected=sum(each.right == 0 for each in own),
    )


def _share(judged: Sequence[JudgedAnalysis]) -> SuccessRate:
    rights = [each.right for each in judged if each.right is not None]
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
    for each in judged:
        if each.said is None or each.right is None:
            continue
        tier = by_word[each.said]
        right, decided = tier.found.right - each.right, tier.found.decided - 1
        told = posterior(tier.nominal, right, decided) if calibrate else tier.nominal
        errors.append((told - each.right) ** 2)
    return fmean(errors) if errors else None


def _sort(name: str, judged: Sequence[JudgedAnalysis]) -> AnalysisGroup:
    measured = [each for each in judged if each.iterations or each.tokens]
    priced = [each.cost for each in measured if each.cost is not None and isfinite(each.cost)]
    return AnalysisGroup(
        name=name,
        found=_share(judged),
        measured=len(measured),
        iterations=_mean([each.iterations for each in measured]),
        tokens=_mean([each.tokens for each in measured]),
        cost=_mean(priced),
    )


def _mean(numbers: Sequence[float]) -> float | None:
    return fmean(numbers) if numbers else None
