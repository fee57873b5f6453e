"""Patterns that documents know: recognised, merged, and found for a case."""

from datetime import date, timedelta

import pytest
from core.lesson_shapes import case, one_group

from nightwatch_core.models.knowledge import Pattern
from nightwatch_core.patterns import merge_pattern, patterns_for
from nightwatch_core.patterns.detection import with_known_titles

FIRST = date(2031, 3, 1)


def pattern(title="One cause in a.rb:3", rule="same_cause", **fields):
    told = {"description": "D.", "pattern_type": "systemic_issue", "fingerprints": ("v1:a", "v1:b")}
    return Pattern(title=title, rule=rule, **{**told, **fields})


def test_a_line_that_moved_is_the_same_pattern():
    known = pattern()
    moved = pattern("One cause in a.rb:9", occurrences=5)
    (named,) = with_known_titles((moved,), (known,))
    assert named == moved.model_copy(update={"title": known.title})


@pytest.mark.parametrize(
    ("found", "known"),
    [
        (pattern("B", fingerprints=("v1:a", "v1:c")), pattern()),
        (pattern("B", fingerprints=("v1:a", "v1:b", "v1:c", "v1:d", "v1:e")), pattern()),
        (pattern("B", rule="same_tags"), pattern()),
        (pattern("B", rule="same_change"), pattern("A", rule="same_change")),
        (pattern("B"), pattern("A", rule="")),
    ],
)
def test_what_shares_too_little_is_another_pattern(found, known):
    assert with_known_titles((found,), (known,)) == (found,)


def test_a_known_pattern_is_recognised_once():
    known = pattern()
    both = with_known_titles((pattern("B"), pattern("C")), (known,))
    assert [one.title for one in both] == [known.title, "C"]
    both = with_known_titles((pattern("B"), pattern()), (known,))
    assert [one.title for one in both] == ["B", known.title]


def test_merging_unites_nights_and_members_and_tells_the_newest():
    known = pattern(nights=(FIRST,), occurrences=90, modules=("a.rb",), error_classes=("X",))
    found = pattern("B", fingerprints=("v1:c", "v1:a"), occurrences=4, description="New.",
                    modules=("b.rb",), error_classes=("X", "Y"))  # fmt: skip
    both = merge_pattern(found, known, FIRST + timedelta(days=2))
    assert both.title == known.title
    assert (both.description, both.occurrences) == ("New.", 4)
    assert both.nights == (FIRST, FIRST + timedelta(days=2))
    assert both.fingerprints == ("v1:c", "v1:a", "v1:b")
    assert both.modules == ("b.rb", "a.rb")
    assert both.error_classes == ("X", "Y")
    assert merge_pattern(found, both, FIRST + timedelta(days=2)) == both


@pytest.mark.parametrize("name", ["v1:aaaaaaaabbbb", "v1:cccc", "f1:dddd"])
def test_a_case_is_a_member_under_each_of_its_names(name):
    known = pattern(fingerprints=(name,))
    assert patterns_for(case(), (known,)) == (known,)


def test_a_case_resembles_by_class_and_place():
    told = {"fingerprints": (), "error_classes": ("Billing::RateMissing",)}
    for place in ("app/rate.rb", "Controller/invoices/create", "invoices"):
        both = pattern(**told, modules=("x.rb", place))
        assert patterns_for(case(), (both,)) == (both,)
    assert patterns_for(case(), (pattern(**told, modules=("x.rb",)),)) == ()
    other = pattern(fingerprints=(), error_classes=("Other",), modules=("app/rate.rb",))
    assert patterns_for(case(), (other,)) == ()


def test_a_hot_spot_concerns_every_error_of_its_file():
    hot = pattern("app/rate.rb breaks in many ways", rule="hot_spot", fingerprints=(),
                  error_classes=("Other",), modules=("app/rate.rb",))  # fmt: skip
    assert patterns_for(case(), (hot,)) == (hot,)
    assert patterns_for(one_group("v1:x"), (hot,)) == ()


def test_what_people_wrote_may_name_a_class_or_a_place_only():
    by_class = pattern(rule="", fingerprints=(), error_classes=("Billing::RateMissing",))
    by_place = pattern(rule="", fingerprints=(), modules=("app/rate.rb",))
    generic = pattern(rule="", fingerprints=(), error_classes=("KeyError",))
    assert set(patterns_for(case(), (by_class, by_place, generic))) == {by_class, by_place}
    assert patterns_for(one_group("v1:x", error_class="KeyError"), (generic,)) == ()
    assert patterns_for(case(), (pattern(rule="", fingerprints=()),)) == ()


def test_members_first_then_the_newest_and_at_most_three():
    near = {"fingerprints": (), "error_classes": ("Billing::RateMissing",),
            "modules": ("app/rate.rb",)}  # fmt: skip
    old = pattern("old", **near, nights=(FIRST,))
    new = pattern("new", **near, nights=(FIRST, FIRST + timedelta(days=1)))
    member = pattern("member", fingerprints=("v1:cccc",))
    found = patterns_for(case(), (old, new, member, old))
    assert [one.title for one in found] == ["member", "new", "old"]
    assert patterns_for(case(), (old, new), limit=1) == (new,)
    assert patterns_for(case(), ()) == ()
