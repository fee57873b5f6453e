"""What the memory has to say, in every rendering of the report."""

import re
from datetime import date, timedelta

import pytest
from core.report.test_report_renderings import Page, flat, printed, text_of
from core.report_fixture import NOW, analysis, complete, empty, followed, remembered
from core.scoreboard_shapes import record
from markdown_it import MarkdownIt

from nightwatch_core.memory.outcomes.calibration import calibrated
from nightwatch_core.memory.outcomes.scoreboard import scoreboard
from nightwatch_core.models.outcome import OutcomeEvent, OutcomeUpdate
from nightwatch_core.models.pattern import Backtest, IgnoreSuggestion, Pattern
from nightwatch_core.models.proposal import OwnItem, Receipt
from nightwatch_core.models.report import LearningResult
from nightwatch_core.report.hints import capture, proved
from nightwatch_core.report.html import as_html
from nightwatch_core.report.markdown import as_markdown
from nightwatch_core.report.memory import ORDER, VERDICTS, backtested
from nightwatch_core.report.values import BRIEF, FULL
from nightwatch_core.report.view import record_of, view

RENDERINGS = ["terminal", "markdown", "html"]
EVERYWHERE = (
    "proved right here 7 of 9 times when said high",
    "Looked at again: a new release touches its files",
    "its fix is not deployed yet",
    "because same root cause; same module",
    "seen on 3 nights since 2026-11-02",
    "1. exact: Net::ReadTimeout",
    "over 14 nights it would have hidden 3 error groups (412 times), 1 of them fixed later",
    "at most 12 users a night",
    "holds until 2026-12-20, and not above 40 a day",
    "nightwatch ignore accept 1",
    "verified: pull request #9",
    "12 in 48 h before, 0 in 120 h after",
    "regressed: pull request #6",
    "0 in 240 h after the fix, then 31 in 24 h",
    "closed unmerged: pull request #5",
    "The import is meant to skip these.",
    "being measured: pull request #7",
    "Lessons: 3 new, 1 refreshed, 4 reused.",
    "1 lesson no longer fits the code.",
    "2 lessons moved to the archive.",
    "Capture what was learned: nightwatch compound v1:0000000000000001",
)
ON_PAPER = (
    "Scoreboard",
    "Said high 9 times, merged 7, verified 3, wrong 2; said medium 4 times, merged 2",
    "50 to 92 %",
    "Brier score 0.198",
    "with prior knowledge 4 analyses, 1.5 of 4 right",
    "Observed, not an experiment",
    "Half right: edited before merge",
)


@pytest.mark.parametrize("render", RENDERINGS)
@pytest.mark.parametrize("fact", EVERYWHERE)
def test_every_rendering_tells_what_the_memory_knows(render: str, fact: str) -> None:
    assert fact in text_of(render, remembered())


@pytest.mark.parametrize("render", ["markdown", "html"])
@pytest.mark.parametrize("fact", ON_PAPER)
def test_the_scoreboard_is_in_the_kept_reports(render: str, fact: str) -> None:
    assert fact.lower() in text_of(render, remembered()).lower()


@pytest.mark.parametrize("board", [None, scoreboard([]), scoreboard(record("..."))])
def test_no_scoreboard_before_anything_is_decided(board) -> None:  # type: ignore[no-untyped-def]
    night = complete(learned=LearningResult(scoreboard=board))
    assert view(night).scored is None
    for text in (as_markdown(night), as_html(night)):
        assert "Scoreboard" not in text


def test_the_scoreboard_is_a_table_in_markdown_and_html() -> None:
    markdown = MarkdownIt("commonmark").enable("table").render(as_markdown(remembered()))
    cells = "".join(re.findall(r"<td[^>]*>([^<]*)</td>", markdown))
    assert "78 %" in cells
    page = as_html(remembered())
    assert page.count('<table class="rows score">') == 1
    assert '<span class="badge medium">medium</span></td>' in page


def test_every_colour_of_the_page_is_one_for_light_and_dark() -> None:
    style = as_html(remembered()).split("<style>")[1].split("</style>")[0]
    light, dark = style.split("prefers-color-scheme: dark")
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    assert used <= set(re.findall(r"(--[\w-]+):", light))
    assert used <= set(re.findall(r"(--[\w-]+):", dark))


