import time
from datetime import UTC, datetime

import pytest
from night_world import CART, PAY, PREFECT, answer, by_case, night, worlds
from prefect.client.orchestration import get_client
from prefect.client.schemas.sorting import TaskRunSort
from prefect.exceptions import TerminationSignal
from twins.reading import MemoryModel

from nightwatch_core.adapters.slack.messages import messages
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.code import ChangedFile, CiRun, OtherPull

pytestmark = PREFECT


@pytest.mark.slow
def test_what_was_found_is_published_and_learned() -> None:
    world = worlds()
    report = night(world)
    kinds = [(receipt.kind, receipt.status) for receipt in report.receipts]
    assert kinds == [("issue", "done"), ("issue", "done"), ("pull", "done")]
    pull = world.reading.tracker.published[-1]
    assert pull.changes[0].text == (
        "def total(lines):\n    return sum(line.cost for line in lines)\n"
    )
    assert len(world.publishing.knowledge.lessons) == 2
    assert world.publishing.notifier.told[0].night.id == report.night.id
    assert report.learned.lessons


LINE = "    return sum(line.price for line in lines)"
ALICES = OtherPull(
    number=12,
    author="alice",
    url="https://git.example/12",
    at=datetime(2026, 11, 20, tzinfo=UTC),
    files=(
        ChangedFile(path="shop/cart.py", diff=f"@@\n-{LINE}\n+{LINE.replace('price', 'cost')}"),
    ),
)


def test_a_fix_that_somebody_has_proposed_is_no_draft_and_its_issue_says_whose_it_is() -> None:
    world = worlds()
    world.reading.tracker.pulls = (ALICES,)
    report = night(world)
    assert [receipt.kind for receipt in report.receipts] == ["issue", "issue"]
    reasons = [skip.reason for skip in report.skips]
    assert "#12 by alice already changes these lines" in reasons
    assert "(<https://git.example/12>)" in world.reading.tracker.published[0].body
    assert report.analyses[0].overlaps[0].kind == "taken"


@pytest.mark.slow
def test_where_other_pull_requests_cannot_be_read_the_night_says_so_and_goes_on() -> None:
    world = worlds()

    def away(paths: object, since: object) -> object:
        raise GiveUp("no pull requests today")

    world.reading.tracker.pulls_changing = away
    report = night(world)
    assert [receipt.kind for receipt in report.receipts] == ["issue", "issue", "pull"]
    why = "comparing fixes with other pull requests: no pull requests today"
    assert (report.status, report.degraded) == ("degraded", (why,))


@pytest.mark.slow
def test_the_checks_of_a_draft_are_waited_for_and_told() -> None:
    world = worlds()
    world.reading.tracker.runs = [{3: CiRun(state=item)} for item in ("none", "pending", "passed")]
    report = night(world, delivery="github")
    (ci,) = report.ci
    assert (ci.number, ci.state, ci.text) == (3, "passed", "its checks passed")
    assert world.publishing.notifier.told[0].ci == report.ci


@pytest.mark.slow
def test_who_stops_waiting_for_checks_finds_the_report_and_the_lessons() -> None:
    world = worlds()

    def interrupted(numbers: object) -> object:
        raise KeyboardInterrupt

    world.reading.tracker.ci = interrupted
    with pytest.raises((KeyboardInterrupt, TerminationSignal)):
        night(world, delivery="github")
    (kept,) = world.publishing.nights.kept.values()
    assert [receipt.kind for receipt in kept.receipts] == ["issue", "issue", "pull"]
    assert len(world.publishing.knowledge.lessons) == 2


@pytest.mark.slow
def test_a_second_night_knows_and_publishes_nothing_twice() -> None:
    world = worlds()
    night(world)
    again = night(world)
    assert again.night.id.endswith("-2")
    assert [a.ending.kind for a in again.analyses] == ["reused", "reused"]
    assert len(world.reading.model.shown) == 2
    assert not again.receipts
    assert all(
        "nothing new since" in skip.reason or "draft #" in skip.reason for skip in again.skips
    )
    assert len(world.reading.tracker.published) == 3


