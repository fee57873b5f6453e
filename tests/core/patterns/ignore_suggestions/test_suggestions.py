"""Ignore rules are suggested with numbers, narrowly, back-tested, and never for a name alone."""

from datetime import UTC, date, datetime, timedelta

import pytest
from core.lesson_shapes import analysis, group, lesson, night, one_group, seen

from nightwatch_core.models.errors import Window
from nightwatch_core.models.knowledge import (
    Backtest,
    FixWatch,
    IgnoreRule,
    IgnoreRules,
    OutcomeEvent,
    OutcomeUpdate,
    PublishedItem,
)
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem, Receipt
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.ignore_suggestions import advise, rule_from
from nightwatch_core.patterns.nights import NightGroups

MESSAGE = "connection to the rates service was reset"
DAY = date(2031, 3, 2)
WATCH = FixWatch(number=3, merged_at=datetime(2031, 3, 1, tzinfo=UTC))
RECEIPT = Receipt(key="k", kind="issue", fingerprint="v1:a", status="done", number=4)


def noise(name="v1:a", **fields):
    told = {"message": MESSAGE, "nights": seen(1, 2, 3, confidence="low")}
    return lesson(name, **{**told, **fields})


def report(**fields) -> RunReport:
    at = datetime(2031, 3, 3, 4, tzinfo=UTC)
    options = NightOptions(source="file")
    return RunReport(night=night(3), options=options, started=at, finished=at, **fields)


def on(day: int, *groups) -> NightGroups:
    until = datetime(2031, 3, 1, 4, tzinfo=UTC) + timedelta(days=day - 1)
    return NightGroups(window=Window(since=until - timedelta(days=1), until=until), groups=groups)


def nights_of(*lessons, days=(3, 2, 1)) -> tuple[NightGroups, ...]:
    """Nights on which the lessons' errors were seen, as the lessons tell."""
    return tuple(on(day, *(as_seen(one) for one in lessons)) for day in days)


def as_seen(one, **fields):
    names = ("error_class", "message", "transaction")
    return group(one.fingerprint, **{name: getattr(one, name) for name in names}, **fields)


def event(kind, number=3):
    return (OutcomeEvent(kind=kind, number=number, on=DAY),)


def item(kind, outcome=""):
    return (PublishedItem(kind=kind, number=3, on=DAY, outcome=outcome),)


def suggested(*lessons, rules=(), nights=None, told=None):
    tried = nights if nights is not None else nights_of(*lessons)
    return advise(told or report(), lessons, IgnoreRules(rules=rules), tried).suggestions


def test_what_only_the_rules_did_not_know_is_no_noise():
    unknown = {"root_cause": "", "evidence": ()}
    assert suggested(noise(model="rules", **unknown)) == ()
    assert suggested(noise(model="claude", **unknown))
    assert suggested(noise(model="rules"))


def test_unexplained_on_three_nights():
    (one,) = suggested(noise())
    assert rule_from(one) == IgnoreRule(
        pattern=MESSAGE,
        match="exact",
        field="message",
        reason="no cause was found in the code",
        expires=date(2031, 4, 2),
        unless_rate_above=30,
    )
    assert one.evidence == (
        "seen on 3 of 3 nights from 2031-03-01 to 2031-03-03, 21 times, 7 a night, in "
        "1 transaction; no fix is known; confidence was low on 3 of 3 sightings: "
        "Billing::RateMissing in Controller/invoices/create"
    )
    assert one.backtest == Backtest(nights=3, groups=1, occurrences=21)


GONE_TWICE = nights_of(noise(), days=(5,)) + (on(4),) + nights_of(noise(), days=(3,)) + (on(2),)


def test_transient_and_it_went_away_twice():
    shown = (*GONE_TWICE, *nights_of(noise(), days=(1,)))
    (one,) = suggested(noise(nights=seen(1, 3, 5), tags=("transient",)), nights=shown)
    assert one.reason == "passes by itself"
    assert "; it went away by itself 2 times: " in one.evidence
    tagged = analysis(one_group("v1:a"), fix=(), tags=("Transient",))
    assert suggested(noise(nights=seen(1, 3, 5)), nights=shown, told=report(analyses=(tagged,)))
    assert not suggested(noise(nights=seen(1, 3, 5)), nights=shown)


def test_a_name_alone_is_no_evidence():
    named = noise(error_class="Rates::Transient", nights=seen(1, 3, 5), tags=("transient",))
    shown = tuple(on(day, *(as_seen(named),) * (day % 2)) for day in (5, 4, 3, 2, 1))
    assert suggested(named, nights=shown) == ()
    stays = noise(tags=("transient",), nights=seen(1, 2, 3))
    assert suggested(stays) == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"nights": seen(1, 2, confidence="low")},
        {"nights": ()},
        {"has_fix": True},
        {"pr_number": 3},
        {"issue_number": 3},
        {"nights": seen(1, 2, confidence="low") + seen(3)},
        {"nights": seen(1, 2, 3)},
        {"nights": seen(1, 2, 3, confidence="")},
        {"error_class": "SecurityError"},
        {"outcome": "verified"},
        {"outcomes": event("closed")},
        {"outcomes": event("reopened")},
        {"outcomes": event("merged")},
        {"proposed": item("issue")},
        {"proposed": item("pull", "edited before merge")},
        {"watch": WATCH},
    ],
)
def test_what_is_not_suggested(fields):
    assert suggested(noise(**fields)) == ()