def test_names_of_shelved_lessons_are_in_the_details() -> None:
    page = Page(as_html(remembered()))
    for name in ("errors/a.md", "errors/x.md", "errors/y.md"):
        assert name in page.text
    many = LearningResult(archived=tuple(f"errors/{n}.md" for n in range(70)))
    assert "and 20 more: see report.json" in as_html(complete(learned=many))


def test_verdicts_of_production_come_first_then_what_asks_for_somebody() -> None:
    heads = [each.head.partition(":")[0] for each in view(remembered()).followed.items]
    assert heads == ["regressed", "verified", "closed unmerged", "being measured"]
    assert ORDER[: len(VERDICTS)] == VERDICTS
    text = flat(printed(remembered(), 200))
    assert text.index("regressed: pull") < text.index("closed unmerged: pull")


def test_an_item_is_told_once() -> None:
    items = (
        OwnItem(
            kind="pull", number=9, fingerprint="v1:4", state="merged", url="https://g.example/9"
        ),
        OwnItem(kind="issue", number=9, fingerprint="v1:4", state="open"),
    )
    shown = view(remembered(outcomes=items))
    assert [each.head for each in shown.outcomes.items] == ["issue #9 open"]
    (address,) = (each.address for each in shown.followed.items if each.address)
    assert address == "https://g.example/9"


def test_long_lists_of_news_are_cut_and_say_so() -> None:
    fates = tuple(OutcomeEvent(kind="merged", number=n, on=NOW.date()) for n in range(60))
    shown = view(empty(followed=(OutcomeUpdate(fingerprint="v1:1", fates=fates),)))
    assert (len(shown.followed.items), shown.followed.more) == (50, 10)
    assert "and 10 more: see report.json" in as_markdown(
        empty(followed=(OutcomeUpdate(fingerprint="v1:1", fates=fates),))
    )


def test_a_followed_lesson_without_title_or_figures_is_named_all_the_same() -> None:
    fate = OutcomeEvent(kind="no effect", number=None, on=NOW.date())
    (line,) = view(
        empty(followed=(OutcomeUpdate(fingerprint="v1:1", fates=(fate,)),))
    ).followed.items
    assert (line.head, line.text, line.small) == ("no effect: pull request", "v1:1", "")
    nothing = empty(followed=(OutcomeUpdate(fingerprint="v1:1"),))
    assert view(nothing).followed.items == ()


def test_a_verdict_without_words_of_its_own_takes_the_figures_of_the_watch() -> None:
    (worked,) = (each for each in followed() if each.watch and each.fates)
    merged = worked.model_copy(
        update={"fates": (OutcomeEvent(kind="merged", number=9, on=NOW.date()),)}
    )
    small = [view(empty(followed=(each,))).followed.items[0].small for each in (worked, merged)]
    assert small == ["12 in 48 h before, 0 in 120 h after", ""]


def many_suggestions(count: int) -> LearningResult:
    each = IgnoreSuggestion(pattern="E", match="exact", reason="r", evidence="e")
    return LearningResult(
        suggestions=tuple(each.model_copy(update={"pattern": f"E{n}"}) for n in range(count)),
        patterns=tuple(
            Pattern(title=f"P{n}", description="", pattern_type="systemic_issue")
            for n in range(count)
        ),
    )


def test_suggestions_keep_their_numbers_and_the_evening_reads_three() -> None:
    night = complete(learned=many_suggestions(30))
    heads = [each.head for each in view(night, FULL).suggestions.items]
    assert heads[:2] == ["1. exact: E0", "2. exact: E1"]
    assert len(heads) == 20
    for some in (view(night, BRIEF).suggestions, view(night, BRIEF).patterns):
        assert (len(some.items), some.more) == (3, 27)


def test_a_rule_without_end_tripwire_or_history_says_so() -> None:
    (line,) = view(complete(learned=many_suggestions(1))).suggestions.items
    assert "never expires, whatever the rate" in line.more
    assert line.small == "not back-tested: there is no earlier night to test it on"
    field = IgnoreSuggestion(
        pattern="E", match="exact", reason="r", evidence="e", field="error_class"
    )
    (line,) = view(complete(learned=LearningResult(suggestions=(field,)))).suggestions.items
    assert line.head == "1. exact: E in error class"


def test_a_backtest_without_fixes_or_users() -> None:
    said = backtested(Backtest(nights=1, groups=1, occurrences=1))
    assert said == (
        "over 1 night it would have hidden 1 error group (1 time), none of them fixed later; "
        "users not known"
    )


