from collections import Counter

import pytest

from nightwatch_core.memory.recall import (
    CALIBRATION,
    FIELDS,
    LEARNED,
    Corpus,
    Terms,
    aged,
    own_points,
    points,
    query_terms,
    relevance,
    share,
)

CORPUS = Corpus(100, (2.0,) * len(FIELDS))


def terms(*fields):
    return Terms((*fields, *((),) * (len(FIELDS) - len(fields))))


def test_rare_terms_are_worth_more():
    found = query_terms(terms((1, 2)), CORPUS, {1: 2, 2: 80})
    assert found[1].worth > 3 * found[2].worth > 0


def test_terms_nobody_has_count_against_every_lesson():
    known = query_terms(terms((1,)), CORPUS, {1: 2})
    strange = query_terms(terms((1, 2, 3)), CORPUS, {1: 2})
    lesson = ({1: 1}, (1, *(0,) * (len(FIELDS) - 1)))

    def matched(asked):
        scored = sum(points(asked, *lesson, CORPUS))
        return share(scored, own_points(asked, len(FIELDS)), lesson[1])

    assert matched(known) > 2 * matched(strange)


def test_an_error_matches_all_of_itself():
    query = terms((1, 1, 2), (3,), (), (), (7, 8, 9), (5,) * 40)
    asked = query_terms(query, CORPUS, {1: 3, 2: 90, 3: 1, 5: 50})
    scored = sum(points(asked, Counter(query.all), query.lengths, CORPUS))
    own = own_points(asked, len(FIELDS))
    assert share(scored, own, query.lengths) == pytest.approx(1.0)


def test_repeating_a_term_helps_less_and_less_and_padding_hurts():
    asked = query_terms(terms((1,)), CORPUS, {1: 3})
    once, often, stuffed = (
        sum(points(asked, {1: count}, (length,) + (0,) * (len(FIELDS) - 1), CORPUS))
        for count, length in ((1, 1), (300, 300), (1, 300))
    )
    assert once * 2.2 > often > stuffed
    assert stuffed < once / 10


def test_an_empty_corpus_divides_by_nothing():
    nothing = Corpus(0, (0.0,) * len(FIELDS))
    asked = query_terms(terms((1,)), nothing, {})
    assert sum(points(asked, {}, (0,) * len(FIELDS), nothing)) == 0
    assert share(0.0, own_points({}, len(FIELDS)), (0,) * len(FIELDS)) == 0.0


def test_what_was_learned_is_whole():
    assert len(LEARNED.weights) == len(FIELDS)
    assert min(LEARNED.weights) > 0
    shares, sure = zip(*CALIBRATION, strict=True)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert list(shares) == sorted(set(shares))
    assert list(sure) == sorted(sure)
    assert 0.0 <= sure[0] <= sure[-1] <= 1.0
    assert LEARNED.made
    assert LEARNED.how


def test_relevance_never_falls_and_stays_within_bounds():
    values = [relevance(at / 200) for at in range(201)]
    assert values == sorted(values)
    assert 0.0 <= values[0] <= values[-1] <= 1.0
    assert relevance(CALIBRATION[3][0]) == CALIBRATION[3][1]


def test_age_never_adds():
    assert aged(1.0, -400) == aged(1.0, 400) < aged(1.0, 3) < aged(1.0, 0) == 1.0
