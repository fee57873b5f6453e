"""What a night will cost, and which of its errors are worth it first."""

import random

from analysis_shapes import DAY, case, group
from core.lesson_shapes import lesson

from nightwatch_core.analysis.forecast import (
    CHEAPEST,
    DEAREST,
    experience,
    forecast,
    forecast_text,
    worth,
)
from nightwatch_core.models.answer import Experience, TierRecord
from nightwatch_core.models.knowledge import OutcomeEvent
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import NightRecord

MODEL = NightOptions(model="m", cost_per_night=0)
EASY, HARD = case(error_class="KeyError"), case(error_class="ReadTimeout")


def price(model, usage):
    cost, share = {CHEAPEST: 0.10, DEAREST: 0.30}.get(usage), {"m": 1.0, "lead": 0.1}.get(model)
    return usage.model_copy(update={"cost": cost * share if share else None})


def tier(name, *costs, model="m"):
    squares = sum(cost**2 for cost in costs)
    return TierRecord(tier=name, model=model, errors=len(costs), cost=sum(costs), squares=squares)


def night(*tiers, **more):
    cost = sum(row.cost for row in tiers)
    told = {"id": "n", "status": "complete", "started": DAY, "cost": cost, "tiers": tiers}
    return NightRecord(**told | more)


def test_before_any_night_it_rests_on_measured_bugs():
    expected = forecast((EASY, HARD), MODEL, Experience(), price)
    assert (round(expected.cost, 6), expected.paid) == (0.40, 0)
    assert [round(bound, 6) for bound in (expected.least, expected.most)] == [0.20, 0.60]
    assert forecast_text(expected).endswith("not counting thinking and proofs")


def test_what_errors_cost_here_counts_more_the_more_there_were():
    few, many = (experience([night(tier("simple", *[0.8] * count))], (), "m") for count in (4, 400))
    means = [forecast((EASY,), MODEL, known, price).cost for known in (few, many)]
    assert [round(mean, 2) for mean in means] == [0.50, 0.79]
    assert round(forecast((HARD,), MODEL, many, price).cost, 2) == 0.20  # of another tier


def test_a_night_never_costs_more_than_its_cap():
    capped = MODEL.model_copy(update={"cost_per_night": 0.25})
    expected = forecast((EASY, HARD), capped, Experience(), price)
    assert (expected.cost, expected.most, expected.cap) == (0.25, 0.25, 0.25)


def test_a_model_of_unknown_price_is_forecast_from_its_own_nights_alone():
    unknown = MODEL.model_copy(update={"model": "local"})
    assert forecast((EASY,), unknown, Experience(), price) is None
    known = experience([night(tier("simple", 0.5, 0.5, model="local"))], (), "local")
    assert forecast((EASY,), unknown, known, price).cost == 0.5


def test_with_a_lead_an_error_costs_from_a_lead_that_stands_to_both_models():
    led = MODEL.model_copy(update={"lead_model": "lead"})
    expected = forecast((EASY, HARD), led, Experience(), price)
    assert [round(bound, 6) for bound in (expected.least, expected.most)] == [0.11, 0.63]
    nights = [night(tier("simple", 9.0), tier("simple", 0.2, model=led.analysts))]
    assert experience(nights, (), led.analysts).tiers[0].cost == 0.2


def test_nights_of_another_model_and_nights_without_a_cost_teach_no_price():
    others = (night(tier("simple", 9.0, model="other")), night(cost=None), night(cost=0.0))
    known = experience(others, (), "m")
    assert forecast((EASY,), MODEL, known, price).paid == 0
    assert known.cost == 9.0  # it was spent all the same


def test_four_nights_of_five_cost_what_was_said():
    chance = random.Random(7)

    def costs(count):
        return [min(chance.lognormvariate(-1.5, 0.7), 1.5) for _ in range(count)]

    inside = 0
    for _ in range(400):
        known = experience([night(tier("simple", *costs(5))) for _ in range(20)], (), "m")
        expected = forecast((EASY,) * 5, MODEL, known, price)
        inside += expected.least <= sum(costs(5)) <= expected.most
    assert 0.75 <= inside / 400 <= 0.9


def test_without_a_history_worth_is_the_rank():
    ranked = [case(group(f"v1:{n}", occurrences=n)) for n in (900, 30, 2)]
    values = [worth(item, Experience()) for item in ranked]
    assert values == sorted(values, reverse=True)


def test_an_error_whose_like_cost_less_and_was_merged_is_worth_more():
    merged = (OutcomeEvent(kind="merged", on=DAY.date(), number=4),)
    lessons = (
        *(lesson(f"{n}", error_class="KeyError", outcomes=merged) for n in range(6)),
        *(lesson(f"9{n}", error_class="ReadTimeout") for n in range(6)),
    )
    rows = (tier("simple", *[0.2] * 6), tier("complex", *[1.2] * 6))
    known = experience([night(*rows, merged=6)], lessons, "m")
    assert (known.merged, known.cost) == (6, sum(row.cost for row in rows))
    often = case(group(error_class="ReadTimeout", occurrences=40))
    seldom = case(group(error_class="KeyError", occurrences=9))
    assert worth(often, Experience()) > worth(seldom, Experience())
    assert worth(seldom, known) > worth(often, known)


def test_a_merge_that_a_night_for_nothing_noticed_counts():
    known = experience((night(cost=1.0), night(cost=None, merged=1)), (), "m")
    assert (known.cost, known.merged) == (1.0, 1)
