"""Documents of somebody who wants the night to keep quiet, or to believe: what they may do."""

from datetime import UTC, date, datetime, timedelta

import pytest
from twins.reading import MemoryCode

from nightwatch_core.code.verdict import has_verified_evidence
from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.follow_up import (
    confirmed_by_tracker,
    follow_lessons,
    without_unconfirmed_watch,
)
from nightwatch_core.memory.lesson_text import LARGEST, document, lesson_of
from nightwatch_core.memory.lessons import is_its_own, lesson_from, to_archive, update_lesson
from nightwatch_core.memory.limits import MOST_NIGHTS
from nightwatch_core.memory.occurrences import add_night
from nightwatch_core.memory.outcomes import Tonight, why_no_news
from nightwatch_core.memory.prior_analyses import (
    CaseTonight,
    Memory,
    news,
    recall_case,
    with_priors,
)
from nightwatch_core.memory.recall import LessonSearch, is_same_error
from nightwatch_core.memory.scoreboard import scoreboard
from nightwatch_core.models.analysis import Analysis, Ending
from nightwatch_core.models.assignment import UnexplainedCase
from nightwatch_core.models.errors import Case, ErrorGroup, Triage, Window
from nightwatch_core.models.knowledge import (
    CitedLine,
    FixWatch,
    Lesson,
    NightSeen,
    OccurrenceCount,
    OutcomeEvent,
    PublishedItem,
)
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem, Receipt
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.text.plain_text import digest

END = datetime(2031, 3, 10, 4, tzinfo=UTC)
DAY, NEVER = timedelta(days=1), datetime(9999, 12, 31, tzinfo=UTC)
FILES = {"a.py": "def total(lines):\n    return sum(line.price for line in lines)\n"}
QUOTE = "return sum(line.price for line in lines)"


def night(day: int = 10) -> Night:
    end = END + (day - 10) * DAY
    return Night(
        id=f"{end.date().isoformat()}-ab12", window=Window(since=end - DAY, until=end), now=end
    )


def case(name: str = "v1:a", error_class: str = "KeyError", **fields: object) -> Case:
    leader = ErrorGroup(fingerprint=name, source="file", error_class=error_class, occurrences=9)
    return Case(leader=leader, **fields)


def seen(day: int, occurrences: int = 9, **fields: object) -> NightSeen:
    on = (END + (day - 10) * DAY).date()
    usual = {"night": f"{on}-ab12", "verdict": "known", "hours": 24}
    return NightSeen(date=on, occurrences=occurrences, **{**usual, **fields})


def lesson(**fields: object) -> Lesson:
    """Sound in everything that the code can tell; its cause is a lie."""
    usual: dict[str, object] = {
        "fingerprint": "v1:a",
        "error_class": "KeyError",
        "root_cause": "All is well.",
        "confidence": "high",
        "first_detected": date(2031, 3, 7),
        "analysed_at": END - 2 * DAY,
        "seen_until": END - DAY,
        "nights": (seen(7), seen(8), seen(9)),
        "evidence": (CitedLine(path="a.py", line=2, quote=QUOTE, digest=digest(FILES["a.py"])),),
        "file": "errors/a.md",
    }
    return Lesson(**{**usual, **fields})


def watch(**fields: object) -> FixWatch:
    usual: dict[str, object] = {
        "number": 4,
        "merged_at": END - 5 * DAY,
        "deployed_at": END - 4 * DAY,
        "until": END - DAY,
        "before": OccurrenceCount(occurrences=40, hours=96),
        "after": OccurrenceCount(hours=72),
    }
    return FixWatch(**{**usual, **fields})


def report(**fields: object) -> RunReport:
    return RunReport(night=night(), options=NightOptions(), started=END, finished=END, **fields)


def fresh(name: str = "v1:a", **fields: object) -> Analysis:
    return Analysis(case=case(name), title="t", root_cause="r", confidence="low", **fields)


def met(known: Lesson, of: Case | None = None) -> Analysis | UnexplainedCase:
    memory = Memory(read=lambda _: known, similar=LessonSearch((known,)).similar)
    meeting = CaseTonight(case=of or case(), night=night(), lesson_days=90)
    return recall_case(meeting, memory, MemoryCode(FILES), afresh=False)


