"""What the memory has to say, in every rendering of the report."""

import re
from datetime import date, timedelta

import pytest
from core.report.golden_reports import printed
from core.report_fixture import NOW, analysis, complete, empty, followed, remembered, shown
from core.scoreboard_shapes import record
from tables import tables_of

from nightwatch_core.adapters.html.page import as_html
from nightwatch_core.adapters.slack.messages import messages
from nightwatch_core.memory.scoreboard import scoreboard
from nightwatch_core.models.analysis import TrackRecord
from nightwatch_core.models.knowledge import IgnoreSuggestion, OutcomeEvent, OutcomeUpdate, Pattern
from nightwatch_core.models.proposals import OwnItem, Receipt, Skip
from nightwatch_core.models.report import Change, LearningResult
from nightwatch_core.publish.blocks import BRIEF
from nightwatch_core.report.sections import capture_command, learned_sentence
from nightwatch_core.report.view import as_markdown, view

TABLES = tables_of(__file__)


@pytest.mark.parametrize("board", [None, scoreboard([]), scoreboard(record("..."))])
def test_no_scoreboard_before_anything_is_decided(board) -> None:  # type: ignore[no-untyped-def]
    night = complete(learned=LearningResult(scoreboard=board))
    assert view(night).section("scoreboard").blocks == ()


def test_names_of_shelved_lessons_are_cut() -> None:
    many = LearningResult(archived=tuple(f"errors/{n}.md" for n in range(70)))
    facts = shown(complete(learned=many), "run").items
    (shelved,) = (fact.text for fact in facts if "archive" in fact.name)
    assert shelved.startswith("errors/0.md, errors/1.md")
    assert len(shelved) <= 500


def test_an_item_is_told_once() -> None:
    items = (
        OwnItem(
            kind="pull", number=9, fingerprint="v1:4", state="merged", url="https://g.example/9"
        ),
        OwnItem(kind="issue", number=9, fingerprint="v1:4", state="open"),
    )
    night = remembered(outcomes=items)
    told = shown(night, "changes").items
    assert [each.text for each in told if "#9" in each.text] == [
        "fixed and verified: pull request #9",
        "waits for you: issue #9",
    ]
    assert "#9" not in str(view(night).section("outcomes"))
    assert [each.address for each in told if each.address] == ["https://g.example/9"]


def test_what_waits_for_an_error_that_is_gone_says_so() -> None:
    issue = OwnItem(kind="issue", number=9, fingerprint="v1:4", title="Old", state="open")
    gone = {"kind": "gone", "title": "KeyError in carts/show", "fingerprint": "v1:4", "before": 43}
    other = Change(kind="gone", title="TypeError in carts/pay", fingerprint="v1:5", before=12)
    changes = (Change.model_validate(gone), other)
    section = view(empty(outcomes=(issue,), changes=changes)).section("changes")
    told = [getattr(item, "note", item) for block in section.blocks for item in block.items]
    assert told == [
        "gone: TypeError in carts/pay (12 → 0)",
        "KeyError in carts/show, gone (43 → 0): close it if it was fixed",
    ]


def test_what_the_table_of_errors_tells_is_only_pointed_at_above_it() -> None:
    names = {"v1:0000000000000001": "error 1, KeyError", "v1:4": "Rates"}
    for name, told in names.items():
        item = OwnItem(kind="issue", number=8, title="Rates", fingerprint=name, state="open")
        (waiting,) = shown(complete(outcomes=(item,)), "changes").items
        assert waiting.note == told


