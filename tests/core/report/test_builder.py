from datetime import timedelta

import pytest
from analysis_shapes import COMMIT, DAY, analysis, case, group

from nightwatch_core.adapters.slack.messages import messages
from nightwatch_core.models.analysis import Failure
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import (
    CauseFindings,
    CodeTonight,
    PublishResult,
    RecallResult,
    UpdatedLessons,
    WaveResult,
)
from nightwatch_core.models.errors import DroppedGroup, Fetched, RejectedRecord, Selection, Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem, Receipt, Skip
from nightwatch_core.models.report import LearningResult, Night, WrittenLesson
from nightwatch_core.report import builder
from nightwatch_core.report.builder import add_publications

WINDOW = Window(since=DAY - timedelta(days=1), until=DAY)
OPENED = builder.start_report(
    Night(id="n1", window=WINDOW, now=DAY), NightOptions(), ("The sample night.",), DAY
)


def found(known=(), waves=(), selection=None, trouble="", **memory):
    return CauseFindings(
        selection=selection or Selection(),
        code=CodeTonight(commit=COMMIT),
        memory=RecallResult(known=known, **memory),
        waves=waves,
        troubles=(trouble,),
    )


def test_an_opened_report_knows_only_its_night():
    assert (OPENED.status, OPENED.errors, OPENED.analyses) == ("complete", 0, ())
    assert OPENED.banner == ("The sample night.",)
    assert OPENED.started == OPENED.finished == DAY


def test_errors_are_counted_and_drops_named():
    dropped = (DroppedGroup(group=group("v1:b"), reason="ignored"),)
    both = Fetched(groups=(group(), group("v1:b", occurrences=7)), window=WINDOW)
    report = builder.add_errors(OPENED, both, Selection(dropped=dropped))
    assert (report.errors, report.occurrences, report.dropped) == (2, 12, dropped)
    assert report.status == "complete"


def test_what_no_night_has_read_degrades_the_night():
    night = OPENED.night.model_copy(update={"left_out": "errors of May were never read"})
    report = builder.start_report(night, NightOptions(), (), DAY)
    assert (report.status, report.degraded) == ("degraded", ("errors of May were never read",))


REJECT = RejectedRecord(place="e.jsonl:1", reason="no class")


@pytest.mark.parametrize(
    ("told", "degraded", "complaints"),
    [
        ({}, (), ()),
        ({"groups": (group(),), "partial": ("b: down",)}, ("b: down",), ()),
        ({"left_out": ("60 lines",)}, (), ("not read: 60 lines",)),
        ({"rejects": (REJECT,) * 3}, ("3 of 3 records could not be read",), ()),
        ({"groups": (group(occurrences=10),), "rejects": (REJECT,)}, (), ()),
        (
            {"groups": (group(occurrences=9),), "rejects": (REJECT,)},
            ("1 of 10 records could not be read",), (),
        ),
    ],
)  # fmt: skip
def test_only_what_could_not_be_read_degrades_a_night(told, degraded, complaints):
    fetched = Fetched(window=WINDOW, **{"groups": (), **told})
    report = builder.add_errors(OPENED, fetched, Selection())
    assert (report.degraded, report.complaints) == (degraded, complaints)
    assert (report.status == "degraded") == bool(degraded)
    assert report.rejects == fetched.rejects


@pytest.mark.parametrize("whole", [True, False])
def test_a_report_knows_whether_reading_again_would_bring_more(whole):
    assert not OPENED.read_whole
    partial = Fetched(groups=(group(),), window=WINDOW, partial=("b: down",), whole=whole)
    report = builder.add_errors(OPENED, partial, Selection())
    assert (report.status, report.read_whole) == ("degraded", whole)


def test_findings_of_all_waves_and_of_memory():
    one, two, three = (case(group(f"v1:{n}")) for n in "abc")
    selection = Selection(kept=tuple(of.leader for of in (one, two, three)))
    waves = (
        WaveResult(analyses=(analysis(three, usage=Usage(calls=1, cost=0.5)),)),
        WaveResult(analyses=(analysis(two, usage=Usage(calls=2, cost=0.25)),)),
    )
    outcomes = (OwnItem(kind="issue", number=1, fingerprint="v1:a"),)
    report = builder.add_findings(
        OPENED, found((analysis(one),), waves, selection, complaints=("c",)), outcomes
    )
    assert [a.fingerprint for a in report.analyses] == ["v1:a", "v1:b", "v1:c"]
    assert report.usage == Usage(calls=3, cost=0.75)
    assert (report.commit, report.complaints) == (COMMIT, ("c",))
    assert report.outcomes == outcomes
    assert report.status == "complete"


