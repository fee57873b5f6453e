"""What says the same; facts about different code are different, however alike their words."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.learnings.likeness import SAME, identifiers, likeness
from nightwatch_core.learnings.offers import list_entry, offers, with_offers
from nightwatch_core.models.knowledge import Notes, TaskFile

PAIRS = json.loads(Path(__file__).with_name("labelled_pairs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("pair", range(len(PAIRS["same"])))
def test_a_paraphrase_is_the_same(pair):
    one, other = PAIRS["same"][pair]
    assert likeness(one, other) >= SAME
    assert likeness(other, one) == likeness(one, other)


@pytest.mark.parametrize("pair", range(len(PAIRS["other"])))
def test_a_near_miss_is_not(pair):
    assert likeness(*PAIRS["other"][pair]) < SAME


def test_pairs_that_were_never_looked_at_while_choosing():
    found = sum(likeness(*pair) >= SAME for pair in PAIRS["held_out_same"])
    wrong = sum(likeness(*pair) >= SAME for pair in PAIRS["held_out_other"])
    assert (found, wrong) == (7, 0)  # of 8 and 8; the figures of the notes


@pytest.mark.parametrize("text", ["", "...", "the of and", "\0" * 50, "日本 語"])
def test_texts_without_much_in_them(text):
    assert likeness(text, "Missing index") == 0.0


def test_a_huge_text_costs_little():
    assert likeness("word " * 1_000_000, "x" * 1_000_000) == 0.0


DAY = date(2026, 1, 26)
TWINS = [
    ("`net_price` is defined in shop/line.py:3", "`unit_price` is defined in shop/line.py:3"),
    ("`net_price` is defined in shop/line.py:3", "`net_price` is defined in shop/line.py:7"),
    ("`net_price` is defined in shop/line.py:3", "`net_price` is defined in shop/cart.py:3"),
    ("See line 3 of shop/line.py for the price", "See line 4 of shop/line.py for the price"),
    ("The value of net_price may be missing", "The value of unit_price may be missing"),
    ("Always check that an OrderLine is present", "Always check that an OrderPart is present"),
    ("Always lock the Shop::Cart before a write", "Always lock the Shop::Line before a write"),
    ("Requests to /orders may well time out", "Requests to /items may well time out"),
    ("Check `quote` before invoicing an order", "Check `total` before invoicing an order"),
    ("Missing keys in `a.b` break the nightly import", "Missing keys break the nightly import"),
]  # fmt: skip


def found(*gotchas, claude_md=""):
    return offers((), (TaskFile(id="t", title="T", notes=(noted(*gotchas),)),), claude_md)


def noted(*gotchas):
    return Notes(timestamp=DAY, gotchas=gotchas)


@pytest.mark.parametrize("pair", range(len(TWINS)))
def test_another_name_is_another_fact(pair):
    one, other = TWINS[pair]
    assert [offer.number for offer in found(one, other)] == [1, 2]
    assert [offer.number for offer in found(one, claude_md=f"- {other}.\n")] == [1]
    assert [offer.number for offer in found(one, claude_md=f"- {one}.\n")] == [0]


def test_the_words_alone_would_have_called_them_the_same():
    assert sum(likeness(*pair) >= SAME for pair in TWINS) >= 7


def test_the_same_said_in_other_words_of_the_same_code_is_one():
    one = "Always check `quote` before an order is invoiced."
    other = "Before invoicing orders, check that `quote`."
    first, second = found(one, other)
    assert (first.number, second.number) == (1, 0)
    assert second.duplicate_of.startswith("number 1, Always check")


def test_what_was_promoted_is_known_however_it_is_escaped():
    said = (
        "@dana: price_of_line at <b> #12 https://a.example/b_c breaks user@example.com - *always*"
    )
    chosen = found(said, "x_y " * 40)
    text = with_offers("", chosen)
    assert [offer.number for offer in found(said, "x_y " * 40, claude_md=text)] == [0, 0]
    assert list_entry(chosen[0]) in text


@given(st.text(max_size=300))
def test_backticks_and_escapes_change_nothing_that_matters(text):
    names = identifiers(text)
    assert all(name.strip() == name and name for name in names)
    assert identifiers(f"{text} `zz_top`") >= {"zz_top"} or "`" in text


@pytest.mark.parametrize(
    "text", ["", "...", "Use it and/or that, e.g. at 3.5 s.", "HTTP or JSON", "_"]
)
def test_plain_words_are_no_identifiers(text):
    assert identifiers(text) == frozenset()
