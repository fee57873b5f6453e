"""One cause behind several errors of a night, told in different words."""

from core.lesson_shapes import analysis, group, lesson, one_group

from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.errors import Case
from nightwatch_core.patterns.detection import same_cause


def found(name, **fields):
    told = {"evidence": (), "tags": (), "fix": ()}
    group = {key: fields.pop(key) for key in ("error_class", "transaction") if key in fields}
    return analysis(one_group(name, **group), **{**told, **fields})


def at(path, line):
    return (Evidence(path=path, line=line, verified=True),)


RATES = (
    "`RateTable#fetch` knows no rate for LU, so the invoice total is nil.",
    "New countries like LU have no entry in the rate table; RateTable#fetch answers nil unchecked.",
    "Nobody seeded the rate of LU, which `RateTable#fetch` takes for granted.",
)


def test_one_cause_in_other_words():
    told = [
        found(f"v1:{n}", root_cause=cause, evidence=at("app/rate.rb", line))
        for n, (cause, line) in enumerate(zip(RATES, (3, 3, 5), strict=True))
    ]
    other = found("v1:c", root_cause="`CouponBook#redeem` compares a nil date.", evidence=())
    (pattern,) = same_cause((*told, other), ())
    assert pattern.title == "One cause in app/rate.rb:3"
    assert pattern.fingerprints == ("v1:0", "v1:1", "v1:2")
    assert pattern.occurrences == 21
    assert pattern.suggestion.startswith("Fix app/rate.rb:3 first: `RateTable#fetch`")
    assert pattern.because[0] == "2 of 3 rest on app/rate.rb:3"
    assert "ratetable.fetch" in pattern.because[1]


def test_one_cause_without_a_shared_place():
    told = tuple(found(f"v1:{n}", root_cause=cause) for n, cause in enumerate(RATES[:2]))
    (pattern,) = same_cause(told, ())
    assert pattern.title == "One cause: lu, ratetable.fetch"


def test_one_cause_in_a_file_is_told_by_what_it_speaks_of():
    told = tuple(
        found(f"v1:{n}", root_cause=cause, evidence=at("app/rate.rb", 3 + n))
        for n, cause in enumerate(RATES[:2])
    )
    (pattern,) = same_cause(told, ())
    assert pattern.title == "One cause in app/rate.rb: lu, ratetable.fetch"
    assert pattern.because[0] == "2 of 2 rest on app/rate.rb"


def test_two_causes_in_one_line_have_two_titles():
    line = at("lib/dispatch.rb", 31)
    rates = [found(f"v1:{n}", root_cause=cause, evidence=line) for n, cause in enumerate(RATES)]
    cause = "ThumbMaker#crop loads every picture of an album at once."
    thumbs = [found(f"v1:t{n}", root_cause=cause, evidence=line) for n in (1, 2)]
    one, two = same_cause((*rates, *thumbs), ())
    assert one.slug != two.slug
    assert one.title.startswith("One cause in lib/dispatch.rb:31 (all causes speak of ")


def test_two_nil_errors_in_two_places_are_two():
    one = found(
        "v1:a",
        root_cause="The customer is nil and read without a check in OrdersController#show.",
        evidence=at("app/controllers/orders_controller.rb", 12),
    )
    two = found(
        "v1:b",
        root_cause="The warehouse is nil and read without a check in StockController#move.",
        evidence=at("app/controllers/stock_controller.rb", 40),
    )
    assert same_cause((one, two), ()) == []


def test_a_line_that_everything_passes_through_is_no_cause():
    line = at("lib/dispatch.rb", 31)
    one = found("v1:a", root_cause="`CouponBook#redeem` compares a nil date.", evidence=line)
    two = found("v1:b", root_cause="ThumbMaker loads every picture at once.", evidence=line)
    assert same_cause((one, two), ()) == []


def test_words_that_stand_in_many_lessons_weigh_less():
    told = tuple(
        found(f"v1:{n}", root_cause=cause, evidence=())
        for n, cause in enumerate(
            ("Shop tenant scope leaks into coupon dates.", "Shop tenant scope hides the picture.")
        )
    )
    filler = tuple(
        lesson(f"v1:old{n}", root_cause=f"Shop tenant scope number {n} is special.")
        for n in range(300)
    )
    assert len(same_cause(told, ())) == 1
    assert same_cause(told, filler) == []


def test_a_chain_of_neighbours_is_no_group():
    causes = (
        "alpha_loader beta_reader",
        "beta_reader gamma_writer",
        "gamma_writer delta_sender",
        "delta_sender epsilon_maker",
    )
    told = tuple(found(f"v1:{n}", root_cause=cause) for n, cause in enumerate(causes))
    assert all(len(pattern.fingerprints) < 4 for pattern in same_cause(told, ()))


def test_one_case_that_cites_a_line_twice_is_one_case():
    assert same_cause((found("v1:a", evidence=at("a.rb", 3) * 2),), ()) == []


def test_one_error_under_two_names_is_one_member():
    both = (found("v1:a", evidence=at("a.rb", 3)), found("v1:b", evidence=at("a.rb", 3)))
    assert same_cause(both, (lesson("v1:a", aliases=("v1:b",)),)) == []
    known = (lesson("v1:old", aliases=("v1:b",)),)
    assert same_cause(both, known)[0].fingerprints == ("v1:a", "v1:old")


def test_a_group_that_stands_in_two_cases_counts_once():
    shared = group("v1:s", occurrences=5)
    cases = [Case(leader=group(f"v1:{n}", occurrences=1), others=(shared,)) for n in (1, 2)]
    (pattern,) = same_cause(tuple(analysis(one) for one in cases), ())
    assert pattern.occurrences == 7


def test_a_night_of_many_errors_is_compared_in_part():
    causes = [f"Case {n} reads `thing_{n}` of {n * 7}." for n in range(400)]
    many = tuple(found(f"v1:{n}", root_cause=cause) for n, cause in enumerate(causes))
    assert same_cause(many, ()) == []
