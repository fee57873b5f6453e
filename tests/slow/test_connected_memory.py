"""The feedback loop among all four services: what people and production say changes the next night.

Every night is a process of its own over real HTTP, a day after the one before: the night's clock
and the stand-ins' dates are moved together, so that verdicts come from days that were looked at.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from connected import mind, shop
from connected.days import NOON, Days
from connected.standins import moment
from connected.world import Night, about
from services import github_people
from services.github_people import move_base

from nightwatch_core.memory.scoreboard import scoreboard
from nightwatch_core.models.knowledge import ConfidenceTier

pytestmark = pytest.mark.slow
BASKET, MAILER, RATE = shop.BROKEN_BASKET, shop.TYPO, shop.NO_RATE
TWO = ("--max-pull-requests", "2")
TRAFFIC = 20_000  # transactions a day


WORDS = "Changes requested: the API promises `line_total`, so name it back instead"
OTHER = "The order knows no currency, ask the account"
REJECTED = "+    lines.sum { |line| line.line_price }"
FENCED = re.compile(r"^(`{3,}\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def passed(night: Night) -> dict[str, Any]:
    """The report of a night in which nothing was in the way."""
    assert night.code == 0, night.told + night.output
    return night.report


def ending(report: dict[str, Any], error: shop.Failing) -> str:
    return str(about(report, error)["ending"]["kind"])


def outcomes(report: dict[str, Any], error: shop.Failing) -> list[str]:
    """What became of the proposals about an error, as this night noticed."""
    own = [item for item in report["followed"] if error.path in item["title"]]
    return [fate["kind"] for item in own for fate in item["outcomes"]]


def done(report: dict[str, Any]) -> list[str]:
    return [receipt["kind"] for receipt in report["receipts"] if receipt["status"] == "done"]


def fences(text: str) -> str:
    """What stands in fences."""
    return "\n".join(found[2] for found in FENCED.finditer(text))


def tier(world: Days) -> ConfidenceTier:
    """The scoreboard's row of findings that were said with high confidence."""
    (found,) = (
        item for item in scoreboard(world.lessons()).tiers if item.stated_confidence == "high"
    )
    return found


def lines_about(world: Days, word: str) -> list[str]:
    """Lines of the last night's messages that hold a word."""
    nights = [night for night, _ in world.slack.parts()]
    shown = [m for m, night in zip(world.slack.shown(), nights, strict=True) if night == nights[-1]]
    texts = (text for message in shown for text in _texts(message.blocks))
    return [line for text in texts for line in text.split("\n") if word in line]


def _texts(block: object) -> Iterator[str]:
    if isinstance(block, dict):
        for name, value in block.items():
            if name == "text" and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)
    elif isinstance(block, (list, tuple)):
        for item in block:
            yield from _texts(item)


def test_a_rejected_fix_is_told_and_not_proposed_again(
    tmp_path_factory: pytest.TempPathFactory, server: str
) -> None:
    """The model insists on one fix, and has another for the other error: one new draft."""
    with Days(tmp_path_factory.mktemp("rejected"), (BASKET, MAILER), server) as world:
        world.claude.mind = mind.heeding({"curency": "order.account.currency"})
        passed(world.night(*TWO))
        first = {error: world.draft(error) for error in (BASKET, MAILER)}
        world.reject(BASKET, WORDS)
        world.reject(MAILER, OTHER)

        world.next_day(BASKET, MAILER)
        second = world.night(*TWO)
        passed(second)
        _told_the_model(world)
        _insisted(world, second, first[BASKET])
        _thought_again(world, second, first[MAILER])
        high = tier(world)
        assert (high.rejected, high.merged, high.found.right) == (2, 0, 0)
        board = world.scoreboard()
        drafts, again = board["drafts"], board["duplicates"]
        assert (drafts["drafts"], drafts["rejected"], drafts["merged"]) == (2, 2, 0)
        assert (again["analyses"], again["duplicates"]) == (4, 0), "people asked for the others"
        of_lessons = scoreboard(world.lessons()).model_dump(mode="json")
        assert board == {**of_lessons, "drafts": drafts, "duplicates": again}

        held = world.held()
        world.next_day(BASKET, MAILER)
        third = passed(world.night(*TWO))
        assert [ending(third, error) for error in (BASKET, MAILER)] == ["reused"] * 2
        assert not world.claude.bodies
        assert world.held() == held
        assert not third["receipts"]
        assert not third["followed"]


