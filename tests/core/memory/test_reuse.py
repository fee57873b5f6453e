from datetime import date, datetime, timedelta

import pytest
from core.lesson_shapes import analysis, case, lesson, night, seen

from nightwatch_core.memory.lessons import lesson_from
from nightwatch_core.memory.occurrences import add_sighting
from nightwatch_core.memory.prior_analyses import CaseTonight, news, reused_analysis
from nightwatch_core.models.errors import Triage
from nightwatch_core.models.knowledge import OutcomeEvent, PublishedItem

DIGESTS = {"app/rate.rb": "d1"}


def met(of=None, on=5, **more):
    """The error, met again on the fifth night."""
    return CaseTonight(case=of or case(), night=night(on), lesson_days=90, **more)


def test_a_regression_is_news_against_the_soundest_lesson():
    back = case(triage=Triage(state="regressed", assignee="Ann"))
    assert news(lesson(), met(back)) == "it was resolved, and came back"
    named = case(triage=Triage(assignee="resolved, and back"))
    assert not news(lesson(), met(named))


def test_the_same_return_of_an_error_is_news_once():
    read_until = night(2).window.until
    back = case(triage=Triage(state="regressed"), regressed_at=read_until - timedelta(hours=5))
    analysed = lesson_from(analysis(back), night(2), DIGESTS, (), lesson())
    assert news(lesson(), met(back))
    assert not news(analysed, met(back))
    reused_again = add_sighting(analysed, back, night(3))
    assert not news(reused_again, met(back))

    later = night(3).window.until + timedelta(hours=5)
    again = case(triage=Triage(state="regressed"), regressed_at=later)
    assert news(reused_again, met(again))
    assert not news(add_sighting(reused_again, again, night(4)), met(again))


@pytest.mark.parametrize(
    "known", [None, night(9).window.until.replace(tzinfo=None)], ids=["not said", "no zone"]
)
def test_a_lesson_that_does_not_say_until_when_is_no_reason_to_wait(known):
    back = case(triage=Triage(state="regressed"), regressed_at=night(1).window.since)
    old = lesson(seen_until=known)
    assert news(old, met(back))
    assert add_sighting(old, back, night(2)).seen_until == night(2).window.until


def test_no_news_is_no_reason_for_a_new_look():
    known = lesson(nights=seen(1, 2, 3), analysed_at=night(1).window.until)
    assert news(known, met()) == ""


def test_a_spike_is_news_and_the_night_itself_is_not_what_it_is_measured_by():
    known = lesson(nights=seen(1, 2, 3, 4))
    assert news(known, met(case(occurrences=9))) == ""
    assert "700" in news(known, met(case(occurrences=698)))
    tonight_too = lesson(nights=(*seen(1, 2, 3, 4), *seen(5, occurrences=700)))
    assert "700" in news(tonight_too, met(case(occurrences=698)))


@pytest.mark.parametrize("days", [90, 0])
def test_an_old_lesson_is_looked_at_afresh_unless_nobody_wants_that(days):
    old = lesson(analysed_at=night(5).window.until - timedelta(days=91))
    meeting = met().model_copy(update={"lesson_days": days})
    assert news(old, meeting) == ("it is 91 days old" if days else "")


def test_a_lesson_that_does_not_say_when_it_was_made_is_as_old_as_its_error():
    naive = datetime(2020, 1, 1)  # noqa: DTZ001 - people write such
    assert news(lesson(analysed_at=None), met()) == ""
    assert "days old" in news(lesson(analysed_at=naive), met())
    old = met().night.window.until.date() - timedelta(days=91)
    assert news(lesson(analysed_at=None, first_detected=old), met()) == "it is 91 days old"


def test_a_rejection_is_news_until_a_fresh_analysis_has_answered_it():
    rejected = OutcomeEvent(
        kind="closed unmerged", number=4, on=date(2031, 3, 2), words=("Too slow.",)
    )
    known = lesson(outcomes=(rejected,), outcome="closed unmerged")
    assert news(known, met()) == "its fix was rejected in #4: Too slow."
    again = lesson_from(analysis(), night(5), DIGESTS, (), known)
    assert [fate.answered for fate in again.outcomes] == [True]
    assert news(again, met(on=6)) == ""


def test_fixes_that_failed_are_named_whatever_became_of_others():
    proposed = tuple(
        PublishedItem(kind="pull", number=number, on=date(2031, 3, 1), fix=fix, outcome=outcome)
        for number, fix, outcome in (
            (1, "f1:a", "closed unmerged"), (2, "f1:b", "verified"), (3, "f1:c", "no effect"),
            (4, "", "closed unmerged"), (5, "f1:d", ""), (6, "f1:e", "regressed"),
        )
    )  # fmt: skip
    again = reused_analysis(lesson(proposed=proposed), case(), night(5))
    assert (again.rejected, again.failed_pulls) == (("f1:a", "f1:c"), (1, 3, 4, 6))
