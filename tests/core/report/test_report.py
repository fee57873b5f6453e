"""What a report says, before it is rendered."""

from datetime import timedelta

import pytest
from core.report_fixture import (
    NOW,
    analysis,
    complete,
    degraded,
    empty,
    failed,
    group,
    hostile,
    huge,
)

from nightwatch_core.models.analysis import Analysis, Edit, Ending, Evidence, Usage
from nightwatch_core.models.error import Case, DroppedGroup, RejectedRecord
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import LearningResult
from nightwatch_core.report.cards import known_since
from nightwatch_core.report.code import DIFF_LINES, diff, snippet
from nightwatch_core.report.values import BRIEF, Limits
from nightwatch_core.report.view import headline, record_of, view


def test_headline_of_a_night() -> None:
    assert headline(degraded()) == (
        "4 of 9 error groups analysed in 3 cases: 2 with a root cause, 1 fix proposed, "
        "1 draft pull request, 1 issue · 1 known · 1 failed"
    )


@pytest.mark.parametrize("status", ["refused", "unknown", "held back"])
def test_headline_counts_only_what_is_published(status: str) -> None:
    receipt = Receipt(key="k", kind="issue", fingerprint="v1:1", status=status, number=3)
    text = headline(complete(receipts=(receipt,)))
    assert "1 issue" not in text
    assert "pull request" not in text


def test_a_night_that_is_taken_up_again_counts_what_it_published_before() -> None:
    receipt = Receipt(key="k", kind="issue", fingerprint="v1:1", status="already there", number=3)
    report = complete(receipts=(receipt,))
    assert "1 issue" in headline(report)
    assert record_of(report).issues == 1


def test_headline_of_a_failed_night_never_counts() -> None:
    assert headline(failed()).startswith("The night failed before any error had been read")
    assert headline(empty(status="failed", errors=7)) == (
        "The night failed after 7 error groups had been read."
    )
    assert not view(failed()).counts
    assert view(failed()).standing == "failed"


def test_a_quiet_night_is_calm_only_when_it_is_certain() -> None:
    assert view(empty()).standing == "calm"
    assert headline(empty()).startswith("A calm night")
    partial = empty(status="degraded", degraded=("app.log could not be read",))
    assert "incomplete" in headline(partial)
    torn = empty(rejects=(RejectedRecord(place="a:1", reason="not JSON"),))
    assert headline(torn) != headline(empty())


def test_a_night_that_is_not_complete_always_says_why() -> None:
    assert view(empty(status="degraded")).warnings
    assert view(degraded()).warnings == degraded().degraded
    assert view(complete()).warnings == ()


def test_a_dry_run_says_so() -> None:
    assert any("Dry run" in text for text in view(empty(options=NightOptions(dry_run=True))).banner)


def test_known_errors_say_since_when() -> None:
    known = complete().analyses[3]
    assert known_since(known) == "known since 2026-11-02"
    assert view(complete()).rows.items[3].done == "known since 2026-11-02"
    silent = known.model_copy(update={"because": ()})
    assert known_since(silent) == "known"
    assert known_since(analysis()) == ""


def test_receipts_find_their_case_by_alias_and_none_goes_unsaid() -> None:
    merged = Case(leader=group(1), others=(group(2),), signature="s1:9")
    receipts = tuple(
        Receipt(key=name, kind="issue", fingerprint=name, status="done", number=number)
        for number, name in enumerate((group(2).fingerprint, "s1:9", "v1:gone"))
    )
    shown = view(empty(errors=2, analyses=(analysis(case=merged),), receipts=receipts))
    assert [done.text for done in shown.cards.items[0].done] == ["issue #0", "issue #1"]
    assert [done.text for done in shown.elsewhere.items] == ["issue #2"]


def test_refused_and_unknown_receipts_are_no_success() -> None:
    receipts = tuple(
        Receipt(key=status, kind="pull", fingerprint="v1:0000000000000001", status=status)
        for status in ("refused", "unknown")
    )
    shown = view(complete(receipts=receipts, skips=())).cards.items[0].done
    assert [(done.text, done.ok) for done in shown] == [
        ("draft pull request refused", False),
        ("draft pull request unconfirmed", False),
    ]


def test_record_of_a_night() -> None:
    record = record_of(degraded())
    assert (record.status, record.errors, record.analysed) == ("degraded", 9, 3)
    assert (record.issues, record.pulls, record.cost) == (1, 1, 0.0)


