"""Patterns over nights: classes that come back, and files that break in many ways."""

from core.lesson_shapes import lesson, night, seen

from nightwatch_core.models.knowledge import FixWatch
from nightwatch_core.patterns import detect
from nightwatch_core.patterns.detection import by_error, hot_spot, recurring_class

WAYS = (
    "The coupon has no date.",
    "Thumbnails of large pictures exhaust the memory.",
    "Two workers write one ledger.",
)


def in_one_file(*causes, file="app/rate.rb", days=(1, 2, 3), **more):
    return tuple(
        lesson(
            f"v1:{n}", error_class=f"E{n}", root_cause=cause, module=file, nights=seen(day), **more
        )  # fmt: skip
        for n, (cause, day) in enumerate(zip(causes, days, strict=False))
    )


def test_a_class_of_three_nights():
    once, twice = lesson("v1:a", nights=seen(1)), lesson("v1:b", nights=seen(2, 3), module="b.rb")
    (pattern,) = recurring_class((), (once, twice))
    assert pattern.title == "Billing::RateMissing keeps occurring"
    assert pattern.description == "21 times in app/rate.rb, b.rb."
    assert pattern.occurrences == 21
    assert pattern.pattern_type == "recurring_error"
    assert [night.day for night in pattern.nights] == [1, 2, 3]
    assert recurring_class((), (once, lesson("v1:b", nights=seen(1, 2)))) == []


def test_a_class_that_every_application_has_must_come_back_in_one_place():
    name = "java.lang.NullPointerException"
    here = [lesson(f"v1:{n}", error_class=name, nights=seen(n)) for n in (1, 2, 3)]
    there = [one.model_copy(update={"module": f"{n}.java"}) for n, one in enumerate(here)]
    assert recurring_class((), tuple(there)) == []
    (pattern,) = recurring_class((), (*here, there[0].model_copy(update={"fingerprint": "v1:x"})))
    assert pattern.title == "java.lang.NullPointerException keeps occurring in app/rate.rb"
    assert pattern.description == "21 times."  # the title says where
    assert pattern.fingerprints == ("v1:1", "v1:2", "v1:3")


def test_one_error_of_several_documents_counts_once_a_night():
    one = lesson("v1:a", nights=seen(1, 2, 3))
    again = lesson("v1:b", aliases=("v1:a",), nights=seen(2, 3, occurrences=9))
    (pattern,) = recurring_class((), (one, again))
    assert pattern.occurrences == 7 + 9 + 9
    assert pattern.fingerprints == ("v1:a",)


def test_documents_that_a_third_one_joins_are_one_error():
    held = [lesson("v1:a"), lesson("v1:b"), lesson("v1:c", aliases=("v1:b",)), lesson("v1:d")]
    assert [len(one) for one in by_error(held)] == [1, 2, 1]
    joined = by_error((*held, lesson("v1:e", aliases=("v1:a", "v1:c"))))
    assert [[one.fingerprint for one in each] for each in joined] == [
        ["v1:d"],
        ["v1:a", "v1:b", "v1:c", "v1:e"],
    ]


def test_a_known_fix_is_asked_for_and_else_an_owner():
    (known,) = recurring_class((), (lesson(nights=seen(1, 2, 3), has_fix=True, issue_number=4),))
    (open_one,) = recurring_class((), (lesson(nights=seen(1, 2, 3)),))
    assert known.suggestion == (
        "A fix for app/rate.rb is known (issue #4) and not in production: ship it."
    )
    assert open_one.suggestion == "No fix is known for app/rate.rb: The lookup knows no LU."


def test_a_fix_that_was_merged_or_turned_down_is_not_asked_for_again():
    told = {"nights": seen(1, 2, 3), "has_fix": True, "issue_number": 4}
    watch = FixWatch(number=7, merged_at=night(3).window.until)
    (merged,) = recurring_class((), (lesson(**told, watch=watch, outcome="merged"),))
    (refused,) = recurring_class((), (lesson(**told, outcome="closed unmerged"),))
    assert merged.suggestion == "The fix of pull request #7 was merged: see it help."
    assert refused.suggestion == (
        "No fix is known for app/rate.rb (issue #4) (its fix: closed unmerged): "
        "The lookup knows no LU."
    )


def test_what_is_solved_or_replaced_comes_back_no_more():
    told = {"nights": seen(1, 2, 3)}
    assert recurring_class((), (lesson(**told, outcome="verified"),)) == []
    assert len(recurring_class((), (lesson(**told, outcome="regressed"),))) == 1


def test_what_was_not_seen_for_a_month_is_history():
    old = tuple(s.model_copy(update={"date": s.date.replace(year=2029)}) for s in seen(1, 2, 3))
    past, now = lesson("v1:a", nights=old), lesson("v1:b", error_class="Y", nights=seen(9))
    assert recurring_class((), (past, now)) == []


def test_a_file_that_breaks_in_many_ways():
    (pattern,) = hot_spot((), in_one_file(*WAYS))
    assert pattern.title == "app/rate.rb breaks in many ways"
    assert pattern.fingerprints == ("v1:0", "v1:1", "v1:2")
    assert (pattern.occurrences, pattern.modules) == (21, ("app/rate.rb",))
    assert pattern.description == "3 different causes: E0, E1, E2."


def test_a_file_is_no_hot_spot_for_one_cause_few_nights_or_guesses():
    same = ("The coupon has no date.", "The coupon's date is missing.", "No date for the coupon.")
    assert hot_spot((), in_one_file(*same)) == []
    assert hot_spot((), in_one_file(*WAYS[:2])) == []
    assert hot_spot((), in_one_file(*WAYS, days=(1, 1, 2))) == []
    assert hot_spot((), in_one_file(*WAYS, file="")) == []
    assert hot_spot((), in_one_file(*WAYS, confidence="low", evidence=())) == []
    assert hot_spot((), in_one_file(*WAYS, outcome="verified")) == []


def test_a_hot_spot_does_not_repeat_a_class_that_comes_back():
    lessons = tuple(
        one.model_copy(update={"error_class": "Shop::Broken"}) for one in in_one_file(*WAYS)
    )
    assert [p.rule for p in detect((), lessons)] == ["recurring_class"]


def test_titles_hold_no_counts():
    first = detect((), in_one_file(*WAYS))
    later = detect((), in_one_file(*WAYS, "Bytes of a mailing are no text.", days=(1, 2, 3, 4)))
    assert [p.slug for p in first] == [p.slug for p in later]
    assert first != later
