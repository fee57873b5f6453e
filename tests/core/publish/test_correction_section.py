"""Tests of how a second attempt is told: escaped, with its diff, and what became of it."""

import pytest
from analysis_shapes import COMMIT, FIX, analysis

from nightwatch_core.models.proposals import Check, Correction, GateResult
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.finding import FindingView
from nightwatch_core.publish.issue_text import issue_body
from nightwatch_core.report.builder import with_gates

RED = Check(name="tests", outcome="failed", text="red")


def body(outcome="failed", **more):
    attempt = Correction(outcome=outcome, first_failed="test_total is red", **more)
    result = "passed" if outcome == "passed" else "failed"
    gate = GateResult(outcome=result, text="red", checks=(RED,), correction=attempt)
    told = FindingView(analysis(fix=(FIX,), gate=gate), (), COMMIT)
    return issue_body(told, "k", "n")


def test_an_issue_carries_the_attempt_and_what_failed():
    diff = "-line.price\n+line.cost"
    text = body(because="test_tax is red", diff=diff, output="boom ```\n@dana")
    assert "The second fix failed: `test_tax` is red." in text
    assert "<summary>The second fix</summary>" in text
    assert "-line.price\n+line.cost" in text
    assert "````\nboom ```" in text


def test_a_draft_says_that_it_was_made_anew():
    text = body("passed", because="It asks @dana for `cost`.")
    assert "The first fix failed: `test_total` is red. This is the second fix: It" in text
    assert "`@dana`" in text


def test_why_there_is_none_is_said():
    assert "No second fix was made: why." in body("not tried", because="why")


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_a_kept_finding_holds_its_edits_once(outcome):
    attempt = Correction(outcome=outcome, edits=(FIX,))
    gate = GateResult(
        outcome=outcome, correction=attempt, edits=(FIX,) if outcome == "passed" else ()
    )
    report = RunReport.model_construct(analyses=(analysis(fix=(FIX,)),))
    (kept,) = with_gates(report, ((analysis().fingerprint, gate),)).analyses
    assert (kept.fix, kept.gate.edits, kept.gate.correction.edits) == ((FIX,), (), ())
    assert bool(kept.gate.correction.diff) is (outcome == "failed")