def test_failures_are_counted_named_and_paid_for():
    failed = Failure(case=case(), reason="refused", usage=Usage(calls=4, cost=0.5))
    waves = (WaveResult(analyses=(analysis(),), failures=(failed,)), WaveResult())
    report = builder.add_findings(OPENED, found(waves=waves, trouble="no lessons"), ())
    assert report.failures == (failed,)
    which = "1 of 2 analyses failed: AttributeError in cart/show (refused)"
    assert report.degraded == ("no lessons", which)
    assert report.usage.calls == 4


@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_failed_analyses_are_named_in_one_bounded_line_whatever_they_say(count):
    leader = group(error_class="<!channel>`\n", transaction="x" * 500)
    failed = Failure(case=case(leader), reason="| @here\n## <https://evil.example|a>\n" * 90)
    text = builder.failed_text((failed,) * count, count)
    assert text.startswith(f"{count} of {count} anal")
    assert len(text) < 450
    assert "\n" not in text
    assert text.endswith(f"; {count - 2} more") is (count > 2)
    report = builder.degrade(OPENED, text)
    parent = messages(report)[0]
    for said in (parent.text, *(str(block) for block in parent.blocks)):
        assert "<!" not in said
        assert "<https://evil.example|" not in said
    assert "of " in parent.text


def test_acts_and_their_unknown_ends():
    told = {"key": "k", "kind": "issue", "fingerprint": "v1:a"}
    done, unknown = Receipt(**told, status="done"), Receipt(**told, status="unknown")
    skip = Skip(fingerprint="v1:a", title="T", kind="pull", reason="r")
    report = add_publications(OPENED, PublishResult(receipts=(done,), skips=(skip,)))
    assert (report.status, report.receipts, report.skips) == ("complete", (done,), (skip,))
    report = add_publications(OPENED, PublishResult(receipts=(done, unknown)))
    assert report.degraded == ("1 publication with an unknown result",)


def test_lessons_that_could_not_be_written_degrade_and_are_counted():
    upkeep = UpdatedLessons(
        troubles=("keeping a up: full", "keeping b up: full", "keeping c up: full")
    )
    kept = (
        WrittenLesson(file="errors/d.md", what="new"),
        WrittenLesson(file="errors/e.md", what="reused"),
    )
    told = builder.learning_result(OPENED, kept, (), upkeep)
    assert (told.new, told.refreshed, told.reused) == (1, 0, 1)
    report = builder.add_learning(OPENED, told)
    assert report.degraded == ("keeping a up: full (and 2 more)",)
    nothing = builder.learning_result(OPENED, (), (), UpdatedLessons())
    assert builder.add_learning(OPENED, nothing).status == "complete"
    assert builder.add_learning(OPENED, LearningResult(failure="disk full")).status == "degraded"


def test_troubles_add_up_and_empty_ones_do_nothing():
    assert builder.degrade(OPENED, "", "") is OPENED
    twice = builder.degrade(builder.degrade(OPENED, "a"), "", "b")
    assert (twice.status, twice.degraded) == ("degraded", ("a", "b"))


def test_failed_stays_failed():
    later = DAY + timedelta(hours=1)
    failed = builder.fail_report(OPENED, "no source", later)
    assert (failed.status, failed.finished) == ("failed", later)
    assert builder.degrade(failed, "and more").status == "failed"


def test_a_missing_right_degrades_the_night_an_ordinary_refusal_does_not():
    def with_receipt(barred):
        one = Receipt(
            key="k", kind="issue", fingerprint="v1:a", status="refused", reason="no", barred=barred
        )
        return add_publications(OPENED, PublishResult(receipts=(one,)))

    assert with_receipt(barred=False).status == "complete"
    assert with_receipt(barred=True).degraded == (
        "1 publication refused because of missing permissions: no",
    )
