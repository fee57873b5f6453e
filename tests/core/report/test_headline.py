"""The night in one line: every combination of what a night can be made of."""

from itertools import product

import pytest
from core.report_fixture import NOW, analysis, empty, group, known

from nightwatch_core.models.analysis import Ending, Failure
from nightwatch_core.models.assignment import BatchTriage, Sighting, SubmittedBatch
from nightwatch_core.models.batch import FirstSight, ItemResult
from nightwatch_core.models.errors import Case, DroppedGroup
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.builder import Tally
from nightwatch_core.report.headline import NOTHING_CAME, headline, in_short, of_night
from nightwatch_core.report.view import record_of, view

SIGHT = FirstSight(severity="low", likely_cause="A typo.", needs_deep_investigation=False)
REUSED = Ending(kind="reused", detail="errors/x.md")


def _known(number: int) -> object:
    return analysis(number, ending=REUSED)


def _failures(count: int, kind: str = "failed") -> tuple[Failure, ...]:
    return tuple(
        Failure(
            case=Case(leader=group(n)), reason="r", ending=Ending.model_validate({"kind": kind})
        )
        for n in range(20, 20 + count)
    )


def _dropped(kind: str, count: int) -> tuple[DroppedGroup, ...]:
    return tuple(
        DroppedGroup.model_validate({"group": group(n), "kind": kind, "reason": kind})
        for n in range(40, 40 + count)
    )


FIVE_KNOWN = tuple(map(_known, range(1, 6)))


@pytest.mark.parametrize(
    ("report", "text", "brief"),
    [
        (
            empty(errors=5, analyses=FIVE_KNOWN),
            "5 known error groups: nothing new to analyse",
            "nothing new",
        ),
        (
            empty(errors=1, analyses=FIVE_KNOWN[:1]),
            "1 known error group: nothing new to analyse",
            "nothing new",
        ),
        (
            empty(errors=7, analyses=FIVE_KNOWN, dropped=_dropped("limit", 2)),
            "None of 7 error groups was analysed · 5 known · 2 beyond tonight's limits",
            "no new cause",
        ),
        (
            empty(errors=2, dropped=_dropped("ignored", 2)),
            "None of 2 error groups was analysed · 2 ignored",
            "nothing to analyse",
        ),
        (
            empty(errors=3, dropped=(*_dropped("ignored", 1), *_dropped("limit", 2))),
            "None of 3 error groups was analysed · 1 ignored · 2 beyond tonight's limits",
            "nothing analysed",
        ),
        (
            empty(errors=3, failures=_failures(2), analyses=FIVE_KNOWN[:1], status="degraded"),
            "None of 3 error groups was analysed · 1 known · 2 failed",
            "no analysis came about",
        ),
        (
            empty(errors=4, failures=_failures(2, "budget gone"), analyses=(analysis(1),)),
            "1 of 4 error groups analysed: 1 with a root cause, 1 fix proposed · "
            "2 beyond tonight's budget",
            "1 cause found",
        ),
        (
            empty(errors=2, analyses=(analysis(1, by_fallback=True), _known(2))),
            "1 of 2 error groups analysed: 1 with a root cause, 1 fix proposed · 1 known · "
            "1 by the rules in the model's place",
            "1 cause found",
        ),
        (
            empty(errors=9, analyses=(analysis(1),), status="failed"),
            "The night failed after 9 error groups had been read, 1 of them analysed.",
            "",
        ),
    ],
)
def test_what_a_night_was_like(report: RunReport, text: str, brief: str) -> None:
    assert (headline(report), in_short(report)) == (text, brief)


def test_no_headline_counts_noughts() -> None:
    numbers: tuple[str, ...] = ("explained", "guessed", "unknown", "known", "waiting", "failed")
    numbers = (*numbers, "starved", "ignored", "beyond")
    for status, chosen in product(
        ("complete", "degraded", "failed"), product((0, 2), repeat=len(numbers))
    ):
        counted = dict(zip(numbers, chosen, strict=True))
        cases = counted["explained"] + counted["guessed"] + counted["unknown"]
        text, brief = of_night(
            Tally.model_validate(
                {"status": status, "errors": sum(chosen), "analysed": cases, "cases": cases}
                | counted
            )
        )
        assert not text.startswith(("0", "1 of 1 ")), text
        assert " 0 " not in text, text
        if status != "failed" and sum(chosen):
            others = [name for name in numbers if name not in ("known", "waiting", "ignored")]
            seen_before = counted["known"] + counted["waiting"]
            all_known = bool(seen_before) and not any(counted[name] for name in others)
            assert ("nothing new" in text) == (brief == "nothing new") == all_known


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
    report = empty(errors=5, analyses=FIVE_KNOWN, batch_triage=triage)
    assert headline(report).endswith(
        "nothing new to analyse · 1 judged at first sight in a batch · 7 submitted in a batch"
    )
    failed = empty(status="failed", batch_triage=BatchTriage(judged=(judged,)))
    assert headline(failed) == NOTHING_CAME
    assert headline(empty(batch_triage=failed.batch_triage)).startswith(
        "1 error judged at first sight"
    )


def test_a_healthy_night_is_counted_by_what_it_knew() -> None:
    report = known()
    assert [(each.name, each.text) for each in view(report).counts] == [
        ("error groups", "3"),
        ("occurrences", "2,425"),
        ("known", "2"),
    ]
    assert (record_of(report).known, record_of(report).analysed) == (2, 0)
