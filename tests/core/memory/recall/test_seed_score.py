"""The visible score: class, transaction, shared words; the case's own lesson first."""

from datetime import date

import pytest
from core.lesson_shapes import case, one_group

from nightwatch_core.memory.recall import match, own_entry, recall, seed_tags
from nightwatch_core.models.knowledge import Index, IndexEntry


def entry(file="errors/a.md", fingerprint="v1:other", **fields):
    told = {"error_class": "X", **fields}
    return IndexEntry(file=file, fingerprint=fingerprint, **told)


def index(*entries):
    return Index(solutions=entries)


CASE = one_group("v1:mine", error_class="Net::ReadTimeout", transaction="Controller/rates/show")


@pytest.mark.parametrize(
    ("error_class", "transaction", "tags"),
    [
        (
            "java.net.ConnectException",
            "WebTransaction/Servlet",
            ("java", "net", "connectexception", "servlet"),
        ),
        ("KeyError", "GET:/orders#show", ("keyerror", "get", "orders", "show")),
        ("", "", ()),
        ("A::A", "A/a", ("a",)),
        ("::", "//", ()),
    ],
)
def test_words_of_class_and_transaction(error_class, transaction, tags):
    assert seed_tags(error_class, transaction) == tags


@pytest.mark.parametrize(
    ("fields", "score", "because"),
    [
        ({"error_class": "Net::ReadTimeout"}, 0.5, ("same class Net::ReadTimeout",)),
        (
            {"transaction": "Controller/rates/show"},
            0.3,
            ("same transaction Controller/rates/show",),
        ),
        ({"tags": ("rates", "net", "slow")}, 0.2, ("shared tags net, rates",)),
        ({"error_class": "net::readtimeout"}, 0.0, ()),
        (
            {
                "error_class": "Net::ReadTimeout",
                "transaction": "Controller/rates/show",
                "tags": ("net", "readtimeout", "rates", "show"),
            },
            1.0,
            (
                "same class Net::ReadTimeout",
                "same transaction Controller/rates/show",
                "shared tags net, readtimeout, rates, show",
            ),
        ),
    ],
)
def test_points_and_their_reasons(fields, score, because):
    found = match(CASE, entry(**fields))
    assert (found.score, found.because) == (score, because)


def test_nothing_in_common_is_not_sameness():
    assert match(one_group("v1:a", transaction=""), entry(transaction="")).score == 0


@pytest.mark.parametrize(
    "fields",
    [{"fingerprint": "v1:aaaaaaaabbbb"}, {"aliases": ("v1:cccc",)}, {"aliases": ("f1:dddd",)}],
)
def test_any_name_of_the_case_is_the_case(fields):
    found = match(case(), entry(**fields))
    assert (found.score, found.because[0], found.is_same) == (1.0, "same fingerprint", True)


def test_the_own_lesson_comes_first_whatever_the_points_of_others():
    full = {
        "error_class": CASE.leader.error_class,
        "transaction": CASE.leader.transaction,
        "tags": ("net", "readtimeout", "rates", "show"),
    }
    found = recall(
        CASE,
        index(
            entry("errors/b.md", **full),
            entry("errors/alias.md", aliases=("v1:mine",), **full),
            entry("errors/own.md", "v1:mine"),
        ),
    )
    assert [one.file for one, _ in found] == ["errors/own.md", "errors/alias.md", "errors/b.md"]


def test_the_limit_and_the_threshold_hold():
    near = entry("errors/near.md", transaction="Controller/rates/show")
    far = entry("errors/far.md", tags=("rates", "net"))
    assert [e.file for e, _ in recall(CASE, index(far, near))] == ["errors/near.md"]
    assert [e.file for e, _ in recall(CASE, index(far, near), threshold=0.2)] == [
        "errors/near.md",
        "errors/far.md",
    ]
    many = index(*(entry(f"errors/{n}.md", error_class="Net::ReadTimeout") for n in range(9)))
    assert len(recall(CASE, many)) == 3
    assert recall(CASE, Index()) == ()


def test_equals_are_ordered_by_night_then_name():
    told = {"error_class": "Net::ReadTimeout"}
    found = recall(
        CASE,
        index(
            entry("errors/z.md", last_seen=date(2031, 3, 2), **told),
            entry("errors/b.md", last_seen=date(2031, 3, 1), **told),
            entry("errors/a.md", last_seen=date(2031, 3, 1), **told),
        ),
    )
    assert [one.file for one, _ in found] == ["errors/z.md", "errors/a.md", "errors/b.md"]


def test_points_beyond_a_full_score_still_decide():
    deep = one_group("v1:x", error_class="a.b.c.d.e.F", transaction="t/u")
    tags = seed_tags("a.b.c.d.e.F", "")
    rival = entry("errors/a.md", error_class="a.b.c.d.e.F", tags=tags)
    better = entry("errors/z.md", error_class="a.b.c.d.e.F", tags=tags, transaction="t/u")
    found = recall(deep, index(rival, better))
    assert [(one.file, near.score) for one, near in found] == [
        ("errors/z.md", 1.0),
        ("errors/a.md", 1.0),
    ]


def test_the_lesson_on_the_very_case():
    own = entry("errors/own.md", "v1:mine")
    kin = entry("errors/kin.md", aliases=("v1:mine",))
    assert own_entry(CASE, (kin, own)) == own
    assert own_entry(CASE, (kin,)) == kin
    assert own_entry(CASE, (entry(error_class="Net::ReadTimeout"),)) is None


def test_ten_thousand_lessons_are_searched_in_a_second():
    many = index(
        *(entry(f"errors/{n}.md", f"v1:{n}", tags=("rates", str(n))) for n in range(10_000))
    )
    recall(CASE, many)
