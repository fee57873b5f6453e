"""Errors without a known cause that come back: found, reported once, and closed."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from core.lesson_shapes import analysis, case, group, lesson, one_group, seen

from nightwatch_core.models.answer import Handover
from nightwatch_core.models.errors import Window
from nightwatch_core.models.knowledge import Pattern
from nightwatch_core.patterns import detect, merge_pattern, patterns_for, related_to_patterns
from nightwatch_core.patterns.nights import NightGroups
from nightwatch_core.patterns.pattern_text import pattern_document, pattern_of
from nightwatch_core.patterns.unexplained import UNEXPLAINED, is_news, unexplained
from nightwatch_core.text import frontmatter

WITHOUT_CAUSE = {"root_cause": "", "evidence": (), "confidence": "low"}


def unknown(name="v1:a", days=(1, 2, 3), **fields):
    told = {"frames": ("app/rate.of", "app/invoice.total"), "nights": seen(*days), **WITHOUT_CAUSE}
    return lesson(name, **{**told, **fields})


def on(day):
    return date(2031, 3, day)


def read(*days, **groups):
    """Nights that were read, newest first; `groups` are those of each."""
    first = datetime(2031, 3, 1, 4, tzinfo=UTC)
    ends = [first + timedelta(days=day - 1) for day in sorted(days, reverse=True)]
    return tuple(
        NightGroups(window=Window(since=end - timedelta(days=1), until=end), **groups)
        for end in ends
    )


def lived(days, lessons_on, **fields):
    """Detect on each of the days; returns what every night reported, and the document."""
    kept, news = {}, {}
    for day in days:
        nights = read(*range(1, day + 1))
        found = detect((), lessons_on(day), tuple(kept.values()), on(day), nights, **fields)
        merged = [merge_pattern(pattern, kept.get(pattern.title)) for pattern in found]
        kept |= {p.title: pattern_of(pattern_document(p), "patterns/a.md") for p in merged}
        news[day] = [pattern for pattern in merged if is_news(pattern, on(day))]
    return news, kept


def test_three_nights_without_a_cause():
    of_feed = group("v1:a", transaction="GET /feed", users=2)
    nights = read(1, 2, 3, groups=(of_feed, group("v1:z", transaction="GET /other")))
    (pattern,) = unexplained((), (unknown(),), (*nights, *read(4)))
    assert pattern.title == "Billing::RateMissing keeps coming back in app/rate.rb (of)"
    assert pattern.description == (
        "Cause unknown. Seen on 3 of 4 nights since 2031-03-01, 21 times, in GET /feed, "
        "Controller/invoices/create."
    )
    assert pattern.because == (
        "one class, one place and one message: “no rate for LU”",
        "at most 2 users a night",
    )
    assert (pattern.pattern_type, pattern.fingerprints) == ("recurring_error", ("v1:a",))
    assert unexplained((), (unknown(days=(1, 2)),)) == []
    assert unexplained((), ()) == []


def test_two_places_are_two_patterns_and_so_are_two_messages():
    here, there = unknown(), unknown("v1:b", frames=("app/rate.all",))
    assert len(unexplained((), (here, there))) == 2
    other = unknown("v1:b", message="the ledger of the month is closed for writing")
    assert len(unexplained((), (here, other))) == 2
    wrapped = unknown("v1:b", error_class="Outer", causes=("Billing::RateMissing: no rate for LU",))
    (one,) = unexplained((), (here, wrapped))
    assert one.fingerprints == ("v1:a", "v1:b")


def test_one_error_whose_message_varies_is_one_pattern():
    told = [unknown(f"v1:{day}", days=(day,), message=f"no rate for {day}") for day in (1, 2, 3)]
    (pattern,) = unexplained((), tuple(told))
    assert pattern.fingerprints == ("v1:1", "v1:2", "v1:3")


def test_without_a_frame_only_equal_messages_are_one():
    told = {"module": "", "frames": ()}
    one = unknown(transaction="GET /feed", **told)
    assert (
        len(unexplained((), (one, unknown("v1:b", message="no rate for CH at all", **told)))) == 2
    )
    (pattern,) = unexplained((), (one,))
    assert pattern.title == "Billing::RateMissing keeps coming back in GET /feed"


@pytest.mark.parametrize(
    ("fields", "step"),
    [
        ({"frames": ()}, "No stack trace of it was read: log the exception with its trace, "),
        ({"model": "rules"}, "Only the rules looked at it: connect a model, then run `nightwatch"),
        ({"next_steps": ("Log `card`.",)}, "Log `card`."),
        ({"question": "May it be empty?", "next_steps": ("x",)}, "May it be empty?"),
        ({}, "Log the values that app/rate.rb (of) works with, then run `nightwatch one v1:a`."),
        ({"error_class": "ClientDisconnect"}, "The client went away before the answer: see "),
    ],
)
def test_it_names_the_one_step_that_would_decide_it(fields, step):
    (pattern,) = unexplained((), (unknown(**fields),))
    assert pattern.suggestion.startswith(step)


def test_it_is_reported_once_and_its_document_goes_on():
    def lessons(day):
        return (unknown(days=tuple(range(1, day + 1))),)

    news, kept = lived(range(1, 7), lessons)
    assert [len(news[day]) for day in range(1, 7)] == [0, 0, 1, 0, 0, 0]
    (document,) = kept.values()
    assert (len(document.nights), document.occurrences) == (6, 42)
    assert (document.opened, document.closed) == (on(3), None)
    (again,) = detect((), lessons(3), (document,), on(3))
    assert is_news(merge_pattern(again, document), on(3))  # that night, once more


def test_it_closes_when_the_error_is_gone_and_opens_when_it_is_back():
    def lessons(day):
        days = [past for past in range(1, day + 1) if past <= 4 or past >= 10]
        return (unknown(days=tuple(days)),)

    news, kept = lived(range(1, 12), lessons)
    told = [(day, item.closed_because) for day, held in news.items() for item in held]
    assert told == [(3, ""), (7, "not seen on the last 3 nights, since 2031-03-04"), (10, "")]
    (document,) = kept.values()
    assert (document.opened, document.closed) == (on(10), None)


def test_a_known_cause_wins():
    explained = lesson("v1:a", nights=seen(1, 2, 3, 4), file="errors/a.md")

    def lessons(day):
        return (unknown(),) if day < 4 else (explained, unknown("v1:b", aliases=("v1:a",)))

    news, kept = lived(range(1, 6), lessons)
    assert [(item.rule, item.closed_because) for item in news[4]] == [
        ("recurring_class", ""),
        (UNEXPLAINED, "its cause is known"),
    ]
    assert news[5] == []
    assert [item.rule for item in kept.values() if not item.closed] == ["recurring_class"]


def test_an_ignore_rule_ends_it_and_so_does_a_forgotten_error():
    before = detect((), (unknown(),), (), on(3))
    (closed,) = detect((), (unknown(days=(1, 2, 3, 4)),), before, on(4), (), frozenset({"v1:a"}))
    assert closed.closed_because == "an ignore rule covers it"
    other_group = analysis(one_group("v1:b"), handover=Handover())  # a rule covers one of two
    both = unknown(days=(1, 2, 3, 4), aliases=("v1:b",))
    (goes_on,) = detect((other_group,), (both,), before, on(4), (), frozenset({"v1:a"}))
    assert goes_on.closed is None
    (closed,) = detect((), (), before, on(4))
    assert closed.closed_because == "its errors are no longer in the memory"
    assert detect((), (), (closed,), on(4)) == (closed,)  # the same night says it again
    assert detect((), (), (closed,), on(5)) == ()


def test_titles_stay_and_are_never_shared():
    (first,) = detect((), (unknown(),), (), on(3))
    moved = unknown(module="lib/rate.rb")
    (again,) = detect((), (moved,), (first,), on(3))
    assert again.title == first.title
    other = unknown("v1:b", message="the ledger of the month is closed for writing")
    both = detect((), (unknown(), other), (first,), on(3))
    assert first.title in [item.title for item in both]
    assert len({item.title for item in both}) == len({item.slug for item in both}) == 2


def test_analysts_and_lessons_are_shown_none_of_it():
    (pattern,) = detect((), (unknown("v1:aaaaaaaabbbb"),), (), on(3))
    assert patterns_for(case(), (pattern,)) == ()
    assert related_to_patterns((lesson(),), {"patterns/a.md": pattern}) == ()


def test_many_of_them_displace_no_pattern_with_a_cause():
    errors = [unknown(f"v1:{n}", nights=seen(1, 2, 3, occurrences=900), module=f"{n}.rb")
              for n in range(30)]  # fmt: skip
    cause = lesson("v1:z", nights=seen(1, 2, 3), error_class="Shop::Known")
    found = detect((), (*errors, cause), (), on(3))
    assert [item.rule for item in found] == ["recurring_class", *[UNEXPLAINED] * 10]


def test_hostile_text_stays_in_its_place():
    bad = "E\n---\nrule: x\n# <b>[x](http://e.vil)\u202e" + "y" * 9_000
    held = unknown(error_class=bad, message=bad, module=bad, frames=(bad,), transaction=bad)
    (pattern,) = detect((), (held,), (), on(3))
    texts = (pattern.title, pattern.description, pattern.suggestion, *pattern.because)
    assert all("\n" not in text and "\u202e" not in text for text in texts)
    document = pattern_document(pattern)
    prose = re.sub("`[^`]*`", "", document.rpartition("\n---\n")[2])
    assert not {"<", ">", "]("} & {prose[at : at + n] for at in range(len(prose)) for n in (1, 2)}
    assert frontmatter.read(document)[0]["rule"] == UNEXPLAINED
    assert not set(pattern.slug) - set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_the_document_keeps_when_it_was_opened_and_closed():
    told = {"description": "D.", "pattern_type": "recurring_error", "rule": UNEXPLAINED}
    ends = {"opened": on(3), "closed": on(9), "closed_because": "its cause is known"}
    pattern = Pattern(title="T", nights=(on(3),), **told, **ends)
    document = pattern_document(pattern)
    assert pattern_of(document, "patterns/t.md") == pattern
    assert "Closed on 2031-03-09: its cause is known." in document
    plain = pattern_document(Pattern(title="T", **told))
    assert not {"opened", "closed", "closed_because"} & set(frontmatter.read(plain)[0])
