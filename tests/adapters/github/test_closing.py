"""An issue from its opening to its end, as errors come and go, over real HTTP."""

from analysis_shapes import COMMIT, DAY, analysis, case, group
from core.follow_world import NAME, lesson, never
from core.follow_world import tonight as followed_on
from github_world import outbox, tracker

from nightwatch_core.memory.outcomes import follow_lesson
from nightwatch_core.models.answer import Handover
from nightwatch_core.models.knowledge import OutcomeEvent, OutcomeUpdate
from nightwatch_core.models.options import NightOptions
from nightwatch_core.publish.plan import plan_issues

NIGHTS = (f"2026-11-{day}-0a1b2c" for day in range(20, 30))
FOUND = analysis(case(group(NAME)))


def night(server, *analyses, followed=(), **options):
    """What a night publishes, and how our items stand after it."""
    own, name = tracker(server).own_items(), next(NIGHTS)
    plan = plan_issues(analyses, own, NightOptions(**options), COMMIT, name, (), followed)
    receipts = [outbox(server).publish(proposal) for proposal in plan.proposals]
    again = [receipt.status == "already there" for receipt in receipts]
    assert all(receipt.status == "done" for receipt in receipts) or again == [True]
    return [(receipt.kind, receipt.number) for receipt in receipts], tracker(server).own_items()


def close(server, number):
    at = DAY.replace(hour=0).isoformat()
    server.items[number] |= {"state": "closed", "state_reason": "completed", "closed_at": at}


def test_an_issue_follows_its_error(server):
    assert night(server, FOUND)[0] == [("issue", 1)]
    verdict = OutcomeEvent(kind="verified", number=4, on=DAY.date(), because="9 before, 0 after")
    verified = (OutcomeUpdate(fingerprint=NAME, verified=verdict),)
    done, (item,) = night(server, followed=verified)
    assert (done, item.state) == ([("close", 1)], "open")
    said = server.comments[-1]["body"]
    assert "**The fix in #4 is verified in production**: 9 before, 0 after." in said
    assert "This issue can be closed." in said

    again, (item,) = night(server, followed=verified, close_verified=True)
    assert (again, item.state, item.state_reason) == ([("close", 1)], "closed", "completed")
    assert len(server.comments) == 1  # that was there
    assert night(server, followed=verified)[0] == []
    close(server, 1)
    unknown = FOUND.model_copy(update={"confidence": "low", "handover": Handover()})
    done, (item,) = night(server, unknown)
    assert (done, item.state) == ([("reopen", 1)], "open")

    close(server, 1)
    other = FOUND.model_copy(update={"another_cause": True})
    done, items = night(server, other)
    assert done == [("issue", 2)]
    assert [item.state for item in items] == ["closed", "open"]
    assert "came back after #1 was closed, with another cause" in server.items[2]["body"]
    assert night(server, other)[0] == [("comment", 2)]


def test_a_label_on_an_issue_is_what_people_say_of_its_finding(server):
    night(server, FOUND)
    server.items[1]["labels"].append("nightwatch:wrong")
    own = tracker(server).own_items()
    told = follow_lesson(lesson(9), own, followed_on(6), never)
    assert [(event.kind, event.number) for event in told.outcomes] == [("wrong", 1)]
