"""The morning as Slack messages."""

import re

import pytest
from core.report_fixture import (
    analysis,
    complete,
    degraded,
    empty,
    failed,
    group,
    hostile,
    huge,
    known,
    regression,
    remembered,
    stated,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from services.slack_rules import refused_blocks

from nightwatch_core.adapters.slack.messages import MESSAGE, PLAIN, Message, messages, weight
from nightwatch_core.adapters.slack.mrkdwn import size
from nightwatch_core.models.errors import Case

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


def strings(value):
    if isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def text(*told):
    return "\n".join(each for message in told for each in strings(message.blocks))


def assert_sound(report):
    ours = {each.url for each in (*report.receipts, *report.outcomes)}
    for message in messages(report):
        assert refused_blocks(list(message.blocks)) == []
        assert weight(message.blocks) <= MESSAGE
        assert 0 < size(message.text) <= PLAIN
        for each in (*strings(message.blocks), message.text, message.part):
            each.encode()
            assert not re.search("<[!@#]", each)
        marked = (*map(mrkdwn, message.blocks), message.text)
        for each in marked:
            outside = re.sub(r"```\n[^`]*\n```|`[^`\n]+`", "", each)
            links = re.findall(r"<([^|>]*)\|[^|<>]*>", outside)
            assert {link.replace("&amp;", "&") for link in links} <= ours
            assert "://" not in re.sub(r"<[^|>]*\|", "", outside)


def mrkdwn(block):
    texts = [block.get("text"), *block.get("elements", ())]
    found = [each for each in texts if each and each["type"] == "mrkdwn"]
    assert all(each["verbatim"] for each in found)
    return "\n".join(each["text"] for each in found)


@pytest.mark.parametrize("night", NIGHTS)
def test_no_night_gives_slack_a_reason_to_refuse(night):
    assert_sound(NIGHTS[night])


@settings(max_examples=60, deadline=None)
@given(ANY, st.sampled_from((1, 1, 400)))
@pytest.mark.slow
def test_no_text_anywhere_pings_links_or_is_refused(text, times):
    assert_sound(hostile(text * times))


def test_a_night_is_a_parent_a_reply_per_error_and_a_follow_up():
    parts = [message.part for message in messages(complete())]
    errors = [f"error v1:{number:016x}" for number in range(1, 4)]
    assert parts == ["parent", *errors, "follow-up"]  # the fourth is known
    assert [message.part for message in messages(empty())] == ["parent"]


def test_a_night_with_nothing_new_is_one_message_that_retells_nothing():
    (parent,) = messages(known())
    assert "2 known error groups: nothing new to analyse" in text(parent)
    assert "importer" not in text(parent) + parent.text
    back = regression().analyses[0].case
    again = known().analyses[0].model_copy(update={"case": back})
    night = known(analyses=(again, *known().analyses[1:]))
    assert [message.part for message in messages(night)] == ["parent", f"error {back.fingerprint}"]


def test_one_cause_of_two_errors_is_told_once_and_an_issue_linked_once_a_message():
    told = messages(stated())
    errors = [f"error v1:{number:016x}" for number in (1, 3, 4)]
    assert [message.part for message in told] == ["parent", *errors, "follow-up"]
    assert "TypeError in invoices/show" in text(told[1]).replace("`", "")
    assert {text(message).count("/issues/12|") for message in told} == {0, 1}


def test_machines_and_commands_of_whoever_runs_it_are_no_news_for_a_team():
    said = text(*messages(remembered()))
    for word in ("web-1", "cache", "Sent to", "Analyse", "Capture"):
        assert word not in said


NIGHT = "tidepool-bookings · 2026-11-20-3fa9c1"


@pytest.mark.parametrize(
    ("report", "title", "second"),
    [
        (failed(), "🔴 NightWatch 2026-11-20-3fa9c1 failed", "`export.jsonl` cannot be read"),
        (degraded(), f"🟠 NightWatch {NIGHT} is incomplete", "ended in the middle of"),
        (complete(), f"🟢 NightWatch {NIGHT}", "4 of 9 error groups"),
        (known(), f"🟢 NightWatch {NIGHT}", "2 known error groups: nothing new to analyse"),
        (empty(), "🟢 NightWatch 2026-11-20-3fa9c1", "A calm night"),
    ],
)
def test_what_went_wrong_is_at_the_top(report, title, second):
    parent = messages(report)[0]
    head, below = parent.blocks[:2]
    assert head["text"] == {"type": "plain_text", "text": title, "emoji": False}
    assert second in text(Message(part="", blocks=(below,), text=""))
    assert parent.text.startswith(title)


def test_the_follow_up_leaves_out_what_was_left_undone_on_purpose():
    assert "low confidence and no fix" not in text(messages(degraded())[-1])


def test_verdicts_are_told_one_a_line_before_everything_that_may_be_cut():
    verified = next(each for each in remembered().followed if each.outcomes[0].kind == "verified")
    wordy = verified.model_copy(update={"title": "t" * 500})
    night = remembered(followed=(*[wordy] * 40, *remembered().followed))
    assert_sound(night)
    (became,) = (
        each
        for each in strings(messages(night)[0].blocks)
        if each.startswith("*Since the night before")
    )
    assert became.splitlines()[1].startswith("• came back after its fix")
    assert "|fixed and verified: pull request #9>" in became.splitlines()[2]
    assert became.splitlines()[-1].endswith("more: see report.json")


def test_a_huge_night_shows_what_fits_and_says_what_is_missing():
    told = messages(huge())
    assert len(told) == 1 + 20 + 1
    (table,) = (block for block in told[0].blocks if block["type"] == "table")
    rows = table["rows"]
    assert isinstance(rows, list)
    assert 15 <= len(rows) - 1 <= 50
    assert f"and {200 - len(rows) + 1:,} more: see report.json" in text(told[0])
    assert weight(told[0].blocks) <= MESSAGE


def test_a_table_of_long_rows_takes_what_the_rest_leaves():
    long = group(1, error_class="E" * 120, transaction="t" * 160)
    cases = (analysis(1, case=Case(leader=long), root_cause="c" * 300),) * 50
    parent = messages(complete(analyses=cases, status="degraded", degraded=("w" * 500,) * 9))[0]
    assert refused_blocks(list(parent.blocks)) == []
    assert MESSAGE - 500 < weight(parent.blocks) <= MESSAGE


def test_a_row_without_anything_has_no_empty_cell():
    bare = analysis(1, case=Case(leader=group(1, error_class="", transaction="")), root_cause="")
    assert refused_blocks(list(messages(complete(analyses=(bare,)))[0].blocks)) == []
