"""Tests of drafts whose fix was made in steps: a commit each, and what is said of them."""

import pytest
from analysis_shapes import COMMIT, analysis
from core.report_fixture import complete
from story_world import FIX, PLANNED, TREE

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import apply, fix_digest
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Check, GateResult, Receipt, Step, Story
from nightwatch_core.publish.plan import plan_issues, plan_pulls
from nightwatch_core.report.builder import with_gates
from nightwatch_core.text.markers import count_of_steps

NIGHT = "2026-11-20-abcdef"
ISSUE = Receipt(key="k", kind="issue", fingerprint="v1:a", status="done", number=7)
CRASH = Edit(path="tests/test_crash.py", action="create", new="def test_crash():\n    pass\n")
ENDS = (2, 4, 5)  # edits after each step
EDITS = FIX[:5]  # without the last test: there is room for the one that reproduces


def step(number, outcome="passed", **more):
    planned = PLANNED[number - 1]
    edits = EDITS[: ENDS[number - 1]] if outcome == "passed" else ()
    told = {"title": planned["title"], "edits": edits}
    return Step(outcome=outcome, **told | more)


def gated(*steps, outcome="whole", edits=EDITS, passed=True, **more):
    story = Story(outcome=outcome, why="it changes 3 files", steps=steps)
    return GateResult(
        outcome="passed" if passed else "failed",
        text="" if passed else "red",
        checks=(Check(name="tests", outcome="passed" if passed else "failed", text="5 tests"),),
        fix=fix_digest(edits),
        edits=edits,
        changes=file_diffs(edits, TREE.get),
        read=tuple(TREE),
        story=story.model_copy(update=more),
    )


WHOLE = gated(step(1), step(2), step(3), edits=(*EDITS, CRASH))


def with_gate(gate, fix=FIX):
    of = analysis(fix=fix, fix_confidence="high")
    report = complete().model_copy(update={"analyses": (of,)})
    return with_gates(report, ((of.fingerprint, gate),)).analyses[0]


def plan(gate, **options):
    of, chosen = with_gate(gate), NightOptions(delivery="github", **options)
    return plan_pulls((of,), (), (ISSUE,), chosen, COMMIT, TREE.get, NIGHT, tuple(TREE))


def draft(gate, **options):
    (one,) = plan(gate, **options).proposals
    return one


def test_each_step_is_a_commit_and_the_test_is_one_more():
    pull = draft(WHOLE)
    assert [one.message.splitlines()[0] for one in pull.commits] == [
        *(one["title"] for one in PLANNED),
        "Add the test that reproduces the error",
    ]
    assert [count_of_steps(one.message) for one in pull.commits] == [4] * 4
    assert [[change.path for change in one.changes] for one in pull.commits] == [
        ["shop/money.py", "tests/test_money.py"],
        ["shop/cart.py"],
        ["shop/receipt.py"],
        ["tests/test_crash.py"],
    ]
    assert pull.commit_message.splitlines()[-1] in pull.commits[-1].message
    assert pull.fix == WHOLE.fix


def test_the_commits_leave_exactly_what_passed():
    pull = draft(WHOLE)
    texts = dict(TREE)
    for commit in pull.commits:
        texts |= {change.path: change.text for change in commit.changes}
    passed = apply((*EDITS, CRASH), TREE.get).changes
    assert texts == TREE | {change.path: change.text for change in passed}


def test_what_did_not_pass_itself_is_no_draft():
    other = WHOLE.model_copy(update={"edits": EDITS[:4]})
    (skip,) = plan(other).skips
    assert skip.reason == "the fix to publish is not the fix that passed its checks"


@pytest.mark.parametrize(
    "steps",
    [
        (step(1, edits=EDITS),),  # there is but one
        (step(1, edits=(Edit(path="shop/gone.py", old="x", new="y"),)), step(2), step(3)),
        (step(1, edits=(Edit(path="CLAUDE.md", action="create", new="x"),)), step(2), step(3)),
    ],
)
def test_where_steps_cannot_be_commits_of_their_own_there_is_one(steps):
    pull = draft(gated(*steps))
    assert pull.commits == ()
    assert {one.path for one in pull.changes} == {one.path for one in EDITS}


def test_a_story_that_came_to_nothing_makes_no_commits():
    in_one_piece = gated(step(1), step(2, "failed"), step(3, "not tried"), outcome="not made")
    assert draft(in_one_piece).commits == ()


def test_of_a_patch_the_last_mail_names_it():
    pull = draft(WHOLE, publish="patches")
    marks = [f"NightWatch patch {pull.key}" in one.message for one in pull.commits]
    assert marks == [False, False, False, True]


def test_without_a_draft_the_issue_carries_what_the_steps_came_to():
    stopped = gated(
        *(step(1), step(2, "failed", because="red: @team test_numbers"), step(3, "not tried")),
        outcome="not made", edits=(), passed=False,
    )  # fmt: skip
    assert not plan(stopped).proposals
    issues = plan_issues((with_gate(stopped),), (), NightOptions(), COMMIT, NIGHT)
    (issue,) = issues.proposals
    for text in (
        "## Attempted in steps",
        "passed: Read prices with a comma",
        "failed: Add prices up as numbers (red: `@team` `test_numbers`)",
        "not made: Print two digits",
        "incomplete without the other steps",
        "replace(',', '.')",
        "1 of 3 steps passed",
    ):
        assert text in issue.body
