from datetime import timedelta

import pytest
from analysis_shapes import COMMIT, DAY, FILES, FIX, analysis, case, group
from tables import tables_of
from twins.writing import MemoryOutbox

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Edit, Evidence
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull, OpenIssue, OwnItem, Receipt
from nightwatch_core.publish.expected_value import effect_key, in_order
from nightwatch_core.publish.plan import plan_issues, plan_pulls
from nightwatch_core.text.markers import read_marker

TABLES = tables_of(__file__)

NIGHT = "2026-11-20-abcdef"
EVERY = NightOptions(max_issues=50, max_pull_requests=50)
REUSED = Ending(kind="reused", detail="errors/a.md")


def named(number, **more):
    of = case(group(f"v1:{number}", transaction=f"page/{number}"))
    return analysis(of.model_copy(update={"signature": ""}), **more)


def fix_of(number):
    """A fix of its own: errors with the same one have the same cause."""
    return (FIX.model_copy(update={"new": f"line.cost_{number}"}),)


def item(kind="issue", number=7, fingerprint="v1:a", **more):
    told = {"key": "k" * 16, "night": "2026-11-01-000000", **more}
    return OwnItem(kind=kind, number=number, fingerprint=fingerprint, **told)


def issues(*analyses, own=(), options=EVERY, night=NIGHT, drafts=()):
    return plan_issues(analyses, own, options, COMMIT, night, drafts)


def pulls(*analyses, own=(), receipts=(), options=EVERY, files=FILES, night=NIGHT, **more):
    return plan_pulls(analyses, own, receipts, options, COMMIT, files.get, night, **more)


def reasons(plan):
    return [skip.reason for skip in plan.skips]


def test_the_best_come_first_and_equal_ones_stay_in_order():
    low, fixed, other = named(1, confidence="low"), named(2, fix=(FIX,)), named(3, confidence="low")
    assert in_order((low, fixed, other)) == (fixed, low, other)
    told = issues(named(1, confidence="medium"), named(2, fix=(FIX,)), named(3)).proposals
    assert [proposal.fingerprint for proposal in told] == ["v1:2", "v1:3", "v1:1"]


def test_a_new_error_opens_an_issue():
    (issue,) = issues(analysis()).proposals
    assert isinstance(issue, OpenIssue)
    assert issue.key == effect_key("issue", "shop/shop", "v1:a")
    assert read_marker(issue.body).model_dump() == {
        "fingerprint": "v1:a", "also": (), "key": issue.key, "night": NIGHT,
    }  # fmt: skip
    assert issue.labels == ("nightwatch", "confidence-high")


LATER, EARLIER = DAY + timedelta(hours=1), DAY - timedelta(hours=1)
LOW = {"confidence": "low"}


def closed(at, **more):
    return item(state="closed", closed_at=at, **more)


UNWANTED = closed(EARLIER, state_reason="not_planned")


@pytest.mark.parametrize(
    ("found", "own", "expected"),
    [
        (LOW, (), "low confidence and no fix: listed in the report only"),
        (LOW | {"fix": (FIX,)}, (), "issue"),
        ({"ending": REUSED}, (), "issue"),
        ({}, (item(fingerprint="v1:b"), item("pull"), item(fingerprint="")), "issue"),
        ({}, (item(),), "comment"),
        ({}, (item(state_reason="reopened"),), "comment"),
        ({}, (item(fingerprint="sig:a"),), "comment"),
        ({"of": case(others=(group("v1:b"),))}, (item(fingerprint="v1:b"),), "comment"),
        ({"ending": REUSED}, (item(),), "nothing new since issue #7"),
        (LOW, (item(),), "nothing to add to issue #7"),
        ({}, (closed(EARLIER),), "reopen"),
        ({}, (closed(DAY),), "issue #7 is closed"),
        ({}, (closed(LATER),), "issue #7 is closed"),
        ({}, (closed(None),), "issue #7 is closed"),
        ({"of": case(group(last_seen=None))}, (closed(EARLIER),), "issue #7 is closed"),
        ({"of": case(others=(group("v1:b", last_seen=LATER),))}, (closed(DAY),), "reopen"),
        (
            {"fix": (FIX,)},
            (closed(EARLIER, state_reason="not_planned"),),
            "issue #7 was closed as not planned",
        ),
    ],
)
def test_what_becomes_of_a_finding_and_what_there_is_of_it(found, own, expected):
    plan = issues(analysis(**found), own=own)
    if plan.proposals:
        assert [one.kind for one in plan.proposals] == [expected]
        assert ("Analysed again" in plan.proposals[0].body) == (expected == "comment")
    else:
        assert reasons(plan)[0].startswith(expected)
    assert all(one.number == 7 for one in plan.proposals if expected != "issue")


