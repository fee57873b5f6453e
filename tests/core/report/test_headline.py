"""The night in one line: every combination of what a night can be made of."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from core.report_fixture import NOW, analysis, empty, group, known
from tables import tables_of

from nightwatch_core.memory.rates import changes
from nightwatch_core.models.analysis import Ending, Failure
from nightwatch_core.models.answer import Experience, Usage
from nightwatch_core.models.assignment import BatchTriage, Sighting, SubmittedBatch
from nightwatch_core.models.batch import FirstSight, ItemResult
from nightwatch_core.models.errors import Case, DroppedGroup
from nightwatch_core.models.knowledge import OutcomeEvent, OutcomeUpdate
from nightwatch_core.models.proposals import OwnItem, Receipt, Skip
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.headline import NOTHING_CAME, headline
from nightwatch_core.report.view import record_of, view

TABLES = tables_of(__file__)

SIGHT = FirstSight(severity="low", likely_cause="A typo.", needs_deep_investigation=False)
REUSED = Ending(kind="reused", detail="errors/x.md")


def night(errors: int, status: str = "complete", **made: Any) -> RunReport:
    """A night of so many analyses, failures and dropped groups of each kind."""
    numbers = itertools.count(1)

    def of(kind: str, make: Callable[[int], Any]) -> tuple[Any, ...]:
        return tuple(make(next(numbers)) for _ in range(made.get(kind, 0)))

    def failure(kind: str) -> Callable[[int], Failure]:
        ending = Ending.model_validate({"kind": kind})
        return lambda n: Failure(case=Case(leader=group(n)), reason="r", ending=ending)

    def dropped(kind: str) -> Callable[[int], DroppedGroup]:
        told = {"kind": kind, "reason": kind}
        return lambda n: DroppedGroup.model_validate({"group": group(n), **told})

    return empty(
        errors=errors,
        status=status,
        analyses=(
            *of("found", analysis),
            *of("fallback", lambda n: analysis(n, by_fallback=True)),
            *of("known", lambda n: analysis(n, ending=REUSED)),
        ),
        failures=(*of("failed", failure("failed")), *of("budget gone", failure("budget gone"))),
        dropped=(*of("ignored", dropped("ignored")), *of("limit", dropped("limit"))),
    )


@pytest.mark.parametrize("told", TABLES["nights"], ids=lambda told: told["text"])
def test_what_a_night_was_like(told: dict[str, Any]) -> None:
    made = {name: value for name, value in told.items() if name != "text"}
    assert headline(night(**made)) == told["text"]


def test_a_fix_that_was_rejected_is_not_counted_as_proposed() -> None:
    report = night(errors=2, found=2)
    told = {"fingerprint": "v1:0000000000000001", "title": "T", "kind": "pull", "reason": "r"}
    for cause, fixes in (("limit", "2 fixes"), ("rejected", "1 fix"), ("refused", "1 fix")):
        skipped = report.model_copy(update={"skips": (Skip(**told, cause=cause),)})
        assert f", {fixes} proposed" in headline(skipped)


def of_one_cause(*numbers: int, **changes: Any) -> list[Any]:
    """Analyses of cases that one change would mend."""
    first = analysis(numbers[0])
    same = {"fix": first.fix, "changes": first.changes, "evidence": first.evidence}
    return [analysis(number, **same, **changes) for number in numbers]


def test_causes_fixes_and_drafts_are_counted_by_cause() -> None:
    """Five cases, two of which have one cause: four causes, of which each draft mends one."""
    analyses = (*of_one_cause(1, 2), analysis(3), analysis(4), analysis(5, fix=(), changes=()))
    made = [
        Receipt(key=f"k{number}", kind="pull", fingerprint=f"v1:{number:016x}", status="done")
        for number in (1, 3, 4)
    ]
    report = empty(errors=5, analyses=analyses, receipts=made)
    assert headline(report) == (
        "All 5 error groups analysed: 4 root causes of 5 cases, 3 fixes proposed, "
        "3 draft pull requests"
    )


def test_a_cause_that_one_of_its_cases_proves_is_no_guess() -> None:
    sure, guess = of_one_cause(1, 2)
    report = empty(errors=2, analyses=(sure, guess.model_copy(update={"confidence": "low"})))
    assert "analysed: 1 root cause, 1 fix proposed" in headline(report)


def outcome(name: str, *kinds: str, number: int = 9) -> OutcomeUpdate:
    events = tuple(OutcomeEvent(kind=kind, number=number, on=NOW.date()) for kind in kinds)
    return OutcomeUpdate(fingerprint=name, outcomes=events)


def test_a_merged_draft_counts_once_whatever_errors_and_outcomes_speak_of_it() -> None:
    followed = (
        outcome("v1:a", "merged", "edited before merge", "verified"),
        outcome("v1:b", "merged", "edited before merge", "verified"),
    )
    report = known().model_copy(update={"followed": followed})
    assert (record_of(report).merged, record_of(report).verified) == (1, 1)
    assert headline(report).endswith(" · 1 fix verified")


def cost_per_fix(**changes: Any) -> list[str]:
    usage = Usage(calls=1, cost=0.5)
    report = known().model_copy(update={"usage": usage, **changes})
    facts = [
        fact for part in view(report).section("run").blocks for fact in getattr(part, "items", ())
    ]
    return [fact.text for fact in facts if fact.name == "Cost per merged fix"]


def test_the_cost_of_a_merged_fix_is_shared_among_those_that_were_merged() -> None:
    followed = (outcome("v1:a", "merged", "edited before merge"), outcome("v1:b", "merged"))
    said = "$0.50 (1 fix in all nights)"
    assert cost_per_fix(followed=followed) == [said]
    merged = OwnItem(kind="pull", number=9, fingerprint="v1:a", state="merged")
    counted_twice = Experience(merged=2)
    assert cost_per_fix(experience=counted_twice, outcomes=(merged,)) == [said]
    assert cost_per_fix(experience=Experience(merged=1), outcomes=(merged,)) == [said]


def test_a_night_of_batches_says_so_and_a_failed_one_says_that_first() -> None:
    judged = Sighting(
        group=group(30),
        night="n0",
        at=NOW,
        rank=1,
        result=ItemResult(key="k", fingerprint="v1:1", kind="answered", first_sight=SIGHT),
    )
    sent = SubmittedBatch(id="msgbatch_1", model="claude-haiku-5-5", errors=7)
    triage = BatchTriage(judged=(judged,), submitted=(sent,))
    report = night(errors=5, known=5).model_copy(update={"batch_triage": triage})
    assert headline(report).endswith(
        "nothing new to analyse · 1 group triaged in a batch · 7 groups submitted in a batch"
    )
    failed = empty(status="failed", batch_triage=BatchTriage(judged=(judged,)))
    assert headline(failed) == NOTHING_CAME
    assert headline(empty(batch_triage=failed.batch_triage)).startswith("1 error triaged")


def test_a_healthy_night_is_counted_by_what_it_knew() -> None:
    report = known()
    assert (record_of(report).known, record_of(report).analysed) == (2, 0)


def two_nights(
    before: dict[str, int], now: dict[str, int], old: tuple[str, ...] = (), **more: Any
) -> tuple[RunReport, ...]:
    """The night before and tonight, of errors by their names and counts; `old` ones were earlier.

    With `old` ones, tonight's window begins where that of the night before does.
    """

    def read(day: int, counts: dict[str, int], **changes: Any) -> RunReport:
        groups = [
            group(
                fingerprint=f"v1:{name}",
                transaction=name,
                occurrences=count,
                last_seen=NOW.replace(day=19 if name in old else day, hour=0),
            )
            for name, count in counts.items()
        ]
        window = {"since": NOW.replace(day=18 if old else day - 1), "until": NOW.replace(day=day)}
        night = {"id": f"n{day}", "window": window, "now": NOW}
        analyses = [
            {"case": {"leader": one}, "title": "", "root_cause": "", "confidence": "low",
             "known_as": ("v1:x",) * (one.transaction == "back")}
            for one in groups
        ]  # fmt: skip
        told = {"night": night, "errors": len(groups), "read_whole": True, "analyses": analyses}
        return empty(**(told | changes))

    return read(20, now, **more), read(19, before)


@pytest.mark.parametrize("told", TABLES["changes"], ids=lambda told: told["why"])
def test_what_changed_since_the_night_before(told: dict[str, Any]) -> None:
    tonight, before = two_nights(
        told["before"], told["now"], tuple(told.get("old", ())), **told.get("tonight", {})
    )
    report = tonight.model_copy(update={"changes": changes(tonight, before)})
    _, _, since = headline(report).partition(" · since the night before: ")
    assert since == told["text"]
    section = view(report).section("changes")
    shown = [text for block in section.blocks for text in block.items]
    assert shown == told.get("shown", [])
    assert changes(before, tonight) == ()  # nothing is compared with a later night
