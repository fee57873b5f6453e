"""Tests of what issues and drafts say of what was run, and of fixes that did not pass."""

from analysis_shapes import FIX
from core.proof_shapes import FELL_THROUGH, LATE, PROVED, UNPROVED
from core.publish.test_proposals import EVERY, fix_of, issues, named, pulls, reasons

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.models.answer import Hypothesis
from nightwatch_core.models.proposals import Check, GateResult, Reproduction, not_run

HOSTILE = "@team <img src=x> ```\n# no heading"
RED = GateResult(
    outcome="failed",
    text=f"red with the fix: {HOSTILE}",
    checks=(Check(name="tests", outcome="failed", text=HOSTILE, output=f"E {HOSTILE}"),),
)
GREEN = GateResult(
    outcome="passed",
    executing=3,
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
    assert "the fix failed its checks" in reasons(plan)[0]
    (issue,) = issues(analysis).proposals
    assert "## No draft pull request: the fix failed its checks" in issue.body
    told, _, output = issue.body.partition("## No draft pull request: the fix failed its checks")[
        2
    ].partition("````")
    assert told.replace("`@team`", "").count("@team") == 0
    assert "\\<img src=x\\>" in told
    assert output.startswith("\nE @team")  # in a fence that is longer than any in it


def test_a_draft_says_what_was_run_and_what_came_of_it():
    (draft,) = pulls(with_gate(GREEN)).proposals
    assert "Nothing was run" not in draft.body
    for said in (
        "unittest: 5 tests, green",
        "`test_old`",
        "1 test that is flaky (",
        "`test_now`",
        "3 s",
    ):
        assert said in draft.body


def test_a_draft_says_why_nothing_was_run():
    (draft,) = pulls(with_gate(not_run("no sandbox", "install bubblewrap"))).proposals
    assert "No checks were run: there was no sandbox for them." in draft.body
    assert "bubblewrap" not in draft.body
    (bare,) = pulls(with_gate(None)).proposals
    assert "No checks were run." in bare.body


def test_a_suite_that_was_stopped_is_told_where_people_look():
    analysis = with_gate(GREEN.model_copy(update={"checks": (*GREEN.checks, LATE)}))
    (draft,), (issue,) = pulls(analysis).proposals, issues(analysis).proposals
    for shown in (draft.body.partition("<details><summary>All checks")[0], issue.body):
        assert f"- Not finished: {LATE.text}.\n" in shown
    assert "gate-seconds" not in draft.body + issue.body


def test_why_nothing_reproduces_is_said_as_text():
    none = Reproduction(outcome="not reproduced", because=HOSTILE)
    (draft,) = pulls(with_gate(GREEN.model_copy(update={"reproduction": none}))).proposals
    assert "Not reproduced" in draft.body
    assert draft.body.replace("`@team`", "").count("@team") == 0


def test_what_was_not_tried_because_enough_was_waits():
    plan = pulls(with_gate(not_run("enough", "enough fixes were tried")))
    assert [skip.cause for skip in plan.skips] == ["limit"]


def test_of_a_long_crash_the_end_is_quoted():
    long = PROVED.reproduction.model_copy(update={"red": "frame\n" * 9_000 + "KeyError: 'EUR'"})
    (draft,) = pulls(with_gate(PROVED.model_copy(update={"reproduction": long}))).proposals
    assert "KeyError: 'EUR'" in draft.body


def test_a_draft_quotes_its_crash_red_and_green_and_says_how_to_reject_it():
    crash = named(1, fix=fix_of(1), gate=PROVED, next_steps=("Mend IPv6, too.",))
    options = EVERY.model_copy(update={"delivery": "github"})
    (draft,) = pulls(crash, options=options).proposals
    order = ("unknown contributor", "`AttributeError` in `page/1`**: 5 times",
             "the crash was repro",
             "## Root cause", "## Change", "## Proof", "Reproduced (2 tries, 11 s)",
             "Before the change", "KeyError: 'EUR'", "With the change", "## Risk",
             "## Next steps\n\n- Mend IPv6, too.",
             "## If you reject it", "Close it without merging")  # fmt: skip
    places = [draft.body.index(words) for words in order]
    assert places == sorted(places)
    assert "The first fix failed" in draft.body
    assert "no test reproduces" not in draft.body
    local = pulls(crash, options=EVERY.model_copy(update={"delivery": "local"})).proposals[0]
    assert "Set `state: closed` at the top of this file" in local.body


def test_what_is_green_but_not_reproduced_says_so_where_risk_is_weighed():
    (draft,) = pulls(with_gate(UNPROVED)).proposals
    assert "Not reproduced (3 tries): it needs a feed." in draft.body
    assert "no test reproduces the crash" in draft.body


def test_a_failed_fix_carries_both_attempts_and_what_they_printed():
    analysis = with_gate(FELL_THROUGH)
    (issue,) = issues(analysis, drafts=pulls(analysis).skips).proposals
    for said in ("No draft pull request: the fix failed its checks", "The second fix failed",
                 "Reproduction skipped: there is no test framework", "Read: `shop/cart.py`",
                 "AssertionError: 4 != 5", "AssertionError: 3 != 4"):  # fmt: skip
        assert said in issue.body
    assert issue.body.count("the fix failed its checks") == 1


def test_a_reason_for_which_nothing_was_run_is_told_once():
    lacking = "the project's tests cannot be run: its dependencies were not installed"
    none = Reproduction(outcome="not tried", because=lacking)
    (draft,) = pulls(
        with_gate(not_run("not prepared", "").model_copy(update={"reproduction": none}))
    ).proposals
    assert draft.body.count("dependencies were not installed") == 1


def test_no_fix_is_a_result_that_says_what_was_checked_and_what_would_settle_it():
    ruled = Hypothesis(statement="The feed is empty", standing="ruled out", because="it has rows")
    analysis = named(1, hypotheses=(ruled,), next_steps=("Log the line.",))
    (issue,) = issues(analysis, drafts=pulls(analysis).skips).proposals
    for said in ("## Why there is no fix", "No draft pull request: no fix is proposed.",
                 "Read: `shop/cart.py`", "Ruled out: The feed is empty, because it has rows.",
                 "## Next steps\n\n- Log the line."):  # fmt: skip
        assert said in issue.body
    assert issue.body.count("it has rows") == 1


def test_a_policy_that_forbids_the_fix_is_told_in_the_issue():
    risky = named(1, fix=(FIX.model_copy(update={"new": "os.system(line.price)"}),))
    (issue,) = issues(risky, drafts=pulls(risky).skips).proposals
    assert "## Why there is no draft pull request" in issue.body
    assert "starts processes" in issue.body


def test_what_would_be_published_and_is_not_what_passed_is_no_draft():
    (draft,) = pulls(with_gate(GREEN.model_copy(update={"fix": fix_digest(fix_of(1))}))).proposals
    assert draft.fix == fix_digest(fix_of(1))
    for other in ({"fix": "f1:000000000000"}, {"edits": fix_of(2)}):
        plan = pulls(with_gate(GREEN.model_copy(update=other)))
        assert reasons(plan) == ["the fix to publish is not the fix that passed its checks"]