def test_a_pattern_of_one_night_has_no_since() -> None:
    once = Pattern(
        title="t", description="d", pattern_type="systemic_issue", nights=(date(2031, 3, 1),)
    )
    (line,) = view(complete(learned=LearningResult(patterns=(once,)))).patterns.items
    assert line.more == ("seen on 1 night",)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (LearningResult(lessons=("a", "b")), "2 lessons kept."),
        (LearningResult(lessons=("a",), new=1), "Lessons: 1 new."),
        (LearningResult(reused=2), "Lessons: 2 reused."),
        (LearningResult(), ""),
        (LearningResult(stale=("a", "b")), "2 lessons no longer fit the code."),
        (
            LearningResult(archived=("a",), failure="disk"),
            "1 lesson moved to the archive. Learning is",
        ),
    ],
)
def test_what_was_learned_in_a_line(told: LearningResult, expected: str) -> None:
    said = view(complete(learned=told)).learned
    assert said.startswith(expected)
    assert bool(said) == bool(expected)


def test_a_dry_run_keeps_no_lesson() -> None:
    night = remembered()
    dry = night.model_copy(update={"options": night.options.model_copy(update={"dry_run": True})})
    assert "Lessons:" not in view(dry).learned


def receipt(**changes: object) -> Receipt:
    told = {"key": "k", "kind": "issue", "fingerprint": analysis().fingerprint, "status": "done"}
    return Receipt.model_validate(told | changes)


@pytest.mark.parametrize(
    ("changes", "offered"),
    [
        ({}, True),
        ({"kind": "pull", "status": "already there"}, True),
        ({"kind": "comment"}, False),
        ({"kind": "reopen"}, False),
        ({"status": "held back"}, False),
        ({"status": "refused"}, False),
        ({"fingerprint": "v1:another"}, False),
    ],
)
def test_capturing_is_offered_after_something_was_opened(changes, offered: bool) -> None:  # type: ignore[no-untyped-def]
    assert bool(capture(analysis(), (receipt(**changes),))) == offered


def test_no_capturing_is_offered_for_a_hostile_name() -> None:
    evil = "$(reboot)"
    case = analysis().case
    leader = case.leader.model_copy(update={"fingerprint": evil})
    named = analysis(case=case.model_copy(update={"leader": leader}))
    assert capture(named, (receipt(fingerprint=evil),)) == ""


def test_the_terminal_offers_one_and_counts_the_others() -> None:
    receipts = tuple(receipt(fingerprint=f"v1:{n:016x}") for n in (1, 2, 3))
    assert "compound v1:0000000000000001 (and 2 more)" in printed(complete(receipts=receipts))


def test_a_proof_is_only_ours() -> None:
    said = "findings said high proved right 7 of 9 times here"
    assert proved(analysis(because=(said,))) == ""  # not calibrated: no chance
    assert proved(analysis(chance=0.8, because=())) == ""
    assert proved(analysis(chance=0.8, because=(f"“{said}”",))) == ""
    lowered = analysis(chance=0.2, confidence="medium", said="high", because=(f"{said}: …",))
    assert proved(lowered) == ("proved right here 7 of 9 times when said high, lowered from high")


def test_a_known_error_says_what_its_confidence_is_worth() -> None:
    known = complete().analyses[3]
    board = scoreboard(record("mmmmmmmmmcc"))
    night = complete(analyses=(calibrated(known, board),))
    for render in RENDERINGS:
        assert "proved right here 9 of 11 times when said high" in text_of(render, night)


def test_watch_days_do_not_make_a_line_of_their_own_once_decided() -> None:
    (worked,) = (each for each in followed() if each.watch and each.watch.verdict)
    later = worked.model_copy(update={"fates": ()})
    assert view(empty(followed=(later,))).followed.items == ()
    assert worked.watch is not None
    running = worked.watch.model_copy(
        update={"verdict": "", "deployed_at": NOW - timedelta(days=1)}
    )
    (line,) = view(empty(followed=(later.model_copy(update={"watch": running}),))).followed.items
    assert line.small == "12 in 48 h before, 0 in 120 h after"


def test_the_headline_tells_what_production_says_of_merged_fixes():
    told = view(remembered()).headline
    assert told.endswith("1 fix verified · 1 fix regressed")
    without = remembered().model_copy(update={"followed": ()})
    assert "fix regressed" not in view(without).headline


def test_the_history_keeps_the_traffic_for_later_comparisons():
    busy = remembered().model_copy(update={"traffic": 70_000})
    assert record_of(busy).traffic == 70_000
