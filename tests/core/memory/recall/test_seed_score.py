"""The visible score: class, transaction, shared words; the case's own lesson first."""

import pytest
from core.lesson_shapes import case, one_group

from nightwatch_core.memory.recall import match, own_entry, seed_tags
from nightwatch_core.models.knowledge import IndexEntry


def entry(file="errors/a.md", fingerprint="v1:other", **fields):
    told = {"error_class": "X", **fields}
    return IndexEntry(file=file, fingerprint=fingerprint, **told)


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


def test_the_lesson_on_the_very_case():
    own = entry("errors/own.md", "v1:mine")
    kin = entry("errors/kin.md", aliases=("v1:mine",))
    assert own_entry(CASE, (kin, own)) == own
    assert own_entry(CASE, (kin,)) == kin
    assert own_entry(CASE, (entry(error_class="Net::ReadTimeout"),)) is None