def _told_the_model(world: Days) -> None:
    fenced = fences(world.opening(BASKET))
    assert WORDS.partition(":")[2].strip().replace("`", "") in fenced.replace("`", "")
    assert REJECTED in fenced
    assert OTHER in fences(world.opening(MAILER))


def _insisted(world: Days, second: Night, draft: dict[str, Any]) -> None:
    assert ending(second.report, BASKET) == "answered"
    assert outcomes(second.report, BASKET) == ["closed unmerged"]
    assert world.draft(BASKET) is draft
    basket = about(second.report, BASKET)["case"]["leader"]["fingerprint"]
    skips = [skip for skip in second.report["skips"] if skip["fingerprint"] == basket]
    why = {skip["kind"]: skip["reason"] for skip in skips}
    assert "the fix that already failed" in why["comment"]
    assert "this fix was rejected" in why["pull"]
    (fate,) = world.lesson(BASKET).outcomes
    assert (fate.kind, fate.number, fate.answered) == ("closed unmerged", draft["number"], True)
    assert any("name it back instead" in word for word in fate.words)


def _thought_again(world: Days, second: Night, draft: dict[str, Any]) -> None:
    again = world.draft(MAILER)
    assert again["number"] != draft["number"]
    assert again["head"] != draft["head"]
    assert (draft["state"], again["state"]) == ("closed", "open")
    assert "order.account.currency" in world.github.text(again["head"], MAILER.path)
    assert not world.published_twice()
    assert done(second.report).count("pull") == 1
    basket = world.draft(BASKET)
    news, *told = world.github.comments
    assert news["number"] == world.issue(MAILER)["number"], "of the other nothing is new"
    answers = {comment["number"]: comment["body"] for comment in told}
    assert answers.keys() == {basket["number"], draft["number"]}
    assert "no other fix was found" in answers[basket["number"]]
    assert f"another fix is proposed in draft #{again['number']}" in answers[draft["number"]]


BACK = "v1.9.2"


def test_a_merged_fix_is_awaited_measured_verified_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory, server: str
) -> None:
    with Days(tmp_path_factory.mktemp("merged"), (BASKET, MAILER, RATE), server) as world:
        world.newrelic.traffic(TRAFFIC)
        passed(world.night(*TWO))
        _merged_and_awaited(world)
        _deployed_and_verified(world)
        _undone_and_told_once(world)


def _merged_and_awaited(world: Days) -> None:
    world.next_day(BASKET, MAILER, RATE, traffic=TRAFFIC)
    basket = world.merge(BASKET)
    world.edit(MAILER, {"app/mailers/README.md": "Mails\n"})
    world.merge(MAILER)
    held = world.held()
    night = world.night(*TWO)
    report = passed(night)
    assert outcomes(report, BASKET) == ["closed", "merged"]
    assert outcomes(report, MAILER) == ["closed", "merged", "edited before merge"]
    assert "is not yet in production" in about(report, BASKET)["waiting"]
    assert f"#{basket['number']}" in about(report, BASKET)["waiting"]
    assert not world.claude.bodies
    assert world.held() == held
    assert not report["receipts"]
    assert "edited before merge" in night.output
    high = tier(world)
    assert (high.merged, high.found.right, high.found.decided) == (2, 1.5, 2)


def _deployed_and_verified(world: Days) -> None:
    world.next_day(RATE, traffic=TRAFFIC, release="v1.9.1")
    world.deploy("v1.9.1", world.draft(MAILER)["merge_sha"], timedelta(hours=25))
    report = passed(world.night(*TWO))
    watch = world.lesson(BASKET).watch
    assert watch
    assert watch.deployed_at
    assert (watch.verdict, watch.after.occurrences) == ("", 0)
    assert 23 < watch.after.hours < 25, "a whole night after the deploy"
    assert watch.after.traffic
    assert not outcomes(report, BASKET)

    world.next_day(RATE, traffic=TRAFFIC, release="v1.9.1")
    held, night = world.held(), world.night(*TWO)
    report = passed(night)
    assert outcomes(report, BASKET) == ["verified"]
    assert outcomes(report, MAILER) == ["verified"]
    assert not world.claude.bodies
    assert world.held() == held
    assert "verified" in night.output
    watch = world.lesson(BASKET).watch
    assert watch
    assert (watch.verdict, watch.before.traffic) == ("verified", TRAFFIC)
    assert "transactions" in world.lesson(BASKET).outcomes[-1].because
    assert world.lesson(BASKET).notes, "a fix that helped is noted"