REJECTED = OutcomeUpdate(
    fingerprint="v1:0000000000000001",
    title="Rates",
    outcomes=(
        OutcomeEvent(kind="closed unmerged", number=4, on=NOW.date(), words=("Use net_price.",)),
    ),
)
AGAIN = Receipt(key="k", kind="pull", fingerprint=REJECTED.fingerprint, status="done", number=7)
SAME = Skip(
    fingerprint=REJECTED.fingerprint,
    title="Rates",
    kind="pull",
    reason="this fix was rejected or did not help before: not proposed again",
    cause="rejected",
)


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"analyses": ()}, "kept with the error; this change is not proposed again"),
        ({"skips": (SAME,), "receipts": ()}, "analysed again, no draft: this fix was rejected"),
        ({"receipts": (AGAIN,)}, "analysed again, another fix is in draft #7"),
    ],
)
def test_whoever_rejected_a_draft_gets_an_answer(changes, answer) -> None:  # type: ignore[no-untyped-def]
    night = complete(followed=(REJECTED,), **changes)
    small = shown(night, "outcomes").items[0].small
    assert small.startswith(f"“Use net_price.”. Answer: {answer}")
    assert answer in str(messages(night)[-1].blocks)
    assert ("Fix: rejected before, in tidepool" in printed(night)) == ("skips" in changes)


def test_long_lists_of_news_are_cut_and_say_so() -> None:
    outcomes = tuple(OutcomeEvent(kind="merged", number=n, on=NOW.date()) for n in range(60))
    block = shown(
        empty(followed=(OutcomeUpdate(fingerprint="v1:1", outcomes=outcomes),)), "outcomes"
    )
    assert (len(block.items), block.more) == (50, 10)


def test_a_followed_lesson_without_title_or_figures_is_named_all_the_same() -> None:
    fate = OutcomeEvent(kind="no effect", number=None, on=NOW.date())
    night = empty(followed=(OutcomeUpdate(fingerprint="v1:1", outcomes=(fate,)),))
    (told,) = shown(night, "changes").items
    assert (told.text, told.note) == ("merged without effect: pull request", "v1:1")
    nothing = empty(followed=(OutcomeUpdate(fingerprint="v1:1"),))
    assert view(nothing).section("outcomes").blocks == ()


def test_a_verdict_without_words_of_its_own_takes_the_figures_of_the_watch() -> None:
    (worked,) = (each for each in followed() if each.watch and each.outcomes)
    merged = worked.model_copy(
        update={"outcomes": (OutcomeEvent(kind="merged", number=9, on=NOW.date()),)}
    )
    (told,) = shown(empty(followed=(worked,)), "changes").items
    assert told.note.endswith("(12 in 48 h before, 0 in 120 h after)")
    assert shown(empty(followed=(merged,)), "outcomes").items[0].small == ""


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
    heads = [each.head for each in shown(night, "suggestions").items]
    assert heads[:2] == ["1. exact: E0", "2. exact: E1"]
    assert len(heads) == 20
    for kind in ("suggestions", "patterns"):
        block = shown(night, kind, BRIEF)
        assert (len(block.items), block.more) == (3, 27)


def test_a_rule_without_end_tripwire_or_history_says_so() -> None:
    night = complete(learned=many_suggestions(1))
    (line,) = shown(night, "suggestions").items
    assert "never expires, at any rate" in line.more
    assert line.small == "not back-tested: there are no earlier nights"
    (rule,) = night.learned.suggestions
    field = LearningResult(suggestions=(rule.model_copy(update={"field": "error_class"}),))
    (line,) = shown(complete(learned=field), "suggestions").items
    assert line.head == "1. exact: E0 in error class"


def test_a_pattern_of_one_night_has_no_since() -> None:
    once = Pattern(
        title="t", description="d", pattern_type="systemic_issue", nights=(date(2031, 3, 1),)
    )
    (line,) = shown(complete(learned=LearningResult(patterns=(once,))), "patterns").items
    assert line.more == ("seen on 1 night",)


