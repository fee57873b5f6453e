from datetime import date

from nightwatch_core.memory.recall import search_lessons
from nightwatch_core.models.knowledge import Lesson


def entry(file, error_class="KeyError", transaction="", tags=(), fingerprint="v1:0"):
    return Lesson(
        file=file,
        fingerprint=fingerprint,
        error_class=error_class,
        transaction=transaction,
        tags=tags,
        root_cause="It lacks a default.",
        first_detected=date(2026, 11, 20),
    )


CART = entry("a.md", "Billing::RateMissing", "Controller/invoices/create", ("rates", "luxembourg"))
PAY = entry("b.md", "Net::ReadTimeout", "Jobs/pay", fingerprint="v1:beef01")


def found(query, *entries):
    return [one.file for one, _ in search_lessons(query, entries or (CART, PAY))]


def test_words_of_class_transaction_tags_and_fingerprint():
    assert found("RateMissing") == ["a.md"]
    assert found("invoices") == ["a.md"]
    assert found("Luxembourg!") == ["a.md"]
    assert found("beef01") == ["b.md"]


def test_the_largest_share_comes_first_and_says_why():
    ((first, match), (second, less)) = search_lessons("read timeout controller", (CART, PAY))
    assert (first, match.score, match.because) == (PAY, 0.67, ("read", "timeout"))
    assert (second, less.score) == (CART, 0.33)


def test_nothing_is_found_by_nothing():
    for query in ("", "  ", "?!", "x", "nowhere", "\ud800"):
        assert found(query) == []


def test_hostile_queries_are_bounded():
    assert found("a" * 10_000_000) == []
    found("pay " * 1_000_000, *(entry(f"{n}.md") for n in range(2_000)))
