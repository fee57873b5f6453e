"""Tests of what issues and drafts say of what was run, and of fixes that did not pass."""

from core.publish.test_proposals import fix_of, issues, named, pulls, reasons

from nightwatch_core.models.gate import Check, GateResult, not_run
from nightwatch_core.publish.gate_section import told_in_report

HOSTILE = "@team <img src=x> ```\n# no heading"
RED = GateResult(
    outcome="failed",
    text=f"red with the fix: {HOSTILE}",
    checks=(Check(name="tests", outcome="failed", text=HOSTILE, output=f"E {HOSTILE}"),),
)
GREEN = GateResult(
    outcome="passed",
    checks=(Check(name="tests", outcome="passed", text="unittest: 5 tests, green", seconds=1),),
    preexisting=("test_old",),
    flaky=("test_now",),
    seconds=3,
)


def with_gate(gate):
    return named(1, fix=fix_of(1), gate=gate)


def test_a_fix_that_did_not_pass_is_no_draft_and_its_issue_tells_of_the_attempt():
    analysis = with_gate(RED)
    plan = pulls(analysis)
    assert not plan.proposals
    assert "it was run and did not pass" in reasons(plan)[0]
    (issue,) = issues(analysis).proposals
    assert "## The fix was tried, and did not pass" in issue.body
    told, _, output = issue.body.partition("## The fix was tried")[2].partition("````")
    assert told.replace("`@team`", "").count("@team") == 0
    assert "\\<img src=x\\>" in told
    assert output.startswith("\nE @team")  # in a fence that is longer than any in it


def test_a_draft_says_what_was_run_and_what_came_of_it():
    (draft,) = pulls(with_gate(GREEN)).proposals
    assert "nothing was run" not in draft.body
    for said in ("unittest: 5 tests, green", "`test_old`", "flaky", "`test_now`", "(3 s)"):
        assert said in draft.body


def test_a_draft_says_why_nothing_was_run():
    (draft,) = pulls(with_gate(not_run("no sandbox", "install bubblewrap"))).proposals
    assert "nothing was run: install bubblewrap" in draft.body
    assert "What was run" not in draft.body
    (bare,) = pulls(with_gate(None)).proposals
    assert "nothing was run." in bare.body


def test_what_was_not_tried_because_enough_was_waits():
    plan = pulls(with_gate(not_run("enough", "enough fixes were tried")))
    assert [skip.cause for skip in plan.skips] == ["limit"]


def test_the_report_says_it_in_a_line():
    assert told_in_report(with_gate(GREEN)) == (
        "passed: unittest: 5 tests, green; red before as well: 1; flaky: test_now"
    )
    assert told_in_report(with_gate(None)) == ""
