"""The night in one line: every combination of what a night can be made of."""

import pytest
from core.report_fixture import NOW, analysis, empty, group, known

from nightwatch_core.models.analysis import Ending, Failure
from nightwatch_core.models.assignment import BatchTriage, Sighting, SubmittedBatch
from nightwatch_core.models.batch import FirstSight, ItemResult
from nightwatch_core.models.errors import Case, DroppedGroup
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.headline import NOTHING_CAME, headline
from nightwatch_core.report.view import record_of

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
    ("report", "text"),
    [
        (empty(errors=5, analyses=FIVE_KNOWN), "5 known error groups: nothing new to analyse"),
        (empty(errors=1, analyses=FIVE_KNOWN[:1]), "1 known error group: nothing new to analyse"),
        (
            empty(errors=7, analyses=FIVE_KNOWN, dropped=_dropped("limit", 2)),
            "None of 7 error groups was analysed · 5 known · 2 beyond tonight's limits",
        ),
        (
            empty(errors=2, dropped=_dropped("ignored", 2)),
            "None of 2 error groups was analysed · 2 ignored",
        ),
        (
            empty(errors=3, dropped=(*_dropped("ignored", 1), *_dropped("limit", 2))),
            "None of 3 error groups was analysed · 1 ignored · 2 beyond tonight's limits",
        ),
        (
            empty(errors=3, failures=_failures(2), analyses=FIVE_KNOWN[:1], status="degraded"),
            "None of 3 error groups was analysed · 1 known · 2 failed",
        ),
        (
            empty(errors=4, failures=_failures(2, "budget gone"), analyses=(analysis(1),)),
            "1 of 4 error groups analysed: 1 with a root cause, 1 fix proposed · "
            "2 beyond tonight's budget",
        ),
        (
            empty(errors=2, analyses=(analysis(1, by_fallback=True), _known(2))),
            "1 of 2 error groups analysed: 1 with a root cause, 1 fix proposed · 1 known · "
            "1 by the rules in the model's place",
        ),
        (
            empty(errors=9, analyses=(analysis(1),), status="failed"),
            "The night failed after 9 error groups had been read, 1 of them analysed.",
        ),
    ],
)
def test_what_a_night_was_like(report: RunReport, text: str) -> None:
    assert headline(report) == text


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
    assert (record_of(report).known, record_of(report).analysed) == (2, 0)