def test_a_fix_that_failed_is_not_shown_again_in_a_comment():
    fresh = analysis(fix=(FIX,))
    known = fresh.model_copy(update={"rejected": (fix_digest((FIX,)),)})
    other = fresh.model_copy(update={"rejected": ("f1:another",)})
    assert "the fix that already failed" in issues(known, own=(item(),)).skips[0].reason
    assert issues(other, own=(item(),)).proposals[0].kind == "comment"


def test_of_several_issues_the_open_one_then_the_newest_is_meant():
    own = (item(number=3), closed(EARLIER, number=9), closed(EARLIER, number=8))
    assert issues(analysis(), own=own).proposals[0].number == 3
    assert issues(analysis(), own=own[1:]).proposals[0].number == 9


def test_the_limit_of_new_issues_counts_only_new_ones():
    options = NightOptions(max_issues=1)
    plan = issues(named(1), named(2), named(3), own=(item(fingerprint="v1:1"),), options=options)
    assert [proposal.kind for proposal in plan.proposals] == ["comment", "issue"]
    assert reasons(plan) == ["at most 1 new issue a night"]


def test_the_limit_of_open_issues_counts_what_is_open():
    own = tuple(item(number=n, fingerprint=f"v1:x{n}") for n in range(8))
    own = (*own, item(number=9, fingerprint="v1:y", state="closed"))
    plan = issues(*(named(n) for n in range(4)), own=own, options=NightOptions(max_issues=9))
    assert len(plan.proposals) == 2
    assert all("issues by NightWatch are open, at most 10" in reason for reason in reasons(plan))


def test_limits_do_not_hold_back_news_of_open_issues():
    options = NightOptions(max_issues=0)
    assert issues(analysis(), own=(item(),), options=options).proposals[0].kind == "comment"


def test_by_choice_nothing_is_published():
    options = NightOptions(publish="none", max_issues=0)
    plan = issues(named(1), named(2), own=(item(fingerprint="v1:2"),), options=options)
    assert plan.proposals == ()
    assert reasons(plan) == ["publishing is switched off (--publish none)"] * 2
    assert {skip.kind for skip in plan.skips} == {"issue", "comment"}


def test_a_night_taken_up_again_plans_the_same_keys():
    analyses = tuple(named(n, fix=fix_of(n)) for n in range(3))
    outbox = MemoryOutbox()
    first = issues(*analyses, options=NightOptions(max_issues=2))
    for proposal in first.proposals:
        outbox.publish(proposal)
    again = issues(*analyses, own=outbox.own_items(), options=NightOptions(max_issues=2))
    assert [p.key for p in again.proposals] == [p.key for p in first.proposals]
    assert {outbox.publish(p).status for p in again.proposals} == {"already there"}
    assert len(again.skips) == 1


def test_a_night_that_crashed_after_one_issue_opens_no_more_than_allowed():
    analyses = tuple(named(n) for n in range(4))
    options = NightOptions(max_issues=2)
    outbox = MemoryOutbox()
    outbox.publish(issues(*analyses, options=options).proposals[1])
    for proposal in issues(*analyses, own=outbox.own_items(), options=options).proposals:
        outbox.publish(proposal)
    assert len(outbox.published) == 2


def test_an_issue_that_was_reopened_tonight_gets_no_comment_besides():
    outbox = MemoryOutbox(items=[closed(EARLIER)])
    (again,) = issues(analysis(), own=outbox.own_items()).proposals
    outbox.publish(again)
    (news,) = issues(analysis(), own=outbox.own_items()).proposals
    assert news.key == again.key
    assert outbox.publish(news).status == "already there"
    assert issues(analysis(), own=outbox.own_items(), night="other").proposals[0].key != news.key


