"""Ignore rules without a model: what speaks for one, what against it, and what is missing."""

from datetime import UTC, date, datetime, timedelta

import pytest
from core.lesson_shapes import group, lesson, night, seen

from nightwatch_core.intake.ignore_rules import rules_from
from nightwatch_core.models.errors import Window
from nightwatch_core.models.knowledge import FixWatch, IgnoreRules, OutcomeEvent
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.ignore_suggestions import advise, is_rising
from nightwatch_core.patterns.nights import NightGroups
from nightwatch_core.patterns.signs import SIGNS
from tests.benchmarks.ignores_by_rules import KINDS, by_rules

GONE = "client disconnected before the response was sent"
AT = datetime(2031, 3, 3, 4, tzinfo=UTC)


def alone(name="v1:a", days=(1, 2, 3), occurrences=(7, 8, 7), **fields):
    """An error that the rules alone analysed, without a cause."""
    nights = [
        seen(day, confidence="low", occurrences=count)[0]
        for day, count in zip(days, occurrences, strict=False)
    ]
    told = {
        "error_class": "ClientDisconnect",
        "message": GONE,
        "transaction": "GET /feed",
        "module": "",
        "root_cause": "",
        "evidence": (),
        "confidence": "low",
        "model": "rules",
        "nights": tuple(nights),
    }
    return lesson(name, **{**told, **fields})


def kept(*lessons, days=(3, 2, 1), **fields):
    """The nights on which the lessons' errors came, newest first."""
    return tuple(
        NightGroups(
            window=Window(since=AT - timedelta(days=4 - day), until=AT - timedelta(days=3 - day)),
            groups=tuple(
                group(
                    item.fingerprint,
                    error_class=item.error_class,
                    message=item.message,
                    transaction=item.transaction,
                    **{"occurrences": sighting.occurrences, **fields},
                )
                for item in lessons
                for sighting in item.nights
                if sighting.date == date(2031, 3, day)
            ),
        )
        for day in days
    )


def advised(*lessons, nights=None, **fields):
    report = RunReport(
        night=night(3), options=NightOptions(source="file"), started=AT, finished=AT, **fields
    )
    return advise(report, lessons, IgnoreRules(), kept(*lessons) if nights is None else nights)


def test_a_client_that_went_away_three_nights_running():
    one = alone()
    (found,) = advised(one, nights=kept(one, users=4)).suggestions
    assert (found.match, found.field, found.pattern) == ("exact", "message", GONE)
    assert found.reason == "the client went away before the answer"
    assert found.evidence == (
        "seen on 3 of 3 nights from 2031-03-01 to 2031-03-03, 22 times, 7 to 8 a night, in "
        "1 transaction; at most 4 users a night; only the rules analysed it, and found no cause: "
        "ClientDisconnect in GET /feed"
    )
    test = found.backtest
    assert (test.nights, test.groups, test.occurrences, test.users) == (3, 1, 22, 4)


def test_that_it_comes_back_is_no_reason_and_the_advice_says_what_is_missing():
    crash = alone(error_class="Shop::Broken", message="the basket has no total at all")
    advice = advised(crash)
    assert advice.suggestions == ()
    (said,) = advice.missing
    assert said.startswith("1 error: only the rules analysed it")
    assert "close its issue as not planned" in said
    young = advised(alone(days=(3,)), alone("v1:b", days=(2, 3)))
    assert young.missing == ("2 errors: a suggestion needs 3 nights; 2 so far",)
    assert advised().missing == ()


def test_a_request_for_nothing_is_hidden_by_its_whole_message():
    told = {"error_class": "ActionController::RoutingError", "transaction": "GET /old.asp"}
    scan = alone(message='No route matches [GET] "/old.asp"', **told)
    (found,) = advised(scan).suggestions
    assert (found.match, found.pattern) == ("exact", 'No route matches [GET] "/old.asp"')
    assert (
        advised(scan, nights=kept(scan, users=0)).suggestions[0].evidence.count("no user affected")
    )
    in_code = scan.model_copy(update={"module": "app/orders.rb"})
    assert advised(in_code).suggestions == ()
    links = advised(scan, nights=kept(scan, users=6))
    assert links.missing == ("1 error: it fails for users: 6 on one night",)


def test_another_service_counts_once_it_came_back_to_life_twice():
    told = {"error_class": "Net::ReadTimeout", "message": "no answer from the rates service"}
    outage = alone(days=(1, 3, 5), **told)
    days = (5, 4, 3, 2, 1)
    (found,) = advised(outage, nights=kept(outage, days=days)).suggestions
    assert found.reason == "another service did not answer, and it passes by itself"
    assert "it went away by itself 2 times" in found.evidence
    stays = alone(**told)
    assert advised(stays).suggestions == ()


