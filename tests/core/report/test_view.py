"""What a report says, before it is rendered."""

from typing import Any

import pytest
from core.report_fixture import (
    analysis,
    complete,
    degraded,
    empty,
    failed,
    group,
    handed_over,
    hostile,
    huge,
    shown,
    unknown,
)

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.models.analysis import Analysis, Ending, SecondLook
from nightwatch_core.models.answer import Edit, Evidence, Usage
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Case, DroppedGroup, RejectedRecord
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Receipt, Skip
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.blocks import (
    BRIEF,
    DIFF_LINES,
    Command,
    Fact,
    Facts,
    Limits,
    diff_excerpt,
)
from nightwatch_core.report.facts import facts
from nightwatch_core.report.headline import headline
from nightwatch_core.report.view import record_of, view


@pytest.mark.parametrize("status", ["refused", "unknown", "held back", "already there"])
def test_only_what_is_published_is_counted_also_when_a_night_is_taken_up_again(status: str) -> None:
    receipt = Receipt(key="k", kind="issue", fingerprint="v1:1", status=status, number=3)
    report = complete(receipts=(receipt,))
    assert ("1 issue" in headline(report)) == (status == "already there")
    assert record_of(report).issues == (status == "already there")
    assert "pull request" not in headline(report)


def test_headline_of_a_failed_night_never_counts() -> None:
    assert headline(empty(status="failed", errors=7)) == (
        "The night failed after reading 7 error groups."
    )
    assert view(failed()).standing == "failed"


def test_a_quiet_night_is_calm_only_when_it_is_certain() -> None:
    assert view(empty()).standing == "calm"
    partial = empty(status="degraded", degraded=("app.log could not be read",))
    assert "incomplete" in headline(partial)
    torn = empty(rejects=(RejectedRecord(place="a:1", reason="not JSON"),))
    assert headline(torn) != headline(empty())
    assert view(empty(status="degraded")).warnings, "a night that is not complete says why"


def test_a_dry_run_says_so() -> None:
    assert any("Dry run" in text for text in view(empty(options=NightOptions(dry_run=True))).banner)


def test_receipts_find_their_case_by_alias_and_none_goes_unsaid() -> None:
    merged = Case(leader=group(1), others=(group(2),), signature="s1:9")
    receipts = tuple(
        Receipt(key=name, kind="issue", fingerprint=name, status="done", number=number)
        for number, name in enumerate((group(2).fingerprint, "s1:9", "v1:gone"))
    )
    night = view(empty(errors=2, analyses=(analysis(case=merged),), receipts=receipts))
    assert [each.text for each in night.findings[0].publications] == ["issue #0", "issue #1"]
    assert [each.text for each in night.section("elsewhere").blocks[0].items] == ["issue #2"]  # type: ignore[union-attr]


def test_refused_and_unknown_receipts_are_no_success() -> None:
    receipts = tuple(
        Receipt(key=status, kind="pull", fingerprint="v1:0000000000000001", status=status)
        for status in ("refused", "unknown")
    )
    publications = view(complete(receipts=receipts, skips=())).findings[0].publications
    assert [(each.text, each.state == "published") for each in publications] == [
        ("draft pull request refused", False),
        ("draft pull request unconfirmed", False),
    ]


def test_record_of_a_night() -> None:
    record = record_of(degraded().model_copy(update={"traffic": 70_000}))
    assert record.traffic == 70_000, "for later comparisons"
    assert (record.status, record.errors, record.analysed) == ("degraded", 9, 4)
    assert "4 of 9 error groups analysed" in view(degraded()).headline
    assert (record.issues, record.pulls, record.cost) == (1, 1, 0.0)


def test_price_unknown_is_said() -> None:
    night = empty(usage=Usage(calls=1, cost=None))
    used = Facts(items=(Fact(name="Used", text="0 tokens in 1 call, price unknown"),))
    assert used in view(night, BRIEF).section("end").blocks