def test_another_night_has_other_comments_but_the_same_issue():
    own = (item(),)
    one, other = (issues(analysis(), own=own, night=night).proposals[0] for night in ("a", "b"))
    assert one.key != other.key
    one, other = (issues(analysis(), night=night).proposals[0] for night in ("a", "b"))
    assert one.key == other.key


def test_keys_tell_kind_repository_and_parts_apart():
    keys = {
        effect_key(kind, repository, *parts)
        for kind in ("issue", "pull")
        for repository in ("a", "b")
        for parts in (("x",), ("y",), ("x", "y"), ())
    }
    assert len(keys) == 16
    assert all(len(key) == 16 for key in keys)


def test_a_fix_becomes_a_draft():
    receipt = Receipt(key="k", kind="issue", fingerprint="v1:a", status="done", number=12)
    (pull,) = pulls(analysis(fix=(FIX,)), receipts=(receipt,)).proposals
    assert isinstance(pull, DraftPull)
    assert pull.changes[0].text == FILES["shop/cart.py"].replace("line.price", "line.cost")
    assert (pull.commit, pull.base) == (COMMIT.sha, "main")
    assert pull.branch == f"nightwatch/{pull.key[:12]}"
    assert "Refs #12" in pull.body
    assert pull.commit_message.endswith("Refs #12\n")
    here = EVERY.model_copy(update={"delivery": "local"})
    (local,) = pulls(analysis(fix=(FIX,)), receipts=(receipt,), options=here).proposals
    assert "Its issue: `issue-0012-….md`" in local.body
    assert "Refs" not in local.body + local.commit_message
    assert read_marker(pull.body).fingerprint == "v1:a"


def test_the_issue_is_the_one_of_tonight_else_the_known_one_else_none():
    own = (item(number=5),)
    refused = Receipt(key="k", kind="issue", fingerprint="v1:a", status="refused", number=3)
    there = refused.model_copy(update={"status": "already there", "number": 4})
    fixed = analysis(fix=(FIX,))
    assert "Refs #4" in pulls(fixed, own=own, receipts=(refused, there)).proposals[0].body
    assert "Refs #5" in pulls(fixed, own=own, receipts=(refused,)).proposals[0].body
    assert "Refs" not in pulls(fixed).proposals[0].body


def test_without_a_fix_it_is_said_that_there_is_none_of_what_may_be_an_issue():
    plan = pulls(analysis(), analysis(confidence="low"))
    assert plan.proposals == ()
    assert [(skip.cause, skip.reason) for skip in plan.skips] == [("no fix", "no fix is proposed")]
    asked = pulls(analysis(question="No price, or none yet?"))
    assert reasons(asked)[0].endswith("the team must decide the expected behaviour")


GEMFILE = {"Gemfile": "gem 'rails'\n", **FILES}
CASES = [
    (Edit(path="Gemfile", old="rails", new="rails2"), "manifest"),
    (Edit(path=".github/workflows/x.yml", action="create", new="on: push"), "dot folder"),
    (Edit(path="../x.py", action="create", new="x"), "leaves the repository"),
    (Edit(path="shop/cart.py", old="nothing", new="x"), "0 times"),
    (Edit(path="shop/cart.py", old="sum(", new="sum(("), "does not parse"),
    (Edit(path="shop/pay.py", old="charge", new="charged"), "was not read"),
    (Edit(path="shop/pay.py", action="delete"), "was not read"),
    (Edit(path="shop/cart.py", old="line.price", new="x\n" * 500), "too large"),
    (Edit(path="shop/cart.py", old="line.price", new="line.cost\u202e"), "invisible characters"),
    (Edit(path="shop/cart.py", old="line.price", new='"<email-482913>"'), "a redaction mask"),
    (Edit(path="shop/cart.py", old='"<key-000017>"', new="line.cost"), "a redaction mask"),
]