def test_an_issue_that_a_merged_draft_refers_to_waits_for_production_and_not_for_people(
    tmp_path_factory: pytest.TempPathFactory, server: str
) -> None:
    """Drafts say `Refs`: their issues stay open when they are merged."""
    with Days(tmp_path_factory.mktemp("refs"), (BASKET, MAILER), server) as world:
        world.newrelic.traffic(TRAFFIC)
        passed(world.night(*TWO))
        world.next_day(BASKET, MAILER, traffic=TRAFFIC)
        number = world.draft(BASKET)["number"]
        at = moment(datetime.now(UTC) + world.ahead - NOON)
        github_people.merge(world.github, number, "squash", at)
        issue, accepted = world.issue(BASKET)["number"], world.issue(MAILER)["number"]
        world.github.add_comment(accepted, "Known and accepted")
        world.github.close(accepted, state_reason="not_planned")

        merged = passed(world.night(*TWO))
        (line,) = lines_about(world, f"issue #{issue}>")
        assert f"merged, not yet in production: issue #{issue}>" in line
        assert f"its fix #{number} was merged" in line
        (line,) = lines_about(
            world, f"can be closed: pull request #{world.draft(MAILER)['number']}"
        )
        assert f"its error was accepted in issue #{accepted}" in line
        (line,) = lines_about(world, f"accepted: issue #{accepted}>")
        assert "“Known and accepted” (@ann). It is left alone; its open draft" in line
        assert not lines_about(world, "waits for")
        assert not lines_about(world, "analysed again")
        assert merged["fixes"][0]["status"] == "merged"

        world.next_day(traffic=TRAFFIC, release="v1.9.1")
        world.deploy("v1.9.1", world.draft(BASKET)["merge_sha"], timedelta(hours=25))
        passed(world.night(*TWO))
        (line,) = lines_about(world, f"issue #{issue}>")
        assert f"merged, being measured: issue #{issue}>" in line
        assert "close it if it was fixed" not in line

        world.next_day(traffic=TRAFFIC, release="v1.9.1")
        passed(world.night(*TWO))
        assert len(lines_about(world, f"verified, can be closed: issue #{issue}>")) == 1


def _undone_and_told_once(world: Days) -> None:
    comments, drafts = len(world.github.comments), len(world.github.pulls())
    merged = world.draft(BASKET)
    world.next_day(BASKET, RATE, traffic=TRAFFIC, release=BACK)
    undone = move_base(world.github, {BASKET.path: shop.BASKET})
    world.deploy(BACK, undone, timedelta(hours=23))
    report = passed(world.night(*TWO))
    assert outcomes(report, BASKET) == ["regressed"]
    assert done(report) == ["reopen", "pull"]
    issue = world.issue(BASKET)
    assert (issue["state"], issue["state_reason"]) == ("open", "reopened")
    (comment,) = world.github.comments[comments:]
    assert comment["number"] == issue["number"]
    assert f"#{merged['number']}" in comment["body"]
    assert len(world.github.pulls()) == drafts + 1
    assert (merged["state"], world.draft(BASKET)["state"]) == ("closed", "open")
    assert (
        len(lines_about(world, f"came back after its fix: pull request #{merged['number']}")) == 1
    )
    high = tier(world)
    assert (high.rejected, high.verified, high.found.right) == (1, 1, 0.5), "what helped was edited"

    held = world.held()
    world.next_day(BASKET, RATE, traffic=TRAFFIC, release=BACK)
    report = passed(world.night(*TWO))
    assert ending(report, BASKET) == "reused"
    assert not outcomes(report, BASKET)
    assert world.held() == held
    assert not report["receipts"]
    assert not world.claude.bodies
    assert not world.published_twice()
    assert not lines_about(world, "regressed")
    assert not lines_about(world, "had come back"), "it was us: nothing to tell"