def test_what_rises_or_came_with_a_release_stays_in_sight():
    rising = alone(occurrences=(4, 9, 20))
    assert advised(rising).missing == ("1 error: it rises: 20 times on 2031-03-03",)
    assert not is_rising([8.0, 7.0, 8.0])
    later = alone("v1:b", days=(2, 3), occurrences=(7, 7), error_class="Other", message="of old")
    fresh = alone(days=(2, 3, 4), first_detected=date(2031, 3, 2))
    old = kept(alone("v1:c", days=(1,), message="of old"), days=(1,), releases=("1.0",))
    new = kept(fresh, days=(4, 3, 2), releases=("1.1",))
    began = advised(fresh, later, nights=(*new, *old))
    assert "1 error: it began with release 1.1" in began.missing
    same = kept(fresh, days=(4, 3, 2), releases=("1.0", "1.1"))
    assert advised(fresh, nights=(*same, *old)).suggestions


DECLINED = OutcomeEvent(
    kind="not planned", number=228, on=date(2031, 3, 2), words=("Known and\naccepted \x1b[31m",)
)


def test_what_people_accepted_is_proposed_at_once_in_their_words():
    told = {"error_class": "KeyError", "message": "the voucher of this basket is unknown"}
    accepted = alone(days=(3,), outcomes=(DECLINED,), issue_number=228, **told)
    known = accepted.model_copy(
        update={"root_cause": "It is.", "model": "claude", "has_fix": True, "confidence": "high"}
    )
    draft = OwnItem(kind="pull", number=229, fingerprint="v1:a")
    for item, report in ((accepted, {}), (known, {}), (known, {"outcomes": (draft,)})):
        (found,) = advised(item, **report).suggestions
        assert found.reason == (
            "known and accepted: issue #228 was closed as not planned on 2031-03-02: "
            "“Known and accepted”"
        )
        issue = OwnItem(
            kind="issue", number=228, fingerprint="v1:a", state="closed", closed_by="ann\n"
        )
        (named,) = advised(item, outcomes=(issue,)).suggestions
        assert "as not planned on 2031-03-02 by @ann: “Known and accepted”" in named.reason
        assert "as not planned on 2031-03-02 by @ann" in named.evidence
        (rule,) = rules_from(f"- pattern: {found.pattern!r}\n  match: {found.match}\n").rules
        assert rule.pattern == found.pattern


@pytest.mark.parametrize(
    "fields",
    [
        {"outcomes": (DECLINED, DECLINED.model_copy(update={"kind": "reopened"}))},
        {"watch": FixWatch(number=3, merged_at=AT)},
        {"error_class": "SecurityError"},
        {"days": (1, 2, 3), "occurrences": (2, 5, 30)},
    ],
)
def test_what_speaks_against_an_accepted_error(fields):
    told = {"outcomes": (DECLINED,), "message": "the voucher of this basket is unknown", **fields}
    assert advised(alone(**told)).suggestions == ()


def test_a_rule_covers_every_message_of_its_error():
    one = alone()
    told = {"messages": ((GONE, 5), ("could not write to the ledger", 2))}
    (found,) = advised(one, nights=kept(one, **told)).suggestions  # no rule over one message
    assert (found.field, found.pattern) == ("error_class", "ClientDisconnect")
    told = {"messages": ((GONE, 5), (f"{GONE} to 10.0.0.1", 2))}
    (found,) = advised(one, nights=kept(one, **told)).suggestions
    assert (found.match, found.pattern) == ("prefix", GONE.rpartition(" ")[0])
    assert "the rule covers each of its 2 messages" in found.evidence


def test_the_table_of_signs_is_lower_case_and_names_no_class_twice():
    listed = [name for sign in SIGNS.values() for name in sign.classes.split()]
    assert len(listed) == len(set(listed))
    texts = [*listed, *(text for sign in SIGNS.values() for text in sign.messages)]
    assert texts == [text.casefold() for text in texts]


def test_precision_and_recall_over_labelled_nights():
    figures = by_rules(0, 3)[1]
    precision, recall = (float(part.split()[-1]) for part in figures.split(",")[1:])
    assert precision >= 0.9
    assert recall >= 0.9
    assert sum(not kind.noise for kind in KINDS.values()) >= 7