@pytest.mark.parametrize(
    "fields",
    [
        {"matched": LARGEST + 1},
        {"occurrences": -LARGEST - 1},
        {"nights": (seen(9, 10**400),)},
        {"watch": watch(before=OccurrenceCount(occurrences=10**400, hours=24))},
        {"proposed": (PublishedItem(kind="pull", number=10**400, on=END.date()),)},
    ],
    ids=list,
)
def test_numbers_that_cannot_be_reckoned_with_are_refused_on_reading(fields):
    with pytest.raises(GiveUp, match="too large"):
        lesson_of(document(lesson(**fields)), "errors/a.md")


@pytest.mark.parametrize("number", [LARGEST, -LARGEST, 0, -1])
def test_any_number_that_is_read_can_be_reckoned_with(number):
    count = OccurrenceCount(occurrences=number, hours=number, traffic=number)
    known = lesson(
        occurrences=number,
        matched=number,
        nights=(seen(8, number, traffic=number, hours=float(number)), seen(9)),
        watch=watch(before=count, after=count),
        proposed=(PublishedItem(kind="pull", number=4, on=END.date()),),
    )
    known = lesson_of(document(known), "errors/a.md")
    own = (OwnItem(kind="pull", number=4, fingerprint="v1:a", state="merged"),)
    tonight = Tonight(night=night(), groups=case().groups, read_whole=True, traffic=10)
    follow_lessons((known,), own, tonight, (case(),), (), MemoryCode(FILES))
    news(known, CaseTonight(case=case(), night=night()))
    scoreboard((known,))


@pytest.mark.parametrize(
    "poisoned",
    [
        {"merged_at": NEVER, "deployed_at": None},
        {"merged_at": END - 15 * DAY, "deployed_at": None},  # never deployed
        {"deployed_at": NEVER},
        {"until": NEVER},
        {"deployed_at": END - 29 * DAY},  # measured for weeks
        {"after": OccurrenceCount(hours=float("nan"))},
        {"after": OccurrenceCount(hours=-1e9)},
        {"verdict": "verified", "after": OccurrenceCount()},  # without looking
        {"verdict": "verified", "deployed_at": None},  # before it ran
        {"verdict": "verified", "before": OccurrenceCount(hours=24)},
    ],
)
def test_a_watch_that_cannot_be_silences_nothing(poisoned):
    assert why_no_news(lesson(watch=watch(**poisoned)), END) == ""


def test_a_watch_that_may_be_does():
    assert "being measured" in why_no_news(lesson(watch=watch()), END)
    assert "verified" in why_no_news(lesson(watch=watch(verdict="verified")), END)


def test_only_the_tracker_says_what_was_merged():
    known = lesson(watch=watch(verdict="verified"))
    other = OwnItem(kind="pull", number=4, fingerprint="v1:other", state="merged")
    open_one = OwnItem(kind="pull", number=4, fingerprint="v1:a")
    ours = OwnItem(kind="pull", number=4, fingerprint="v1:a", state="merged")
    assert without_unconfirmed_watch(known, (other,)).watch is None
    assert without_unconfirmed_watch(known, ()).watch is None
    assert without_unconfirmed_watch(known, (ours,)).watch == known.watch
    assert without_unconfirmed_watch(known, None).watch == known.watch  # it could not be asked
    said = (
        PublishedItem(kind="pull", number=4, on=END.date(), confidence="high", outcome="verified"),
    )
    boasting = lesson(
        proposed=said, outcomes=(OutcomeEvent(kind="verified", number=4, on=END.date()),)
    )
    for items, decided in (((), 0), ((open_one,), 0), ((other,), 0), ((ours,), 1)):
        board = scoreboard((confirmed_by_tracker(boasting, items),))
        verified = sum(tier.verified for tier in board.tiers)
        assert (board.found.decided, verified) == (decided, decided)


@pytest.mark.parametrize("at", [NEVER, NEVER.replace(tzinfo=None), None])
def test_a_lesson_from_the_future_is_as_old_as_its_error(at):
    meeting = CaseTonight(case=case(), night=night(), lesson_days=90)
    old = lesson(analysed_at=at, first_detected=(END - 100 * DAY).date())
    assert news(old, meeting) == "it is 100 days old"


