"""The morning as Slack messages."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from core.report_fixture import (
    analysis,
    complete,
    degraded,
    empty,
    failed,
    followed,
    group,
    hostile,
    huge,
    remembered,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from nightwatch_core.adapters.slack.blocks import FOLLOWING, SHARES, Message, messages
from nightwatch_core.adapters.slack.cards import SHARES as CARD_SHARES
from nightwatch_core.adapters.slack.limits import BUDGET, FALLBACK, LIMITS, complaints, weight
from nightwatch_core.adapters.slack.mrkdwn import size
from nightwatch_core.models.error import Case
from nightwatch_core.models.report import RunReport

NIGHTS = {
    "complete": complete(),
    "empty": empty(),
    "degraded": degraded(),
    "failed": failed(),
    "huge": huge(),
    "hostile": hostile(),
    "remembered": remembered(),
}
PIECES = ("<!channel>", "<@U1>", "<#C1>", "<https://evil.example|x>", "&", "`", "\n", "```", "😀")
PIECES += ("https://evil.example", "\ud800", "\x00", "|", "*", "@here", "<" * 300, "word ")
ANY = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=40).map("".join)


def strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def text(*told: Message) -> str:
    return "\n".join(each for message in told for each in strings(message.blocks))


def assert_sound(report: RunReport) -> None:
    ours = {each.url for each in (*report.receipts, *report.outcomes)}
    for message in messages(report):
        assert complaints(message.blocks) == ()
        assert 0 < size(message.text) <= FALLBACK
        for each in (*strings(message.blocks), message.text, message.part):
            each.encode()
            assert not re.search("<[!@#]", each)
        marked = (*map(mrkdwn, message.blocks), message.text)
        for each in marked:
            outside = re.sub(r"```\n[^`]*\n```|`[^`\n]+`", "", each)
            links = re.findall(r"<([^|>]*)\|[^|<>]*>", outside)
            assert {link.replace("&amp;", "&") for link in links} <= ours
            assert "://" not in re.sub(r"<[^|>]*\|", "", outside)


def mrkdwn(block: Any) -> str:
    texts = [block.get("text"), *block.get("elements", ())]
    found = [each for each in texts if each and each["type"] == "mrkdwn"]
    assert all(each["verbatim"] for each in found)
    return "\n".join(each["text"] for each in found)


@pytest.mark.parametrize("night", NIGHTS)
def test_no_night_gives_slack_a_reason_to_refuse(night: str) -> None:
    assert_sound(NIGHTS[night])


@settings(max_examples=60, deadline=None)
@given(ANY, st.sampled_from((1, 1, 400)))
def test_no_text_anywhere_pings_links_or_is_refused(text: str, times: int) -> None:
    assert_sound(hostile(text * times))


@pytest.mark.parametrize("night", NIGHTS)
def test_slack_sdk_agrees(night: str) -> None:
    for message in messages(NIGHTS[night]):
        for block in message.blocks:
            parsed = Block.parse(dict(block))
            assert parsed is not None
            assert parsed.to_dict()["type"] == block["type"]


def test_a_night_is_a_parent_a_reply_per_error_and_a_follow_up() -> None:
    parts = [message.part for message in messages(complete())]
    errors = [f"error v1:{number:016x}" for number in range(1, 5)]
    assert parts == ["parent", *errors, "follow-up"]
    assert [message.part for message in messages(empty())] == ["parent"]


def test_errors_of_one_name_are_told_apart_and_keep_their_names_when_reordered() -> None:
    twice = complete(analyses=(analysis(1), analysis(1), analysis(2)))
    parts = [message.part for message in messages(twice)][1:4]
    assert parts == ["error v1:" + "0" * 15 + end for end in ("1", "1 (2)", "2")]
    turned = complete(analyses=tuple(reversed(complete().analyses)))
    assert {each.part for each in messages(turned)} == {each.part for each in messages(complete())}


@pytest.mark.parametrize(
    ("report", "title", "second"),
    [
        (failed(), "🔴 NightWatch 2026-11-20-3fa9c1 failed", "export.jsonl cannot be read"),
        (degraded(), "🟠 NightWatch 2026-11-20-3fa9c1 is incomplete", "ended in the middle of"),
        (complete(), "🟢 NightWatch 2026-11-20-3fa9c1", "4 of 9 error groups analysed"),
        (empty(), "🟢 NightWatch 2026-11-20-3fa9c1", "A calm night"),
    ],
)
def test_what_went_wrong_is_at_the_top(report: RunReport, title: str, second: str) -> None:
    parent = messages(report)[0]
    head, below = parent.blocks[:2]
    assert list(strings(head))[2] == title
    assert second in text(Message(part="", blocks=(below,), text=""))
    assert parent.text.startswith(title)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (0, "KeyError in bookings/confirm"),
        (0, "1,204"),
        (0, "issue #12, draft PR #13"),
        (0, "the file is larger than can be read"),
        (0, "below the limit"),
        (0, "12 records could not be read"),
        (0, "unknown match 'regex'"),
        (0, "nights/2026-11-20-3fa9c1/report.html"),
        (0, "nights/2026-11-20-3fa9c1/report.md"),
        (0, "0 tokens, $0.00"),
        (1, "1. Confirming a booking fails for currencies without a rate"),
        (1, "confidence: *high*"),
        (1, "which has been filled from the nightly import since #412"),
        (1, "`tidepool/rates.py:40` (verified): no default, no check"),
        (1, "return RATES[currency.upper()]"),
        (1, "-    if rate == old.get(code):"),
        (1, "Import only changed rates"),
        (1, "Add a test for a day without changes"),
        (1, "<https://git.example/tidepool/issues/12|issue #12>: Confirming fails"),
        (1, "`nightwatch one v1:0000000000000001`"),
        (3, "no issue: low confidence and no fix"),
        (4, "known since 2026-11-02"),
        (-1, "<https://git.example/tidepool/issues/12|issue #12>"),
        (-1, "draft pull request #13 (`/var/lib/tidepool/.nightwatch/outbox/pulls/13.md`)"),
        (-1, "issue unconfirmed: the answer was cut"),
        (-1, "KeyError on three nights"),
        (-1, "exact: Net::ReadTimeout*: transient, never fixed"),
        (-1, "<https://git.example/tidepool/pull/9|pull request #9 merged>"),
    ],
)
def test_everything_worth_knowing_is_told(place: int, expected: str) -> None:
    assert expected in text(messages(degraded())[place])


def test_the_follow_up_leaves_out_what_was_left_undone_on_purpose() -> None:
    assert "low confidence and no fix" not in text(messages(degraded())[-1])


def test_three_patterns_and_three_suggestions_are_told_at_their_longest() -> None:
    learned = complete().learned
    pattern, suggestion = learned.patterns[0], learned.suggestions[0]
    long = {"title": "p&" * 200, "description": "d<" * 400, "suggestion": "s" * 500}
    many = learned.model_copy(
        update={
            "patterns": (pattern.model_copy(update=long),) * 5,
            "suggestions": (suggestion.model_copy(update={"reason": "&" * 500}),) * 5,
        }
    )
    sections = [list(strings(block))[2] for block in messages(complete(learned=many))[-1].blocks]
    for name in ("Patterns", "Ignore rules you might add"):
        (found,) = (each for each in sections if each.startswith(f"*{name}*"))
        assert found.count("• ") == 3 + ("more: see" in found)
        assert "more: see report.json" not in found


@pytest.mark.parametrize(
    "expected",
    [
        "*regressed: pull request #6*: Rooms were double-booked (0 in 240 h after the fix, then",
        "|verified: pull request #9>: Latin-1 lists (12 in 48 h before, 0 in 120 h after)",
        "*closed unmerged: pull request #5*: Guest lists were read twice (“The import is meant",
        "*1. exact: Net::ReadTimeout*: transient, never fixed (over 14 nights it would have hidden",
        "Accept one of them: `nightwatch ignore accept N`",
    ],
)
def test_the_follow_up_tells_what_the_memory_knows(expected: str) -> None:
    assert expected in text(messages(remembered())[-1])


def test_verdicts_are_told_one_a_line_before_everything_that_may_be_cut() -> None:
    wordy = complete().outcomes[0].model_copy(update={"title": "t" * 500, "words": ("w" * 900,)})
    items = tuple(wordy.model_copy(update={"number": n}) for n in range(20, 60))
    night = remembered(outcomes=items)
    assert_sound(night)
    (became,) = (
        each for each in strings(messages(night)[-1].blocks) if each.startswith("*What became")
    )
    assert became.splitlines()[1].startswith("• *regressed")
    assert became.splitlines()[2].startswith("• *verified")
    assert became.splitlines()[-1].endswith("more: see report.json")


def test_verdicts_at_their_longest_all_fit() -> None:
    long = {"title": "<" * 900}
    news = tuple(
        each.model_copy(
            update={
                **long,
                "fates": tuple(f.model_copy(update={"because": "&" * 900}) for f in each.fates),
            }
        )
        for each in followed()[1:3]
    )
    night = remembered(followed=news, outcomes=())
    assert_sound(night)
    shown = "\n".join(strings(messages(night)[-1].blocks))
    assert "regressed: pull request #6" in shown
    assert "verified: pull request #9" in shown


def test_a_huge_night_shows_what_fits_and_says_what_is_missing() -> None:
    told = messages(huge())
    assert len(told) == 1 + 20 + 1
    (table,) = (block for block in told[0].blocks if block["type"] == "table")
    rows = table["rows"]
    assert isinstance(rows, list)
    assert 15 <= len(rows) - 1 <= 50
    assert f"and {200 - len(rows) + 1:,} more: see report.json" in text(told[0])
    assert weight(told[0].blocks) <= BUDGET


def test_a_table_of_long_rows_takes_what_the_rest_leaves() -> None:
    long = group(1, error_class="E" * 120, transaction="t" * 160)
    cases = (analysis(1, case=Case(leader=long), root_cause="c" * 300),) * 50
    parent = messages(complete(analyses=cases, status="degraded", degraded=("w" * 500,) * 9))[0]
    assert complaints(parent.blocks) == ()
    assert weight(parent.blocks) > BUDGET - 500


def test_a_row_without_anything_has_no_empty_cell() -> None:
    bare = analysis(1, case=Case(leader=group(1, error_class="", transaction="")), root_cause="")
    assert complaints(messages(complete(analyses=(bare,)))[0].blocks) == ()


def test_shares_leave_room_for_the_table() -> None:
    assert sum(SHARES.values()) + LIMITS["header"] <= BUDGET - 2_000
    assert sum(CARD_SHARES.values()) + LIMITS["header"] <= BUDGET
    assert sum(FOLLOWING.values()) <= BUDGET


def plain(text: str = "x") -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def section(text: str = "x", **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def table(rows: int = 1, columns: int = 1, text: str = "x") -> dict[str, Any]:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": text}] * columns] * rows}


def button(**changes: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain(), "action_id": "a", **changes}


DIVIDER = {"type": "divider"}
REFUSED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no block": ([], "1 to 50"),
    "too many": ([DIVIDER] * 51, "51, but"),
    "unknown": ([{"type": "video"}], "no block of type 'video'"),
    "no type": ([{}], "no block of type None"),
    "odd type": ([{"type": ["a"]}], "no block of type"),
    "odd key": ([{**DIVIDER, "text": plain()}], "blocks/0/text: not a field"),
    "block_id": ([section(block_id="b" * 256)], "block_id"),
    "same block_id": ([section(block_id="b")] * 2, "used twice"),
    "header": ([{"type": "header", "text": plain("x" * 151)}], "151, but 1 to 150"),
    "astral header": ([{"type": "header", "text": plain("😀" * 76)}], "152, but 1 to 150"),
    "header in mrkdwn": ([{**section(), "type": "header"}], "must be plain_text"),
    "no text": ([{"type": "section"}], "must be plain_text or mrkdwn"),
    "empty text": ([section("")], "0, but 1 to 3,000"),
    "long text": ([section("x" * 3_001)], "3,001, but 1 to 3,000"),
    "emoji in mrkdwn": (
        [{"type": "section", "text": {"type": "mrkdwn", "text": "x", "emoji": True}}],
        "emoji: not a field of mrkdwn",
    ),
    "text of another kind": ([section(5)], "must be text"),  # type: ignore[arg-type]
    "fields": ([section(fields=[plain()] * 11)], "11, but 1 to 10"),
    "field": ([section(fields=[plain("x" * 2_001)])], "2,001, but 1 to 2,000"),
    "no fields": ([section(fields=[])], "fields: 0, but"),
    "context": ([{"type": "context", "elements": [plain()] * 11}], "11, but 1 to 10"),
    "context text": ([{"type": "context", "elements": [plain("x" * 3_001)]}], "context text"),
    "no elements": ([{"type": "context"}], "elements: must be a list"),
    "actions": ([{"type": "actions", "elements": [button()] * 26}], "26, but 1 to 25"),
    "no button": ([{"type": "actions", "elements": [plain()]}], "only buttons"),
    "button text": ([section(accessory=button(text=plain("x" * 76)))], "76, but 1 to 75"),
    "button url": ([section(accessory=button(url="x" * 3_001))], "3,001, but"),
    "button value": ([section(accessory=button(value="x" * 2_001))], "2,001, but"),
    "action_id": ([section(accessory=button(action_id="x" * 256))], "256, but 1 to 255"),
    "tables": ([table()] * 2, "2, but 0 to 1 are allowed (tables)"),
    "rows": ([table(rows=101)], "101, but 1 to 100"),
    "columns": ([table(columns=21)], "21, but 1 to 20"),
    "no rows": ([table(rows=0)], "rows: 0, but"),
    "empty cell": ([table(text="")], "0, but 1 to"),
    "cells": ([table(rows=11, text="x" * 1_000)], "11,000, but 0 to 10,000"),
    "cell": ([{"type": "table", "rows": [[plain()]]}], "only raw_text"),
    "ragged": ([{"type": "table", "rows": [*table()["rows"], *table(1, 2)["rows"]]}], "different"),
    "column settings": ([{**table(), "column_settings": [{"align": "top"}]}], "neither"),
    "all together": ([section("x" * 2_900)] * 4, "11,600 characters in all, at most 9,000"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_checker_knows_every_limit(case: str) -> None:
    blocks, said = REFUSED[case]
    assert said in "\n".join(complaints(blocks))


def test_the_checker_lets_good_blocks_pass() -> None:
    good = [
        {"type": "header", "text": {**plain("x" * 150), "emoji": False}},
        section(
            "x" * 3_000, fields=[plain("x" * 2_000)], accessory=button(url="https://x.example")
        ),
        {"type": "section", "fields": [plain()] * 10},
        {"type": "context", "elements": [plain()] * 10},
        {"type": "actions", "elements": [button()] * 25},
        {**table(100, 20, "x"), "column_settings": [{"align": "right", "is_wrapped": True}, None]},
        DIVIDER,
    ]
    assert complaints(good) == ()
