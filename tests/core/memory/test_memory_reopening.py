"""An issue is opened again once for what came back; a person who closes it again has the word."""

from datetime import UTC, date, datetime, timedelta

from nightwatch_core.memory.lessons import add_publications
from nightwatch_core.memory.outcomes import REOPENED, Tonight, follow_lesson, open_trouble
from nightwatch_core.memory.prior_analyses import settled_issues
from nightwatch_core.models.analysis import Analysis, Ending
from nightwatch_core.models.errors import Case, ErrorGroup, Window
from nightwatch_core.models.knowledge import Lesson, OutcomeEvent
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem, Receipt
from nightwatch_core.models.report import Night
from nightwatch_core.publish.plan import plan_issues

END = datetime(2031, 3, 10, 4, tzinfo=UTC)
GROUP = ErrorGroup(
    fingerprint="v1:a", source="file", error_class="KeyError", occurrences=9, last_seen=END
)
LESSON = Lesson(
    fingerprint="v1:a", error_class="KeyError", root_cause="r", first_detected=date(2031, 3, 1)
)
CLOSED = OwnItem(
    kind="issue",
    number=3,
    fingerprint="v1:a",
    state="closed",
    state_reason="completed",
    closed_at=END - timedelta(hours=9),
    night="2031-03-01-ab12",
)


def night(day: int = 10) -> Night:
    window = Window(since=END - timedelta(days=1), until=END)
    return Night(id=f"2031-03-{day}-ab12", window=window, now=END)


def fate(kind: str, day: int, **fields: object) -> OutcomeEvent:
    return OutcomeEvent(
        kind=kind, number=3, on=date(2031, 3, day), night=f"2031-03-0{day}-ab12", **fields
    )


def ours(day: int) -> OutcomeEvent:
    return fate("reopened", day, because=REOPENED, answered=True)


def known(outcomes: tuple[OutcomeEvent, ...], kind: str = "reused") -> Analysis:
    return Analysis(
        case=Case(leader=GROUP),
        title="t",
        root_cause="r",
        confidence="medium",
        ending=Ending(kind=kind),
        settled=settled_issues(LESSON.model_copy(update={"outcomes": outcomes})),
    )


def plan(analysis: Analysis) -> list[str]:
    made = plan_issues((analysis,), (CLOSED,), NightOptions(), None, night().id)
    return [one.kind for one in made.proposals]


def test_a_person_who_closes_it_again_is_not_argued_with():
    once = (fate("closed", 5),)
    assert plan(known(once)) == ["reopen"]
    again = (*once, ours(6), fate("closed", 8))
    assert plan(known(again)) == []
    for more in (fate("merged", 9), fate("edited before merge", 9)):
        assert plan(known((*again, more))) == ["reopen"]


def test_what_a_person_opened_again_is_a_persons_to_close():
    theirs = (fate("closed", 5), fate("reopened", 6), fate("closed", 8))
    assert plan(known(theirs)) == ["reopen"]
    assert (
        settled_issues(LESSON.model_copy(update={"outcomes": (fate("closed", 5), ours(6))})) == ()
    )


def test_a_reopening_of_ours_is_noted_at_once_and_no_news_to_us():
    closed = LESSON.model_copy(update={"outcomes": (fate("closed", 5),), "outcome": "closed"})
    receipt = Receipt(key="k", kind="reopen", fingerprint="v1:a", status="done", number=3)
    noted = add_publications(closed, known(()), night(), (receipt,))
    assert noted.outcome == "reopened"
    assert [one.kind for one in noted.outcomes] == ["closed", "reopened"]
    assert add_publications(noted, known(()), night(), (receipt,)) == noted
    assert open_trouble(noted) == ""
    open_again = CLOSED.model_copy(update={"state": "open", "closed_at": None})
    tonight = Tonight(night=night(11), groups=(GROUP,))
    assert follow_lesson(noted, (open_again,), tonight, lambda _: False) is None
    assert follow_lesson(closed, (open_again,), tonight, lambda _: False)  # a person did