def test_evidence_lines_are_numbered() -> None:
    pieces = tuple(
        Evidence(path="a.py", line=9, quote="\none\n\nthree\n", verified=verified)
        for verified in (True, False)
    )
    (finding,) = view(empty(analyses=(analysis(evidence=pieces),))).findings
    (section,) = (each for each in finding.sections if each.kind == "evidence")
    quoted, unverified = section.blocks[0].items  # type: ignore[union-attr]
    rows = [(each.number, each.text) for each in quoted.lines]
    assert rows == [(9, "one"), (10, ""), (11, "three")]
    assert unverified.lines == ()


def test_diffs_of_every_action() -> None:
    def marks(**edit: Any) -> list[str]:
        return [each.mark for each in diff_excerpt(*file_diffs((Edit(path="a", **edit),))).lines]

    assert marks(action="create", new="x\ny\n") == ["+", "+"]
    assert marks(action="delete") == []
    far = "\n".join(map(str, range(60)))
    changed = marks(old=far, new=f"a\n{far}\nz")
    assert (changed[0], changed[-1], changed.count("@@")) == ("+", "+", 1)


def test_a_diff_shows_characters_that_hide_and_is_short_whatever_changes() -> None:
    (file,) = file_diffs((Edit(path="a", old="x", new="x\u202e"),))
    assert diff_excerpt(file).lines[-1].text == "x\\u202e"
    edit = Edit(path="a", old="a\nb\n" * 50_000, new="b\na\n" * 50_000)
    assert len(diff_excerpt(*file_diffs((edit,))).lines) <= 2 * DIFF_LINES + 10


@pytest.mark.slow
def test_lists_are_cut_and_say_so() -> None:
    for kind, items, more in (
        ("errors", 25, 175),
        ("first", 1, 0),
        ("findings", 9, 190),
        ("unreadable", 5, 2995),
        ("dropped", 3, 0),
    ):
        block = shown(huge(), kind, BRIEF)
        assert (len(block.items), block.more) == (items, more)
    reasons = shown(huge(), "dropped", BRIEF).items
    assert reasons[0].head == "1,667 error groups, seen 4,167,500 times: below 3 occurrences"
    assert reasons[0].more[0].startswith("KeyError: 'EUR' · bookings/confirm (4,999)")
    assert reasons[0].more[-1] == "and 1,665 more: see report.json"
    assert shown(huge(), "errors", BRIEF).rest == "and 175 more: see report.json"


def test_lists_inside_a_finding_and_many_reasons_are_cut_too() -> None:
    steps = tuple(f"step {n}" for n in range(30))
    edits = tuple(Edit(path=f"f{n}.py", old="a", new="b") for n in range(12))
    (finding,) = view(empty(errors=1, analyses=(analysis(next_steps=steps, fix=edits),))).findings
    more = {each.kind: getattr(each.blocks[0], "more", 0) for each in finding.sections}
    assert (more["next"], more["fix"]) == (20, 2)
    dropped = tuple(DroppedGroup(group=group(n), reason=f"reason {n}") for n in range(60))
    block = shown(empty(errors=60, dropped=dropped), "dropped", Limits(reasons=40))
    assert (len(block.items), block.more) == (40, 20)


def test_an_analysis_with_nothing_in_it_makes_a_finding() -> None:
    bare = Analysis(
        case=Case(leader=group(transaction="", hourly=(), users=None, first_seen=None)),
        title="",
        root_cause="",
        confidence="low",
        ending=Ending(kind="wrapped up"),
    )
    night = view(empty(errors=1, analyses=(bare,)))
    assert night.findings[0].title == "KeyError: 'EUR'"
    assert (night.rows[0].cause, night.rows[0].done) == ("No cause was found.", "–")
    assert night.headline == "1 error group analysed: 1 low-confidence cause"


WENT = ("going on", "it ran out of turns", "in the first conversation, because it ran out of turns")
BEGAN = ("fresh", "it found no cause", "in a fresh conversation, because it found no cause")