def test_an_issue_that_people_do_not_plan_speaks_for_it():
    declined = {"outcomes": event("not planned"), "issue_number": 3}
    (one,) = suggested(noise(**declined))
    assert "; issue #3 was closed as not planned on 2031-03-02: Billing" in one.evidence
    assert one.reason == "known and accepted: issue #3 was closed as not planned on 2031-03-02"


OPEN = OwnItem(kind="issue", number=9, fingerprint="v1:other")


@pytest.mark.parametrize(
    "fields",
    [
        {"outcomes": (OPEN.model_copy(update={"fingerprint": "v1:a"}),)},
        {"receipts": (RECEIPT,)},
        {"followed": (OutcomeUpdate(fingerprint="v1:a", watch=WATCH),)},
        {"analyses": (analysis(one_group("v1:a")),)},
    ],
)
def test_what_is_known_tonight_speaks_against_it(fields):
    assert suggested(noise(), told=report(**fields)) == ()
    assert suggested(noise("v1:b", aliases=("v1:a",)), told=report(**fields)) == ()


def test_the_tracker_knows_better_than_a_lesson():
    remembered = noise(proposed=item("issue"))
    closed = OwnItem(kind="issue", number=3, fingerprint="v1:a", state="closed")
    assert suggested(remembered) == ()
    assert suggested(remembered, told=report(outcomes=(closed, OPEN)))


@pytest.mark.parametrize(
    "rule",
    [
        IgnoreRule(pattern="RATES SERVICE", field="message"),
        IgnoreRule(pattern="RATES SERVICE", unless_rate_above=0.5),  # does not hold tonight
        IgnoreRule(pattern="Billing::*", match="glob", expires=date(2031, 3, 3)),
    ],
)
def test_nothing_that_a_rule_covers(rule):
    assert suggested(noise(), rules=(rule,)) == ()


def test_an_expired_rule_is_not_in_the_way():
    old = IgnoreRule(pattern="rates service", expires=date(2031, 3, 2))
    assert suggested(noise(), rules=(old,))


@pytest.mark.parametrize("shown", [(), nights_of(noise(), days=(3, 2)), (on(3), on(2), on(1))])
def test_without_three_nights_to_try_it_on_nothing_is_suggested(shown):
    assert suggested(noise(), nights=shown) == ()


@pytest.mark.parametrize(
    "other",
    [
        lesson("v1:z", error_class="Else", message=MESSAGE, outcomes=event("merged", None)),
        lesson("v1:z", error_class="Else", message=MESSAGE, has_fix=True),
        lesson("v1:z", error_class="Else", message=MESSAGE, nights=seen(1, confidence="low")),
        lesson("v1:z", message=MESSAGE, nights=seen(1)),
        noise("v1:z", transaction="jobs/other", proposed=item("issue")),
    ],
)
@pytest.mark.parametrize("was_seen", [True, False])
def test_a_rule_that_hides_more_than_noise_is_not_suggested(other, was_seen):
    shown = nights_of(noise(), other) if was_seen else nights_of(noise())
    assert suggested(noise(), other, nights=shown) == ()


def test_an_error_nobody_has_looked_at_is_not_known_to_be_noise():
    stranger = group("v1:z", error_class="Else", message=MESSAGE)
    nights = tuple(on(day, as_seen(noise()), stranger) for day in (3, 2, 1))
    assert suggested(noise(), nights=nights) == ()


def test_the_same_failure_at_another_place_is_noise():
    elsewhere = group("v1:z", message=MESSAGE, transaction="jobs/other", occurrences=1)
    nights = tuple(on(day, as_seen(noise()), elsewhere) for day in (3, 2, 1))
    (one,) = suggested(noise(), nights=nights)
    assert one.backtest.groups == 2


def test_a_message_that_varies_gives_its_start_or_the_class():
    early = noise(message="reset by 10.0.0.1")
    (one,) = suggested(early)
    assert (one.field, one.match) == ("error_class", "exact")
    serious = lesson("v1:z", message="no such table", has_fix=True, nights=seen(3))
    assert suggested(early, serious) == ()
    late = noise(message="the rates service reset us from 10.0.0.1")
    (one,) = suggested(late)
    assert (one.match, one.pattern) == ("prefix", "the rates service reset us from")


PROBE = {"error_class": "HTTPException", "message": "bot probe /wp-config.bak"}


def test_a_bot_probe_hides_no_other_http_exception():
    probe = noise(transaction="GET /wp-config.bak", **PROBE)
    other = lesson("v1:z", **{**PROBE, "message": "boom"}, transaction="GET /orders", has_fix=True)
    (one,) = suggested(probe, other)
    assert (one.field, one.match, one.pattern) == ("transaction", "exact", "GET /wp-config.bak")
    assert suggested(noise(transaction="", **PROBE)) == ()


def test_an_error_that_jumps_is_news():
    counts = {3: 500, 2: 5, 1: 5}
    nights = tuple(on(day, as_seen(noise(), occurrences=n)) for day, n in counts.items())
    assert suggested(noise(), nights=nights) == ()


def test_errors_of_one_rule_are_one_suggestion_and_the_loudest_comes_first():
    quiet = noise("v1:q", error_class="Q::A", message="the printer ran out of paper again")
    same = noise("v1:b", transaction="jobs/other")
    first, second = suggested(quiet, noise(), same)
    assert "42 times" in first.evidence
    assert first.backtest == Backtest(nights=3, groups=2, occurrences=42)
    assert second.pattern == "the printer ran out of paper again"


def test_hostile_text_is_no_pattern():
    text = "\x1b[31mred\u202e text that is long enough"
    hostile = noise(message=text, error_class="A\x00::B", transaction="jobs/\u202eb")
    assert suggested(hostile) == ()
