"""The health of a night: who answered, who did not since when, and what is due."""

from datetime import timedelta

import pytest
from core.proof_shapes import LATE, SUITE
from core.report.golden_reports import printed
from core.report_fixture import NOW, analysis, complete, empty, failed, shown
from tables import tables_of

from nightwatch_core.adapters.html.page import as_html
from nightwatch_core.adapters.slack.messages import messages
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.options import NightOptions, ServiceCalls, StateFolder
from nightwatch_core.models.proposals import GateResult, not_run
from nightwatch_core.models.report import NightRecord
from nightwatch_core.publish.blocks import FULL, Entries, Paragraphs
from nightwatch_core.report.health import HealthFacts, health
from nightwatch_core.report.view import as_markdown, record_of, view

TABLES = tables_of(__file__)

CONNECTED = NightOptions(
    source="newrelic", code="github", model="claude-opus-5-5", delivery="github", notify="slack"
)
ROOM = StateFolder(free=2**36, size=2**37)
WELL = tuple(
    ServiceCalls(service=name, requests=n)
    for n, name in enumerate(("New Relic", "GitHub", "Claude", "Slack"), 10)
)


def _night(*calls: ServiceCalls, **changes: object):
    facts = HealthFacts(calls=calls or WELL, lessons=12, state=ROOM)
    report = empty(options=CONNECTED, **changes)
    return report.model_copy(update={"health": health(report, facts)})


def test_a_healthy_night_is_one_line():
    assert view(_night()).section("health").blocks == (
        Paragraphs(
            text="All services answered: New Relic (10 requests), GitHub (11 requests), "
            "Claude (12 requests), "
            "Slack (13 requests), knowledge (12 lessons), Prefect's store."
        ),
    )
    assert (
        view(_night(), FULL.model_copy(update={"good_health": False})).section("health").blocks
        == ()
    )
    assert record_of(_night()).well == ("New Relic", "GitHub", "Claude", "Slack")


def test_a_service_that_is_away_says_since_when():
    away = ServiceCalls(
        service="GitHub", requests=4, unanswered=3, refused=1, trouble="GitHub cannot be reached",
        is_last_well=False,
    )  # fmt: skip
    earlier = tuple(
        NightRecord(id=f"n{day}", status="complete", started=NOW - timedelta(days=day), well=well)
        for day, well in ((1, ()), (2, ("GitHub",)), (3, ("GitHub", "Claude")))
    )
    report = empty(options=CONNECTED)
    facts = HealthFacts(calls=(WELL[0], away), earlier=earlier, lessons=0, state=ROOM)
    told = health(report, facts)
    assert {one.name: one.state for one in told.services} == {
        "New Relic": "well",
        "GitHub": "away",
        "Claude": "not asked",
        "knowledge": "well",
        "Prefect's store": "well",
    }
    entries, rest = view(report.model_copy(update={"health": told})).section("health").blocks
    assert isinstance(entries, Entries)
    (entry,) = entries.items
    assert (entry.head, entry.text) == ("GitHub did not answer", "GitHub cannot be reached")
    assert entry.small == "4 requests, 3 without an answer, 1 refused"
    assert entry.more == (f"last worked on {NOW - timedelta(days=2):%Y-%m-%d}",)
    assert isinstance(rest, Paragraphs)
    assert "Not used: Claude." in rest.text


@pytest.mark.parametrize(("calls", "head"), TABLES["test_how_a_service_was_is_said_as_it_was"])
def test_how_a_service_was_is_said_as_it_was(calls: dict[str, object], head: str):
    told = ServiceCalls.model_validate({"service": "Claude", "requests": 9} | calls)
    assert shown(_night(told), "health").items[0].head == head


def test_a_service_beside_the_options_is_told_too():
    facts = HealthFacts(calls=(WELL[2],), lessons=0, state=ROOM)  # batches of a night of rules
    told = health(empty(options=NightOptions(source="file", model="rules")), facts)
    assert [one.name for one in told.services][0] == "Claude"


def test_what_cannot_be_kept_or_read_is_away():
    report = failed()
    facts = HealthFacts(knowledge_trouble="no right to read", records_trouble="it keeps nothing")
    told = health(report, facts)
    assert [(one.name, one.detail) for one in told.services if one.state == "away"] == [
        ("knowledge", "no right to read"),
        ("Prefect's store", "it keeps nothing"),
    ]


@pytest.mark.parametrize(
    ("facts", "due"),
    [
        ({}, ()),
        (
            {"calls": (WELL[1].model_copy(update={"expires": NOW + timedelta(days=5)}),)},
            ("the credentials for GitHub expire on 2026-11-25: renew them",),
        ),
        ({"calls": (WELL[1].model_copy(update={"expires": NOW + timedelta(days=60)}),)}, ()),
        (
            {"model_note": "retires 2026-11-30: another takes its place"},
            ("claude-opus-5-5 retires 2026-11-30: another takes its place",),
        ),
        (
            {"state": StateFolder(free=2**29, size=2**37)},
            ("0.5 GiB are free on the disk of the state folder",),
        ),
    ],
)
def test_what_is_due(facts: dict[str, object], due: tuple[str, ...]):
    values = {"calls": WELL, "lessons": 12, "state": ROOM} | facts
    told = health(empty(options=CONNECTED), HealthFacts.model_validate(values))
    assert told.due == due
    assert told.is_good == (not due)


def test_advice_about_untested_fixes_is_given_once_and_to_whoever_runs_it():
    away = not_run("not prepared", "its dependencies are not here: set NIGHTWATCH_LIBRARIES")
    fixes = tuple(analysis(number, gate=away) for number in (1, 2, 3))
    report = complete(analyses=fixes)
    told = health(report, HealthFacts(calls=WELL, lessons=1, state=ROOM))
    assert told.is_good
    night = report.model_copy(update={"health": told})
    for rendered in (as_markdown(night), as_html(night)):
        assert rendered.count("NIGHTWATCH_LIBRARIES") == 1
        assert "3 fixes were not tested" in rendered
    assert "NIGHTWATCH_LIBRARIES" not in str(messages(night))


def test_a_suite_that_was_stopped_is_in_the_report_with_the_option_that_gives_it_more_time():
    gate = GateResult(outcome="passed", checks=(SUITE, LATE))
    report = complete(analyses=(analysis(1, gate=gate),))
    night = report.model_copy(update={"health": health(report, HealthFacts(calls=WELL))})
    for rendered in (as_markdown(night), as_html(night), printed(night, 900)):
        assert "Not finished: pytest: the whole suite (stopped after 95 s" in rendered
        assert "1 fix was not tested by the whole suite: raise " in rendered
        assert rendered.count("--gate-seconds") == 1


def test_old_prices_and_gaps_are_due():
    report = empty(options=CONNECTED, usage=Usage(priced="2026-05-01"))
    night = report.night.model_copy(update={"left_out": "3 h before the window were never read"})
    report = report.model_copy(update={"night": night})
    told = health(report, HealthFacts(calls=WELL, lessons=1, state=ROOM))
    assert told.due == (
        "3 h before the window were never read",
        "prices are 6 months old (2026-05-01): costs may be wrong",
    )
    block = view(report.model_copy(update={"health": told})).section("health").blocks[0]
    assert isinstance(block, Entries)
    assert [one.head for one in block.items] == ["Due", "Due"]
