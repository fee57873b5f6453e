"""Tests of how a second attempt is told: escaped, with its diff, and what became of it."""

import re

import pytest
from analysis_shapes import COMMIT, FIX, analysis

from nightwatch_core.models.proposals import Check, Correction, GateResult
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.finding_parts import told_in_report, with_gates
from nightwatch_core.publish.issue_text import FindingView, issue_body

RED = Check(name="tests", outcome="failed", text="red")


def section(told):
    body = issue_body(told, "k", "n")
    return "".join(
        re.findall(r"(?s)## (?:A second|First) attempt.*?(?=\n## |\n---\n|\n<details)", body)
    )


def told(outcome="failed", **more):
    attempt = Correction(outcome=outcome, first_failed="test_total is red", **more)
    result = "passed" if outcome == "passed" else "failed"
    gate = GateResult(outcome=result, text="red", checks=(RED,), correction=attempt)
    return FindingView(analysis(fix=(FIX,), gate=gate), (), COMMIT)


def test_an_issue_carries_the_attempt_and_what_failed():
    diff = "-line.price\n+line.cost"
    text = section(told(because="test_tax is red", diff=diff, output="boom ```\n@dana"))
    assert text.startswith("## A second attempt\n\nIt did not pass either: `test_tax` is red")
    assert "-line.price\n+line.cost" in text
    assert "````\nboom ```" in text


def test_a_draft_says_that_it_was_made_anew():
    text = section(told("passed", because="It asks @dana for `cost`."))
    assert "The first fix did not pass (`test_total` is red)" in text
    assert "`@dana`" in text


@pytest.mark.parametrize(
    ("outcome", "words"), [("not tried", "None was made: why"), ("failed", "It was not run: why")]
)
def test_why_there_is_none_is_said(outcome, words):
    assert words in section(told(outcome, because="why"))


def test_without_a_correction_nothing_is_said():
    assert section(FindingView(analysis(gate=GateResult(outcome="passed")), (), COMMIT)) == ""


def test_the_report_says_it_in_its_line():
    assert "a second attempt did not pass: why" in told_in_report(
        told(because="why", edits=(FIX,)).analysis
    )
    assert "made anew" not in told_in_report(told("not tried", because="why").analysis)


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
