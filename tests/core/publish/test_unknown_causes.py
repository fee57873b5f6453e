"""Nothing is published of an error without a known cause, unless issues are asked for."""

import pytest
from analysis_shapes import COMMIT, DAY, FILES, FIX, analysis, case, group

from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Handover
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OpenIssue, OwnItem, Reopen
from nightwatch_core.publish.expected_value import in_order
from nightwatch_core.publish.plan import plan_issues, plan_pulls

NIGHT = "2026-11-20-abcdef"
ASKED = NightOptions(issues_for_unknown=True, max_issues=50)
KNOWN = Handover(
    unknown="why `line` has no price",
    path="shop/cart.py",
    line=2,
    lines=("def total(lines):", "    return sum(line.price for line in lines)"),
    first_line=1,
    value="`line` is None",
    last_change="Ann, 2026-11-02: Count lines (#7, 1a2b3c4d5e)",
    look_at=("Find out who adds a line without a price.",),
)


def finding(number, **more):
    of = case(group(f"v1:{number}", transaction=f"page/{number}"))
    return analysis(of.model_copy(update={"signature": ""}), **more)


def unknown(number=1, **more):
    told = {"confidence": "low", "handover": KNOWN, "title": "The price is lost", **more}
    return finding(number, **told)


def known(number=2, **more):
    return finding(number, **more)


def item(**more):
    told = {"key": "k" * 16, "night": "2026-11-01-000000", "fingerprint": "v1:1", "number": 7}
    return OwnItem(kind="issue", **{**told, **more})


def issues(*analyses, own=(), options=NightOptions()):  # noqa: B008
    return plan_issues(analyses, own, options, COMMIT, NIGHT)


CLOSED = item(state="closed", state_reason="completed", closed_at=DAY.replace(day=1))


def test_a_closed_issue_is_opened_again_for_it():
    plan = issues(unknown(), known(), own=(CLOSED,))
    (reopened,) = (one for one in plan.proposals if isinstance(one, Reopen))
    assert (reopened.kind, reopened.number) == ("reopen", 7)
    assert "why `line` has no price" in reopened.body
    waits = {"ending": Ending(kind="reused"), "unsettled_nights": 2, "waiting": "seen since …"}
    assert issues(unknown(**waits), own=(CLOSED,)).proposals[0].kind == "reopen"
    measured = known(1, ending=Ending(kind="reused"), waiting="its fix was merged in #4")
    assert issues(measured, own=(CLOSED,)).proposals == ()


@pytest.mark.parametrize("own", [(), (item(),)], ids=["new", "open"])
def test_it_is_skipped_with_its_cause_whatever_there_is(own):
    plan = issues(unknown(), known(), own=own)
    assert [one.fingerprint for one in plan.proposals] == ["v1:2"]
    [skip] = plan.skips
    assert (skip.cause, skip.reason) == ("unknown", "cause unknown: listed in the report only")


def test_a_draft_is_never_made_of_it():
    fixed = unknown(fix=(FIX,))
    for options in (NightOptions(), ASKED):
        plan = plan_pulls((fixed,), (), (), options, COMMIT, FILES.get, NIGHT)
        assert plan.proposals == ()
    assert [skip.reason for skip in plan.skips] == ["no fix is proposed: cause unknown"]


def test_quoting_the_same_line_makes_no_twins():
    plan = issues(known(), unknown())
    assert [one.also for one in plan.proposals] == [()]


def test_known_causes_come_first():
    weak, best = known(3, confidence="low", next_steps=()), unknown(1, next_steps=("Look.",))
    assert in_order((best, weak)) == (weak, best)


def test_asked_for_it_is_an_issue_that_claims_nothing():
    [issue] = issues(unknown(), options=ASKED).proposals
    assert isinstance(issue, OpenIssue)
    assert issue.title == "Cause unknown: AttributeError in page/1"
    assert issue.labels == ("nightwatch", "cause-unknown")
    for told in ("## Cause unknown", "Cause unknown: why `line` has no price.",
                 "`shop/cart.py:2`",
                 "2>     return sum(line.price for line in lines)", "## Next steps",
                 "Find out who adds a line", "Ann, 2026-11-02"):  # fmt: skip
        assert told in issue.body
    for claim in ("Root cause", "Confidence", "asks lines for a price", "The price is lost"):
        assert claim not in issue.body


def test_asked_for_an_open_issue_is_not_told_it_again():
    plan = issues(unknown(), own=(item(),), options=ASKED)
    assert plan.proposals == ()
    assert [one.cause for one in plan.skips] == ["unknown"]
    [again] = issues(unknown(), own=(CLOSED,), options=ASKED).proposals
    assert isinstance(again, Reopen)
    assert "Root cause" not in again.body


def test_limits_hold_for_such_issues_too():
    options = ASKED.model_copy(update={"max_issues": 1})
    plan = issues(unknown(1), unknown(2), options=options)
    assert (len(plan.proposals), [one.cause for one in plan.skips]) == (1, ["limit"])
