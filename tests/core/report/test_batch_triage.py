"""Batch triage: every kind of result, what came of it, in every rendering."""

import re
from typing import Any

import pytest
from core.report.golden_reports import printed
from core.report_fixture import HOSTILE, NOW, analysis, complete, group, view

from nightwatch_core.adapters.html.page import as_html
from nightwatch_core.adapters.slack.messages import messages
from nightwatch_core.models.analysis import Failure
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import BatchTriage, Sighting, SubmittedBatch
from nightwatch_core.models.batch import FirstSight, ItemResult
from nightwatch_core.models.errors import Case, DroppedGroup
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.blocks import BRIEF
from nightwatch_core.report.builder import add_batch_triage
from nightwatch_core.report.sections import UNJUDGED
from nightwatch_core.report.view import as_markdown


def sighting(number: int, said: FirstSight | str, **changes: object) -> Sighting:
    one = group(number, error_class=f"E{number}", occurrences=number)
    first = said if isinstance(said, FirstSight) else None
    kind = "answered" if first else said
    result = ItemResult(
        key=f"k{number}", fingerprint=one.fingerprint, kind=kind, first_sight=first, reason="why"
    )
    return Sighting(group=one, night="n", at=NOW, rank=number, result=result, **changes)


def sight(severity: str = "low", flagged: bool = False, cause: str = "A slip.") -> FirstSight:
    said = {"severity": severity, "likely_cause": cause, "category": "code_bug"}
    return FirstSight(**said, needs_deep_investigation=flagged)


def told(*judged: Sighting, **changes: object) -> RunReport:
    triage = BatchTriage(judged=judged, usage=Usage(calls=9, cost=0.5))
    report = complete(analyses=(), failures=(), dropped=(), batch_triage=triage)
    return report.model_copy(update=changes)


def shown_errors(report: RunReport) -> Any:
    return view(report).section("batch_triage").blocks[-1].items  # type: ignore[union-attr]


def test_what_came_of_each_is_said_the_worst_first() -> None:
    judged = (
        sighting(1, sight()), sighting(2, sight("medium", True)), sighting(3, sight("high", True)),
        sighting(4, sight("critical", True)), sighting(5, sight("high", True)),
        *(sighting(6 + at, kind) for at, kind in enumerate([*UNJUDGED][1:])),
    )  # fmt: skip
    failed = Failure(case=Case(leader=judged[2].group), reason="no answer")
    ignored = DroppedGroup(group=judged[4].group, kind="ignored", reason="ignored")
    found = analysis(4).model_copy(update={"case": Case(leader=judged[3].group)})
    night = told(*judged, analyses=(found,), failures=(failed,), dropped=(ignored,))
    entries = shown_errors(night)
    assert [(entry.head, entry.small) for entry in entries[:5]] == [
        ("critical, code bug: E4: 'EUR' · bookings/confirm (4)", "analysed: error 1 above"),
        ("high, code bug: E3: 'EUR' · bookings/confirm (3)", "its analysis failed: see above"),
        ("high, code bug: E5: 'EUR' · bookings/confirm (5)", "ignored since"),
        ("medium, code bug: E2: 'EUR' · bookings/confirm (2)", "to be analysed on a later night"),
        ("low, code bug: E1: 'EUR' · bookings/confirm (1)", "no further analysis"),
    ]
    assert [entry.small for entry in entries[5:]] == [
        f"{text} (why)" for text in [*UNJUDGED.values()][1:]
    ]


def test_an_earlier_word_stands_there_with_its_date_and_once() -> None:
    triage = BatchTriage(kept=(sighting(1, sight()),), judged=(sighting(2, sight()),))
    entries = shown_errors(complete(analyses=(), batch_triage=triage))
    assert [entry.small for entry in entries] == [
        "no further analysis (triaged 2026-11-20)", "no further analysis",
    ]  # fmt: skip


@pytest.mark.parametrize("render", [as_markdown, as_html, printed], ids=["md", "html", "terminal"])
def test_every_rendering_has_the_table(render) -> None:  # type: ignore[no-untyped-def]
    text = render(told(sighting(1, sight("critical", True)), sighting(2, "expired")))
    for part in ("Batch triage: 2 errors", "critical", "A slip.", "expired"):
        assert part in text
    assert "$0.50" in text


def test_slack_says_it_in_a_line() -> None:
    parent, *_ = messages(told(sighting(1, sight("critical", True)), sighting(2, "expired")))
    text = str(parent.blocks)
    assert "1 error triaged in a batch: 1 critical; 1 flagged for analysis" in text
    assert "A slip." not in text


def test_nothing_hostile_is_markup() -> None:
    sent = SubmittedBatch(id=HOSTILE, model=HOSTILE, errors=1)
    triage = BatchTriage(
        judged=(sighting(1, sight(cause=HOSTILE)),), running=(HOSTILE,), complaints=(HOSTILE,),
        submitted=(sent,),
    )  # fmt: skip
    report = complete(analyses=(), batch_triage=triage)
    assert not re.search("<script>|<img", as_html(report))
    assert "\x1b" not in printed(report)


def test_a_huge_tail_is_cut_and_says_so() -> None:
    many = told(*(sighting(n, sight()) for n in range(1, 400)))
    block = view(many, BRIEF).section("batch_triage").blocks[-1]
    assert (len(block.items), block.more) == (BRIEF.triage, 399 - BRIEF.triage)


def test_a_night_that_submits_says_how_to_go_on() -> None:
    sent = SubmittedBatch(id="msgbatch_1", model="m", errors=3)
    triage = BatchTriage(submitted=(sent,), cost="about $1.00, at most $2.00")
    options = NightOptions(batch_mode=True)
    said = {
        "Batch submitted: 3 errors (about $1.00, at most $2.00). Run with --collect": triage,
        "Dry run: a batch of 3 errors": triage.model_copy(
            update={"submitted": (sent.model_copy(update={"id": ""}),)}
        ),
        "3 errors wait for results": BatchTriage(awaited=3),
        "No batch was submitted": BatchTriage(),
    }
    for text, each in said.items():
        report = complete(analyses=(), failures=(), options=options, batch_triage=each)
        assert text in view(report).headline


def test_a_batch_that_brought_nothing_degrades_the_night_and_costs_are_added() -> None:
    silent = BatchTriage(judged=(sighting(1, "errored"),), usage=Usage(calls=1, cost=0.25))
    report = add_batch_triage(complete(usage=Usage(cost=1.0)), silent)
    assert report.status == "degraded"
    assert "none of 1 error was triaged" in report.degraded[-1]
    assert report.usage.cost == 1.25
    assert not report.batch_triage.judged, "thousands of errors are not handed from step to step"
