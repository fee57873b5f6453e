"""What a night does about the checks of its drafts: look, mend once, say, and come to an end."""

import pytest
from analysis_shapes import COMMIT, DAY, FILES, FIX, analysis
from tables import tables_of

from nightwatch_core.models.code import CiRun
from nightwatch_core.models.errors import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import (
    Comment,
    Correction,
    DraftPull,
    FileChange,
    GateResult,
    OwnItem,
    PullUpdate,
    Receipt,
    not_run,
    receipt_for,
)
from nightwatch_core.models.report import Night
from nightwatch_core.publish.check_history import CheckWait
from nightwatch_core.publish.ci import Hands, Waiting, carried, watched_drafts
from nightwatch_core.report.builder import start_report
from nightwatch_core.text.markers import read_marker

TABLES = tables_of(__file__)

OPTIONS = NightOptions(delivery="github")
OURS, NEW = "a" * 40, "b" * 40
FIXED = FILES["shop/cart.py"].replace("line.price", "line.cost")
DRAFT = DraftPull(
    key="k" * 16, fingerprint="v1:a", branch="nightwatch/kkkkkkkkkkkk", base="main", title="t",
    body="", commit_message="", commit=COMMIT.sha,
    changes=(FileChange(path="shop/cart.py", text=FIXED), FileChange(path="new.py", text="1\n")),
)  # fmt: skip
MADE = Receipt(key=DRAFT.key, kind="pull", fingerprint="v1:a", status="done", number=12, sha=OURS)
RED = CiRun(state="failed", sha=OURS, failed=("unit", "e2e `x` @team"), log="1 != 2")
PENDING, GREEN, NONE = (CiRun(state=one, sha=OURS) for one in ("pending", "passed", "none"))
MENDED = GateResult(
    outcome="passed",
    edits=(FIX.model_copy(update={"new": "line.sum"}),),
    correction=Correction(outcome="passed", because="It meant the sum."),
)


class World:
    """Checks that say one thing after the other, and an outbox that remembers."""

    def __init__(self, *runs, mended=None, why="", status="done"):
        self.runs, self.mended, self.why, self.status = list(runs), mended, why, status
        self.published, self.paused, self.asked = [], [], 0

    def look(self, numbers):
        run = self.runs.pop(0) if len(self.runs) > 1 else self.runs[0]
        return ((), run) if isinstance(run, str) else ((run,) * len(numbers), "")

    def mend(self, one, of):
        self.asked += 1
        return self.mended, self.why

    def publish(self, proposal):
        self.published.append(proposal)
        sha = NEW if isinstance(proposal, PullUpdate) else ""
        return receipt_for(proposal, self.status, 12, reason="no").model_copy(update={"sha": sha})

    def wait(self, minutes=15, made=MADE, first_check=180.0):
        hands = Hands(self.look, self.mend, self.publish, FILES.get, self.paused.append)
        drafts = watched_drafts((DRAFT,), (made,), OPTIONS)
        wait = CheckWait(first_check, "waited so long")
        result = Waiting(report(), drafts, hands, wait).until_the_end(minutes)
        (self.end,) = result.ci
        return result


def report(**more):
    night = Night(id="2026-11-20-ab", window=Window(since=DAY, until=DAY), now=DAY)
    begun = start_report(night, OPTIONS, (), DAY)
    told = {"analyses": (analysis(fix=(FIX,)),), "base": COMMIT, **more}
    return begun.model_copy(update=told)


@pytest.mark.parametrize(
    ("runs", "state", "text", "seconds"),
    [
        ((PENDING, NONE, GREEN), "passed", "its checks passed", 60),
        ((PENDING,), "pending", "still running: the next night looks", 900),
        ((NONE,), "none", "appeared: this does not count as passed; waited so long", 180),
        ((NONE, PENDING, GREEN), "passed", "passed", 60),
        ((CiRun(state="unreadable", because="give it Actions"),), "unreadable", "give it", 0),
        (("GitHub is away", GREEN), "passed", "passed", 30),
        (("GitHub is away",), "unreadable", "GitHub is away", 900),
        ((RED.model_copy(update={"before": True}),), "failed", "as on the base branch: unit", 0),
    ],
)
def test_how_checks_end_and_how_long_that_is_waited_for(runs, state, text, seconds):
    world = World(*runs)
    world.wait()
    assert (world.end.state, sum(world.paused)) == (state, seconds)
    assert text in world.end.text
    assert not world.published
    assert not world.asked