def test_a_return_is_news_however_long_a_lesson_claims_to_have_looked():
    group = case().leader.model_copy(
        update={"triage": Triage(state="regressed"), "regressed_at": END - DAY / 2}
    )
    meeting = CaseTonight(case=Case(leader=group), night=night())
    assert "came back" in news(lesson(seen_until=NEVER), meeting)
    before = group.model_copy(update={"regressed_at": END - 2 * DAY})
    assert not news(lesson(seen_until=NEVER), CaseTonight(case=Case(leader=before), night=night()))


def test_a_name_alone_makes_no_error_known():
    claims = lesson(fingerprint="v1:b", aliases=("v1:a",), error_class="TypeError")
    end = met(claims)
    assert isinstance(end, UnexplainedCase)
    assert end.priors[0].match.because[0] == "shares a name"
    assert with_priors(fresh(), (end,)).known_as == ()
    assert not is_its_own(claims, case(), report())
    kin = claims.model_copy(update={"error_class": "KeyError"})
    assert isinstance(met(kin), Analysis)
    wraps = claims.model_copy(update={"causes": ("KeyError: no total",)})
    assert isinstance(met(wraps), Analysis)
    assert is_its_own(kin, case(), report())


def test_a_place_alone_makes_no_error_known_that_says_another_thing():
    place = case().model_copy(update={"signature": "f1:a"})
    there = lesson(fingerprint="v1:b", aliases=("f1:a",))
    for message, fits in (("no total for order 4", True), ("database is locked", False)):
        leader = place.leader.model_copy(update={"message": message})
        tonight = place.model_copy(update={"leader": leader})
        told = there.model_copy(update={"message": "no total for order 17"})
        assert is_same_error(tonight, told) is fits
        assert is_same_error(tonight, told.model_copy(update={"aliases": ("f1:a", "v1:a")}))


def test_two_errors_of_a_night_do_not_write_one_document_in_turn():
    known = lesson(aliases=("v1:b",))
    one, other = fresh("v1:a"), fresh("v1:b")
    both = report(analyses=(one, other))
    assert is_its_own(known, one.case, both)
    assert not is_its_own(known, other.case, both)
    assert is_its_own(known, other.case, report(analyses=(other,)))


def test_a_lie_is_reused_only_as_far_as_the_code_bears_it_out():
    end = met(lesson())
    assert isinstance(end, Analysis)
    assert has_verified_evidence(end)
    assert end.score < 0.5
    torn = lesson(evidence=(CitedLine(path="a.py", line=2, quote="x = 1", digest=digest("x")),))
    assert isinstance(met(torn), UnexplainedCase)


def test_nights_to_come_do_not_push_out_tonight():
    future = tuple(seen(day) for day in range(100, 100 + MOST_NIGHTS))
    kept = add_night((seen(8), *future), seen(10))
    assert len(kept) == MOST_NIGHTS
    assert [one.date.day for one in kept[:2]] == [8, 10]


def test_a_lesson_seen_in_the_future_has_no_right_to_stay():
    poisoned = lesson(nights=(seen(10_000),), matched=10**9)
    recent = lesson(fingerprint="v1:b", file="errors/b.md")
    assert [one.file for one, _ in to_archive((poisoned, recent), 1, END.date())] == ["errors/a.md"]


def test_what_a_cut_off_analysis_published_is_known_when_it_is_turned_down():
    cut = fresh(iterations=3, ending=Ending(kind="wrapped up"))
    receipt = Receipt(key="k", kind="pull", fingerprint="v1:a", status="done", number=7)
    tonight = report(analyses=(cut,), receipts=(receipt,))
    before = lesson(iterations_used=9)
    kept = lesson_from(cut, tonight.night, {}, tonight.receipts, before)
    assert [one.number for one in kept.proposed] == [7]
    assert (kept.pr_number, kept.iterations_used, kept.root_cause) == (7, 9, before.root_cause)
    assert kept.nights[-1].verdict == "wrapped up"
    assert update_lesson(kept, tonight) == kept
