"""The least useful lessons make room, and the ones that are at work stay."""

from datetime import UTC, date, datetime, timedelta

from core.lesson_shapes import lesson

from nightwatch_core.memory.lessons import to_archive
from nightwatch_core.models.knowledge import FixWatch, NightSeen, PublishedItem

TODAY = date(2031, 6, 1)


def one(name, days=100, **fields):
    day = TODAY - timedelta(days=days)
    seen = NightSeen(date=day, night="n", occurrences=1, verdict="new")
    told = {"matched": 1, "first_detected": day, "nights": (seen,), **fields}
    return lesson(f"v1:{name}", **told)


def names(lessons, most):
    return [lesson.fingerprint[3:] for lesson, _ in to_archive(tuple(lessons), most, TODAY)]


def test_the_least_useful_go_first_each_with_its_reason():
    lessons = (
        one("often", matched=9, days=90),
        one("sure", days=90),
        one("old", days=300),
        one("unmatched", matched=0),
        one("stale", stale="app/a.rb is gone"),
    )
    gone = to_archive(lessons, 0, TODAY)
    assert [(o.fingerprint[3:], why) for o, why in gone] == [
        ("stale", "stale: app/a.rb is gone"),
        ("unmatched", "never matched, not seen since 2031-02-21"),
        ("old", "not seen since 2030-08-05"),
        ("sure", "not seen since 2031-03-03"),
        ("often", "not seen since 2031-03-03"),
    ]


def test_only_as_many_as_are_too_many():
    lessons = [one(str(n), days=100 + n) for n in range(10)]
    assert names(lessons, 8) == ["9", "8"]
    assert names(lessons, 10) == names(lessons, 99) == names([], 0) == []


def test_lessons_at_work_and_seen_lately_stay_as_long_as_there_are_others():
    day = TODAY - timedelta(days=300)
    pull = PublishedItem(kind="pull", number=1, on=day)
    issue = PublishedItem(kind="issue", number=2, on=day, outcome="closed")
    watch = FixWatch(number=1, merged_at=datetime(2031, 1, 1, tzinfo=UTC))
    done = watch.model_copy(update={"verdict": "verified"})
    lessons = (
        one("pull", days=300, proposed=(pull, issue)),
        one("reopened", days=300, proposed=(issue.model_copy(update={"outcome": "reopened"}),)),
        one("watched", days=300, watch=watch, stale="x"),
        one("lately", days=14, matched=0),
        one("ahead", days=-3, matched=0),
        one("closed", days=30, proposed=(issue,)),
        one("verified", days=40, watch=done),
        one("useful", days=15, matched=50),
    )
    assert names(lessons, 5) == ["verified", "closed", "useful"]
    assert names(lessons, 4)[-1] == "watched"
    assert len(names(lessons, 0)) == len(lessons)