@pytest.mark.parametrize(("edit", "why"), CASES)
def test_what_may_not_be_changed_is_not_proposed(edit, why):
    plan = pulls(analysis(fix=(edit,), read=("shop/cart.py", "Gemfile")), files=GEMFILE)
    assert plan.proposals == ()
    assert why in reasons(plan)[0]
    assert plan.skips[0].kind == "pull"


def test_one_edit_that_is_not_allowed_refuses_the_whole_fix():
    plan = pulls(analysis(fix=(FIX, CASES[0][0]), read=("Gemfile",)), files=GEMFILE)
    assert plan.proposals == ()


def test_new_files_need_not_have_been_read_and_evidence_counts_as_read():
    create = Edit(path="shop/test_cart.py", action="create", new="x = 1\n")
    assert pulls(analysis(fix=(create,), read=())).proposals
    assert pulls(analysis(fix=(FIX,), read=())).proposals
    claimed = (Evidence(path="shop/cart.py", line=2, quote="q"),)
    assert not pulls(analysis(fix=(FIX,), read=(), evidence=claimed)).proposals


def test_a_fix_with_a_new_capability_is_refused():
    risky = analysis(fix=(FIX.model_copy(update={"new": "os.system(line.price)"}),))
    assert "starts processes" in reasons(pulls(risky))[0]


def test_a_remembered_fix_of_a_file_that_nobody_read_stays_refused():
    told = {"fix": (FIX,), "ending": REUSED, "evidence": ()}
    assert pulls(analysis(read=("shop/cart.py",), **told), own=(item(),)).proposals
    plan = pulls(analysis(read=(), **told), own=(item(),))
    assert plan.proposals == ()
    assert plan.skips[0].reason == "it changes shop/cart.py, which was not read"


@pytest.mark.parametrize(("state", "reason"), TABLES["test_a_draft_is_made_once"])
def test_a_draft_is_made_once(state, reason):
    plan = pulls(analysis(fix=(FIX,)), own=(item("pull", state=state),))
    assert plan.proposals == ()
    assert reasons(plan) == [reason]


def test_a_draft_of_tonight_is_planned_again_under_its_key():
    own = (item("pull", night=NIGHT, key="0123456789abcdef"),)
    options = NightOptions(max_pull_requests=1)
    plan = pulls(analysis(fix=(FIX,)), named(2, fix=fix_of(2)), own=own, options=options)
    assert [pull.key for pull in plan.proposals] == ["0123456789abcdef"]
    assert reasons(plan) == ["at most 1 draft pull request a night"]


def test_an_error_whose_issue_is_closed_gets_a_draft_only_once_it_is_open_again():
    shut, fixed = closed(EARLIER), analysis(fix=(FIX,))
    assert reasons(pulls(fixed, own=(shut,))) == ["issue #7 is closed"]
    assert reasons(pulls(fixed, own=(UNWANTED,))) == ["issue #7 is closed as not planned"]
    again = Receipt(key="k", kind="reopen", fingerprint="v1:a", status="done", number=7)
    assert pulls(fixed, own=(shut,), receipts=(again,)).proposals


@pytest.mark.parametrize(("choice", "reason"), TABLES["test_publish_is_a_cap_and_is_named"])
def test_publish_is_a_cap_and_is_named(choice, reason):
    fixed, options = analysis(fix=(FIX,)), NightOptions(**choice)
    assert reasons(pulls(fixed, options=options)) == [reason]
    assert bool(issues(fixed, options=options).proposals) == reason.startswith(
        "pull requests are switched off"
    )


def test_the_best_fix_comes_first_and_refused_ones_take_no_room():
    bad = named(1, fix=(CASES[3][0],), next_steps=("Look.",))
    good, other = named(2, fix=(FIX,)), named(3, fix=fix_of(3), confidence="medium")
    plan = pulls(other, bad, good, options=NightOptions(max_pull_requests=1))
    assert [pull.fingerprint for pull in plan.proposals] == ["v1:2"]
    assert "0 times" in reasons(plan)[0]
    assert "at most 1 draft pull request" in reasons(plan)[1]
    assert [skip.fingerprint for skip in plan.skips] == ["v1:1", "v1:3"]