def test_one_failing_analysis_is_named_and_the_rest_reported() -> None:
    def fails_for_payments(conversation):
        if conversation.case.leader == PAY:
            return GiveUp("the model refused")
        return by_case(conversation)

    report = night(worlds(model=MemoryModel([fails_for_payments])))
    assert report.status == "degraded"
    assert [a.case.leader for a in report.analyses] == [CART]
    assert [(f.case.leader, f.reason) for f in report.failures] == [(PAY, "the model refused")]
    which = "1 of 2 analyses failed: TypeError in cart/pay (the model refused)"
    assert report.degraded == (which,)
    parent = messages(report)[0]
    assert f"• {which}" in parent.text.replace("`", "")
    assert any(which in str(block).replace("`", "") for block in parent.blocks)


@pytest.mark.slow
def test_a_source_that_does_not_answer_fails_the_night_and_says_so() -> None:
    world = worlds()
    world.reading.errors.fails = StopTheNight("the key is wrong: set NEW_RELIC_API_KEY")
    with pytest.raises(StopTheNight, match="the key is wrong"):
        night(world)
    told = world.publishing.notifier.told
    assert [report.status for report in told] == ["failed"]
    assert "the key is wrong" in told[0].degraded[0]
    assert not world.reading.tracker.published


def test_what_a_model_wrote_is_masked_where_the_night_is_shown_live() -> None:
    def said(_conversation: object) -> str:
        quote = "return sum(line.price for line in lines)"
        return answer("shop/cart.py", quote).replace("does it", "does it: ask ana.ruiz@posteo.de")

    report = night(worlds(model=MemoryModel([said])))
    assert "ask <email-" in report.analyses[0].root_cause


@pytest.mark.parametrize("address", ["memory", "https://team.example/archives/1"])
def test_an_unforeseen_error_between_the_steps_is_reported_and_raised(address: str) -> None:
    world = worlds()
    world.publishing.notifier.address = address

    def broken(release: str = "") -> object:
        raise KeyError("a bug of ours")

    world.reading.code.head = broken
    with pytest.raises(KeyError) as raised:
        night(world)
    (report,) = world.publishing.notifier.told
    assert report.status == "failed"
    assert report.degraded == ("unforeseen KeyError: 'a bug of ours'",)
    told = f", sent to {address}" if "://" in address else ""
    assert raised.value.__notes__[0] == f"Report: memory/{report.night.id}/report.html{told}"
    with get_client(sync_client=True) as client:
        shown = [one for one in client.read_artifacts() if one.key == "nightwatch-report"]
    assert any("a bug of ours" in str(artifact.data) for artifact in shown)


@pytest.mark.slow
def test_unknown_outcomes_publish_nothing() -> None:
    world = worlds()

    def unreachable() -> tuple[()]:
        raise GiveUp("the tracker refuses")

    world.reading.tracker.own_items = unreachable
    report = night(world)
    assert report.status == "degraded"
    assert not world.reading.tracker.published
    assert len(report.analyses) == 2
    assert any("nothing was published" in trouble for trouble in report.degraded)


@pytest.mark.slow
def test_a_failing_learn_degrades_the_night_and_the_report_is_made() -> None:
    world = worlds()

    def full(lesson: object) -> str:
        raise GiveUp("the disk is full")

    world.publishing.knowledge.write = full
    report = night(world)
    assert report.status == "degraded"
    assert "learning: the disk is full" in report.degraded
    assert world.publishing.notifier.told[0].receipts


@pytest.mark.slow
def test_an_unwell_neighbour_is_tried_again() -> None:
    tries: list[int] = []

    def unwell_once(conversation):
        tries.append(1)
        return TryLater("529") if len(tries) == 1 else by_case(conversation)

    report = night(worlds(groups=(CART,), model=MemoryModel([unwell_once])))
    assert report.status == "complete"
    assert len(tries) == 2


def test_the_run_page_shows_readable_names_and_artifacts() -> None:
    report = night(worlds())
    analysed, until = "analyse · AttributeError in cart/show", time.monotonic() + 60
    with get_client(sync_client=True) as client:
        names: set[str] = set()
        while analysed not in names and time.monotonic() < until:  # the server keeps them by and by
            time.sleep(0.1)
            newest = client.read_task_runs(limit=200, sort=TaskRunSort.END_TIME_DESC)
            names = {run.name for run in newest}
        keys = {artifact.key for artifact in client.read_artifacts()}
        runs = {run.name: run.tags for run in client.read_flow_runs(limit=200)}
    assert analysed in names
    for flow in ("nightly", "learn"):
        assert set(runs[f"{flow}-{CART.app}-{report.night.id}"]) >= {CART.app, report.night.id}
    assert {"nightwatch-errors", "nightwatch-report"} <= keys
