"""The Slack notifier over real HTTP, against a stand-in as strict as Slack."""

import json
import logging
import re
import sqlite3
from contextlib import closing

import pytest
from core.report_fixture import analysis, complete, degraded, empty, group
from services.slack import ALL_SCOPES, Channel
from slack_team import HISTORY, LINK, POST, UPDATE, a_team, errors
from tables import tables_of

from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.errors import Case

TABLES = tables_of(__file__)


@pytest.fixture
def team(tmp_path):
    with a_team(tmp_path / "state") as team:
        yield team


@pytest.mark.parametrize("count", [3, 10])
def test_a_night_is_a_message_with_a_reply_per_error(team, count):
    address = team.tell(errors(count))

    parent, *replies = team.slack.shown()
    methods = team.methods()
    assert methods == [POST] * (count + 2) + [LINK]
    assert address == f"https://tidepool.slack.com/archives/C0NIGHTS/p{parent.ts.replace('.', '')}"
    assert parent.thread_ts is None
    assert [each.thread_ts for each in replies] == [parent.ts] * (count + 1)
    assert "tidepool-bookings" in json.dumps(parent.blocks)
    for each in (parent, *replies):  # where files lie on our machine is nobody's news
        assert "/var/lib" not in json.dumps(each.blocks) + each.text
    assert "KeyError on three nights" in json.dumps(replies[-1].blocks)
    assert all(each.metadata and each.metadata["event_payload"]["night"] for each in replies)
    assert team.slack.pings() == []
    assert {"https://git.example/tidepool/issues/12"} <= set(team.slack.links())
    assert not any(each.unfurl for each in team.slack.posted)
    assert {each.parse for each in team.slack.posted} == {"none"}


def test_posts_are_a_second_apart(team):
    team.tell(errors(3))
    assert team.clock.slept == [1.1] * 4


def test_a_rerun_edits_what_changed_and_posts_nothing_twice(team):
    before = team.tell()
    count = len(team.slack.posted)
    team.slack.requests.clear()
    first, *others = complete().analyses
    changed = first.model_copy(update={"root_cause": "Now we know better."})
    again = complete(analyses=(changed, *others), status="degraded", degraded=("it was cut",))

    assert team.tell(again) == before

    assert team.methods() == [UPDATE] * 2 + [LINK]
    assert len(team.slack.posted) == count
    assert [each.edits for each in team.slack.posted] == [1, 1, 0, 0, 0]
    parent, reply = team.slack.posted[:2]
    assert "is incomplete" in json.dumps(parent.blocks[0])
    assert "Now we know better." in json.dumps(reply.blocks)
    assert {each.parse for each in team.slack.posted} == {"none"}


def test_the_same_night_told_again_costs_one_call(team):
    team.tell()
    team.slack.requests.clear()
    team.tell()
    assert team.methods() == [LINK]


def test_another_night_and_another_channel_are_told_anew(team):
    team.slack.channels["C0OTHER"] = Channel("C0OTHER")
    other = complete().night.model_copy(update={"id": "2026-11-21-aa"})
    team.tell(empty())
    team.tell(empty(night=other))
    team.tell(empty(), "C0OTHER")
    assert [each.channel for each in team.slack.posted] == ["C0NIGHTS", "C0NIGHTS", "C0OTHER"]


def test_an_error_that_came_late_is_added(team):
    team.tell(errors(2))
    late = analysis(9, case=Case(leader=group(9, error_class="LateError")))
    team.tell(complete(analyses=(*errors(2).analyses, late)))
    assert "LateError" in [each.text for each in team.slack.shown()][-1]


def test_a_deleted_night_is_told_anew_with_its_thread(team):
    team.tell(errors(2))
    for each in team.slack.posted:
        each.deleted = True
    team.tell(complete(analyses=(analysis(1), analysis(2)), errors=10))

    parent, *replies = team.slack.shown()
    assert len(replies) == 3
    assert {each.thread_ts for each in replies} == {parent.ts}


def test_a_reply_to_a_deleted_night_is_tried_again_with_a_new_one(team):
    report = errors(1)
    team.tell(report)
    for each in team.slack.posted:
        each.deleted = True
    with closing(sqlite3.connect(team.database)) as database:
        database.execute("DELETE FROM slack_messages WHERE part <> 'parent'")
        database.commit()

    with pytest.raises(TryLater, match="was deleted"):
        team.tell(report)
    team.tell(report)
    parent, *replies = team.slack.shown()
    assert {each.thread_ts for each in replies} == {parent.ts}


# -- targets


@pytest.mark.parametrize(("target", "methods"), TABLES["test_a_person_is_told_in_a_direct_message"])
def test_a_person_is_told_in_a_direct_message(team, target, methods):
    notifier = team.notifier(target)
    notifier.publish(empty())
    notifier.publish(empty(errors=2))

    called = team.methods()
    assert called == [*methods, POST, LINK, UPDATE, LINK], "the person is looked up once"
    assert [each.channel for each in team.slack.posted] == ["D0DANA"]