def test_price_unknown_is_said() -> None:
    assert "price unknown" in view(empty(usage=Usage(calls=1, cost=None))).spent


def test_evidence_lines_are_numbered() -> None:
    shown = snippet(Evidence(path="a.py", line=9, quote="\none\n\nthree\n"))
    assert [(each.number, each.text) for each in shown.lines] == [
        (9, "one"),
        (10, ""),
        (11, "three"),
    ]
    assert snippet(Evidence(path="a.py", line=9)).lines == ()


def test_diffs_of_every_action() -> None:
    assert [each.mark for each in diff(Edit(path="a", action="create", new="x\ny\n")).lines] == [
        "+",
        "+",
    ]
    assert diff(Edit(path="a", action="delete")).lines == ()
    far = "\n".join(map(str, range(60)))
    marks = [each.mark for each in diff(Edit(path="a", old=far, new=f"a\n{far}\nz")).lines]
    assert marks.count("…") == 1
    assert (marks[0], marks[-1]) == ("+", "+")


def test_diffs_of_huge_texts_are_short() -> None:
    shown = diff(Edit(path="a", old="a\nb\n" * 50_000, new="b\na\n" * 50_000))
    assert len(shown.lines) <= 2 * DIFF_LINES + 10


def test_a_diff_shows_characters_that_hide() -> None:
    lines = diff(Edit(path="a", old="x", new="x\u202e")).lines
    assert lines[-1].text == "x\\u202e"


def test_lists_are_cut_and_say_so() -> None:
    shown = view(huge(), BRIEF)
    assert (len(shown.rows.items), shown.rows.more) == (25, 175)
    assert (len(shown.cards.items), shown.cards.more) == (10, 190)
    assert shown.rejects.more == 2995
    assert shown.rows.rest == "and 175 more: see report.json"
    assert sum(bunch.groups for bunch in shown.dropped.items) == shown.dropped_groups == 5000
    bunch = shown.dropped.items[0]
    assert bunch.examples.more == bunch.groups - 2
    assert bunch.examples.items[0].count >= bunch.examples.items[1].count


def test_many_reasons_are_cut_too() -> None:
    dropped = tuple(DroppedGroup(group=group(n), reason=f"reason {n}") for n in range(60))
    shown = view(empty(errors=60, dropped=dropped), Limits(reasons=40)).dropped
    assert (len(shown.items), shown.more) == (40, 20)


def test_lists_inside_a_card_are_cut() -> None:
    steps = tuple(f"step {n}" for n in range(30))
    edits = tuple(Edit(path=f"f{n}.py", old="a", new="b") for n in range(12))
    card = view(empty(errors=1, analyses=(analysis(next_steps=steps, fix=edits),))).cards.items[0]
    assert card.next_steps[-1] == "and 20 more: see report.json"
    assert card.fix.more == 2


def test_an_analysis_with_nothing_in_it_makes_a_card() -> None:
    bare = Analysis(
        case=Case(leader=group(transaction="", hourly=(), users=None, first_seen=None)),
        title="",
        root_cause="",
        confidence="low",
        ending=Ending(kind="wrapped up"),
    )
    shown = view(empty(errors=1, analyses=(bare,)))
    assert shown.cards.items[0].title == "KeyError"
    assert shown.rows.items[0].cause == "no cause found"
    assert shown.rows.items[0].done == "–"
    assert "0 with a root cause" in shown.headline


def test_facts_name_what_differs_from_the_defaults() -> None:
    facts = {fact.name: fact.text for fact in view(complete()).facts}
    assert facts["Options"] == "source=file, errors=export.jsonl"
    assert facts["Code"] == "tidepool at 9f8e7d6c5b4a main (head of main)"
    assert facts["Ran"] == "2026-11-20 04:05 UTC, took 1 min 12 s"


def test_a_clock_that_went_back_makes_no_negative_duration() -> None:
    facts = {fact.name: fact.text for fact in view(empty(finished=NOW - timedelta(hours=1))).facts}
    assert facts["Ran"].endswith("took 0 s")


def test_learning_that_failed_is_told() -> None:
    assert "disk" in view(empty(learned=LearningResult(failure="the disk is full"))).learned


def test_no_command_is_offered_for_a_hostile_name() -> None:
    shown = view(hostile("$(reboot)"))
    assert shown.again == ""
    assert {card.again for card in shown.cards.items} == {""}
