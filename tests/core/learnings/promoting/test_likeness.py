import importlib.util
from pathlib import Path

import pytest

from nightwatch_core.learnings.promoting import SAME, likeness

_PLACE = Path(__file__).with_name("labelled.py")
_SPEC = importlib.util.spec_from_file_location("labelled_learnings", _PLACE)
labelled = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(labelled)


@pytest.mark.parametrize("pair", range(len(labelled.SAME)))
def test_a_paraphrase_is_the_same(pair):
    one, other = labelled.SAME[pair]
    assert likeness(one, other) >= SAME
    assert likeness(other, one) == likeness(one, other)


@pytest.mark.parametrize("pair", range(len(labelled.OTHER)))
def test_a_near_miss_is_not(pair):
    assert likeness(*labelled.OTHER[pair]) < SAME


def test_pairs_that_were_never_looked_at_while_choosing():
    found = sum(likeness(*pair) >= SAME for pair in labelled.HELD_OUT_SAME)
    wrong = sum(likeness(*pair) >= SAME for pair in labelled.HELD_OUT_OTHER)
    assert (found, wrong) == (7, 0)  # of 8 and 8; the figures of the notes


@pytest.mark.parametrize("text", ["", "...", "the of and", "\0" * 50, "日本 語"])
def test_texts_without_much_in_them(text):
    assert likeness(text, "Missing index") == 0.0


def test_a_huge_text_costs_little():
    assert likeness("word " * 1_000_000, "x" * 1_000_000) == 0.0