def test_a_pattern_that_ended_says_why_and_those_that_go_on_are_counted() -> None:
    told = {"description": "Cause unknown.", "pattern_type": "recurring_error", "suggestion": "Do."}
    open_one = Pattern(title="T keeps coming back", nights=(NOW.date(),), opened=NOW.date(), **told)
    ends = {"closed": NOW.date(), "closed_because": "its cause is known", "because": ("one class",)}
    night = complete(
        learned=LearningResult(
            patterns=(open_one, open_one.model_copy(update=ends)), patterns_going_on=2
        )
    )
    listed, more = view(night).section("patterns").blocks
    first, last = listed.items
    assert (first.text, first.small, first.more) == ("Cause unknown.", "Do.", ())
    assert (last.text, last.small) == ("closed: its cause is known", "")
    assert last.more == ("seen on 1 night",)
    assert more.text.startswith("2 errors without a known cause, reported on an earlier night")
    assert more.text in " ".join(printed(night).split())
    only = complete(learned=LearningResult(patterns_going_on=1))
    assert len(view(only).section("patterns").blocks) == 1


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
    said = learned_sentence(complete(learned=told))
    assert said.startswith(expected)
    assert bool(said) == bool(expected)


def test_a_dry_run_keeps_no_lesson() -> None:
    night = remembered()
    dry = night.model_copy(update={"options": night.options.model_copy(update={"dry_run": True})})
    assert "Lessons:" not in learned_sentence(dry)


def receipt(**changes: object) -> Receipt:
    told = {"key": "k", "kind": "issue", "fingerprint": analysis().fingerprint, "status": "done"}
    return Receipt.model_validate(told | changes)


@pytest.mark.parametrize(
    ("changes", "offered"), TABLES["test_capturing_is_offered_after_something_was_opened"]
)
def test_capturing_is_offered_after_something_was_opened(changes, offered: bool) -> None:  # type: ignore[no-untyped-def]
    assert bool(capture_command(analysis(), complete(receipts=(receipt(**changes),)))) == offered


def test_no_capturing_is_offered_for_a_hostile_name() -> None:
    evil = "$(reboot)"
    case = analysis().case
    leader = case.leader.model_copy(update={"fingerprint": evil})
    named = analysis(case=case.model_copy(update={"leader": leader}))
    assert capture_command(named, complete(receipts=(receipt(fingerprint=evil),))) == ""


@pytest.mark.parametrize("rendered", [printed, as_markdown, as_html])
def test_commands_are_those_of_the_application_that_was_read(rendered) -> None:  # type: ignore[no-untyped-def]
    name = "nightwatch --config shop.toml"
    text = rendered(remembered().model_copy(update={"command": name}))
    assert f"{name} feedback v1:" in " ".join(text.split())
    assert not re.search(r"nightwatch\s+(one|feedback|compound|ignore|manifest)", text)


def test_the_terminal_offers_one_and_counts_the_others() -> None:
    receipts = tuple(receipt(fingerprint=f"v1:{n:016x}") for n in (1, 2, 3))
    assert "compound v1:0000000000000001 (and 2 more)" in printed(complete(receipts=receipts))


def test_a_confidence_says_what_it_is_worth_here() -> None:
    (finding,) = view(empty(analyses=(analysis(),))).findings
    assert finding.proved == ""
    record = TrackRecord(stated_confidence="high", right=7.5, decided=9)
    lowered = analysis(confidence="medium", stated_confidence="high", track_record=record)
    (finding,) = view(empty(analyses=(lowered,))).findings
    assert finding.proved == "high findings proved right here 7.5 of 9 times, lowered from high"


def test_watch_days_do_not_make_a_line_of_their_own_once_decided() -> None:
    (worked,) = (each for each in followed() if each.watch and each.watch.verdict)
    later = worked.model_copy(update={"outcomes": ()})
    assert view(empty(followed=(later,))).section("outcomes").blocks == ()
    assert worked.watch is not None
    running = worked.watch.model_copy(
        update={"verdict": "", "deployed_at": NOW - timedelta(days=1)}
    )
    night = empty(followed=(later.model_copy(update={"watch": running}),))
    (line,) = shown(night, "outcomes").items
    assert line.small == "12 in 48 h before, 0 in 120 h after"
