"""Forecast of a night's cost, and the order in which its errors are worth it.

Worth of an error = how often and how badly it fails × chance of a merged fix ÷ expected cost; the
last two as this installation's errors of its tier came to. Without such a history they are the same
for every error, and errors stay as they rank.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from math import sqrt

from nightwatch_core.analysis.budget import TierName, may_be_led, tier_of
from nightwatch_core.intake.selection import score
from nightwatch_core.models.answer import Experience, Forecast, TierRecord, Usage
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.models.knowledge import MERGED, Lesson
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import NightRecord
from nightwatch_core.text.plain_text import money, plural

Price = Callable[[str, Usage], Usage]  # adds what a model's usage costs

# Seven real bugs of three applications, analysed with a careful reader in the model's place: the
# cheapest and the dearest. A model that thinks writes more than the reader did.
MEASURED_BUGS = 7
CHEAPEST = Usage(
    calls=2, cache_write_tokens=6_592, cache_read_tokens=5_181, output_tokens=1_187, cost=None
)
DEAREST = Usage(
    calls=4, cache_write_tokens=12_912, cache_read_tokens=23_694, output_tokens=1_584, cost=None
)

NIGHTS = 30  # newest ones that errors' costs are taken from
PRIOR_WEIGHT = 4.0  # errors that what is expected before any history counts as much as
PRIOR_MERGED = 0.3  # of analysed errors, whose fix is merged
LIKELY = 1.28  # standard deviations to each side that hold four nights of five


def experience(records: Iterable[NightRecord], lessons: Iterable[Lesson], model: str) -> Experience:
    """Add up by tier what errors cost with this model, and how many of their fixes were merged."""
    every = tuple(records)
    paid = [item for item in every if item.cost]
    rows = [row for item in paid[:NIGHTS] for row in item.tiers if row.model == model]
    kept = [(_tier(lesson), any(o.kind in MERGED for o in lesson.outcomes)) for lesson in lessons]
    learned = Counter(tier for tier, _ in kept)
    merged = Counter(tier for tier, is_merged in kept if is_merged)
    counted = (TierRecord(tier=t, lessons=n, merged=merged[t]) for t, n in learned.items())
    tiers: dict[str, TierRecord] = {}
    for row in (*rows, *counted):
        tiers[row.tier] = tiers.get(row.tier, TierRecord(tier=row.tier, model=model)) + row
    return Experience(
        tiers=tuple(tiers.values()),
        cost=sum(item.cost or 0.0 for item in paid),
        merged=sum(item.merged for item in every),  # most merges are noticed on nights for nothing
    )


def worth(case: Case, known: Experience) -> float:
    """Return what analysing a case is worth for a USD; only comparing two of them means much."""
    tier = _record(tier_of(case), known)
    every = sum(known.tiers, TierRecord())
    rate = (PRIOR_WEIGHT * PRIOR_MERGED + every.merged) / (PRIOR_WEIGHT + every.lessons)
    chance = (PRIOR_WEIGHT * rate + tier.merged) / (PRIOR_WEIGHT + tier.lessons)
    usual = every.cost / every.errors if every.cost else 1.0
    cost = (PRIOR_WEIGHT * usual + tier.cost) / (PRIOR_WEIGHT + tier.errors)
    return score(*case.groups) * chance / cost


def forecast(
    cases: Iterable[Case], options: NightOptions, known: Experience, price: Price
) -> Forecast | None:
    """Return what analysing these cases will cost, proofs included; None where nothing is known.

    It is the mean of what errors of their tiers cost here and of what measured bugs would; the
    bounds hold about four nights of five.
    """
    every = sum(known.tiers, TierRecord())
    if _bounds(options, price) is None and not every.errors:
        return None
    total = doubt = variance = 0.0
    tiers = [(_record(tier_of(case), known), may_be_led(case)) for case in cases]
    for tier, is_led in tiers:
        weight = PRIOR_WEIGHT + tier.errors
        mean = every.cost / every.errors if every.errors else 0.0
        least, most = _bounds(options, price, is_led=is_led) or (mean, mean)
        total += (PRIOR_WEIGHT * (least + most) / 2 + tier.cost) / weight
        doubt += (most - least) / 2 * PRIOR_WEIGHT / weight  # of measured bugs: wrong for all alike
        if tier.errors:
            variance += max(tier.squares / tier.errors - (tier.cost / tier.errors) ** 2, 0.0)
    margin = doubt + LIKELY * sqrt(variance)
    cap = options.cost_per_night or total + margin
    return Forecast(
        model=options.model,
        errors=len(tiers),
        cost=min(total, cap),
        least=min(max(total - margin, 0.0), cap),
        most=min(total + margin, cap),
        cap=options.cost_per_night or None,
        paid=every.errors,
    )


def _bounds(
    options: NightOptions, price: Price, *, is_led: bool = True
) -> tuple[float, float] | None:
    """What an error costs at least, a lead that stands, and at most, one that does not; in USD."""
    least, most = (price(options.model, usage).cost for usage in (CHEAPEST, DEAREST))
    if options.lead_model and is_led and most is not None:
        least, more = (price(options.lead_model, usage).cost for usage in (CHEAPEST, DEAREST))
        most = None if more is None else most + more
    return None if least is None or most is None else (least, most)


def forecast_text(expected: Forecast) -> str:
    """Say it in a sentence.

    >>> forecast_text(Forecast(model="m", errors=3, cost=0.4, least=0.2, most=0.6, paid=30))
    '3 errors for about $0.40, on four nights of five $0.20 to $0.60, as 30 errors cost here'
    """
    cap = f"; the budget ends at {money(expected.cap)}" if expected.cap else ""
    bounds = f"on four nights of five {money(expected.least)} to {money(expected.most)}"
    basis = f"as {plural(expected.paid, 'error')} cost here"
    if not expected.paid:
        basis = f"as {MEASURED_BUGS} measured bugs cost, not counting thinking and proofs"
    errors = plural(expected.errors, "error")
    return f"{errors} for about {money(expected.cost)}, {bounds}, {basis}{cap}"


def _record(tier: TierName, known: Experience) -> TierRecord:
    return next((record for record in known.tiers if record.tier == tier), TierRecord(tier=tier))


def _tier(lesson: Lesson) -> TierName:
    named = ErrorGroup(fingerprint=lesson.fingerprint, source="", error_class=lesson.error_class)
    return tier_of(Case(leader=named))