@pytest.mark.parametrize(("way", "because", "shown_as"), [WENT, BEGAN])
def test_how_and_why_an_error_was_looked_at_again_is_told(
    way: Any, because: str, shown_as: str
) -> None:
    look = SecondLook(
        reason="cause unknown", way=way, way_because=because, because="the second is not better"
    )
    told = facts("analysis", of=analysis().model_copy(update={"second_look": look}))
    (row,) = [fact.text for fact in told if fact.name == "Second look"]
    assert row == f"{shown_as}; the second is not better"
    skipped = SecondLook(reason="cause unknown", skipped="there is nothing new to see")
    told = facts("analysis", of=analysis().model_copy(update={"second_look": skipped}))
    assert "Second look" not in [fact.name for fact in told]


def commits_told(report: RunReport) -> list[str]:
    return [one.text for one in shown(report, "run").items if one.name in ("Code", "Fixes")]


def test_every_commit_that_was_read_is_named() -> None:
    head = Commit(repository="shop", sha="c" * 40, branch="main", because="head of main")
    old = head.model_copy(update={"sha": "a" * 40, "because": "release v1\n(tag)"})
    new = head.model_copy(update={"sha": "b" * 40, "because": "release v2 (tag)"})
    first, *others = complete().analyses
    first = first.model_copy(update={"case": first.case.model_copy(update={"commit": old})})
    report = complete(commit=new, base=head, commits=(old, new), analyses=(first, *others))
    assert commits_told(report) == [
        "shop at aaaaaaaaaa main (release v1 (tag)), 1 error",
        "shop at bbbbbbbbbb main (release v2 (tag))",
        "made on shop at cccccccccc main",
    ]
    many = tuple(head.model_copy(update={"sha": f"{n:040x}", "because": ""}) for n in range(20))
    facts = commits_told(complete(commit=many[0], commits=many))
    assert (len(facts), facts[8]) == (10, "and 12 commits more")


def test_only_what_a_limit_holds_back_waits() -> None:
    told = {"fingerprint": "v1:0000000000000001", "title": "T", "reason": "limit of patience"}
    for cause, text in (("limit", "issue postponed"), ("choice", "no issue"), ("", "no issue")):
        night = complete(receipts=(), skips=(Skip(**told, kind="issue", cause=cause),))
        assert view(night).rows[0].done == text


def test_no_command_is_offered_for_a_hostile_name() -> None:
    night = view(hostile("$(reboot)"))
    blocks = [*night.section("run").blocks, *night.section("end").blocks]
    blocks += [block for each in night.findings for part in each.sections for block in part.blocks]
    assert not [block for block in blocks if isinstance(block, Command)]


def test_what_nobody_knows_is_a_line_where_there_is_little_room() -> None:
    report, alone = unknown(), unknown(analyses=(handed_over(2),))
    brief = view(report, BRIEF)
    assert [one.rank for one in brief.findings] == [1]
    entries = brief.section("unknown").blocks[0].items  # type: ignore[union-attr]
    assert [one.head for one in entries][0] == "KeyError: 'EUR' · feeds/2 (18)"
    assert view(report).section("unknown").blocks == ()
    assert [(one.rank, one.fold) for one in view(report).findings][1] == (2, "What is known")
    (only,) = view(alone, BRIEF).findings
    kinds = [one.kind for one in only.sections]
    assert kinds[:3] == ["handover", "lines", "look"]
    assert view(alone, BRIEF).section("unknown").blocks == ()
    none = Limits(handovers="none", without=frozenset({"unknown"}))
    assert view(alone, none).findings == ()


def test_an_issue_that_was_asked_for_is_told_where_its_error_is_a_line() -> None:
    first, second = (
        Receipt(key="k", kind="issue", fingerprint=f"v1:{n:016}", status="done", number=n)
        for n in (1, 2)
    )
    brief = view(unknown(receipts=(second, first), skips=()), BRIEF)
    assert [one.text for one in brief.section("elsewhere").blocks[0].items] == ["issue #2"]  # type: ignore[union-attr]
    assert view(unknown(), BRIEF).section("elsewhere").blocks == ()
    assert "compound v1:0000000000000002" not in str(brief)
