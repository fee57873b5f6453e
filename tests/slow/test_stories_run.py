"""A fix over three files made in steps, each run by the project's own tests, then a commit each."""

from pathlib import Path

import pytest
from adapters.sandbox import cells
from analysis_shapes import analysis
from core.report_fixture import complete
from deliveries import delivery
from git_repositories import Change, git, repository
from machine import needs
from story_world import FIX, MADE, TREE, asked_for, briefing, edit, made, teller
from twins.reading import MemoryCode

from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.proof.proving import proved
from nightwatch_core.publish.plan import plan_pulls
from nightwatch_core.report.builder import with_gates

pytestmark = [pytest.mark.slow]
WRONG = made(*MADE[2][:1], edit("shop/cart.py", "line['price'] for", "line['cost'] for"))


@pytest.fixture
def shop(tmp_path):
    return repository(tmp_path / "shop", Change("Shop", TREE))


@pytest.fixture
def prove(shop, tmp_path):
    """Proves the fix by steps with a scripted model; gives its result and the tree's commit."""
    needs("sandbox")
    sandbox = cells.sandbox(tmp_path / "state", TREE)

    def ask(answers=None):
        head = Commit(repository="shop", branch="main", sha=git(shop, "rev-parse", "main"))
        model = teller(answers)
        of = analysis(fix=FIX, fix_confidence="high")
        told = briefing(model, sandbox, of=of, code=MemoryCode(TREE, head))
        return proved(told), head, [asked_for(item) for item in model.shown]

    yield ask
    sandbox.close()


def test_what_passed_step_by_step_is_what_the_branch_holds(prove, shop: Path):
    result, head, asked = prove()
    assert (result.outcome, result.story.outcome) == ("passed", "whole"), result
    assert asked == [0, 1, 2, 3]

    of = analysis(fix=FIX, fix_confidence="high")
    report = complete().model_copy(update={"analyses": (of,)})
    of = with_gates(report, ((of.fingerprint, result),)).analyses[0]
    night = ((), (), NightOptions(delivery="local"), head, TREE.get, "2026-11-21-aa")
    (draft,) = plan_pulls((of,), *night, tuple(TREE)).proposals
    receipt = delivery(shop).publish(draft)

    assert (receipt.status, receipt.reason) == ("done", "")
    subjects = git(shop, "log", "--reverse", "--format=%s", f"main..{draft.branch}")
    assert subjects.splitlines() == [step.title for step in result.story.steps]
    git(shop, "checkout", "--quiet", draft.branch)
    assert {name: (shop / name).read_text() for name in TREE} == TREE | {
        change.path: change.text for change in draft.changes if change.path in TREE
    }
    assert (shop / "tests/test_receipt.py").read_text() == MADE[3][1]["new"]


def test_a_red_step_ends_the_story(prove):
    result, _, asked = prove({2: WRONG})
    assert asked == [0, 1, 2]
    assert [step.outcome for step in result.story.steps] == ["passed", "failed", "not tried"]
    assert "fails with the fix" in result.story.because
    assert result.story.outcome == "not made"  # the fix in one piece passed, and is kept
    assert result.outcome == "passed"
