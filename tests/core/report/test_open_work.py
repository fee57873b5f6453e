"""What a report says of open drafts and issues: accepted, merged, measured, or up to people."""

import json
from datetime import timedelta
from typing import Any

import pytest
from core.report.golden_reports import printed
from core.report_fixture import NOW, analysis, known, shown

from nightwatch_core.adapters.html.page import as_html
from nightwatch_core.adapters.slack.messages import messages
from nightwatch_core.models.knowledge import MergedFix, OutcomeEvent, OutcomeUpdate
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem, Receipt
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.view import as_markdown, view

NAME = analysis(1).fingerprint
WORDS = "Known & accepted: <!channel> see `rates.py`"


def item(kind: str, number: int, state: str = "open", **more: Any) -> OwnItem:
    told = {"kind": kind, "number": number, "fingerprint": NAME, "title": "T", "state": state}
    return OwnItem.model_validate(told | more)


ACCEPTED = item(
    "issue", 425, "closed", state_reason="not_planned", closed_at=NOW - timedelta(hours=9),
    closed_by="ann", words=(WORDS,), speakers=("ben",),
)  # fmt: skip
DRAFT = item("pull", 426)
NEWS = OutcomeUpdate(
    fingerprint=NAME,
    outcomes=(OutcomeEvent(kind="not planned", number=425, on=NOW.date(), words=(WORDS,)),),
)


def night(*items: OwnItem, **more: Any) -> RunReport:
    return known().model_copy(update={"outcomes": items, "analyses": (analysis(1),), **more})


def waiting(report: RunReport) -> list[str]:
    return [f"{one.text} | {one.note}" for one in shown(report, "changes").items]


def test_who_accepted_an_error_when_and_in_whose_words_is_said_once_in_every_rendering() -> None:
    reused = analysis(1, ending={"kind": "reused"}, known_since="known since 2026-11-18")
    report = night(ACCEPTED, DRAFT, followed=(NEWS,), analyses=(reused,))
    (entry,) = shown(report, "outcomes").items
    assert entry.head == "accepted: issue #425"
    assert entry.small == (
        f"The error was accepted by @ann on 2026-11-19: “{WORDS}” (@ben). It is left alone; "
        "its open draft #426 can be closed."
    )
    slack = json.dumps([message.model_dump() for message in messages(report)], ensure_ascii=False)
    for text in (printed(report, 300), as_markdown(report), as_html(report), slack):
        assert "waits for review" not in text
        assert "analysed again" not in text
        assert "can be closed: pull request" in text
    assert "<!channel>" not in slack
    assert printed(report, 300).count("Known & accepted") == 1
    assert as_markdown(report).count("It is left alone") == 1


def test_an_accepted_error_that_was_analysed_all_the_same_is_not_said_to_be_left_alone() -> None:
    (entry,) = shown(night(ACCEPTED, followed=(NEWS,)), "outcomes").items
    assert "It was analysed again, and nothing was published." in entry.small


def test_an_issue_that_is_open_again_is_accepted_no_more() -> None:
    again = item("issue", 430)
    assert waiting(night(ACCEPTED, again, DRAFT))[0].startswith("waits for review: pull request")


def fix(status: str) -> MergedFix:
    told = {"number": 229, "names": (NAME,), "merged_at": NOW - timedelta(days=1)}
    return MergedFix.model_validate({**told, "status": status, "deployed_at": NOW})


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ("merged", "merged, not yet in production: issue #228 | error 1, KeyError; its fix #229 "
         "was merged on 2026-11-19; no release with it was seen yet"),
        ("measuring", "merged, being measured: issue #228 | error 1, KeyError; its fix #229 was "
         "merged on 2026-11-19 and runs since 2026-11-20"),
        ("verified", "verified, can be closed: issue #228 | error 1, KeyError; its fix #229 "
         "helped"),
        ("no effect", "waits for you: issue #228 | error 1, KeyError"),
        ("regressed", "waits for you: issue #228 | error 1, KeyError"),
    ],
)  # fmt: skip
def test_the_issue_of_a_merged_fix_says_how_far_that_is(status: str, text: str) -> None:
    merged = item("pull", 229, "merged", merged_at=NOW)
    assert waiting(night(item("issue", 228), merged, fixes=(fix(status),))) == [text]


def test_of_several_fixes_the_one_that_is_least_far_counts() -> None:
    fixes = (fix("verified"), fix("merged"))
    assert waiting(night(item("issue", 228), fixes=fixes))[0].startswith("merged, not yet")


def test_an_issue_that_people_reopened_waits_for_them() -> None:
    again = item("issue", 228, state_reason="reopened")
    assert waiting(night(again, fixes=(fix("measuring"),)))[0].startswith("waits for you")


@pytest.mark.parametrize(("closes", "count"), [(True, 0), (False, 1)])
def test_an_issue_that_this_night_closed_waits_for_nothing(closes: bool, count: int) -> None:
    done = Receipt(key="k", kind="close", fingerprint=NAME, status="done", number=228)
    options = NightOptions(close_verified=closes)
    report = night(item("issue", 228), fixes=(fix("verified"),), receipts=(done,), options=options)
    section = view(report).section("changes")
    assert sum(len(block.items) for block in section.blocks) == count
