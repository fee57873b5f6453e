"""Nights whose fix fails: made anew, paid within the night's caps, and never the night's end."""

from contextlib import suppress
from dataclasses import replace

import pytest
from night_world import CART, PAY, PREFECT, by_case, worlds
from scripted_sandbox import ScriptedSandbox
from twins.reading import MemoryModel
from twins.writing import MemoryOutbox

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.answer import Answer, Edit
from nightwatch_core.models.proposals import Run

pytestmark = [pytest.mark.slow, *PREFECT]
BETTER = Edit(path="shop/cart.py", old="line.price", new="line.amount", description="Rename.")


class Sandbox(ScriptedSandbox):
    """Runs a suite that is red wherever `line.cost` is asked for."""

    def __init__(self):
        super().__init__(lambda *_: Run(code=0, output="ok", seconds=1.0))
        self.ran = []

    def run(self, commit, changes, command):
        self.ran.append("".join(change.text or "" for change in changes))
        is_red = "line.cost" in self.ran[-1]
        return Run(code=int(is_red), output="boom: no cost" if is_red else "ok", seconds=1.0)


def night(second, outbox=None, sandbox=None, **options):
    """The report of a night whose corrections are `second`, and what it published."""

    def turn(conversation):
        asked = "The fix that was run" in conversation.turns[0].text
        return second if asked else by_case(conversation)

    world = worlds((CART, PAY), MemoryModel([turn]))
    outbox = outbox or MemoryOutbox()
    reading = replace(world.reading, sandbox=sandbox or Sandbox(), tracker=outbox)
    publishing = replace(world.publishing, outbox=lambda night: outbox)
    told = {"verify": "make check", "reproduce": False, "max_issues": 5, **options}
    world = replace(world, reading=reading, publishing=publishing)
    with suppress(StopTheNight):  # when all was published and kept
        world.night_on_prefect(**told)
    (report,) = publishing.nights.kept.values()
    return report, outbox.published


def told(*edits, why="It asked for a field that is not there."):
    return Answer(
        title="", root_cause=why, confidence="high", has_fix=bool(edits), file_changes=edits
    ).model_dump_json()


def pulls(published):
    return [proposal for proposal in published if proposal.kind == "pull"]


def test_what_passed_at_last_is_what_is_drafted_and_its_cost_is_told():
    sandbox = Sandbox()
    report, published = night(told(BETTER), sandbox=sandbox)
    (pull,) = pulls(published)
    (change,) = pull.changes
    assert change.text in sandbox.ran
    assert "line.amount" in change.text
    assert report.accounts.proofs.calls == 1
    assert report.usage.calls == report.accounts.usage.calls + 1
    assert "The first fix failed" in pull.body


def test_a_fix_that_fails_twice_is_told_on_its_issue():
    worse = BETTER.model_copy(update={"new": "line.cost + 0"})
    _, published = night(told(worse))
    assert not pulls(published)
    (issue,) = [proposal for proposal in published if "cart.py" in proposal.title]
    assert "The second fix" in issue.body
    assert "+" in issue.body.split("The second fix<")[1]


def test_a_model_that_is_gone_in_a_proof_costs_no_publication():
    report, published = night(StopTheNight("the key is gone"))
    assert not pulls(published)
    assert len([proposal for proposal in published if proposal.kind == "issue"]) == 2
    (cart,) = [analysis for analysis in report.analyses if analysis.has_fix]
    assert cart.gate.correction.outcome == "not tried"
    assert report.status == "failed"
    assert "the model answers no more" in cart.gate.correction.because
    assert "the key is gone" in report.degraded[-1]