@pytest.mark.parametrize(
    "target", ["general", "#general", "@dana", "", "dana@", "C0/../x", "c0low"]
)
def test_a_name_is_no_target(team, target):
    with pytest.raises(GiveUp, match=r"neither a channel's id .* nor an e-mail address"):
        team.tell(target=target)
    assert team.slack.requests == []


# -- refusals


@pytest.mark.parametrize(
    ("target", "method", "code", "told"),
    [
        ("C0GONE", "", "", "channel_not_found: SLACK_CHANNEL names no conversation"),
        ("nobody@tidepool.example", "", "", "users_not_found: nobody in this workspace"),
        ("C0NIGHTS", POST, "not_in_channel", "/invite"),
        ("C0NIGHTS", POST, "token_revoked", "new bot token"),
        ("C0NIGHTS", POST, "something_new", "something_new: see the method's page"),
    ],
)
def test_a_refusal_says_what_to_do(team, target, method, code, told):
    if method:
        team.slack.fail(method, code)
    with pytest.raises(GiveUp, match=re.escape(told)):
        team.tell(empty(), target)
    if method:
        team.tell(empty(), target)
        assert len(team.slack.posted) == 1, "a refused message is not taken for a posted one"
        assert HISTORY not in team.methods(), "nor for one whose fate is unknown"


def test_a_missing_scope_is_named(team):
    team.slack.scopes = ALL_SCOPES - {"im:write"}
    with pytest.raises(GiveUp, match="give the app the scope im:write"):
        team.tell(empty(), "U0DANA")


def test_a_wrong_token_is_not_repeated(team, caplog):
    caplog.set_level(logging.DEBUG)
    notifier = team.notifier(token="xoxb-wrong-canary")
    with pytest.raises(GiveUp, match="SLACK_BOT_TOKEN is not a token Slack knows") as refused:
        notifier.publish(empty())
    said = f"{refused.value!r} {refused.value} {notifier!r} {vars(notifier)} {caplog.text}"
    assert "canary" not in said


def test_what_slack_says_is_not_believed(team):
    said = {"error": "xoxb-canary <!channel>", "needed": "xoxb canary"}
    team.slack.fail(POST, "error", value=json.dumps(said))
    with pytest.raises(GiveUp) as refused:
        team.tell(empty())
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("code", ["invalid_blocks", "msg_blocks_too_long"])
def test_refused_blocks_become_text(team, code, caplog):
    team.slack.fail(POST, code)
    team.tell(degraded())

    parent = team.slack.posted[0]
    assert parent.blocks == []
    assert "is incomplete" in parent.text
    assert "`export.jsonl` ended in the middle" in parent.text
    assert "2 lessons kept." in parent.text
    assert code in caplog.text
    team.slack.fail(UPDATE, code)
    team.tell(complete())
    assert parent.blocks == []
    assert "is incomplete" not in parent.text


def test_a_text_that_is_refused_too_is_a_failed_delivery(team):
    team.slack.fail(POST, "invalid_blocks", times=2)
    with pytest.raises(GiveUp, match="rejects the blocks and the plain text"):
        team.tell(empty())


# -- probe


def test_the_probe_says_where_messages_go(team):
    said = team.notifier().probe()
    assert said == "Slack workspace Tidepool as nightwatch, messages go to nightwatch"
    assert team.slack.posted == []
    mail = team.notifier("dana@tidepool.example").probe()
    assert mail.endswith("messages go to dana@tidepool.example")


@pytest.mark.parametrize(
    ("target", "lacking", "told"), TABLES["test_the_probe_names_missing_scopes"]
)
def test_the_probe_names_missing_scopes(team, target, lacking, told):
    team.slack.scopes = ALL_SCOPES - lacking
    with pytest.raises(GiveUp, match=told):
        team.notifier(target).probe()


def test_the_probe_says_what_it_could_not_look_at(team):
    team.slack.scopes = frozenset({"chat:write"})
    said = team.notifier().probe()
    assert "not looked at: that needs channels:read" in said
    assert "without channels:history a lost answer leaves it unknown" in said


@pytest.mark.parametrize(
    ("changes", "told"), TABLES["test_the_probe_finds_channels_we_may_not_post_to"]
)
def test_the_probe_finds_channels_we_may_not_post_to(team, changes, told):
    team.slack.channels["C0NIGHTS"] = Channel("C0NIGHTS", **changes)
    with pytest.raises(GiveUp, match=told):
        team.notifier().probe()


def test_a_text_that_looks_secret_is_withheld_and_the_rest_is_told(team):
    def withheld(text):
        return "[withheld]" if "KeyError on three nights" in text else text

    team.notifier(withhold=withheld).publish(errors(3))

    told = [json.dumps(each.blocks) + each.text for each in team.slack.shown()]
    assert "tidepool-bookings" in told[0]
    assert "[withheld]" in told[-1]
    assert "KeyError on three nights" not in "".join(told)
