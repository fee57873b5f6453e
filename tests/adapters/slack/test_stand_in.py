"""The stand-in for Slack refuses what Slack refuses."""

import pytest
from services.slack import ALL_SCOPES, Channel, Slack
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

PLAIN = {"type": "plain_text", "text": "x"}
CELL = {"type": "raw_text", "text": "x"}
DIVIDER = {"type": "divider"}


@pytest.fixture
def slack():
    with Slack() as server:
        yield server


def client(slack):
    return WebClient(slack.token, base_url=slack.url, retry_handlers=[])


def section(text="x", **more):
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


@pytest.mark.parametrize(
    ("blocks", "code"),
    [
        ([DIVIDER] * 51, "invalid_blocks"),
        ([section("")], "invalid_blocks"),
        ([section("x" * 3_001)], "invalid_blocks"),
        ([section(fields=[PLAIN] * 11)], "invalid_blocks"),
        ([section(fields=[{**PLAIN, "text": "x" * 2_001}])], "invalid_blocks"),
        ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "invalid_blocks"),
        ([{"type": "header", "text": {**PLAIN, "text": "x" * 151}}], "invalid_blocks"),
        ([{"type": "context", "elements": [PLAIN] * 11}], "invalid_blocks"),
        ([{"type": "context", "elements": []}], "invalid_blocks"),
        ([{"type": "table", "rows": [[CELL]] * 101}], "invalid_blocks"),
        ([{"type": "table", "rows": [[CELL] * 21]}], "invalid_blocks"),
        ([{"type": "table", "rows": [[{**CELL, "text": ""}]]}], "invalid_blocks"),
        ([{"type": "table", "rows": [[{**CELL, "text": "x" * 10_001}]]}], "invalid_blocks"),
        ([{"type": "table", "rows": [[CELL]]}] * 2, "invalid_blocks"),
        ([section(block_id="b")] * 2, "invalid_blocks"),
        ([section(block_id="b" * 256)], "invalid_blocks"),
        ([{"type": "video"}], "invalid_blocks"),
        ([section("x" * 2_500)] * 5, "msg_blocks_too_long"),
    ],
)
def test_it_refuses_blocks(slack, blocks, code):
    with pytest.raises(SlackApiError) as refused:
        client(slack).chat_postMessage(channel="C0NIGHTS", text="x", blocks=blocks)
    assert refused.value.response["error"] == code
    assert slack.posted == []


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"channel": "C0GONE"}, "channel_not_found"),
        ({"channel": "C0OLD"}, "is_archived"),
        ({"channel": "C0OUTSIDE"}, "not_in_channel"),
        ({"text": ""}, "no_text"),
        ({"thread_ts": "1.000001"}, "thread_not_found"),
        ({"metadata": {"event_type": "Not This!", "event_payload": {}}}, "invalid_metadata_format"),
        ({"metadata": {"event_type": "x", "event_payload": []}}, "invalid_metadata_format"),
    ],
)
@pytest.mark.filterwarnings("ignore:The top-level")
def test_it_refuses_messages(slack, given, code):
    slack.channels["C0OLD"] = Channel("C0OLD", archived=True)
    slack.channels["C0OUTSIDE"] = Channel("C0OUTSIDE", member=False)
    with pytest.raises(SlackApiError) as refused:
        client(slack).chat_postMessage(**{"channel": "C0NIGHTS", "text": "x"} | given)
    assert refused.value.response["error"] == code


def test_it_knows_what_each_method_needs(slack):
    slack.scopes = ALL_SCOPES - {"channels:history"}
    with pytest.raises(SlackApiError) as refused:
        client(slack).conversations_history(channel="C0NIGHTS")
    assert refused.value.response["needed"] == "channels:history"
    with pytest.raises(SlackApiError, match="message_not_found"):
        client(slack).chat_update(channel="C0NIGHTS", ts="1.1", text="x")
    told = client(slack).chat_postMessage(channel="C0NIGHTS", text="x")
    with pytest.raises(SlackApiError, match="msg_too_long"):
        client(slack).chat_update(channel="C0NIGHTS", ts=told["ts"], text="x" * 4_001)


def test_it_tells_whom_a_careless_message_pings_and_where_it_links(slack):
    blocks = [
        section("<!channel> <@U1> see https://evil.example"),
        section("<https://b.example|x>"),
    ]
    client(slack).chat_postMessage(channel="C0NIGHTS", text="@here", parse="full", blocks=blocks)
    assert slack.pings() == ["<!channel>", "<@U1>", "@here"]
    assert slack.links() == ["https://evil.example", "https://b.example"]
    assert slack.posted[0].unfurl
