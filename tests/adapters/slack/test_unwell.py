"""The Slack notifier while Slack, or the way to it, is unwell: told once, or known not to be."""

import json
import socket
from dataclasses import replace

import pytest
from core.report_fixture import complete, empty
from services.slack import ALL_SCOPES
from slack_team import HISTORY, LINK, POST, REPLIES, UPDATE, a_team, errors

from nightwatch_core.adapters.slack.delivery import PAGES
from nightwatch_core.adapters.stores.traffic import METER
from nightwatch_core.errors import GiveUp, TryLater


@pytest.fixture
def team(tmp_path):
    with a_team(tmp_path / "state") as team:
        yield team


@pytest.mark.parametrize(("told", "waited"), [("3", 3.0), ("soon", 1.0), ("0", 1.0)])
def test_told_to_wait_it_waits(team, told, waited):
    team.slack.fail(POST, "429", times=2, value=told)
    team.tell(empty())
    assert team.clock.slept == [waited] * 2
    assert len(team.slack.posted) == 1


@pytest.mark.parametrize("told", ["61", "999999999", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_told_to_wait_for_ever_it_gives_up_for_now(team, told):
    team.slack.fail(POST, "429", value=told)
    with pytest.raises(TryLater, match=r"asks to wait [\d,]+ seconds"):
        team.tell(empty())
    assert team.clock.slept == []
    team.tell(empty())
    assert team.methods()[1:] == [POST, LINK]


def test_it_does_not_wait_again_and_again(team):
    team.slack.fail(POST, "429", times=9, value="50")
    with pytest.raises(TryLater):
        team.tell(empty())
    assert team.clock.slept == [50.0] * 3
    assert len(team.slack.requests) == 4


def test_its_patience_is_one_for_all_calls(team):
    team.slack.fail("conversations.open", "429", times=3, value="50")
    team.slack.fail(POST, "429", value="31")
    with pytest.raises(TryLater, match="asks to wait 31 seconds"):
        team.tell(empty(), "U0DANA")


LOST = ("cut after", "502 after", "truncated after", "html after", "fatal_error after")
NOT_DONE = ("cut", "502", "html", "internal_error")


@pytest.mark.parametrize("kind", LOST)
@pytest.mark.parametrize("skip", [0, 2])
def test_a_lost_answer_is_looked_up_and_nothing_posted_twice(team, kind, skip):
    report = errors(2)
    if skip:  # lose a reply's answer: the parent is there already
        team.tell(complete(analyses=(), receipts=(), skips=(), outcomes=(), learned={}))
        team.slack.requests.clear()
    team.slack.fail(POST, kind)
    team.tell(report)

    parts = team.parts()
    assert len(parts) == len(set(parts)) == 4
    assert len(team.slack.calls(REPLIES if skip else HISTORY)) == 1
    parent, *replies = team.slack.posted
    assert {each.thread_ts for each in replies} == {parent.ts}


@pytest.mark.parametrize("kind", NOT_DONE)
def test_a_post_that_did_not_arrive_is_repeated_only_after_looking_twice(team, kind):
    team.slack.fail(POST, kind)
    with pytest.raises(TryLater, match="not in Slack so far"):
        team.tell(empty())
    assert team.methods() == [POST, HISTORY]
    team.tell(empty())
    methods = team.methods()
    assert methods[2:] == [HISTORY, POST, LINK]
    assert len(team.slack.posted) == 1


def test_a_post_that_shows_up_late_is_found(team):
    team.slack.fail(POST, "cut after")
    team.slack.fail(HISTORY, "503", times=2)
    with pytest.raises(TryLater):
        team.tell(empty())
    team.tell(empty())
    assert len(team.slack.posted) == 1
    assert len(team.slack.calls(POST)) == 1


def test_without_history_nobody_guesses(team):
    team.slack.scopes = ALL_SCOPES - {"channels:history"}
    team.slack.fail(POST, "cut after")
    for _ in range(2):
        with pytest.raises(GiveUp, match=r"unknown whether .* was posted.*channels:history"):
            team.tell(empty())
    assert len(team.slack.calls(POST)) == 1
    team.slack.scopes = ALL_SCOPES
    team.tell(empty())
    assert len(team.slack.posted) == 1


def test_metadata_that_slack_hides_is_not_taken_for_absence(team):
    team.slack.metadata_shown = False
    team.slack.fail(POST, "cut after")
    with pytest.raises(GiveUp, match=r"unknown whether .*metadata\.message:read"):
        team.tell(empty())
    assert len(team.slack.calls(POST)) == 1


def test_a_long_channel_is_read_page_by_page(team):
    other = complete().night.model_copy(update={"id": "another"})
    team.slack.fail(POST, "cut after")
    team.slack.fail(HISTORY, "503", times=2)
    with pytest.raises(TryLater):
        team.tell(empty())
    assert len(team.slack.calls(HISTORY)) == 2
    team.tell(errors(3).model_copy(update={"night": other}))
    team.slack.page = 1
    team.tell(empty())
    assert len(team.slack.calls(HISTORY)) == 2 + 2
    assert [each.get("cursor") for each in team.slack.calls(HISTORY)][2:] == [None, "1"]
    assert len([each for each in team.slack.posted if each.thread_ts is None]) == 2


def test_an_edit_whose_answer_was_lost_is_made_again(team):
    team.tell(empty())
    team.slack.fail(UPDATE, "cut after")
    with pytest.raises(TryLater, match="connection to Slack was lost"):
        team.tell(empty(errors=4))
    team.tell(empty(errors=4))
    assert [each.edits for each in team.slack.posted] == [2]
    assert len(team.slack.calls(HISTORY)) == 0


def test_a_night_that_broke_off_goes_on_where_it_stopped(team):
    team.tell(empty())
    team.slack.requests.clear()
    notifier = team.notifier()
    team.slack.fail(POST, "not_in_channel")
    with pytest.raises(GiveUp):
        notifier.publish(complete())
    notifier.publish(complete())
    parts = team.parts()
    assert len(parts) == len(set(parts)) == 5
    assert len(team.slack.calls(UPDATE)) == 1


def test_a_slack_that_nobody_serves_is_tried_later_and_nothing_is_pending(team):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    notifier = team.notifier(api_url=f"http://127.0.0.1:{port}/api/")
    with pytest.raises(TryLater, match="Slack cannot be reached: ConnectError"):
        notifier.publish(empty())
    team.tell(empty())
    assert len(team.slack.calls(HISTORY)) == 0


@pytest.mark.parametrize("kind", ["401", "403", "404"])
def test_something_else_than_slack_is_told_apart(team, kind):
    team.slack.fail(POST, kind)
    with pytest.raises(GiveUp, match=f"HTTP {kind}, and not like Slack: check the address"):
        team.tell(empty())


def test_a_lost_address_does_not_fail_the_delivery(team):
    team.slack.fail(LINK, "500", times=2)
    assert team.tell(empty()).startswith("Slack channel C0NIGHTS, message 1")


@pytest.mark.parametrize("kind", ["cut", "500", "503"])
@pytest.mark.parametrize(
    ("method", "target"), [(LINK, "C0NIGHTS"), ("users.lookupByEmail", "dana@tidepool.example")]
)
def test_a_read_that_failed_is_repeated_once(team, kind, method, target):
    team.slack.fail(method, kind)
    assert team.tell(empty(), target).startswith("https://tidepool.slack.com/")
    assert len(team.slack.calls(method)) == 2
    assert len(team.slack.calls(POST)) == 1
    assert team.clock.slept == [1.0]


@pytest.mark.parametrize("method", [POST, UPDATE])
@pytest.mark.parametrize("kind", ["cut after", "500 after", "503 after"])
def test_what_writes_is_never_repeated_by_the_library(team, method, kind):
    team.tell(empty())
    team.slack.fail(method, kind)
    night = complete().night.model_copy(update={"id": "another"})
    if method == UPDATE:
        with pytest.raises(TryLater):
            team.tell(empty(errors=4))
    else:
        team.tell(empty().model_copy(update={"night": night}))
    assert len(team.slack.calls(method)) == (1 if method == UPDATE else 2)
    assert len(team.slack.posted) == (1 if method == UPDATE else 2)


def test_every_attempt_and_every_wait_is_counted(team):
    METER.reset()
    team.slack.fail(POST, "429", times=2, value="3")
    team.slack.fail(LINK, "503")
    team.tell(empty())
    calls = METER.calls()["Slack"]
    assert (calls.requests, calls.unanswered, calls.refused) == (5, 3, 0)
    assert (calls.waits, calls.waited) == (3, 7.0)
    assert calls.is_last_well
    assert calls.trouble == "Slack answered HTTP 503"


def test_a_night_that_has_waited_long_enough_waits_no_more(team):
    METER.reset()
    METER.wait("Slack", 898.0)
    team.slack.fail(POST, "429", value="3")
    with pytest.raises(TryLater, match="asks to wait 3 s more, after 898 s this night"):
        team.tell(empty())
    assert team.methods() == [POST]
    METER.reset()


def test_a_channel_with_too_much_that_is_newer_is_not_read_for_ever(team):
    team.tell(errors(9))
    first = team.slack.posted[0]
    team.slack.posted[1:] = [replace(first, ts=f"{first.ts}{n}", metadata={}) for n in range(30)]
    night = complete().night.model_copy(update={"id": "another"})
    team.slack.page = 1
    team.slack.fail(POST, "cut")
    with pytest.raises(GiveUp, match="too many newer messages"):
        team.tell(empty().model_copy(update={"night": night}))
    assert len(team.slack.calls(HISTORY)) == PAGES + 1


@pytest.mark.parametrize("said", [None, "x", [], {"next_cursor": None}, {"next_cursor": ""}])
def test_an_odd_word_about_the_next_page_is_no_next_page(team, said):
    team.slack.fail(POST, "cut after")
    value = json.dumps({"ok": True, "messages": [None, {}, 3], "response_metadata": said})
    team.slack.fail(HISTORY, "200", value=value)
    with pytest.raises(TryLater, match="not in Slack so far"):
        team.tell(empty())
    assert len(team.slack.calls(HISTORY)) == 1