@pytest.mark.parametrize("seconds", [0, 30, 90])
def test_a_first_check_is_waited_for_as_long_as_earlier_drafts_say(seconds):
    world = World(NONE)
    world.wait(first_check=seconds)
    assert (world.end.state, sum(world.paused)) == ("none", seconds)
    assert (world.end.waited, world.end.appeared) == (seconds, None)


def test_when_a_first_check_was_seen_is_kept_for_later_nights():
    world = World(NONE, NONE, PENDING, GREEN)
    world.wait()
    assert (world.end.waited, world.end.appeared) == (90, 60)
    world = World(RED, CiRun(state="none", sha=NEW), mended=MENDED)
    world.wait(first_check=30)
    assert world.end.appeared == 0, "that of the first commit"


def test_red_is_mended_once_on_the_same_branch_and_looked_at_again():
    green = CiRun(state="passed", sha=NEW)
    world = World(RED, RED, CiRun(state="none", sha=NEW), green, mended=MENDED)
    result = world.wait()
    (update,) = world.published
    assert (update.kind, update.number, update.head) == ("update", 12, OURS)
    texts = {one.path: one.text for one in update.changes}
    assert texts == {
        "shop/cart.py": FILES["shop/cart.py"].replace("line.price", "line.sum"),
        "new.py": None,  # what the first attempt made and the second does not want
    }
    assert read_marker(update.body).key == update.key
    assert "`unit`, ``e2e `x` @team``" in update.body
    assert world.end.text == "its checks passed; after a second fix on its branch"
    assert result.gates == (("v1:a", MENDED),)


def test_still_red_after_one_correction_is_labelled_and_said():
    world = World(RED, RED.model_copy(update={"sha": NEW}), mended=MENDED)
    result = world.wait()
    update, word = world.published
    assert isinstance(word, Comment)
    assert (word.on, word.number, word.label) == ("pull", 12, "ci-failed")
    assert "After a second fix on its branch." in word.body
    assert word.body.startswith("<!-- nightwatch:v1 ")
    assert world.asked == 1
    assert [one.kind for one in result.receipts] == ["update", "comment"]
    assert world.end.state == "failed"


@pytest.mark.parametrize(
    ("more", "made", "why"),
    [
        ({}, MADE, "no second fix: checks cannot be run here"),
        ({"why": "the model is away"}, MADE, "no second fix: the model is away"),
        ({"mended": not_run("trouble", "none better")}, MADE, "no second fix passed: none"),
        ({"mended": MENDED, "status": "refused"}, MADE, "the second fix was not pushed: no"),
        ({"mended": MENDED}, MADE.model_copy(update={"sha": NEW}), "somebody changed its branch"),
        ({"mended": MENDED}, MADE.model_copy(update={"sha": ""}), "somebody changed its branch"),
    ],
)
def test_where_no_correction_can_be_had_that_is_said(more, made, why):
    world = World(RED, **more)
    world.wait(made=made)
    assert why in world.end.text
    assert world.published[-1].label == "ci-failed"
    assert sum(world.paused) == 0


@pytest.mark.parametrize(
    ("draft", "receipt", "options"), TABLES["test_what_is_not_on_a_service_has_no_checks"]
)
def test_what_is_not_on_a_service_has_no_checks(draft, receipt, options):
    one, made = DRAFT.model_copy(update=draft), MADE.model_copy(update=receipt)
    assert watched_drafts((one,), (made,), OPTIONS.model_copy(update=options)) == []


def test_a_draft_whose_checks_failed_after_its_night_is_told_so_the_next():
    own = OwnItem(kind="pull", number=9, fingerprint="v1:b", night="2026-11-19-aa", checks="failed")
    others = (
        {"checks": "passed"}, {"labels": ("ci-failed",)}, {"state": "merged"}, {"as_patch": True},
        {"night": "2026-11-20-ab"}, {"kind": "issue"},
    )  # fmt: skip
    items = (own, *(own.model_copy(update=one) for one in others))
    (word,) = carried(report(outcomes=items))
    assert (word.number, word.on, word.label) == (9, "pull", "ci-failed")
    local = OPTIONS.model_copy(update={"delivery": "local"})
    assert carried(report(outcomes=(own,), options=local)) == ()
