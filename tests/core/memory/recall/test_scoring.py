from collections import Counter

import pytest

from nightwatch_core.memory.recall import FIELDS, Corpus, Terms, aged, points, share, worth_of_terms


def corpus(**frequencies):
    return Corpus(100, (2.0,) * len(FIELDS), Counter(terms(frequencies).counts))


def terms(*fields):
    """Terms of fields, each given as text: how often."""
    counts = {(at, text): count for at, own in enumerate(fields) for text, count in own.items()}
    lengths = [sum(own.values()) for own in fields]
    return Terms(Counter(counts), (*lengths, *(0,) * (len(FIELDS) - len(fields))))


def scored(query, lesson, of):
    return sum(points(worth_of_terms(query, of), lesson, of))


def matched(query, lesson, of):
    own = points(worth_of_terms(query, of), query, of)
    return share(scored(query, lesson, of), own, lesson.lengths)


def test_rare_terms_are_worth_more():
    found = worth_of_terms(terms({"rare": 1, "often": 1}), corpus(rare=2, often=80))
    assert found[0, "rare"] > 3 * found[0, "often"] > 0


def test_an_error_matches_all_of_itself():
    query = terms({"a": 2, "b": 1}, {"c": 1}, {}, {}, {"d": 1, "e": 1}, {"f": 40})
    assert matched(query, query, corpus(a=3, b=90)) == pytest.approx(1.0)


def test_repeating_a_term_helps_less_and_less_and_padding_hurts():
    lessons = (terms({"a": 1}), terms({"a": 300}), terms({"a": 1, "padding": 299}))
    once, often, stuffed = (scored(terms({"a": 1}), lesson, corpus(a=3)) for lesson in lessons)
    assert once * 2.2 > often > stuffed
    assert stuffed < once / 10


def test_age_never_adds():
    assert aged(1.0, -400) == aged(1.0, 400) < aged(1.0, 3) < aged(1.0, 0) == 1.0
